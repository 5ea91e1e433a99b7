"""The page of a sizing: the necessary buffer, its costs, and the rules and models beside it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from elephan.pictures.table import Cell, Table, cell, measured
from elephan.pictures.words import joined, plain, row_with_unit
from elephan.reports.page import HeadlineNumber, PageSection, ReportPage, TerminalCommand
from elephan.reports.sources import origin, read_json, read_scenario, set_up, why_warmup
from elephan.results.formats import table_path
from elephan.sizing.pictures import answer_pictures, rule_name
from elephan.sizing.saved import read_models
from elephan.sizing.targets import GROUP_DELAYS, asked_of
from elephan.sizing.wording import interval_words
from elephan.units import count, format_bytes, format_time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


Document = dict[str, Any]


def page(folder: Path) -> ReportPage:
    """Make the page of a folder that ``elephan size --out`` wrote.

    Raises
    ------
    InputError
        If something in it cannot be read.
    """
    document = read_json(folder / "size.json")
    scenario = read_scenario(folder / "scenario.toml")
    facts = scenario.links[scenario.link_index(document["link"])]
    models = read_models(table_path(folder, "models"))
    parts = [
        *deployment(document),
        PageSection("Pictures", (_story(document),), answer_pictures(document, facts, models)),
        PageSection("Rules of thumb", (), (), (rules_table(document),)),
    ]
    if document["models"]:
        parts.append(PageSection("Analytic models", (_trust(document),), (), (models_table(document),)))
    if document["curve"]:
        parts.append(PageSection("Every buffer measured", (), (), (curve_table(document),)))
    buffer = document["buffer_packets"]
    return ReportPage(
        kind="Size of a buffer",
        title=scenario.title,
        question=(question(document["target"], document["link"]), set_up(scenario, facts)),
        headline=headline(document),
        sentence=sentence(document),
        tone="good" if document["met"] and suggested(document) is not None else "bad",
        tiles=tiles(document) if buffer is not None else (),
        notes=notes(document),
        commands=(TerminalCommand(document["tc"], "Sets the suggested buffer on Linux."),) if document["tc"] else (),
        parts=tuple(parts),
        warnings=tuple(document["warnings"]),
        scenario=scenario.text,
        resolved=scenario.canonical,
        reproduce=(TerminalCommand(command(document), "The same answer, from the scenario of this page."),),
        provenance=provenance(document),
    )


def question(target: Mapping[str, float], link: str) -> str:
    """Write the question that was asked.

    Parameters
    ----------
    target : mapping
        Target as the document has it.

    Examples
    --------
    >>> from elephan.pictures.words import NARROW
    >>> question({"utilization": 0.95, "delay_s": 0.01}, "core").replace(NARROW, " ")
    'How large must the buffer of link core be to keep it at least 95 % busy and let packets wait at most 10 ms?'
    """
    return f"How large must the buffer of link {link} be to {wanted(target)}?"


def wanted(target: Mapping[str, float]) -> str:
    """Name the target.

    Parameters
    ----------
    target : mapping
        Target as the document has it.
    """
    words = {
        "utilization": lambda level: f"keep it at least {plain(level, '%', 4)} busy",
        "loss": lambda level: f"lose at most {plain(level, '%', 4)} of the packets",
        "delay_s": lambda level: f"let packets wait at most {plain(level, 's', 4)}",
        "fairness": lambda level: f"share it with a Jain's index of at least {level:g}",
        "delay_p95_s": lambda level: f"let 95 % of the packets wait at most {plain(level, 's', 4)}",
    }

    def of_group(key: str, level: float) -> str:
        field, _, group = key.removesuffix("]").partition("[")
        what = {"rtt_p95_s": "round trips of", "delay_p95_s": "datagrams of"}[field]
        return f"let 95 % of the {what} {group} take at most {plain(level, 's', 4)}"

    return joined(words[key](level) if key in words else of_group(key, level) for key, level in target.items())


def suggested(document: Document) -> int | None:
    """Return the suggested buffer."""
    packets: int | None = document["suggested_packets"]
    return packets


def headline(document: Document) -> str:
    """Return the answer in a few words: the suggested buffer."""
    if document["buffer_packets"] is None:
        return "No buffer is enough" if document["simulated"]["runs"] else "No answer by models alone"
    packets = suggested(document)
    return "No buffer to deploy" if packets is None else count(packets, "packet")


def notes(document: Document) -> tuple[str, ...]:
    """List the dangers, the possible remedies, and the note."""
    found = [*document["dangers"], *document["advice"]]
    if document["note"] and document["met"]:
        found.append(document["note"].rstrip("."))
    return tuple(f"{text[:1].upper()}{text[1:]}." for text in found)


def group_head(name: str, key: str) -> str:
    """Return the head of a group's column, see `elephan.sizing.targets.asked_of`."""
    return f"{name}: {GROUP_DELAYS[key]} [ms]" if key in GROUP_DELAYS else f"{name}: goodput of a flow [Mbit/s]"


