"""Measures the CPU time per ACK under a law in Python, from the difference of two lengths of a run.

    python evidence/own_law_speed.py

Eight flows on 1 Gbit/s and 100 ms start with windows of their share and have no losses, under Reno's growth: built in,
called for each round trip, called for each ACK. The time is that of the whole simulation, so the first row is the
baseline of the others.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from elephan import own_laws
from elephan.runs.outcome import simulate
from elephan.scenario import Scenario

WINDOW = 1000
SCENARIO = f"""
duration = "{{duration}} s"
links = [{{{{ name = "core", rate = "1 Gbit/s", delay = "10 ms", buffer = "unlimited" }}}}]
[[flows]]
count = 8
path = ["core"]
rtt = "100 ms"
control = "{{law}}"
tcp = {{{{ initial_window = {WINDOW}, initial_ssthresh = 2 }}}}
"""
LENGTHS_S = (10, 30)
RUNS = 3


class EachAck:
    """Reno, called for each ACK."""

    def __init__(self) -> None:
        self.cwnd = float(WINDOW)

    def on_ack(self, ack: Any) -> None:
        """Increase the window."""
        self.cwnd += ack.acked / self.cwnd


class EachRound:
    """Reno, called for each round trip."""

    def __init__(self) -> None:
        self.cwnd = float(WINDOW)

    def on_rtt_round(self, _: Any) -> None:
        """Increase the window."""
        self.cwnd += 1.0


def cost_ns(law: str) -> float:
    """Measure the CPU time per delivered packet [ns]."""
    texts = [SCENARIO.format(duration=duration, law=law) for duration in LENGTHS_S]
    with own_laws.declared({"each-ack": EachAck, "each-round": EachRound}):
        scenarios = [Scenario.from_text(text) for text in texts]
    best = []
    for scenario in scenarios:
        took = []
        for _ in range(RUNS):
            begun = time.process_time()
            outcome = simulate(scenario, 0)
            took.append(time.process_time() - begun)
        best.append((min(took), outcome.balance["delivered"]))
    (short_s, few), (long_s, many) = best
    return 1e9 * (long_s - short_s) / (many - few)


def main() -> None:
    """Print a row for each law."""
    for law in ("reno", "each-round", "each-ack"):
        sys.stdout.write(f"{law:12} {cost_ns(law):8.1f} ns\n")


if __name__ == "__main__":
    main()
