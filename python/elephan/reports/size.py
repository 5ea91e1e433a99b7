"""The page of a sizing: the necessary buffer, its costs, and the rules and models beside it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.pictures.table import Cell, Column, Table, cell, fact_column, measured_column, sentence_cell, tabulated
from elephan.pictures.words import capital, joined, number, plain, row_with_unit
from elephan.reports.page import HeadlineNumber, PageSection, ReportPage, TerminalCommand
from elephan.reports.sources import cost_tiles, fairness_tile, origin, read_scenario, set_up, why_warmup
from elephan.results.formats import table_path
from elephan.runs.saved import read_document
from elephan.scenario import Scenario
from elephan.sizing.curve import measured_at
from elephan.sizing.models import predicted_at
from elephan.sizing.pictures import answer_pictures, rule_name
from elephan.sizing.saved import read_models
from elephan.sizing.targets import GROUP_DELAYS, asked_of
from elephan.sizing.wording import full_words, interval_words, paced_words
from elephan.theory.rules import RULES
from elephan.units import count, format_bytes, format_time

if TYPE_CHECKING:
    from elephan.sizing.documents import BufferRow, PredictionDocument, SizeDocument, ValueRow

COSTS = (
    measured_column("utilization [%]", "utilization", 100),
    measured_column("delay [ms]", "queueing_delay_s", 1e3),
    measured_column("loss [%]", "loss_ratio", 100),
    measured_column("Jain's index", "jain"),
)
"""Columns of a buffer's costs."""


def page(folder: Path) -> ReportPage:
    """Make the page of a folder that ``elephan size --out`` wrote.

    Raises
    ------
    InputError
        If something in it cannot be read.
    """
    document: SizeDocument = read_document(folder / "size.json")
    scenario = read_scenario(folder / "scenario.toml")
    facts = scenario.links[scenario.link_index(document["link"])]
    models = read_models(table_path(folder, "models"))
    pictures = PageSection("Pictures", (_story(document),), answer_pictures(document, facts, models))
    return content(document, scenario, models, (pictures,))


