"""The page of a comparison of one scenario's results from a model, the simulator, and real stacks on a testbed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from elephan.comparisons.comparison import silence
from elephan.comparisons.pictures import over_time
from elephan.errors import InputError
from elephan.metrics.quantity import QUANTITIES
from elephan.pictures.table import Cell, Table, cell
from elephan.pictures.words import NARROW, capital, joined, with_unit
from elephan.reports.page import HeadlineNumber, PageSection, ReportPage, TerminalCommand
from elephan.reports.run import groups_table, links_table
from elephan.reports.sources import origin, set_up, why_warmup
from elephan.reports.testbed_section import parts as testbed_parts
from elephan.reports.testbed_section import verdict
from elephan.results.formats import table_path
from elephan.runs.sampled import SampledRun, sampled
from elephan.runs.saved import SavedRun, read_document
from elephan.scenario import Scenario
from elephan.units import format_interval, format_time

if TYPE_CHECKING:
    from elephan.results import CompareDocument, ComparedQuantityDocument, RunAbout, RunDocument, WarningDocument

MINUS = "\N{MINUS SIGN}"

MOST_TILES = 6


class DisplayFormat(NamedTuple):
    """Display format of a quantity: its title, unit, factor from the document's unit, and unit within sentences."""

    title: str
    unit: str
    scale: float = 1.0
    sentence_unit: str = ""


QUANTITY_FORMATS = {
    each.name: DisplayFormat(each.title, *each.shown_unit, each.sentence_unit)
    for each in QUANTITIES.values()
    if each.compared
}
"""Display format of each compared quantity, by name."""


def page(folder: Path) -> ReportPage:
    """Make the page of a folder that ``elephan compare --out`` wrote, or of what ``elephan compare --json`` printed.

    Parameters
    ----------
    folder : Path
        Folder with ``compare.json``; pictures are made if the results are beside it.

    Raises
    ------
    InputError
        If something in it cannot be read.
    """
    document: CompareDocument = read_document(folder / "compare.json")
    halves = {name: _seen(half, folder, name) for name, half in _halves(document).items()}
    figures = over_time(document, {name: seen for name, seen in halves.items() if seen is not None})
    pictures = [PageSection("Over time", (_when(document["simulation"]["run"]),), figures)] if figures else []
    path = folder / "simulation" / "run.json"
    machine = read_document(path).get("provenance", {}) if path.exists() else {}
    return content(document, Scenario.from_text(document["scenario"], "scenario.toml"), pictures, machine)


def content(
    document: CompareDocument,
    scenario: Scenario,
    pictures: Sequence[PageSection] = (),
    machine: Mapping[str, Any] = MappingProxyType({}),
) -> ReportPage:
    """Describe a comparison.

    Parameters
    ----------
    document : mapping
        Document of ``elephan compare --json``.
    pictures : sequence of PageSection
        Sections with pictures.
    machine : mapping
        Provenance of the simulation.
    """
    simulation, testbed = document["simulation"], document["testbed"]
    run, known = simulation["run"], None if testbed is None else testbed["testbed"]
    parts = [
        PageSection("Quantities", tables=(quantities_table(document),)),
        *pictures,
        *([] if known is None else testbed_parts(known)),
        PageSection("Links and flows", tables=_details(document), folded=True),
    ]
    return ReportPage(
        kind="Model, simulation and testbed" if testbed else "Model and simulation",
        title=run["scenario"],
        question=(_question(document), set_up(scenario, scenario.links[0])),
        headline=_headline(document),
        sentence=_sentence(document),
        tone="bad" if known is not None and not known["valid"] else "plain",
        tiles=tuple(_tiles(document["rows"], _against(document)))[:MOST_TILES],
        notes=tuple(_notes(document, scenario)),
        parts=tuple(parts),
        warnings=_warnings(simulation, testbed),
        scenario=scenario.text,
        resolved=scenario.canonical,
        reproduce=(_command(real=testbed is not None),),
        provenance=_provenance(document, machine),
    )


def _halves(document: CompareDocument) -> dict[str, RunDocument]:
    """Return the documents of the runs that exist."""
    tested = document["testbed"]
    return {"simulation": document["simulation"]} | ({} if tested is None else {"testbed": tested})


def _against(document: CompareDocument) -> str:
    """Return the reference that the others are compared with: the testbed, otherwise the simulation."""
    return "simulation" if document["testbed"] is None else "testbed"


def _others(document: CompareDocument) -> list[str]:
    """Return the compared sources that have at least one quantity."""
    others = ("model", "simulation") if document["testbed"] is not None else ("model",)
    rows: Sequence[Mapping[str, Any]] = document["rows"]
    return [other for other in others if any(row[other] is not None for row in rows)]


