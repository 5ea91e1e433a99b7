"""Checks for superlinear costs: instructions per packet when the BDP, the flows or the losses per window double.

    python tools/scaling.py                          # every law x recovery x pacing (minutes; goes on where it was)
    python tools/scaling.py --only cubic --only rack # those that have both words

Each run has some flows with windows of a thousand segments from the start, whatever their law. Without random losses
they fill the link in a round trip, and the excess is lost at once; with random losses the windows of any law contain
some losses all the time. The cost of the same network in a millisecond is subtracted. Instructions are counted by
valgrind's callgrind, so that the load of the machine does not matter; the ten runs of a sender are in one process,
since valgrind's start takes longer than a run. The counts are kept in `target/scaling.json` until the program or this
file changes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import NamedTuple

from elephan.catalog import catalog

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target" / "release" / "examples" / "count"
RUN = "count::counted_run"
"""The program's function that makes one run."""

KEPT = ROOT / "target" / "scaling.json"

LIMIT = 1.3
"""Largest accepted ratio of instructions per packet after doubling; a logarithm needs less, linear growth gives 2."""

WINDOW = 1000
"""Initial window [segments], the largest possible."""

PACINGS = ("none", "linux", "quic")
NETWORKS: dict[str, dict[str, float]] = {
    "filled": {"rate_mbps": 1200, "flows": 4, "loss": 0.0},
    "bdp": {"rate_mbps": 2400, "flows": 4, "loss": 0.0},
    "flows": {"rate_mbps": 2400, "flows": 8, "loss": 0.0},
    "lossy": {"rate_mbps": 1200, "flows": 2, "loss": 0.005},
    "losses": {"rate_mbps": 1200, "flows": 2, "loss": 0.01},
}
"""Networks: a BDP of 4,000 packets at 40 ms; with twice the flows each keeps its share of it."""

DOUBLED = {"bdp": "filled", "flows": "filled", "losses": "lossy"}
"""Doubled quantities, and the network with which each is compared."""

DURATION_S, NOTHING_S = 0.4, 0.001

Count = Callable[[list[str]], list["Counted"]]


class Counted(NamedTuple):
    """Instructions of one run, and its sent data packets."""

    instructions: int
    packets: int


class Combination(NamedTuple):
    """A sender."""

    law: str
    recovery: str
    pacing: str


def combinations(only: list[str]) -> list[Combination]:
    """Return every sender with all of these words."""
    laws = [card["name"] for card in catalog("laws")]
    recoveries = [card["name"] for card in catalog("recoveries")]
    return [c for c in map(Combination._make, product(laws, recoveries, PACINGS)) if set(only) <= set(c)]


def scenario(sender: Combination, point: dict[str, float], duration_s: float) -> str:
    """Return a scenario file of one sender on one network."""
    loss = f"loss = {{ random = {point['loss']:g} }}" if point["loss"] else ""
    pacing = "" if sender.pacing == "none" else f', pacing = "{sender.pacing}"'
    return f"""
duration = "{duration_s:g} s"
warmup = "0 s"
[[links]]
name = "link"
rate = "{point["rate_mbps"]:g} Mbit/s"
delay = "10 ms"
buffer = "1 bdp"
{loss}
[[flows]]
name = "flows"
count = {point["flows"]:g}
path = ["link"]
rtt = {{ from = "36 ms", to = "44 ms" }}
access = {{ rate = "{2 * point["rate_mbps"]:g} Mbit/s" }}
packet = "1500 B"
control = {{ law = "{sender.law}" }}
recovery = "{sender.recovery}"
tcp = {{ initial_window = {WINDOW}, min_rto = "200 ms"{pacing} }}
"""


