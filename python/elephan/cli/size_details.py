"""Screen of ``elephan size --details``: the answer, rules of thumb, models, and every measured buffer."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from elephan.cli import size_screen
from elephan.cli.columns import Column, command_lines
from elephan.cli.common import fitted_table, new_table
from elephan.sizing import SizeAnswer
from elephan.theory.rules import RULES
from elephan.units import count

if TYPE_CHECKING:
    from rich.table import Table

    from elephan.results import NearDocument
    from elephan.sizing.documents import SizeDocument

MANY = 1000
"""Number of lines that dangers and advice never exceed."""


def details_of(answer: SizeAnswer, title: str) -> list[Table | str]:
    """Return everything about an answer, below its title."""
    document = answer.to_json()
    wanted = ", ".join(str(target) for target in answer.targets)
    head = f"{title}\n{size_screen.link_line(answer.facts)}\nWanted: {wanted}\n{size_screen.sentence(answer, document)}"
    head += f"\n{full}" if (full := size_screen.full_line(answer)) else ""
    head += f"\n{size_screen.paced_sentence(document)}" if "paced" in document else ""
    parts: list[Table | str] = [head, "\n".join(size_screen.notes(answer, document, MANY))]
    if document["why_suggested"] and document["why_suggested"] not in document["dangers"]:
        parts.append(f"Suggested: {document['why_suggested']}.")
    if document["tc"]:
        parts += command_lines(document["tc"], "Linux: ")
    formulas = "; ".join(
        f"{name.replace('_', ' ')}: {RULES[name].title}" for name in document["rules"] if name in RULES
    )
    assumed = "\n".join([f"{formulas}." if formulas else "", *_shared(document["rules_broken"])])
    parts += [_rules(answer, document), assumed.strip(), *_models(answer, document)]
    if not answer.is_simulated:
        return [*parts, f"nothing simulated, {document['wall_s']:.1f} s"]
    roles = {row["buffer_packets"]: ", ".join(row["is"]) for row in document["table"]}
    curve = document["curve"]

    def columns(keys: Collection[str]) -> list[Column]:
        return size_screen.buffer_columns(curve, lambda row: roles.get(row["buffer_packets"], ""), keys)

    table = size_screen.with_decisive(columns, size_screen.decided_by(answer.targets))
    parts += ["\n".join(["", *table])]
    ran = f"{count(len(document['curve']), 'buffer')}, {count(answer.runs, 'run')}"
    return [*parts, f"{ran}, {answer.packets_simulated / 1e6:.0f} million packets, {document['wall_s']:.1f} s"]


def _rules(answer: SizeAnswer, document: SizeDocument) -> Table:
    """Return the buffers by rules of thumb; ~ marks values predicted by the trusted model instead of measured."""
    table = new_table("rule of thumb", "packets", "of the answer", "utilization", "delay [ms]")
    for name, packets in document["rules"].items():
        table.add_row(
            name.replace("_", " "),
            f"{packets:.0f}",
            _times(packets, answer.buffer_packets),
            _known(answer, packets, "utilization"),
            _known(answer, packets, "queueing_delay_s", 1e3),
        )
    return table


def _shared(lines: dict[str, list[str]]) -> list[str]:
    """Return violated assumptions of rules or models, one line for each assumption."""
    names: dict[str, list[str]] = {}
    for name, own in lines.items():
        for line in own:
            names.setdefault(line, []).append(name.replace("_", " "))
    return [f"{', '.join(found)}: {line}" for line, found in names.items()]


def _known(answer: SizeAnswer, packets: float, metric: str, scale: float = 1.0) -> str:
    # A rule gives parts of packets, a buffer holds whole ones.
    if (measured := answer.curve.interpolate(round(packets), metric)) is not None:
        return f"{measured * scale:.3g}"
    if answer.trusted is None or not answer.models[answer.trusted].holds(packets):
        return "-"
    predicted = answer.models[answer.trusted].at(packets, metric)
    return "-" if predicted is None else f"~{predicted * scale:.3g}"


def _models(answer: SizeAnswer, document: SizeDocument) -> list[Table | str]:
    """Return each model's prediction, its error, and its violated assumptions."""
    rows = []
    for name, row in document["models"].items():
        if row["silent"]:
            continue
        points = row["off"]["utilization_points"]
        rows.append(
            [
                f"{name} *" if name == answer.trusted else name,
                "-" if row["buffer_packets"] is None else str(row["buffer_packets"]),
                _times(row["buffer_packets"], answer.buffer_packets),
                _about(row["utilization"]),
                "-" if points is None else f"{points:+.1f}",
                _near(row["near"]),
                _about(row["queueing_delay_s"], 1e3),
            ]
        )
    if not rows:
        return []
    heads = ["model", "packets", "of the answer", "utilization", "error", "checked", "delay [ms]"]
    where = "" if answer.buffer_packets is not None else " (none here: there is no answer)"
    star = "the search began at its answer" if answer.is_simulated else "the model used"
    notes = [
        f"* {star}. ~ by that model, not measured. At the answer{where}: utilization and delay by the model; error: "
        "its utilization less the measured one, in percentage points. checked: its worst error in the simulated links "
        "most like this one, in percentage points."
    ]
    if answer.trusted is not None and (near := document["models"][answer.trusted]["near"]) is not None:
        notes.append(f"{answer.trusted}: {near['sentence']}")
    notes += _shared({name: row["doubts"] for name, row in document["models"].items()})
    if others := [name for name, row in document["models"].items() if row["silent"]]:
        notes.append(f"Not applicable: {', '.join(others)} (reasons in --json).")
    return [fitted_table(heads, rows, [True] + [False] * 6), "\n".join(notes)]


def _near(near: NearDocument | None) -> str:
    """Format the error level that a model keeps in the runs nearest to a link."""
    if near is None or not near["cells"]:
        return "not checked"
    return f"< {near['within_points']}" if near["within_points"] is not None else "> 10"


def _times(packets: float | None, buffer: int | None) -> str:
    return f"{packets / buffer:.2g} x" if packets is not None and buffer else "-"


def _about(x: float | None, scale: float = 1.0) -> str:
    return "-" if x is None else f"{x * scale:.3g}"