def _shown(row: ComparedQuantityDocument) -> DisplayFormat:
    """Return the display format of a quantity; an unknown quantity keeps the document's name and unit."""
    unit = "" if row["unit"] == "1" else row["unit"]
    return QUANTITY_FORMATS.get(row["name"], DisplayFormat(row["name"], unit, 1.0, unit))


def _size(row: ComparedQuantityDocument, gap: float, half: float = 0.0) -> str:
    """Format the size of a gap: relative to the reference, in percentage points, or as a plain difference."""
    unit = "%" if row["gap_is"] == "relative" else "points" if _shown(row).unit == "%" else ""
    scale = 100 if unit else 1
    text = format_interval(abs(scale * gap), scale * half or None, 2, thousands=",")
    return f"{text}{NARROW}{unit}" if unit else text


def _signed(row: ComparedQuantityDocument, gap: float, half: float = 0.0) -> str:
    return f"{'+' if gap > 0 else MINUS if gap < 0 else ''}{_size(row, gap, half)}"


def _worst(document: CompareDocument, other: str) -> tuple[ComparedQuantityDocument, float] | None:
    """Return the quantity with the largest gap; relative gaps and gaps of shares are compared with each other."""
    found = [(row, gap) for row in document["rows"] if (gap := _gap(row, other)) is not None]
    return max(found, key=lambda pair: abs(pair[1]), default=None)


def _gap(row: Mapping[str, Any], other: str) -> float | None:
    """Return the gap of one of the sources."""
    gap: float | None = row[f"{other}_gap"]
    return gap


def _question(document: CompareDocument) -> str:
    if document["testbed"] is None:
        return "How far is an analytic model from the simulator? No testbed was run."
    return "How far are an analytic model and the simulator from the kernel's own TCP?"


def _headline(document: CompareDocument) -> str:
    against, others = _against(document), _others(document)
    if document["testbed"] is not None and not document["testbed"]["testbed"]["valid"]:
        return "The testbed is not valid"
    other = "simulation" if against == "testbed" else "model"
    found = _worst(document, other) if other in others else None
    if found is None:
        return "Nothing to compare with"
    return f"{other.capitalize()} within {_size(*found)} of the {against}"


def _sentence(document: CompareDocument) -> str:
    against, others = _against(document), _others(document)
    found = {other: worst for other in reversed(others) if (worst := _worst(document, other)) is not None}
    sentences = [f"the {other} in {_shown(row).title} ({_signed(row, gap)})" for other, (row, gap) in found.items()]
    verb = "is" if len(sentences) == 1 else "are"
    far = f"Farthest from the {against} {verb} {joined(sentences)}." if sentences else ""
    if document["testbed"] is None:
        return far or "No model applies to this scenario and no testbed was run: there is the simulation alone."
    return f"{verdict(document['testbed']['testbed'])} {far}".rstrip()


def _tiles(rows: Sequence[ComparedQuantityDocument], against: str) -> list[HeadlineNumber]:
    """Make the headline numbers: the reference's values, and the gaps of the others."""
    found = []
    for row in rows:
        values: Mapping[str, Any] = row
        if values[against] is None:
            continue
        shown = _shown(row)
        gaps = [
            f"{other}{NARROW}{_signed(row, gap)}"
            for other in ("simulation", "model")
            if (gap := _gap(row, other)) is not None
        ]
        value = with_unit(values[against], shown.sentence_unit)
        found.append(HeadlineNumber(capital(shown.title), value, ", ".join(gaps)))
    return found


def _notes(document: CompareDocument, scenario: Scenario) -> list[str]:
    sentences = []
    if "model" in _others(document):
        sentences.append(
            "The model is the sawtooth of equal flows that lose together; a round trip until the sender learns of a "
            "loss, and one until it is repaired, are added to its period."
        )
    else:
        sentences.append(
            f"No model applies to this scenario: {silence(scenario.network)}. The model assumes a drop-tail buffer "
            "that flows of one law share alike, whose growth is a function of the window."
        )
    if document["testbed"] is not None:
        sentences.append(
            "The testbed has 12 bytes more of header in a segment (timestamps), and windows sampled ten times a second."
        )
        # Documents of earlier versions have no differences.
        record: Mapping[str, Any] = document["testbed"]["testbed"]
        if "differences" not in record:
            sentences.append("Its recovery is the kernel's (RACK and PRR), whatever the scenario says.")
    if document["simulation"]["run"]["replications"] == 1:
        sentences.append("One replication does not show how much of a gap is chance; more replications give intervals.")
    return sentences