def by_callgrind(texts: list[str]) -> list[Counted]:
    """Run scenarios under callgrind, one after the other, each with a count of its own."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        words = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--dump-before={RUN}", str(PROGRAM)]
        text = "\n---\n".join(texts)
        done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            # The program's own line contains the reason for which a scenario is refused.
            said = [line for line in done.stderr.splitlines() if line and not line.startswith("==")]
            raise ValueError(said[-1] if said else f"exit code {done.returncode}")
        # The first file is the part before the first run, and the last one has no number.
        files = [*(Path(f"{out}.{run}") for run in range(2, len(texts) + 1)), out]
        totals = [int(file.read_text().rpartition("totals: ")[2]) for file in files]
    return [Counted(*row) for row in zip(totals, map(int, done.stdout.split()), strict=True)]


def ratios(sender: Combination, count: Count) -> dict[str, float]:
    """Return the ratios of instructions per packet after each doubling, and the instructions per packet."""
    points = list(product(NETWORKS, (DURATION_S, NOTHING_S)))
    counts = count([scenario(sender, NETWORKS[name], duration_s) for name, duration_s in points])
    of = dict(zip(points, counts, strict=True))
    costs = {}
    for name in NETWORKS:
        long, nothing = of[name, DURATION_S], of[name, NOTHING_S]
        costs[name] = (long.instructions - nothing.instructions) / max(1, long.packets - nothing.packets)
    return {"per_packet": costs["filled"], **{name: costs[name] / costs[base] for name, base in DOUBLED.items()}}


class Kept:
    """Stored counts of one program and one set of runs, in a file."""

    def __init__(self, path: Path, program: bytes) -> None:
        self.path, self.of = path, hashlib.blake2b(program, digest_size=16).hexdigest()
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.rows: dict[str, dict[str, float] | str] = found.get("rows", {}) if found.get("of") == self.of else {}

    def add(self, sender: Combination, row: dict[str, float] | str) -> None:
        """Store a row; the file is complete at any time."""
        self.rows[" ".join(sender)] = row
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({"of": self.of, "rows": self.rows}, indent=1), encoding="utf-8")
        new.replace(self.path)


def measure(senders: list[Combination], count: Count, kept: Kept, workers: int = 1) -> None:
    """Count for all senders without a count; a refused scenario is stored with its reason."""

    def one(sender: Combination) -> tuple[Combination, dict[str, float] | str]:
        try:
            return sender, ratios(sender, count)
        except ValueError as error:
            return sender, str(error)

    left = [sender for sender in senders if " ".join(sender) not in kept.rows]
    with ThreadPoolExecutor(workers) as pool:
        for done, (sender, row) in enumerate(pool.map(one, left), 1):
            kept.add(sender, row)
            sys.stderr.write(f"\r{done} of {len(left)}: {' '.join(sender):40}")
    if left:
        sys.stderr.write("\n")


def worst(kept: Kept, senders: list[Combination]) -> list[tuple[float, str, str, float]]:
    """Return (ratio, doubled quantity, sender, instructions per packet), the largest ratio first."""
    rows = [(" ".join(sender), kept.rows.get(" ".join(sender))) for sender in senders]
    found = [
        (row[name], name, sender, row["per_packet"])
        for sender, row in rows
        if isinstance(row, dict)
        for name in DOUBLED
    ]
    return sorted(found, reverse=True)


def say(line: str) -> None:
    """Put a line on stdout."""
    sys.stdout.write(f"{line}\n")


def report(kept: Kept, senders: list[Combination]) -> int:
    """Print the worst ratios; return 1 if any is above the limit."""
    found = worst(kept, senders)
    above = [row for row in found if row[0] >= LIMIT]
    say(f"{len(above)} of {len(found)} doublings multiply the instructions per packet by {LIMIT:g} or more; the worst:")
    for ratio, name, sender, cost in found[: max(10, min(len(above), 40))]:
        say(f"{ratio:6.2f}  {name:8} {sender:32} {cost:8.0f} instructions a packet")
    refused = [row for sender in senders if isinstance(row := kept.rows.get(" ".join(sender)), str)]
    for reason in sorted(set(refused)):
        say(f"not asked ({refused.count(reason)} senders): {reason}")
    return 1 if above or not found else 0


def main(arguments: list[str] | None = None) -> int:
    """Count, and print the worst ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="a law, recovery or pacing")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="runs at the same time")
    asked = parser.parse_args(arguments)
    if shutil.which("valgrind") is None:
        sys.stderr.write("make scaling counts instructions with valgrind, which is not on the path; install it" + "\n")
        return 2
    if not (senders := combinations(asked.only)):
        sys.stderr.write(f"--only {' '.join(asked.only)}: no law, recovery and pacing have these names" + "\n")
        return 2
    if not PROGRAM.exists():
        sys.stderr.write("make scaling builds what is counted: cargo build --release -p elephan --example count" + "\n")
        return 2
    kept = Kept(KEPT, PROGRAM.read_bytes() + Path(__file__).read_bytes())
    measure(senders, by_callgrind, kept, asked.workers)
    return report(kept, senders)


if __name__ == "__main__":
    sys.exit(main())
