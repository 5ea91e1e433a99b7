"""Environments of learning agents: gymnasium's own checker, seeds, vectors, and a constant action as a constant law."""

import json
import runpy
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elephan
from conftest import PATIENCE_S
from elephan.errors import InputError

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402 (only where it is installed)
from gymnasium.vector import SyncVectorEnv  # noqa: E402

import elephan.gym  # noqa: E402
from elephan.gym import FEATURES, LINK, Interval, LinkEnv, Links, LinkVectorEnv, policy_law  # noqa: E402

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "python"
BASE = elephan.Scenario.from_text(LINK).replace({"duration": "3 s", "links[0].rate": "20 Mbit/s"})
FOUR = BASE.replace({"flows[0].count": 4})
ALL: dict[str, Any] = {"observe": tuple(FEATURES)}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"action": "rate", "interval": "10 ms"},
        {"action": "set-window", "interval": "0.5 rtt"},
        {"action": "set-rate", "reward": "aurora"},
        {"levels": (0.5, 1.0, 1.5), **ALL},
        {"action": "set-rate", "levels": (1e6, 1e7, 3e7)},
    ],
)
@pytest.mark.parametrize("scenario", [BASE, FOUR])
def test_gymnasiums_checker_finds_nothing(scenario: elephan.Scenario, options: dict[str, Any]) -> None:
    # Warnings of the checker are errors here.
    check_env(gymnasium.make("elephan/Link-v0", scenario=scenario, **options).unwrapped)


def episode(env: Any, seed: int, steps: int = 40) -> list[Any]:
    """Return the observations of an agent that acts at random."""
    chance = np.random.default_rng(seed)
    seen, info = env.reset(seed=seed)
    rows = [(seen.tolist(), info)]
    for _ in range(steps):
        action = chance.uniform(-1, 1, env.action_space.shape).astype(np.float32)
        seen, *rest = env.step(action)
        rows.append((seen.tolist(), *rest))
    plain: list[Any] = json.loads(json.dumps(rows, default=np.ndarray.tolist))
    return plain


def test_the_same_seed_gives_the_same_episode_and_another_seed_another() -> None:
    scenario = FOUR.replace({"flows[0].start": {"from": "0 s", "to": "0.5 s"}})
    envs = [LinkEnv(scenario, interval="20 ms", **ALL) for _ in range(2)]
    assert episode(envs[0], 3) == episode(envs[1], 3)
    assert episode(envs[0], 3) == episode(envs[0], 3)
    constant = {seed: tuple(last(LinkEnv(scenario, interval="20 ms"), seed)) for seed in (3, 4)}
    assert constant[3] != constant[4]


def last(env: LinkEnv, seed: int) -> list[float]:
    _, info = env.reset(seed=seed)
    for _ in range(40):
        *_, info = env.step(np.ones(env.action_space.shape or (), dtype=np.float32))
    return [*info["throughput_bps"], *info["rtt_s"]]


@pytest.mark.parametrize("interval", ["7 ms", "1 rtt", "1 s"])
def test_a_constant_action_is_one_run_with_a_constant_window(interval: str) -> None:
    # Whatever the steps, the hash over every arrival and every ACK is the same; another window gives another.
    hashes = {}
    for every in (interval, "3 s"):
        for window in (80.0, 90.0):
            links = Links([BASE], interval=every, action="set-window", levels=(window, 2 * window))
            links.begin(0, np.random.default_rng(5), hashed=True)
            while not links.over()[0]:
                links.step(np.array([[0]]))
            hashes[every, window] = links.finish(0)["hash"]
    assert hashes[interval, 80.0] == hashes["3 s", 80.0] != hashes["3 s", 90.0]


def test_a_window_of_half_a_path_gives_half_of_the_link_and_no_queue() -> None:
    # 20 Mbit/s over 40 ms and 0.6 ms for a packet are 67.7 segments.
    scenario = BASE.replace({"duration": "6 s"})
    links = Links([scenario], interval="1 s", action="set-window", levels=(33.0, 110.0))
    links.begin(0, np.random.default_rng(5))
    links.step(np.array([[0]]))
    interval = links.step(np.array([[0]]))
    # A window more or less falls into the second.
    assert interval.delivered[0, 0] == pytest.approx(33 / 0.0406, abs=33)
    assert interval.rtt_s[0, 0] == pytest.approx(0.0406, rel=1e-9)
    assert interval.waiting[0, 0] == interval.dropped[0, 0] == interval.loss_ratio[0, 0] == 0
    # And one that path and buffer (101 segments) cannot hold all of it, a full queue, and losses.
    for _ in range(2):
        interval = links.step(np.array([[1]]))
    assert interval.throughput_bps[0, 0] == pytest.approx(20e6, rel=0.01)
    assert interval.rtt_s[0, 0] > 1.4 * 0.0406
    assert interval.dropped[0, 0] > 0 < interval.loss_ratio[0, 0]


