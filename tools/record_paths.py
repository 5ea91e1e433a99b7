"""Measurements of real senders over known paths, for `tests/data/paths/`: iperf3's JSON and the truth beside it.

    sudo python tools/record_paths.py FOLDER --runs 48 --seed 1
    sudo python tools/record_paths.py FOLDER --runs 8 --seed 2 --kind policer    (and jitter, crossing)

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

CROSSING = ("cubic", "reno")
"""Laws of crossing flows."""


def say(*words: object) -> None:
    """Print a line."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def drawn(rng: np.random.Generator, kind: str = "") -> dict[str, Any]:
    """Draw a path that the testbed can do: one link, bulk flows.

    `kind`: "policer", "jitter" behind drop-tail, or "crossing", flows of other laws and round-trip times beside.
    """

    def log_uniform(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    rate, rtt = log_uniform(5e6, 8e7), log_uniform(0.005, 0.1)
    buffer = max(round(log_uniform(0.15, 4.0) * rate * rtt / 8 / 1500), 5)
    discipline = str(rng.choice(["drop-tail", "red", "pie", "codel", "fq-codel"], p=[0.5, 0.1, 0.14, 0.14, 0.12]))
    if discipline in ("pie", "codel", "fq-codel"):
        buffer = max(buffer, 1000)
    found: dict[str, Any] = {
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
    if kind:
        # Of a policer the buffer is the burst.
        least = 5 if kind != "policer" else max(round(0.01 * rate / 12_000), 10)
        found["buffer_packets"] = max(round(log_uniform(0.15, 4.0) * rate * rtt / 8 / 1500), least)
        found |= {"discipline": "policer" if kind == "policer" else "drop-tail", "beside": 0}
    if kind == "jitter":
        found["jitter_s"] = round(log_uniform(1e-4, min(0.003, 0.1 * rtt)), 6)
    if kind == "crossing":
        found["crossing"] = [[law, int(rng.integers(1, 7)), round(rtt * log_uniform(1, 4), 6)] for law in CROSSING]
        found["beside"] = sum(count for _, count, _ in found["crossing"])
    return found


def scenario(path: dict[str, Any]) -> Scenario:
    """Return the scenario of a path."""
    law = {"bbr": "bbr1"}.get(path["law"], path["law"])
    rate, buffer, more = path["rate_bps"], path["buffer_packets"], ""
    if path["discipline"] == "policer":
        more = f'policer = {{ rate = "{rate} bit/s", burst = "{1500 * buffer} B" }}'
        rate, buffer = 4 * rate, 1000
    if "jitter_s" in path:
        more = f'jitter = {{ exponential = "{path["jitter_s"] * 1e6:.0f} us" }}'
    queue = f'{{ discipline = "{path["discipline"].replace("policer", "drop-tail")}" }}'
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
rate = "{rate} bit/s"
delay = "{path["rtt_s"] / 2 * 1e6:.0f} us"
buffer = "{buffer} packets"
queue = {queue}
{more}
[[flows]]
name = "measured"
path = ["bottleneck"]
rtt = {rtt}
tcp = {tcp}
control = {{ law = "{law}" }}
"""
    own = [[law, path["beside"], path["rtt_s"]]] if path["beside"] else []
    for number, (its, count, rtt_s) in enumerate(path.get("crossing", own)):
        text += f"""
[[flows]]
name = "beside{number}"
count = {count}
path = ["bottleneck"]
rtt = "{rtt_s * 1e6:.0f} us"
tcp = {tcp}
start = {{ from = "0 s", to = "1 s" }}
control = {{ law = "{its}" }}
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
    parser.add_argument("--kind", choices=["policer", "jitter", "crossing"], default="")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for number in range(asked.runs):
        path = drawn(np.random.default_rng([asked.seed, number]), asked.kind)
        kind = f"{asked.kind}-" if asked.kind else ""
        file = asked.folder / f"{kind}{asked.seed}-{number:03d}.json.gz"
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