def quantities_table(document: CompareDocument) -> Table:
    """List the value of each quantity in each source, and the gaps.

    Returns
    -------
    Table
        Means, with intervals if the document has them.
    """
    against, known = _against(document), measured(document)
    others = [other for other in ("simulation", "model") if other != against]
    rows = []
    for row in document["rows"]:
        shown = _shown(row)
        means: Mapping[str, Any] = row
        values = [cell(row["model"], shown.scale)]
        of = row["name"]
        values += [cell(own.get(of, means[name]), shown.scale, of=of) for name, own in known.items()]
        gaps = [_gap_cell(row, other, known) for other in others]
        rows.append((cell(shown.title), cell(shown.unit), *values, *gaps))
    heads = ("quantity", "unit", "model", *known, *(f"{other} minus {against}" for other in others))
    note = f"Gaps are relative to the {against}; those of utilization and Jain's index are differences (points: "
    note += "hundredths)."
    return Table("Quantities, with 95 % intervals where there are any", heads, tuple(rows), note)


def measured(document: CompareDocument) -> dict[str, dict[str, Any]]:
    """Return the quantities of the simulation and of the testbed, if there is one, that have an interval."""
    return {name: {**half["links"][0], "jain": half["fairness"]["jain"]} for name, half in _halves(document).items()}


def half_of_gap(row: Mapping[str, Any], other: str, known: Mapping[str, Mapping[str, Any]]) -> float:
    """Return the half-width of the interval of a gap, to first order; 0 if neither value has an interval.

    The replications of a simulation and of a testbed are independent, and a model is exact.

    Parameters
    ----------
    row : mapping
        A row of a comparison's document.
    known : mapping
        As `measured` returns it.
    """
    quantities = (known.get(one, {}).get(row["name"]) for one in (other, row["against"]))
    value, base = (quantity["ci95"] or 0.0 if quantity else 0.0 for quantity in quantities)
    if row["gap_is"] != "relative":
        return hypot(value, base)
    reference = row[row["against"]]
    return hypot(value / reference, base * row[other] / reference**2)


def _gap_cell(row: ComparedQuantityDocument, other: str, known: Mapping[str, Mapping[str, Any]]) -> Cell:
    """Return the cell of a gap, with its interval if one of the values has one."""
    gap = _gap(row, other)
    return cell(None) if gap is None else Cell(_signed(row, gap, half_of_gap(row, other, known)), 100.0 * gap)


def _when(run: RunAbout) -> str:
    words = "The first replication" if run["replications"] > 1 else "The replication"
    words += f"; shaded: the warm-up of {format_time(run['warmup_s'])}" if run["warmup_s"] else ""
    return f"{words}. Dashed: what the model says, and the buffer. The pictures are zoomed together along time."


def _seen(half: RunDocument, folder: Path, name: str) -> SampledRun | None:
    """Return the samples of one of the runs, if they are in the folder."""
    if not table_path(folder / name, "samples").exists():
        return None
    if read_document(folder / name / "run.json").get("run") != half["run"]:
        raise InputError(f"{folder / name}: is of another run than {folder / 'compare.json'}; compare again")
    return sampled(SavedRun(folder / name))


def _details(document: CompareDocument) -> tuple[Table, ...]:
    """Make tables of the links and groups of both runs, one below the other."""
    halves = _halves(document)
    links = [row | {"name": f"{row['name']}, {name}"} for name, half in halves.items() for row in half["links"]]
    groups = [row | {"name": f"{row['name']}, {name}"} for name, half in halves.items() for row in half["groups"]]
    return links_table(links), groups_table(groups)


def _warnings(simulation: RunDocument, testbed: RunDocument | None) -> tuple[WarningDocument, ...]:
    """Collect the warnings, each once even if both runs have it."""
    every = [*simulation["warnings"], *(testbed["warnings"] if testbed else ())]
    return tuple({(w["rule"], w["where"]): w for w in reversed(every)}.values())[::-1]


def _command(*, real: bool) -> TerminalCommand:
    if real:
        says = "Model and simulation give the same numbers, a testbed only similar ones; it needs root."
        return TerminalCommand("sudo elephan compare scenario.toml --out compared/", says)
    says = "The same numbers, from the scenario of this page."
    return TerminalCommand("elephan compare scenario.toml --no-testbed --out compared/", says)


def _provenance(document: CompareDocument, machine: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    run = document["simulation"]["run"]
    runs = {name: half["run"] for name, half in _halves(document).items()}
    return (
        *origin(run),
        ("replications", str(run["replications"])),
        *(
            (name, f"{format_time(of['duration_s'])} each, {of['packets_delivered']:,} packets delivered in all")
            for name, of in runs.items()
        ),
        ("warm-up", why_warmup(run)),
        ("engine", run["engine"]),
        *((name, str(value)) for name, value in machine.items() if name != "engine_version"),
        *((f"time taken, {name}", format_time(of["wall_s"])) for name, of in runs.items()),
    )