def test_a_paced_flow_has_the_rate_that_was_set() -> None:
    scenario = BASE.replace({"duration": "6 s"})
    links = Links([scenario], interval="1 s", action="set-rate", levels=(5e6, 10e6))
    links.begin(0, np.random.default_rng(5))
    for level, rate in ((0, 5e6), (1, 10e6)):
        links.step(np.array([[level]]))
        interval = links.step(np.array([[level]]))
        # To a segment of the some hundreds in a second.
        assert interval.sent[0, 0] * 12_000 == pytest.approx(rate, rel=0.01)
        assert interval.rtt_s[0, 0] == pytest.approx(0.0406, rel=1e-6)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_vector_is_its_links_one_by_one(threads: int) -> None:
    links = [
        BASE.replace({"links[0].rate": rate, "duration": "0.9 s"}) for rate in ("5 Mbit/s", "20 Mbit/s", "90 Mbit/s")
    ]
    ours = LinkVectorEnv(links, interval="30 ms", threads=threads, **ALL)
    theirs = SyncVectorEnv([partial(LinkEnv, link, interval="30 ms", **ALL) for link in links])
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    chance = np.random.default_rng(1)
    (seen, info), (wanted, told) = ours.reset(seed=7), theirs.reset(seed=7)
    ends = 0
    for _ in range(70):  # two episodes of 30 steps, and more
        assert np.array_equal(seen, wanted)
        assert set(info) == set(told)
        assert all(np.array_equal(info[name], told[name]) for name in told)
        actions = chance.uniform(-1, 1, (3, 1)).astype(np.float32)
        seen, rewards, terminated, truncated, info = ours.step(actions)
        wanted, *rest, told = theirs.step(actions)
        assert [each.tolist() for each in (rewards, terminated, truncated)] == [each.tolist() for each in rest]
        ends += int(truncated.sum())
    assert ends == 6


def test_vectors_are_made_by_name_and_links_are_drawn_for_each_episode() -> None:
    def draw(chance: np.random.Generator) -> elephan.Scenario:
        return BASE.replace({"links[0].rate": f"{chance.integers(5, 100)} Mbit/s", "duration": "0.1 s"})

    env = gymnasium.make_vec("elephan/Link-v0", num_envs=2, interval="1 rtt")
    assert env.reset(seed=1)[0].shape == (2, 6)
    one = LinkEnv(draw, interval="100 ms")
    rates: list[int] = []
    for _ in range(4):
        one.reset(seed=1 if not rates else None)
        rates.append(one.links.scenarios[0].links[0]["rate_bps"])
        assert one.step(np.zeros(1, dtype=np.float32))[3]
    assert len(set(rates)) > 2
    again = LinkEnv(draw, interval="100 ms")
    again.reset(seed=1)
    assert again.links.scenarios[0].links[0]["rate_bps"] == rates[0]


def test_rewards_are_their_formulas_and_ones_own_is_taken() -> None:
    env = LinkEnv(BASE, reward=lambda it: it.throughput_bps / 1e6 - it.waiting, interval="100 ms")
    env.reset(seed=2)
    for _ in range(12):
        reward, info = env.step(np.ones(1, dtype=np.float32))[1::3]
    it = env.links.interval
    assert reward == info["throughput_bps"][0] / 1e6 - it.waiting[0, 0]
    assert it.loss_ratio[0, 0] > 0
    lost = it.retransmitted * it.segment_bits / it.step_s
    power = (it.throughput_bps - 5 * lost) / np.maximum(it.rtt_s, it.min_rtt_s)
    best = it.best_bps / it.min_rtt_s
    # Quotients in another order: to the last bits.
    assert elephan.gym.orca(it) == pytest.approx(power / best, rel=1e-12)
    segments = it.delivered / it.step_s
    wanted = 10 * segments - 1000 * it.rtt_s - 2000 * it.loss_ratio
    assert elephan.gym.aurora(it) == pytest.approx(wanted, rel=1e-12)
    assert isinstance(it, Interval)


