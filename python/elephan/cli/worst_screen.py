"""Screens of ``elephan attack`` and ``elephan size --worst-case``: the answer, the worst case, and its confidence."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from elephan.assignments import labelled
from elephan.cli.columns import Column, command_lines, table_lines, wrapped
from elephan.cli.common import print_json, print_lines, say_written, writing
from elephan.cli.progress import ProgressLine
from elephan.units import count, format_packets, format_rate, format_time

if TYPE_CHECKING:
    from elephan.worst import Harm, LawAttack, SearchState, WorstSizing
    from elephan.worst.documents import AttackPart, RandomCases, RoundDocument, TailDocument, WorstDocument

Found = TypeVar("Found", "LawAttack", "WorstSizing")

MOST_PLACES = 4
"""Maximum number of places of a counterexample, and of places that matter, on the screen; the file has all."""

NO_PROOF = "A search is no proof: untried cases may be worse."


def write_value(harm: Harm, value: float) -> str:
    """Write a value of a harm with its unit."""
    if harm.unit == "s":
        return format_time(float(f"{value:.3g}"))
    return f"{100 * value:.3g} %" if harm.name == "loss" else f"{value:.3g}"


def attack_screen(found: LawAttack, out: Path | None) -> list[str]:
    """Return the screen of an attack on a law."""
    document, harm, case = found.to_json(), found.attack.harm, found.attack.worst
    worst, usual = write_value(harm, case.value), write_value(harm, found.usual)
    lines = wrapped(f"{found.law}: {harm.words} {worst} in the worst case found; {usual} in the unvaried one.")
    for group in found.groups:
        each = " each" if group["flows"] > 1 else ""
        goodput = format_rate(float(f"{group['goodput_per_flow_bps']:.3g}"))
        lines += wrapped(
            f"{group['name']}: {count(group['flows'], 'flow')}, RTT {_short(group['rtt_s'])}, from "
            f"{_short(group['start_s'])} on, {goodput}{each}",
            mark="  ",
        )
    others = {place: value for place, value in case.changes.items() if not place.endswith((".rtt", ".start"))}
    lines += wrapped(f"link: {format_rate(case.scenario.network.links[0].rate_bps)}, {labelled(others)}", mark="  ")
    lines += _set_back(harm, found.matters, "With one of these not varied")
    lines += _beside(document, harm)
    lines += wrapped(f"Varied: {found.unknowns}.")
    lines += wrapped(NO_PROOF + _ran(document["runs"], found.wall_s))
    return [*lines, *_replay(out)]


def worst_screen(found: WorstSizing, title: str, out: Path | None, *, details: bool = False) -> list[str]:
    """Return the screen of a worst-case sizing; with details the cases, and every place."""
    document = found.to_json()
    lines = [*wrapped(title), *wrapped(_sentence(found, document))]
    if not found.rounds:
        return lines
    harm = found.rounds[0].attack.harm
    lines += _table(document, harm)
    if details:
        for name, case in found.counterexamples.items():
            lines += wrapped(f"{name}: {harm.name} {write_value(harm, case.value)} at {labelled(case.changes)}")
    before = "The first worst case with one place as the file has it"
    lines += _set_back(harm, found.matters, before, None if details else MOST_PLACES)
    lines += wrapped(_unseen(document["rounds"][-1]["random"]))
    lines += wrapped(f"Varied: {found.unknowns}; each case is one run.")
    lines += wrapped(NO_PROOF + _ran(document["runs"], found.wall_s))
    return [*lines, *_replay(out)]


def _sentence(found: WorstSizing, document: WorstDocument) -> str:
    nominal, buffer = document["nominal_packets"], document["buffer_packets"]
    if nominal is None:
        return f"No answer for {found.target}, already for the file as it is: {found.note}."
    own = f"The file as it is needs {format_packets(nominal)}"
    if buffer is None:
        return f"No buffer was found for {found.target} in every case: {found.note}. {own}."
    return (
        f"Buffer for {found.target} in every case tried: {format_packets(buffer)}, "
        f"{buffer / document['bdp_packets']:.3g} BDP. {own}."
    )


def _table(document: WorstDocument, harm: Harm) -> list[str]:
    """Return a line for each attack: its buffer, the random cases, the worst found, the estimate."""
    rows = document["rounds"]

    def cells(of: Callable[[RoundDocument], str]) -> tuple[str, ...]:
        return tuple(map(of, rows))

    columns = [
        Column("buffer\npackets", "", cells(lambda row: str(row["buffer_packets"]))),
        Column(f"{harm.name}\non average", "", cells(lambda row: write_value(harm, row["random"]["mean"]))),
        Column(
            f"worst of\n{rows[0]['random']['cases']} random",
            "",
            cells(lambda row: write_value(harm, row["random"]["worst"])),
        ),
        Column("worst\nfound", "", cells(lambda row: write_value(harm, row["worst"]))),
        Column("1 in 10,000 random\ncases (estimate)", "", cells(lambda row: _estimate(row["one_in_10000"], harm))),
        Column("\nruns", "", cells(lambda row: str(row["runs"])), rank=1),
    ]
    return [line for line in table_lines(columns) if line.strip()]


def _estimate(level: TailDocument | None, harm: Harm) -> str:
    if level is None:
        return "too few cases"
    low, high = (write_value(harm, end) for end in level["ci95"])
    return f"{write_value(harm, level['value'])} ({low} to {high})"


def _beside(document: AttackPart, harm: Harm) -> list[str]:
    """Compare the worst case with random cases."""
    random = document["random"]
    text = (
        f"Of {random['cases']} random cases: {write_value(harm, random['mean'])} on average, "
        f"{write_value(harm, random['worst'])} in the worst"
    )
    if document["one_in_10000"] is not None:
        text += f"; 1 in 10,000 has {_estimate(document['one_in_10000'], harm)} by an extreme-value estimate"
    return wrapped(f"{text}. {_unseen(random)}")


def _unseen(random: RandomCases) -> str:
    share = 100 * random["worse_share_at_most"]
    return f"At most {share:.2g} % of random cases are worse than the worst of {random['cases']} (95 %)."


def _set_back(harm: Harm, matters: Mapping[str, float], before: str, most: int | None = MOST_PLACES) -> list[str]:
    """Show which places matter: the value if one of them is as in the file."""
    listed = ", ".join(f"{place} {write_value(harm, value)}" for place, value in list(matters.items())[:most])
    return wrapped(f"{before}: {listed}.") if listed else []


def _ran(runs: int, wall_s: float) -> str:
    return f" ({count(runs, 'run')}, {wall_s:.0f} s)"


def _replay(out: Path | None) -> list[str]:
    return [] if out is None else command_lines(f"elephan run {shlex.quote(str(out / 'worst-case.toml'))}", "Replay: ")


def _short(time_s: float) -> str:
    return format_time(float(f"{time_s:.3g}"))


class WorstProgressReporter:
    """Passes the progress of attacks to a `ProgressLine`, and keeps the last progress for the message after Ctrl-C."""

    def __init__(self, line: ProgressLine) -> None:
        self.line = line
        line.interrupted = self.summary
        self.last: SearchState | None = None

    def begin(self, what: str) -> None:
        """Announce the next stage."""
        self.line.begin(what)

    def __call__(self, state: SearchState) -> None:
        """Show the progress of an attack."""
        self.last = state
        self.line.update(state.done, state.total, "" if math.isnan(state.worst) else f"worst {state.worst:.4g}")

    def summary(self) -> str:
        """Return the message after an interrupt."""
        if self.last is None or math.isnan(self.last.worst):
            return "interrupted before the first case was run; nothing was written"
        return (
            f"interrupted: {self.last.done} of about {count(self.last.total, 'run')} of this attack done, worst value "
            f"{self.last.worst:.4g}; nothing was written, and the same command finds the same cases again"
        )


def search_worst(
    what: str,
    search: Callable[[WorstProgressReporter], Found],
    screen: Callable[[Found], list[str]],
    out: Path | None,
    *,
    quiet: bool,
    json: bool,
) -> Found:
    """Search with a progress line, then write and print the result; Ctrl-C ends the search with a message."""
    with ProgressLine(what, quiet=quiet) as line:
        found = search(WorstProgressReporter(line))
        with writing(out):
            written = [] if out is None else found.write(out)
    if json:
        print_json(found.to_json())
    else:
        print_lines(*screen(found))
    say_written(written)
    return found