def group_cell(group: Document, key: str) -> Cell:
    """Make a cell of a group's column; documents of earlier versions have no delays."""
    return cell(group.get(key), 1e3 if key in GROUP_DELAYS else 1e-6, of=key)


def deployment(document: Document) -> tuple[PageSection, ...]:
    """Make the table of the few buffers that an operator compares; empty if the document has none."""
    rows = document["table"]
    if not rows:
        return ()
    groups = [group["name"] for group in rows[0]["groups"]]
    keys = [asked_of(of) for of in zip(*(row["groups"] for row in rows), strict=True)]
    shown = tuple(
        (
            cell(row["buffer_packets"]),
            cell(", ".join(row["is"])),
            measured(row, "utilization", 100),
            measured(row, "queueing_delay_s", 1e3),
            measured(row, "queueing_delay_p95_s", 1e3),
            measured(row, "loss_ratio", 100),
            *(group_cell(group, key) for group, key in zip(row["groups"], keys, strict=True)),
            *(measured(group, "loss_ratio", 100) for group in row["groups"]),
            measured(row, "jain"),
        )
        for row in rows
    )
    heads = (
        "buffer [packets]",
        "what it is",
        "utilization [%]",
        "delay [ms]",
        "95 % wait at most [ms]",
        "loss [%]",
        *(group_head(name, key) for name, key in zip(groups, keys, strict=True)),
        *(f"{name}: loss [%]" for name in groups),
        "Jain's index",
    )
    table = Table("Buffers to choose from, with 95 % intervals", heads, shown)
    return (PageSection("What to deploy", (), (), (table,)),)


def sentence(document: Document) -> str:
    """Return the answer in a sentence, with its costs."""
    buffer = document["buffer_packets"]
    if buffer is None:
        note = document["note"] or "no buffer meets the targets"
        return f"{note[:1].upper()}{note[1:].rstrip('.')}."
    words = f"{count(buffer, 'packet')} ({interval_words(document)}), {document['buffer_bdp']:.2g} BDP, "
    if suggested(document) != buffer:
        words = f"The smallest that meets the target is not the one to deploy: {words}"
    words += f"keep{'s' if buffer == 1 else ''} the link {row_with_unit(document, 'utilization', '%', 3)} busy"
    words += f" at {plain(document['queueing_delay_s'], 's', 2)} of queueing delay"
    if document["loss_ratio"]["mean"] is not None:
        words += f" and {plain(document['loss_ratio'], '%', 2)} loss"
    return f"{words}."


def tiles(document: Document) -> tuple[HeadlineNumber, ...]:
    """Return the numbers on which the answer rests."""
    found = [
        HeadlineNumber("Buffer", count(document["buffer_packets"], "packet"), interval_words(document)),
        HeadlineNumber("In bytes", format_bytes(document["buffer_bytes"]), f"{document['buffer_bdp']:.3g} BDP"),
        HeadlineNumber("Utilization", row_with_unit(document, "utilization", "%")),
        HeadlineNumber("Queueing delay", row_with_unit(document, "queueing_delay_s", "s"), "mean of all packets"),
        HeadlineNumber("Loss", row_with_unit(document, "loss_ratio", "%"), "of the packets that arrive"),
    ]
    if document["jain"] and document["jain"]["mean"] is not None:
        found.append(HeadlineNumber("Fairness", row_with_unit(document, "jain", ""), "Jain's index, 1 is fair"))
    return tuple(found)