def content(
    document: SizeDocument,
    scenario: Scenario,
    models: Mapping[str, Mapping[str, Any]],
    pictures: Sequence[PageSection] = (),
) -> ReportPage:
    """Describe the size of a buffer.

    Parameters
    ----------
    document : mapping
        Document of ``elephan size --json``.
    models : mapping
        Curves of the models; columns of ``models.parquet`` by model.
    pictures : sequence of PageSection
        Sections with pictures.
    """
    link = scenario.link_index(document["link"])
    parts = [
        *deployment(document),
        *pictures,
        PageSection("Rules of thumb", tables=(rules_table(document, models),), folded=True),
    ]
    if document["models"]:
        parts.append(PageSection("Analytic models", (_trust(document),), tables=(models_table(document),), folded=True))
    if document["curve"]:
        parts.append(PageSection("Every buffer measured", tables=(curve_table(document),), folded=True))
    return ReportPage(
        kind="Size of a buffer",
        title=scenario.title,
        question=(question(document["target"], document["link"]), set_up(scenario, scenario.links[link])),
        headline=headline(document),
        is_asked=True,
        dangers=len(document["dangers"]),
        sentence=sentence(document),
        tone="good" if document["met"] and document["suggested_packets"] is not None else "bad",
        tiles=tiles(document),
        notes=notes(document, full_words(scenario.network, link)),
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


def headline(document: SizeDocument) -> str:
    """Return the answer in a few words: the suggested buffer."""
    if document["buffer_packets"] is None:
        return "No buffer is enough" if document["simulated"]["runs"] else "No answer by models alone"
    packets = document["suggested_packets"]
    return "No buffer to deploy" if packets is None else count(packets, "packet")


def notes(document: SizeDocument, others: str) -> tuple[str, ...]:
    """List the dangers, the possible remedies, the note, the answer for paced senders, and a remark on other links."""
    found = [*document["dangers"], *document["advice"]]
    why = document["why_suggested"]
    if why and why not in document["dangers"]:
        found.append(f"suggested: {why}")
    if document["note"] and document["met"]:
        found.append(document["note"].rstrip("."))
    beside = (text for text in (paced_words(document), others) if text)
    return (*(f"{capital(text)}." for text in found), *beside)


def cost_columns(rows: Sequence[BufferRow | ValueRow], *, group_losses: bool) -> list[Column]:
    """Return the columns of the costs of each row, of the link and of each group of flows."""
    used, delay, loss, jain = COSTS
    late = measured_column("95 % wait at most [ms]", "queueing_delay_p95_s", 1e3).minor()
    groups = list(zip(*(row["groups"] for row in rows), strict=True))
    # The goodput of a single group is that of the link.
    own = [_group_column(i, of[0]["name"], asked_of(of))._replace(main=len(groups) > 1) for i, of in enumerate(groups)]
    lost = [_group_column(i, of[0]["name"], "loss_ratio").minor() for i, of in enumerate(groups) if group_losses]
    return [used, delay, late, loss, *own, *lost, jain]


def _group_column(position: int, name: str, key: str) -> Column:
    """Return a column of a group of flows; documents of earlier versions have no delays."""
    shown, scale = {"loss_ratio": ("loss [%]", 100), "goodput_per_flow_bps": ("goodput of a flow [Mbit/s]", 1e-6)}.get(
        key, (f"{GROUP_DELAYS.get(key)} [ms]", 1e3)
    )
    return Column(f"{name}: {shown}", lambda row: cell(row["groups"][position].get(key), scale, of=key))


def deployment(document: SizeDocument) -> tuple[PageSection, ...]:
    """Make the table of the few buffers that an operator compares; empty if the document has none."""
    rows = document["table"]
    if not rows:
        return ()
    columns = (
        fact_column("buffer [packets]", "buffer_packets"),
        Column("what it is", lambda row: cell(", ".join(row["is"]))),
        *cost_columns(rows, group_losses=True),
    )
    return (
        PageSection(
            "What to deploy", tables=(tabulated("Buffers to choose from, with 95 % intervals", columns, rows),)
        ),
    )


def sentence(document: SizeDocument) -> str:
    """Return the answer in a sentence, with its costs."""
    buffer, wait, lost = document["buffer_packets"], document["queueing_delay_s"], document["loss_ratio"]
    if buffer is None or wait is None or lost is None:
        note = document["note"] or "no buffer meets the targets"
        return f"{capital(note).rstrip('.')}."
    words = f"{count(buffer, 'packet')} ({interval_words(document)}), {document['buffer_bdp']:.2g} BDP, "
    suggested = document["suggested_packets"]
    if suggested != buffer:
        words = f"The smallest that meets the target is not the one to deploy: {words}"
        words = words if suggested is None else f"Suggested: {count(suggested, 'packet')}. {words}"
    words += f"keep{'s' if buffer == 1 else ''} the link {row_with_unit(document, 'utilization', '%', 3)} busy"
    words += f" at {plain(wait, 's', 2)} of queueing delay"
    if lost["mean"] is not None:
        words += f" and {plain(lost, '%', 2)} loss"
    return f"{words}."


def tiles(document: SizeDocument) -> tuple[HeadlineNumber, ...]:
    """Return the numbers on which the answer rests; empty if there is none."""
    packets, size_b = document["buffer_packets"], document["buffer_bytes"]
    if packets is None or size_b is None:
        return ()
    return (
        HeadlineNumber("Buffer", count(packets, "packet"), interval_words(document)),
        HeadlineNumber("In bytes", format_bytes(size_b), f"{document['buffer_bdp']:.3g} BDP"),
        *cost_tiles(document),
        *fairness_tile(document),
    )


def _story(document: SizeDocument) -> str:
    if not document["curve"]:
        return "Nothing was simulated: lines are predictions of analytic models. Vertical dotted lines: rules of thumb."
    return (
        "Measurements against the size of the buffer, with bands for 95 % intervals. Predictions of analytic models "
        "are pale, and dashed except for the model that the search began with. The vertical line is the answer, its "
        "band the interval; dotted lines are rules of thumb, horizontal dashed lines targets. The three are zoomed "
        "together."
    )


def rules_table(document: SizeDocument, models: Mapping[str, Mapping[str, Any]]) -> Table:
    """Compare the rules of thumb with the answer."""
    buffer, trusted = document["buffer_packets"], document["trusted_model"]
    predicted = models.get(trusted or "")

    def known(rule: tuple[str, float], metric: str, scale: float) -> Cell:
        # A rule gives parts of packets, a buffer holds whole ones.
        if (measured := measured_at(document["curve"], round(rule[1]), metric)) is not None:
            return cell(measured, scale, 3)
        if predicted is None or (value := predicted_at(predicted, rule[1], metric)) is None:
            return cell(None)
        return Cell(f"~{number(value * scale, 3)}", value * scale)

    columns = (
        Column("rule", lambda rule: cell(rule_name(rule[0]))),
        Column("packets", lambda rule: cell(rule[1])),
        Column("times the answer", lambda rule: cell(rule[1] / buffer if buffer else None, digits=2)),
        Column("utilization [%]", lambda rule: known(rule, "utilization", 100)),
        Column("delay [ms]", lambda rule: known(rule, "queueing_delay_s", 1e3)),
        Column("assumptions violated here", lambda rule: sentence_cell(document["rules_broken"].get(rule[0], []))),
        Column("formula", lambda rule: sentence_cell([RULES[rule[0]].title] if rule[0] in RULES else [])).minor(),
    )
    table = tabulated("Rules of thumb", columns, document["rules"].items())
    is_predicted = any(each.text.startswith("~") for row in table.rows for each in row)
    return replace(table, note=f"~: by the model {trusted}, not measured.") if is_predicted else table


def models_table(document: SizeDocument) -> Table:
    """Compare the models with the answer."""
    buffer, trusted = document["buffer_packets"], document["trusted_model"]

    def times(row: PredictionDocument) -> float | None:
        return row["buffer_packets"] / buffer if row["buffer_packets"] and buffer else None

    def checked(row: PredictionDocument) -> str | None:
        near = row["near"]
        if near is None or not near["cells"]:
            return None if row["silent"] else "not checked"
        return f"< {near['within_points']}" if near["within_points"] is not None else "> 10"

    def violated(row: PredictionDocument) -> list[str]:
        return [f"not applicable: {row['silent']}"] if row["silent"] else row["doubts"] or ["none known"]

    columns = (
        Column("model", lambda row: cell(row["name"] + (" (began here)" if row["name"] == trusted else ""))),
        fact_column("packets", "buffer_packets"),
        Column("times the answer", lambda row: cell(times(row), digits=2)),
        measured_column("utilization [%]", "utilization", 100, 3),
        Column("off [points]", lambda row: cell(row["off"]["utilization_points"], digits=2)),
        Column("checked [points]", lambda row: cell(checked(row))),
        measured_column("delay [ms]", "queueing_delay_s", 1e3, 3),
        measured_column("loss [%]", "loss_ratio", 100, 2).minor(),
        Column("assumptions violated here", lambda row: sentence_cell(violated(row))),
    )
    rows = ({"name": name, **row} for name, row in document["models"].items())
    note = (
        "Utilization, delay and loss are what the model says at the answer; off: its utilization minus the measured; "
        "checked: its largest error in the simulated links most like this one."
    )
    return tabulated("Analytic models", columns, rows, note)


def _trust(document: SizeDocument) -> str:
    name = document["trusted_model"]
    if name is None:
        return "No model was accurate enough on similar links to begin the search with."
    near = document["models"][name]["near"]
    began = "The search began with" if document["curve"] else "The answer is that of"
    return f"{began} {name}: {near['sentence']}." if near else f"{began} {name}."


def curve_table(document: SizeDocument) -> Table:
    """List every measured buffer; the goodput of a single group is that of the link."""
    rows = document["curve"]
    is_shared = len(rows[0]["groups"]) > 1
    columns = (
        fact_column("buffer [packets]", "buffer_packets"),
        fact_column("replications", "replications"),
        *cost_columns(rows if is_shared else [{**row, "groups": []} for row in rows], group_losses=False),
    )
    return tabulated("Every buffer measured, with 95 % intervals", columns, rows)


def command(document: SizeDocument, more: str = "") -> str:
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


def provenance(document: SizeDocument) -> tuple[tuple[str, str], ...]:
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
