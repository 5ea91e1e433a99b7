"""Measurements of real senders over known paths, for `tests/data/paths/`: iperf3's JSON and the truth beside it.

    sudo python tools/record_paths.py FOLDER --runs 48 --seed 1

Each run is Linux's own TCP through the testbed (root, iperf3). A run in which the relay was late is repeated, and
left out if it is late three times. Paths are drawn with the seed; nothing of them depends on what `elephan infer` says.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from elephan.errors import InputError
from elephan.scenario import Scenario
from elephan.testbed import replication, traffic
from elephan.testbed.plan import plan

RUN_S = 13


def say(*words: object) -> None:
    """Print a line."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def drawn(rng: np.random.Generator) -> dict[str, Any]:
    """Draw a path that the testbed can do: one link, bulk flows."""

    def log_uniform(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    rate, rtt = log_uniform(5e6, 8e7), log_uniform(0.005, 0.1)
    buffer = max(round(log_uniform(0.15, 4.0) * rate * rtt / 8 / 1500), 5)
    discipline = str(rng.choice(["drop-tail", "red", "pie", "codel", "fq-codel"], p=[0.5, 0.1, 0.14, 0.14, 0.12]))
    if discipline in ("pie", "codel", "fq-codel"):
        buffer = max(buffer, 1000)
    return {
        "rate_bps": round(rate),
        "rtt_s": round(rtt, 6),
        "buffer_packets": int(buffer),
        "discipline": discipline,
        "law": str(rng.choice(["cubic", "reno", "bbr"], p=[0.6, 0.2, 0.2])),
        "beside": int(rng.choice([0, 1, 2, 4], p=[0.68, 0.16, 0.1, 0.06])),
        "pacing": str(rng.choice(["none", "linux"])),
        "burst": str(rng.choice(["none", "linux"])),
        "delayed_ack": int(rng.choice([1, 2])),
    }


def scenario(path: dict[str, Any]) -> Scenario:
    """Return the scenario of a path."""
    law = {"bbr": "bbr1"}.get(path["law"], path["law"])
    queue = f'{{ discipline = "{path["discipline"]}" }}'
    if path["discipline"] == "red":
        low = max(path["buffer_packets"] / 12, 2)
        queue = f'{{ discipline = "red", min_th = {low:.4g}, max_th = {3 * low:.4g} }}'
    if path["discipline"] == "pie":
        queue = '{ discipline = "pie", profile = "linux" }'
    tcp = (
        f'{{ profile = "linux", pacing = "{path["pacing"]}", burst = "{path["burst"]}", '
        f"delayed_ack = {path['delayed_ack']} }}"
    )
    rtt = f'"{path["rtt_s"] * 1e6:.0f} us"'
    text = f"""
duration = "{RUN_S} s"
record = {{ every = "100 ms" }}
[[links]]
name = "bottleneck"
rate = "{path["rate_bps"]} bit/s"
delay = "{path["rtt_s"] / 2 * 1e6:.0f} us"
buffer = "{path["buffer_packets"]} packets"
queue = {queue}
[[flows]]
name = "measured"
path = ["bottleneck"]
rtt = {rtt}
tcp = {tcp}
control = {{ law = "{law}" }}
"""
    if path["beside"]:
        text += f"""
[[flows]]
name = "beside"
count = {path["beside"]}
path = ["bottleneck"]
rtt = {rtt}
tcp = {tcp}
start = {{ from = "0 s", to = "1 s" }}
control = {{ law = "{law}" }}
"""
    return Scenario.from_text(text, "drawn")


def trimmed(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of iperf3 without what names the machine, and without sums."""
    kept = ("socket", "start", "end", "seconds", "bytes", "retransmits", "snd_cwnd", "snd_wnd", "rtt", "rttvar")
    begin, end = document["start"], document["end"]
    return {
        "start": {key: begin[key] for key in ("version", "tcp_mss_default", "test_start")},
        "intervals": [
            {
                "streams": [
                    {key: one[key] for key in (*kept, "omitted", "sender") if key in one} for one in row["streams"]
                ]
            }
            for row in document["intervals"]
        ],
        "end": {"sender_tcp_congestion": end.get("sender_tcp_congestion")},
    }


def record(path: dict[str, Any]) -> dict[str, Any] | None:
    """Run a path once; None if the relay was late."""
    taken: list[str] = []
    reader = traffic.read

    def keeping(sent: str, received: str, name: str) -> Any:
        taken.append(sent)
        return reader(sent, received, name)

    # The testbed keeps what it needs of the reports; here they are wanted as they are.
    vars(replication)["read"] = keeping
    try:
        _, recorded = replication.replicate(plan(scenario(path)))
    finally:
        vars(replication)["read"] = reader
    if recorded["objection"]:
        say("  not valid:", recorded["objection"])
        return None
    return trimmed(json.loads(taken[0]))


def main() -> None:
    """Record paths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=48)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for number in range(asked.runs):
        path = drawn(np.random.default_rng([asked.seed, number]))
        file = asked.folder / f"{asked.seed}-{number:03d}.json.gz"
        if file.exists():
            continue
        for _ in range(3):
            try:
                found = record(path)
            except InputError as error:
                say("  failed:", error)
                continue
            if found is not None:
                text = json.dumps({"truth": path, **found}, separators=(",", ":"))
                # No time and no name: the same bytes for the same run.
                file.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
                say(file.name, path)
                break


if __name__ == "__main__":
    main()
