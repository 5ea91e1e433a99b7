"""A policy in a table, learned on one link by trial and error (tabular Q-learning), put back as a law beside Reno."""

import numpy as np

import elephan
from elephan.gym import LINK, Interval, LinkEnv, policy_law

BASE = elephan.Scenario.from_text(LINK).replace({"duration": "30 s", "warmup": "10 s"})
FACTORS = np.array([0.6, 0.7, 0.8, 0.9, 1.005, 1.01, 1.02, 1.05, 1.2])
WINDOWS = np.array([0, 32, 128, 256, 320, 384, 448])  # rows of the table begin here
EPISODES, DISCOUNT = 60, 0.95


def reward(interval: Interval) -> np.ndarray:
    """Share of the link that is delivered, less five times what is lost; above half of the buffer less by the delay."""
    share = interval.throughput_bps / 100e6 * (1 - 5 * interval.loss_ratio)
    return share / np.maximum(interval.rtt_ratio / 1.25, 1.0)


env = LinkEnv(BASE, interval="1 rtt", levels=FACTORS, observe=("cwnd", "events"), reward=reward)
# By window, whether there was a loss, and factor; what the law cannot do is not tried.
value = np.zeros((len(WINDOWS), 2, len(FACTORS)))
value[:, 0, FACTORS < 1] = value[:, 1, FACTORS > 1] = -np.inf
tried = np.zeros_like(value)
chance = np.random.default_rng(1)


def row(observation: np.ndarray) -> tuple[int, int]:
    """Find the row of the table that an observation belongs to."""
    return int(np.searchsorted(WINDOWS, 2.0 ** observation[0], side="right")) - 1, int(observation[1] > 0)


for episode in range(EPISODES):
    at, over = row(env.reset(seed=episode)[0]), False
    while not over:
        if chance.random() < 0.5 * (1 - episode / EPISODES):
            action = int(chance.choice(np.flatnonzero(np.isfinite(value[at]))))
        else:
            action = int(value[at].argmax())
        observation, earned, _, over, _ = env.step(action)
        after = row(observation)
        tried[at][action] += 1
        gain = earned + DISCOUNT * value[after].max() - value[at][action]
        value[at][action] += max(1 / tried[at][action], 0.05) * gain
        at = after

best = FACTORS[value.argmax(axis=-1)]
# No less than Reno's one segment in a round trip.
learned = policy_law(np.maximum(WINDOWS, 1), best[:, 0], best[:, 1], least=1.0)
measured = {}
for name, control in {"learned": learned, "reno": elephan.laws.reno()}.items():
    link = elephan.run(BASE.replace({"flows[0].control": control}), replications=2).to_json()["links"][0]
    measured[name] = {what: link[what]["mean"] for what in ("utilization", "queueing_delay_s", "loss_ratio")}
    print(name, *(f"{what} {number:.3g}" for what, number in measured[name].items()))