def _story(document: Document) -> str:
    if not document["curve"]:
        return "Nothing was simulated: lines are what analytic models say. Vertical dotted lines: rules of thumb."
    return (
        "Against the size of the buffer: what was measured, with bands for 95 % intervals, and what analytic models "
        "say, pale and dashed but for the one that the search began with. The vertical line is the answer, its band "
        "the interval; dotted lines are rules of thumb; dashed across, what is wanted. The three are zoomed together."
    )


def rules_table(document: Document) -> Table:
    """Compare the rules of thumb with the answer."""
    buffer = document["buffer_packets"]
    rows = [
        (
            cell(rule_name(name)),
            cell(packets),
            cell(packets / buffer if buffer else None, digits=2),
            cell("; ".join(document["rules_broken"].get(name, [])) or None),
        )
        for name, packets in document["rules"].items()
    ]
    heads = ("rule", "packets", "times the answer", "assumptions violated here")
    return Table("Rules of thumb", heads, tuple(rows))


def models_table(document: Document) -> Table:
    """Compare the models with the answer."""
    buffer = document["buffer_packets"]
    rows = []
    for name, row in document["models"].items():
        own = row["buffer_packets"]
        rows.append(
            (
                cell(name + (" (began here)" if name == document["trusted_model"] else "")),
                cell(own),
                cell(own / buffer if own and buffer else None, digits=2),
                measured(row, "utilization", 100, 3),
                cell(row["off"]["utilization_points"], digits=2),
                measured(row, "queueing_delay_s", 1e3, 3),
                measured(row, "loss_ratio", 100, 2),
                cell(f"not applicable: {row['silent']}" if row["silent"] else "; ".join(row["doubts"]) or "none known"),
            )
        )
    heads = (
        "model",
        "packets",
        "times the answer",
        "utilization [%]",
        "off [points]",
        "delay [ms]",
        "loss [%]",
        "assumptions violated here",
    )
    note = "Utilization, delay and loss are what the model says at the answer; off: its utilization less the measured."
    return Table("Analytic models", heads, tuple(rows), note)


def _trust(document: Document) -> str:
    name = document["trusted_model"]
    if name is None:
        return "No model has been near enough on links like this to begin with."
    near = document["models"][name]["near"]
    began = "The search began with" if document["curve"] else "The answer is that of"
    return f"{began} {name}: {near['sentence']}." if near else f"{began} {name}."


def curve_table(document: Document) -> Table:
    """List every measured buffer."""
    rows = tuple(
        (
            cell(row["buffer_packets"]),
            cell(row["replications"]),
            measured(row, "utilization", 100),
            measured(row, "queueing_delay_s", 1e3),
            measured(row, "loss_ratio", 100),
            measured(row, "jain"),
        )
        for row in document["curve"]
    )
    heads = ("buffer [packets]", "replications", "utilization [%]", "delay [ms]", "loss [%]", "Jain's index")
    return Table("Every buffer measured, with 95 % intervals", heads, rows)


def command(document: Document, more: str = "") -> str:
    """Write the command line that gives the same answer.

    Parameters
    ----------
    more : str
        Further options.
    """
    targets = " ".join(f"--target {_target(key, level)}" for key, level in document["target"].items())
    model = "" if document["simulated"]["runs"] else " --model-only"
    return f"elephan size scenario.toml --link {document['link']} {targets}{more}{model} --out sized/"


def _target(key: str, level: float) -> str:
    field, bracket, group = key.partition("[")
    if not field.endswith("_s"):
        return f"{key}={level:.10g}"
    return shlex.quote(f"{field.removesuffix('_s')}{bracket}{group}={level * 1e3:.10g}ms")


def provenance(document: Document) -> tuple[tuple[str, str], ...]:
    """Return the provenance of the numbers."""
    ran = document["simulated"]
    simulated = f"{count(ran['runs'], 'run')} of {count(len(document['curve']), 'buffer')}, {ran['packets']:,} packets"
    return (
        *origin(document["run"]),
        ("simulated", simulated if ran["runs"] else "nothing, by models only"),
        ("replications per buffer", f"up to {document['replications']}" if ran["runs"] else "none"),
        ("warm-up", why_warmup(document["run"])),
        ("time taken", format_time(document["wall_s"])),
    )