def test_other_flows_keep_the_law_of_the_scenario() -> None:
    rival = 'name = "rival"\npath = ["bottleneck"]\nrtt = "40 ms"\ncontrol = { law = "cubic" }\n'
    scenario = elephan.Scenario.from_text(LINK.replace('"20 s"', '"3 s"') + "\n[[flows]]\n" + rival)
    env = LinkEnv(scenario, flows=["agent"], interval="1 rtt")
    env.reset(seed=1)
    assert env.action_space.shape == (1,)
    for _ in range(40):
        env.step(np.zeros(1, dtype=np.float32))
    flows = env.links.finish(0)["flows"]
    assert flows["cwnd_segments"][0] == pytest.approx(2.0)
    assert flows["cwnd_segments"][1] > 50
    assert LinkEnv(scenario).action_space.shape == (2,)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"action": "windw"}, "action: there is no 'windw'; did you mean \"window\"?"),
        ({"observe": ("los",)}, "observe: there is no feature 'los'; did you mean \"loss\"?"),
        ({"observe": ()}, "observe: is empty; give some of throughput"),
        ({"reward": "orc"}, "reward: there is no formula 'orc'; did you mean \"orca\"?"),
        ({"interval": "0 s"}, 'interval: 0 s is not a time above 0; give for example "10 ms" or "1 rtt"'),
        ({"interval": "ten rtt"}, "interval: ten rtt is not a time"),
        ({"levels": (0.0, 1.0)}, "levels: must be two numbers above 0 or more"),
        ({"most": 1.0}, "most: is 1; must be a factor above 1, for example 2"),
        ({"flows": ("agnt",)}, "flows: there is no group 'agnt'; did you mean \"agent\"?"),
    ],
)
def test_what_cannot_be_is_one_line(options: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as caught:
        LinkEnv(BASE, **options)
    assert str(caught.value).startswith(line)


def test_sessions_and_datagrams_cannot_be_driven_and_links_of_a_vector_have_as_many_flows() -> None:
    web = BASE.replace({"flows[0].traffic": {"kind": "web"}})
    with pytest.raises(InputError, match=r"flows: no group of .* has TCP flows that go on from start to end"):
        LinkEnv(web)
    with pytest.raises(InputError, match="flows: agent has no TCP flows that go on from start to end"):
        LinkEnv(web, flows=("agent",))
    with pytest.raises(InputError, match="scenarios: one link has 1 driven flow, another 4"):
        LinkVectorEnv([BASE, FOUR])
    env = LinkVectorEnv([BASE, BASE])
    with pytest.raises(InputError, match="seed: has 3 numbers for 2 links"):
        env.reset(seed=[1, 2, 3])


def test_a_policy_in_a_table_is_the_law_that_does_the_same() -> None:
    control = policy_law([10.0, 100.0], [1.1, 1.02], [0.5, 0.8], least=1.5)
    # A corner where 10 % are a segment and a half, a jump where the next row begins.
    knots = [(10.0, 1.5, 0.5), (15.0, 1.5, 0.5), (100.0, 10.0, 0.5), (100.0, 2.0, 0.2), (6400.0, 128.0, 0.2)]
    for (w, a, b), grown, cut in zip(knots, control["increase"], control["decrease"], strict=True):
        assert (*grown, cut[1]) == pytest.approx((w, a, b), rel=1e-5)
    for grow, keep, line in (
        ([1.0, 1.1], [0.5, 0.5], "grow: is 1 at a window of 10; must be above 1"),
        ([1.1, 1.1], [0.5, 1.0], "keep: is 1 at a window of 100; must be between 0 and 1"),
        ([1.1], [0.5, 0.5], "grow: has 1 factors for 2 windows"),
    ):
        with pytest.raises(InputError, match=line):
            policy_law([10.0, 100.0], grow, keep)


def test_without_gymnasium_it_is_one_line_and_the_rest_of_elephan_does_not_need_it() -> None:
    program = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "import importlib.util as u; found = u.find_spec\n"
        "u.find_spec = lambda name, package=None: None if name == 'gymnasium' else found(name, package)\n"
        "import elephan; elephan.run\n"
        "try:\n    import elephan.gym\nexcept elephan.InputError as error:\n    print(error)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    assert said.stdout == "elephan.gym needs gymnasium, not installed here; pip install 'elephan[gym]'\n"


@pytest.mark.slow
def test_a_learned_policy_and_the_law_that_is_made_of_it_do_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    left = runpy.run_path(str(EXAMPLES / "learned_policy.py"))
    assert len(capsys.readouterr().out.splitlines()) == 2
    links, best, measured = left["env"].links, left["value"].argmax(axis=-1), left["measured"]
    observation, _ = left["env"].reset(seed=99)
    over, bits, delays, seconds, events = False, 0.0, 0.0, 0.0, 0.0
    while not over:
        observation, _, _, over, info = left["env"].step(best[left["row"](observation)])
        if info["time_s"] > 10:
            step = links.interval.step_s[0, 0]
            bits += info["throughput_bps"][0] * step
            delays += (info["rtt_s"][0] - 0.04) * step
            seconds += step
            events += links.interval.loss_events[0, 0]
    learned, reno = measured["learned"], measured["reno"]
    # The agent grows in jumps and cuts at the next decision, the law with every ACK and at once: some thousandths of
    # the link, and up to a twentieth of the delay, as a cut that comes a round trip late leaves its queue for as long.
    # Reno is 3 points of utilization and 13 % of the delay away.
    assert bits / seconds / 100e6 == pytest.approx(learned["utilization"], abs=0.005)
    assert delays / seconds == pytest.approx(learned["queueing_delay_s"], rel=0.05)
    assert events > 3
    assert learned["utilization"] > reno["utilization"] + 0.02
    assert learned["queueing_delay_s"] < 0.9 * reno["queueing_delay_s"]
    # It pays with losses, as its reward lets it.
    assert reno["loss_ratio"] < learned["loss_ratio"] < 2e-3
