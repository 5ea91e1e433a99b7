"""Writes the table of Linux's own senders into docs/guide/real-stacks.md: the kernel compared with the simulator.

    sudo -E python evidence/real_stacks.py                   # runs what is missing, then writes the table
    sudo -E python evidence/real_stacks.py --laws reno --flows 1 --buffers 33,167
    python evidence/real_stacks.py --no-run                  # writes the table of what is there

A cell takes a minute and a half. The kernel's results are stored in `tests/data/real_stacks.json` after each cell, so
that an interrupted run continues where it stopped; simulations are repeated each time. Beside them is a null, the
simulation of a sender that differs from the kernel's: unpaced if the kernel paces, paced if it does not, without bursts
if it sends some, and BBR version 3 for version 1. If the null is as near, the cell does not show anything about pacing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import elephan
from elephan.comparisons.comparison import measured

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "scenarios" / "testbed-senders.toml"
PAGE = ROOT / "docs" / "guide" / "real-stacks.md"
KEPT = ROOT / "tests" / "data" / "real_stacks.json"
BEGIN, END = "<!-- begin: evidence/real_stacks.py -->", "<!-- end: evidence/real_stacks.py -->"

LAWS: dict[str, Any] = {
    "reno": {"law": "reno"},
    "cubic": {"law": "cubic", "variant": "linux"},
    "bbr": {"law": "bbr1"},
}
"""Laws by the kernel's names."""

WAYS: dict[str, dict[str, Any]] = {
    "unpaced": {"flows[0].tcp.burst": "none"},
    "paced": {"flows[0].tcp.pacing": "linux", "flows[0].tcp.burst": "none"},
    "bursts": {"flows[0].tcp.burst": "linux"},
    "paced bursts": {"flows[0].tcp.pacing": "linux", "flows[0].tcp.burst": "linux"},
}
"""Settings of senders besides the law, by way of sending."""

NULLS = {"unpaced": "paced", "paced": "unpaced", "bursts": "unpaced", "paced bursts": "unpaced"}
"""Wrong way of sending for each way of the kernel; for BBR, which always paces, version 3 is the wrong law."""

PACED_BY_LINUX = {"flows[0].tcp.pacing": "linux"}
"""Setting of BBR for every way: Linux spaces the packets of a law with its own rate like all others."""

SEEDS = 15
"""Simulated runs of a cell of several flows, which differ by chance; their mean is compared."""

BUFFERS, FLOWS, RATE = (33, 83, 167, 333), (1, 4), 40
FASTER = (("reno", "unpaced", 1, 83, 100), ("cubic", "paced bursts", 4, 167, 100), ("bbr", "bursts", 1, 167, 100))
"""Cells at another rate [Mbit/s]."""

QUANTITIES = ("utilization", "period_s", "loss_ratio")
LIMITS = {"utilization": 0.01, "period_s": 0.05, "loss_ratio": 0.05}
"""Gaps above these are printed bold, and the page explains them."""


