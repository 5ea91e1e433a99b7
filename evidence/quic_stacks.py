"""Writes the tables of docs/guide/quic-stacks.md: controls of QUIC stacks on the links where the kernel was measured.

    make quic                               # builds elephan-quic
    python evidence/quic_stacks.py             # runs what is missing (some minutes), then writes the page
    python evidence/quic_stacks.py --no-run    # writes the page from what is kept
    python evidence/quic_stacks.py --again     # runs everything again, after a new version of a stack or of elephan

The results are kept in `tests/data/quic_stacks.json`, run by run; the kernel's numbers are those of
`tests/data/real_stacks.json`, which `evidence/real_stacks.py` measured on the same links.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from elephan.comparisons.sawtooth import sawtooth_statistics

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "scenarios" / "testbed-senders.toml"
PROGRAM = ROOT / "adapters" / "quic" / "target" / "release" / "elephan-quic"
PAGE = ROOT / "docs" / "guide" / "quic-stacks.md"
KEPT = ROOT / "tests" / "data" / "quic_stacks.json"
KERNEL = ROOT / "tests" / "data" / "real_stacks.json"

BUFFERS, FLOWS, RTT_S = (33, 167, 333), (1, 4), 0.04
RUNS = 2
"""Replications of a cell whose runs differ by chance; the table shows their means."""

LINUX = {"profile": "linux", "delayed_ack": 1, "burst": "linux"}
QUIC = {"profile": "linux", "delayed_ack": 2, "pacing": "quic", "initial_window": 10}
CUBIC = {"law": "cubic", "variant": "rfc9438"}
"""Cubic in the stacks' version: under Linux's profile the name alone would mean Linux's."""


