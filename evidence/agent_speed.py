"""Measures the number of agent decisions per second in the gym environment: one flow that fills 1 Gbit/s at 100 ms.

    python evidence/agent_speed.py

It uses CPU seconds and the best of some runs, gymnasium's interface included. The cost of ns-3 for the same link is in
crates/sim/tests/references/ns3/decisions.cc.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from elephan.gym import LINK, LinkEnv, LinkVectorEnv
from elephan.scenario import Scenario

LINKS = 16
RUNS = 3
BASE = Scenario.from_text(LINK).replace(
    {"links[0].rate": "1 Gbit/s", "links[0].buffer": "1 bdp", "flows[0].rtt": "100 ms", "duration": "1000 s"}
)
WINDOW = 8333.0
"""Window of the flow, the segments on the path."""


def per_second(interval: str, action: str, steps: int, links: int = 0) -> float:
    """Return the decisions per CPU second for one link, or for several in one environment."""
    hold = WINDOW if action == "set-window" else 0.99e9
    options: dict[str, Any] = {"interval": interval, "action": action, "levels": (hold, 2 * hold)}
    env = LinkVectorEnv([BASE] * links, **options) if links else LinkEnv(BASE, **options)
    action_of = np.zeros(links, dtype=np.int64) if links else 0
    env.reset(seed=1)
    for _ in range(steps // 4 + 5):
        env.step(action_of)
    best = 0.0
    for _ in range(RUNS):
        begun = time.process_time()
        for _ in range(steps):
            env.step(action_of)
        best = max(best, steps * max(links, 1) / (time.process_time() - begun))
    share = float(np.min(env.links.interval.throughput_bps)) / 1e9
    if share < 0.95:
        message = f"the link is not busy: {share:.3f}"
        raise SystemExit(message)
    return best


def main() -> None:
    """Print a row for each environment."""
    for interval, steps in (("10 ms", 2000), ("1 rtt", 400)):
        for action in ("set-window", "set-rate"):
            one = per_second(interval, action, steps)
            sys.stdout.write(f"{interval:6} {action:11} one link  {one:8.0f} decisions/s\n")
        many = per_second(interval, "set-window", max(steps // LINKS, 30), LINKS)
        sys.stdout.write(f"{interval:6} set-window {LINKS:2} links  {many:8.0f} decisions/s\n")


if __name__ == "__main__":
    main()
