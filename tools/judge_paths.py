"""How often `elephan infer` is right on recorded real paths: writes `coverage.json`, which every answer prints.

python tools/judge_paths.py tests/data/paths              (the network alone)
python tools/judge_paths.py tests/data/paths --simulate   (and the simulations near each answer: some minutes)

With `--simulate` recordings of even numbers are judged: the width of its intervals was settled with the others.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from elephan.errors import InputError
from elephan.inference import Answer, Observation, infer, search
from elephan.inference.answer import COVERAGE
from elephan.measurements import read

HERE = Path(__file__).resolve().parent.parent / "python" / "elephan" / "inference"


def truth_of(file: Path) -> dict[str, Any]:
    """Return the path that a recording was made over."""
    found: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes()))["truth"]
    return found


def judged(file: Path, *, simulate: bool) -> dict[str, Any]:
    """Return what is said of a recording, and whether it is right; None where it does not apply."""
    truth = truth_of(file)
    buffer_s = truth["buffer_packets"] * 12_000 / truth["rate_bps"]
    row: dict[str, Any] = {"file": file.name, **truth, "buffer_s": buffer_s}
    try:
        answer = infer([read(file)])
    except InputError as error:
        return row | {"refused": str(error)}
    if isinstance(answer, Observation):
        held = answer.bound_s <= 1.05 * buffer_s
        return row | {"bound_s": answer.bound_s, "why": answer.why, "bound_holds": held}
    found = dict(answer.intervals)
    names = answer.discipline_set
    if simulate:
        near = search(answer.region)
        answer = replace(answer, nearby=near)
        if near.is_unlike:
            return row | {"unlike": near.best.distance if near.best else None}
        found |= near.intervals
        names = (near.decided,) if near.decided else names
        row |= {"decided": near.decided, "twin": near.best.distance if near.best else None, "runs": near.runs}
    return row | right(answer, found, truth, names)


def right(answer: Answer, found: dict[str, Any], truth: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return which parts of an answer hold the truth."""
    buffer_s = truth["buffer_packets"] * 12_000 / truth["rate_bps"]
    values = {"rate": ("rate_bps", truth["rate_bps"]), "rtt": ("rtt_s", truth["rtt_s"])}
    if truth["discipline"] == "drop-tail":
        values |= {"buffer": ("buffer_s", buffer_s), "packets": ("buffer_packets", truth["buffer_packets"])}
    if truth["discipline"] == "policer":
        values |= {"policer_burst": ("burst_s", buffer_s)}
    row: dict[str, Any] = {"set": truth["discipline"] in names or _same(truth, names), "names": names}
    for name, (target, value) in values.items():
        one = found[target]
        # Half a percent: the relay's clock, and numbers that are rounded.
        row[name] = 0.995 * one.low <= value <= 1.005 * one.high
        row[f"{name}_said"] = [one.low, one.median, one.high]
    row["beside_said"] = answer.beside_set
    row["beside_right"] = ("flows" if truth["beside"] else "none") in answer.beside_set
    return row


def _same(truth: dict[str, Any], names: tuple[str, ...]) -> bool:
    """Whether CoDel is called FQ-CoDel or the other way round, which one flow alone cannot tell."""
    pair = {"codel", "fq-codel"}
    return truth["beside"] == 0 and truth["discipline"] in pair and bool(pair & set(names))


def main() -> None:
    """Judge a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--simulate", action="store_true")
    parser.add_argument("--out", type=Path, default=HERE / COVERAGE)
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for file in sorted(asked.folder.glob("*.json.gz")):
        if asked.simulate and int(file.name.partition(".")[0][-3:]) % 2:
            continue
        row = judged(file, simulate=asked.simulate)
        rows.append(row)
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()
    counted: dict[str, Any] = {"runs": len(rows), "unlike": sum("unlike" in row for row in rows)}
    for name in ("buffer", "packets", "policer_burst", "rate", "rtt", "set", "beside_right"):
        mine = [row[name] for row in rows if name in row]
        counted[name.removesuffix("_right")] = [sum(mine), len(mine)]
    known = json.loads(asked.out.read_text(encoding="utf-8")) if asked.out.exists() else {}
    known |= {"simulated" if asked.simulate else "network": counted}
    asked.out.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(known) + "\n")


if __name__ == "__main__":
    main()