@dataclass(frozen=True)
class System:
    """A sender: the law of `elephan-quic`, changes of the flow, and options of the program."""

    name: str
    law: str
    flow: dict[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ()


def own(law: dict[str, Any], tcp: dict[str, Any]) -> dict[str, Any]:
    """Make a flow of elephan's own: a law, and settings of its TCP."""
    return {"control": law, "tcp": tcp, "recovery": "rack"}


SYSTEMS: dict[str, list[System]] = {
    "reno": [
        System("elephan, as Linux", "elephan", own({"law": "reno"}, LINUX)),
        System("elephan, as QUIC", "elephan", own({"law": "reno"}, QUIC)),
        System("quinn", "quinn/reno"),
        System("noq", "noq/reno"),
    ],
    "cubic": [
        System("elephan, as Linux", "elephan", own({"law": "cubic", "variant": "linux"}, LINUX)),
        System("elephan, as QUIC", "elephan", own(CUBIC, QUIC)),
        System("quinn", "quinn/cubic"),
        System("noq", "noq/cubic"),
        System("s2n-quic in elephan", "s2n/cubic", own(CUBIC, QUIC)),
    ],
    "bbr": [
        System("elephan, version 1 as Linux", "elephan", own({"law": "bbr1"}, LINUX | {"pacing": "linux"})),
        System("elephan, version 3", "elephan", own({"law": "bbr3"}, LINUX | {"burst": "none"})),
        System("quinn (version 1)", "quinn/bbr"),
        System("noq (version 3)", "noq/bbr"),
        System("s2n-quic in elephan (version 2)", "s2n/bbr", own(CUBIC, QUIC)),
    ],
}
KERNEL_WAY = "bursts"
"""Way of sending in the kernel's cells: Linux's default, with segmentation offload and pacing only for BBR."""

EXPERIMENTS: dict[str, list[System]] = {
    "pace": [
        System("noq's CUBIC", "noq/cubic"),
        System("noq's CUBIC without pacing", "noq/cubic", options=("--unpaced",)),
        System("noq's NewReno", "noq/reno"),
        System("noq's NewReno without pacing", "noq/reno", options=("--unpaced",)),
        System("elephan's Reno, QUIC's pacing", "elephan", own({"law": "reno"}, QUIC)),
        System("elephan's Reno without pacing", "elephan", own({"law": "reno"}, QUIC | {"pacing": "none"})),
        System("quinn's CUBIC", "quinn/cubic"),
        System("quinn's CUBIC, one datagram at a time", "quinn/cubic", options=("--offload", "1")),
        System("elephan's CUBIC, QUIC's pacing", "elephan", own(CUBIC, QUIC)),
        System("elephan's CUBIC without pacing", "elephan", own(CUBIC, QUIC | {"pacing": "none"})),
    ],
    "acks": [
        System("quinn's CUBIC, an ACK for every packet", "quinn/cubic", options=("--ack-every", "1")),
        System("quinn's CUBIC, for every second", "quinn/cubic"),
        System("quinn's CUBIC, for every tenth", "quinn/cubic", options=("--ack-every", "10")),
        System("noq's NewReno, an ACK for every packet", "noq/reno", options=("--ack-every", "1")),
        System("noq's NewReno, for every second", "noq/reno"),
        System("elephan's Reno, for every packet", "elephan", own({"law": "reno"}, QUIC | {"delayed_ack": 1})),
        System(
            "elephan's Reno, for every packet, without pacing",
            "elephan",
            own({"law": "reno"}, QUIC | {"delayed_ack": 1, "pacing": "none"}),
        ),
        System("elephan's Reno, for every second", "elephan", own({"law": "reno"}, QUIC)),
    ],
    "law": [
        System("noq's CUBIC", "noq/cubic"),
        System("elephan's CUBIC in noq", "noq/elephan", {"control": CUBIC}),
        System("elephan's CUBIC of Linux in noq", "noq/elephan", {"control": {"law": "cubic", "variant": "linux"}}),
        System("noq's NewReno", "noq/reno"),
        System("elephan's Reno in noq", "noq/elephan", {"control": {"law": "reno"}}),
    ],
}
EXPERIMENT_BUFFERS = (33,)


@dataclass(frozen=True)
class Cell:
    """A system on a link: the number of flows, and the buffer [packets]."""

    system: System
    flows: int
    buffer: int

    @property
    def runs(self) -> int:
        """Number of replications: several if they differ by chance."""
        return RUNS if self.flows > 1 or self.system.law in ("quinn/bbr", "noq/bbr") else 1

    def key(self, replication: int) -> str:
        """Return the key of a run in the file of results."""
        flow = json.dumps(self.system.flow, sort_keys=True)
        return " | ".join(
            [self.system.law, " ".join(self.system.options), flow, str(self.flows), str(self.buffer), str(replication)]
        )

    def scenario(self) -> str:
        """Return the text of its scenario: that of the kernel's cells, with this link and these flows."""
        base = tomllib.loads(SCENARIO.read_text(encoding="utf-8"))
        base["links"][0]["buffer"] = f"{self.buffer} packets"
        base["flows"][0] |= {"count": self.flows} | self.system.flow
        tables = {name: base.pop(name) for name in ("links", "flows")}
        lines = [f"{name} = {toml(value)}" for name, value in base.items()]
        for name, (table,) in tables.items():
            lines += [f"[[{name}]]", *(f"{key} = {toml(value)}" for key, value in table.items())]
        return "\n".join(lines) + "\n"

    def run(self, replication: int) -> dict[str, Any]:
        """Run one replication."""
        words = [
            str(PROGRAM),
            "run",
            "-",
            "--law",
            self.system.law,
            "--replication",
            str(replication),
            *self.system.options,
        ]
        done = subprocess.run(words, input=self.scenario(), capture_output=True, text=True, check=False)
        if done.returncode:
            message = f"{self.key(replication)}: {done.stderr.strip()}"
            raise RuntimeError(message)
        return digest(json.loads(done.stdout))


def digest(found: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a run that is kept."""
    link, flows = found["links"][0], found["flows"]
    goodput = np.array([flow["goodput_bps"] for flow in flows])
    warm = round(15 / found["every_s"])
    periods = []
    for flow in flows:
        windows = np.array(flow["cwnd_segments"][warm:])
        times = found["every_s"] * np.arange(windows.size)
        periods.append(sawtooth_statistics(times, windows, RTT_S + link["queueing_delay_s"]).period_s)
    known = [period for period in periods if np.isfinite(period)]
    return {
        "version": found["version"],
        "utilization": round(link["utilization"], 5),
        "loss_ratio": float(f"{link['loss_ratio']:.4g}"),
        "queueing_delay_s": round(link["queueing_delay_s"], 6),
        "jain": round(float(goodput.sum() ** 2 / (goodput.size * (goodput**2).sum())), 4),
        "period_s": round(float(np.mean(known)), 3) if known else None,
    }


def toml(value: Any) -> str:
    """Format a value as in a scenario file."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml(each)}" for name, each in value.items()) + " }"
    return json.dumps(value)


def cells() -> list[Cell]:
    """Return all cells, each once."""
    found = [Cell(s, n, b) for each in SYSTEMS.values() for s in each for n in FLOWS for b in BUFFERS]
    found += [Cell(s, n, b) for each in EXPERIMENTS.values() for s in each for n in FLOWS for b in EXPERIMENT_BUFFERS]
    return list({cell.key(0): cell for cell in found}.values())


def kept() -> dict[str, Any]:
    """Return the results of earlier runs."""
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def keep(found: dict[str, Any]) -> None:
    """Write the results, completely or not at all."""
    unfinished = KEPT.with_suffix(".part")
    unfinished.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", encoding="utf-8")
    unfinished.rename(KEPT)


def run_missing(found: dict[str, Any], workers: int) -> None:
    """Make the missing runs."""
    wanted = {cell.key(i): (cell, i) for cell in cells() for i in range(cell.runs)}
    for stale in found.keys() - wanted.keys():
        del found[stale]
    missing = [(key, *run) for key, run in wanted.items() if key not in found]
    with ThreadPoolExecutor(workers) as pool:
        for number, (key, result) in enumerate(pool.map(lambda each: (each[0], each[1].run(each[2])), missing)):
            found[key] = result
            keep(found)
            sys.stderr.write(f"{len(missing) - number - 1} left: {key}\n")


def mean(found: dict[str, Any], cell: Cell) -> dict[str, Any] | None:
    """Return the means of a cell, and the range of its runs' utilizations; `None` if it was not run."""
    runs = [found.get(cell.key(i)) for i in range(cell.runs)]
    if None in runs:
        return None
    names = ("utilization", "loss_ratio", "queueing_delay_s", "jain", "period_s")
    columns = {name: [run[name] for run in runs if run and run[name] is not None] for name in names}
    return {name: float(np.mean(values)) if values else None for name, values in columns.items()}


def numbers(row: dict[str, Any], flows: int) -> list[str]:
    """Return the columns of a row."""
    delay, jain, period = row.get("queueing_delay_s"), row.get("jain"), row.get("period_s")
    return [
        f"{100 * row['utilization']:.1f}",
        f"{100 * row['loss_ratio']:.3g} %",
        "-" if delay is None else f"{1e3 * delay:.1f} ms",
        "-" if jain is None or flows == 1 else f"{jain:.2f}",
        "-" if period is None else f"{period:.1f} s",
    ]


HEAD = "used [%] | loss | queue | Jain | period |"


def ranking(found: dict[str, Any], law: str, flows: int) -> list[str]:
    """Make a table for each law and number of flows: for each buffer the systems, by printed utilization, then loss."""
    lines = [f"| buffer | sender | {HEAD}", "|--:|---|--:|--:|--:|--:|--:|"]
    kernel = json.loads(KERNEL.read_text(encoding="utf-8"))
    for buffer in BUFFERS:
        rows = [(s.name, mean(found, Cell(s, flows, buffer))) for s in SYSTEMS[law]]
        measured = kernel.get(f"{law}, {KERNEL_WAY}, {flows}, {buffer}")
        rows.append((f"Linux {measured['kernel']}" if measured else "", measured))
        known = [(name, row) for name, row in rows if row]
        known.sort(key=lambda each: (-float(f"{100 * each[1]['utilization']:.1f}"), each[1]["loss_ratio"]))
        for i, (name, row) in enumerate(known):
            lines.append(f"| {buffer if i == 0 else ''} | {name} | " + " | ".join(numbers(row, flows)) + " |")
    return lines


def experiment(found: dict[str, Any], name: str) -> list[str]:
    """Make the table of an experiment."""
    lines = [f"| flows | buffer | sender | {HEAD}", "|--:|--:|---|--:|--:|--:|--:|--:|"]
    for flows in FLOWS:
        for buffer in EXPERIMENT_BUFFERS:
            for system in EXPERIMENTS[name]:
                row = mean(found, Cell(system, flows, buffer))
                if row:
                    lines.append(f"| {flows} | {buffer} | {system.name} | " + " | ".join(numbers(row, flows)) + " |")
    return lines


def versions(found: dict[str, Any]) -> list[str]:
    """List the versions of the stacks in the results."""
    stacks = {key.split("/")[0]: run["version"] for key, run in sorted(found.items()) if "/" in key.split(" |")[0]}
    return ["Versions: " + ", ".join(f"{name} {version}" for name, version in stacks.items()) + "."]


def write_page(found: dict[str, Any]) -> None:
    """Insert every table at its place on the page."""
    page = PAGE.read_text(encoding="utf-8")
    parts = {f"{law} {flows}": ranking(found, law, flows) for law in SYSTEMS for flows in FLOWS}
    parts |= {name: experiment(found, name) for name in EXPERIMENTS}
    parts["versions"] = versions(found)
    for name, lines in parts.items():
        begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
        head, rest = page.split(begin)
        page = "\n".join([head + begin, "", *lines, "", end]) + rest.split(end)[1]
    PAGE.write_text(page, encoding="utf-8")


def main() -> None:
    """Make the missing runs, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-run", action="store_true")
    parser.add_argument("--again", action="store_true", help="all of it, whatever is kept")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    found = {} if arguments.again else kept()
    if not arguments.no_run:
        if not PROGRAM.exists():
            sys.exit(f"{PROGRAM.relative_to(ROOT)}: is not there; make quic builds it")
        run_missing(found, arguments.workers)
    write_page(found)


if __name__ == "__main__":
    main()