@dataclass(frozen=True)
class Cell:
    """Law, way of sending, number of flows, buffer [packets], and rate [Mbit/s]."""

    law: str
    way: str
    flows: int
    buffer: int
    mbps: int = RATE

    @property
    def key(self) -> str:
        """Key of its numbers in the file of results."""
        rate = "" if self.mbps == RATE else f", {self.mbps} Mbit/s"
        return f"{self.law}, {self.way}, {self.flows}, {self.buffer}{rate}"

    def changes(self) -> dict[str, Any]:
        """Changes of the scenario."""
        return {
            "links[0].buffer": f"{self.buffer} packets",
            "links[0].rate": f"{self.mbps} Mbit/s",
            "flows[0].count": self.flows,
            "flows[0].control": LAWS[self.law],
            # The kernel's socket buffers were large.
            "flows[0].tcp.receive_window": "none",
            **WAYS[self.way],
            **(PACED_BY_LINUX if self.law == "bbr" else {}),
        }

    def null(self) -> dict[str, Any]:
        """Changes of the scenario for a sender that differs from the kernel's."""
        if self.law == "bbr":
            return self.changes() | {"flows[0].control": {"law": "bbr3"}}
        return replace(self, way=NULLS[self.way]).changes()

    def run(self) -> str:
        """Compare, and store the result; return an objection, if there is one."""
        changes = {place: value if isinstance(value, str) else toml(value) for place, value in self.changes().items()}
        settings = [word for place, value in changes.items() for word in ("--set", f"{place}={value}")]
        command = [sys.executable, "-m", "elephan", "compare", str(SCENARIO), *settings, "--json", "-q"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "the run was not valid"
        rows = {each["name"]: each["testbed"] for each in json.loads(done.stdout)["rows"]}
        if self.law == "bbr":
            rows["period_s"] = None  # The interval between phases of ProbeRTT, not between losses as in older cells.
        found = kept() | {
            self.key: {name: rows[name] for name in QUANTITIES} | {"kernel": platform.release().partition("-")[0]}
        }
        unfinished = KEPT.with_suffix(".part")
        unfinished.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        unfinished.rename(KEPT)
        return ""


def kept() -> dict[str, dict[str, Any]]:
    """Return the kernel's results so far, by cell."""
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def toml(value: Any) -> str:
    """Format a number or a table as in a scenario file."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {json.dumps(each)}" for name, each in value.items()) + " }"
    return str(value)


def row(cell: Cell) -> str | None:
    """Return the row of a cell that was run."""
    measured = kept().get(cell.key)
    if measured is None:
        return None
    ours, wrong = simulated(cell, cell.changes()), simulated(cell, cell.null())
    said = [cell.law, cell.way, str(cell.flows), str(cell.buffer) + (", 100 Mbit/s" if cell.mbps != RATE else "")]
    for name in QUANTITIES:
        real = measured[name]
        said.append(written(name, real, ours[name]) + f" | {apart(name, real, wrong[name])}")
    return "| " + " | ".join(said) + " |"


def simulated(cell: Cell, changes: dict[str, Any]) -> dict[str, float]:
    """Simulate a cell with the current simulator."""
    seeds = SEEDS if cell.flows > 1 else 1
    scenario = elephan.Scenario.from_file(SCENARIO).replace({**changes, "replications": seeds})
    # As the kernel's stored periods were measured, those of BBR too.
    return measured(elephan.compare(scenario, real=False).simulated, cuts=True)


def written(name: str, real: float | None, ours: float | None) -> str:
    """Format the kernel's value, and the gap of the simulator."""
    if real is None:
        return "-"
    value = {"utilization": f"{100 * real:.1f}", "period_s": f"{real:.2f} s", "loss_ratio": f"{100 * real:.3g} %"}[name]
    return f"{value} ({apart(name, real, ours, LIMITS[name])})"


def apart(name: str, real: float | None, ours: float | None, limit: float = float("inf")) -> str:
    """Format the gap to the kernel: points of utilization, per cent of the others; bold above a limit."""
    if real is None or ours is None or not real:
        return "-"
    gap = ours - real if name == "utilization" else ours / real - 1
    said = f"{100 * gap:+.1f}" + ("" if name == "utilization" else " %")
    return f"**{said}**" if abs(gap) > limit else said


def table(cells: list[Cell]) -> str:
    """Return the whole table, and the cells that are missing."""
    found = {cell: row(cell) for cell in cells}
    lines = [
        "| law | senders | flows | buffer | utilization [points] | wrong sender | period | wrong sender | loss "
        "| wrong sender |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        *(line for line in found.values() if line is not None),
    ]
    lines += ["", f"{sum(line is not None for line in found.values())} of {len(found)} cells were run."]
    return "\n".join(lines)


def chosen(arguments: argparse.Namespace) -> list[Cell]:
    """Return the requested cells."""
    pick = (arguments.laws, arguments.ways, arguments.flows, arguments.buffers)
    cells = [Cell(law, way, flows, buffer) for law, way, flows, buffer in itertools.product(*pick)]
    return cells + [cell for cell in faster() if arguments.faster]


def faster() -> list[Cell]:
    """Return the cells at another rate."""
    return [Cell(*each) for each in FASTER]


def words(text: str) -> list[str]:
    """Split names at commas."""
    return [word.strip() for word in text.split(",")]


def numbers(text: str) -> list[int]:
    """Split numbers at commas."""
    return [int(word) for word in text.split(",")]


def main() -> None:
    """Make the missing runs, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--laws", type=words, default=list(LAWS))
    parser.add_argument("--ways", type=words, default=list(WAYS))
    parser.add_argument("--flows", type=numbers, default=list(FLOWS))
    parser.add_argument("--buffers", type=numbers, default=list(BUFFERS))
    parser.add_argument("--no-faster", dest="faster", action="store_false", help="without those at 100 Mbit/s")
    parser.add_argument("--no-run", action="store_true")
    arguments = parser.parse_args()
    missing = [] if arguments.no_run else [cell for cell in chosen(arguments) if cell.key not in kept()]
    began = time.monotonic()
    for number, cell in enumerate(missing):
        wrong = cell.run()
        minutes = (time.monotonic() - began) / 60 / (number + 1) * (len(missing) - number - 1)
        left = f"{len(missing) - number - 1} cells, about {minutes:.0f} min left"
        sys.stderr.write(f"{cell.law} {cell.way}, {cell.flows} behind {cell.buffer}: {wrong or 'kept'}; {left}\n")
    whole = [Cell(*each) for each in itertools.product(LAWS, WAYS, FLOWS, BUFFERS)] + faster()
    page = PAGE.read_text(encoding="utf-8")
    head, rest = page.split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n\n{table(whole)}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
