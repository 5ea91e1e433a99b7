"""The page of a comparison: which law with which queue should run on a link, and what each costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.errors import InputError
from elephan.lint import lint
from elephan.pictures.figure import COLOURS, Axis, Figure, Mark, Series, colour
from elephan.pictures.table import Column, Table, cell, fact_column, tabulated
from elephan.pictures.words import capital, number, plain
from elephan.reports.page import HeadlineNumber, PageSection, ReportPage, TerminalCommand
from elephan.reports.size import COSTS, command, curve_table, wanted
from elephan.reports.sources import cost_tiles, fairness_tile, origin, read_scenario, set_up, why_warmup
from elephan.results.formats import table_path
from elephan.runs.files import file_names
from elephan.runs.saved import read_document
from elephan.scenario import Scenario
from elephan.sizing.deployment import forbidding
from elephan.sizing.saved import read_models
from elephan.sizing.suggest import TIMEOUTS
from elephan.units import count, format_time

if TYPE_CHECKING:
    from elephan.results import WarningDocument
    from elephan.sizing.documents import NearestRow, VariantDocument, VariantName, VariantsDocument

REACH = 4.0
"""Factor by which the axis of delays extends below the smallest and above the largest delay of the answers."""

COLUMNS = (
    ("buffer_packets", "Buffer", Axis("buffer", "packets", low=0.0), 1.0),
    ("queueing_delay_s", "Queueing delay", Axis("mean queueing delay", "ms", low=0.0), 1e3),
    ("loss_ratio", "Loss", Axis("loss ratio", "%", low=0.0), 100.0),
    ("jain", "Fairness", Axis("Jain's index", low=0.0, high=1.05), 1.0),
)
"""Costs of a variant in its table: key, title, axis, and the factor from the document's unit to the axis's."""


def page(folder: Path) -> ReportPage:
    """Make the page of a folder that ``elephan size --laws … --queues … --out`` wrote.

    Raises
    ------
    InputError
        If something in it cannot be read.
    """
    document: VariantsDocument = read_document(folder / "comparison.json")
    variants = document["variants"]
    if not variants:
        raise InputError(f"{folder / 'comparison.json'}: holds no variants; compare laws or queues again")
    chosen = _chosen(document)
    scenario = read_scenario(folder / file_names([label(chosen, "-")])[0] / "scenario.toml")
    curves = {label(v): read_models(table_path(folder / file_names([label(v, "-")])[0], "models")) for v in variants}
    pictures = (
        PageSection("The trade-off", figures=(_trade_off(variants, chosen, curves),)),
        PageSection("What each costs", figures=tuple(_costs(variants, chosen))),
    )
    return content(document, scenario, pictures)


def content(document: VariantsDocument, scenario: Scenario, pictures: Sequence[PageSection] = ()) -> ReportPage:
    """Describe a comparison of laws and queues.

    Parameters
    ----------
    document : mapping
        Document of ``elephan size --laws … --queues … --json``.
    scenario : Scenario
        That of the recommended variant.
    pictures : sequence of PageSection
        Sections with pictures.
    """
    found, variants, chosen = document["recommendation"], document["variants"], _chosen(document)
    facts = scenario.links[scenario.link_index(chosen["link"])]
    runs = sum(v["simulated"]["runs"] for v in variants)
    tables = (table(variants, chosen), *_deployed(variants, chosen))
    tc = _tc(document, chosen, scenario)
    return ReportPage(
        kind="Comparison",
        title=scenario.title,
        question=(
            f"Which of {count(len(variants), 'variant')} should run on link {chosen['link']} "
            f"to {wanted(chosen['target'])}?",
            _set_up(variants, scenario, facts),
        ),
        headline=label(chosen) if found["met"] else f"None; {label(chosen)} comes nearest",
        is_asked=True,
        sentence=f"{capital(found['reason'])}.",
        tone="good" if found["met"] else "bad",
        tiles=_tiles(chosen),
        notes=_notes(document),
        commands=(TerminalCommand(tc, "Sets this queue and buffer on Linux."),) if tc else (),
        parts=(
            PageSection("Every variant", tables=tables),
            *pictures,
            PageSection("Every buffer measured", tables=tuple(_curves(variants))),
        ),
        warnings=_warnings(variants),
        scenario=scenario.text,
        resolved=scenario.canonical,
        reproduce=(
            TerminalCommand(
                _command(variants), "The same comparison. The scenario on this page is that of the recommended variant."
            ),
            TerminalCommand(command(chosen), "Only the recommended variant."),
        ),
        provenance=(
            *origin(chosen["run"]),
            (
                "simulated",
                f"{count(runs, 'run')} of {count(len(variants), 'variant')}" if runs else "nothing, by models",
            ),
            ("warm-up", why_warmup(chosen["run"])),
            ("time taken", format_time(document["wall_s"])),
        ),
    )


def _chosen(document: VariantsDocument) -> VariantDocument:
    """Return the variant that is recommended, or nearest to the targets."""
    found = document["recommendation"]
    return next(v for v in document["variants"] if (v["law"], v["queue"]) == (found["law"], found["queue"]))


def _tc(document: VariantsDocument, chosen: VariantDocument, scenario: Scenario) -> str | None:
    """Return the `tc` line of the recommended buffer, which may be larger than the one that is suggested alone."""
    deployed = chosen["deployed"]
    if deployed is None or deployed["buffer_packets"] == chosen["suggested_packets"]:
        return chosen["tc"]
    link = scenario.link_index(chosen["link"])
    changed = scenario.with_buffer(link, deployed["buffer_packets"])
    is_lossy = (deployed["loss_ratio"]["mean"] or 0.0) > TIMEOUTS and "loss" not in chosen["target"]
    if is_lossy or not document["recommendation"]["met"] or forbidding(lint(changed)):
        return None
    line: str | None = changed.links[link]["tc"]
    return line


def label(variant: VariantName, between: str = " with ") -> str:
    """Name a variant.

    Parameters
    ----------
    between : str
        Text between law and queue.

    Examples
    --------
    >>> label({"law": "cubic", "queue": "fq"})
    'cubic with fq'
    """
    return f"{variant['law']}{between}{variant['queue']}"


def _set_up(variants: Sequence[VariantDocument], scenario: Scenario, facts: Mapping[str, Any]) -> str:
    laws, queues = (list(dict.fromkeys(v[key] for v in variants)) for key in ("law", "queue"))
    return f"{set_up(scenario, facts)} Compared: {', '.join(laws)} under {', '.join(queues)}."


def _at(variant: VariantDocument) -> VariantDocument | NearestRow:
    """Return the measurements at the answer, or at the nearest buffer if no buffer meets the target."""
    return variant if variant["met"] else variant["nearest"] or variant


def _tiles(chosen: VariantDocument) -> tuple[HeadlineNumber, ...]:
    measured = _at(chosen)
    if measured["buffer_packets"] is None:
        return ()
    buffer = HeadlineNumber("Buffer", count(measured["buffer_packets"], "packet"), _interval(chosen))
    return (buffer, *cost_tiles(measured), *fairness_tile(measured))


def _interval(variant: VariantDocument) -> str:
    low, high = variant["buffer_interval_packets"] or (None, None)
    if low is None:
        return ""
    return f"95 %: {low:,} to {high:,}" if high is not None else f"95 %: {low:,} or more"


def _notes(document: VariantsDocument) -> tuple[str, ...]:
    found = document["recommendation"]
    sentences = [f"Otherwise: {found['otherwise']}."] if found["otherwise"] else []
    sentences += [f"But: {caveat}." for caveat in found["caveats"]]
    sentences += [f"{label(v)}: {v['note'].rstrip('.')}." for v in document["variants"] if v["note"]]
    return tuple(sentences)


def table(variants: Sequence[VariantDocument], chosen: VariantDocument) -> Table:
    """List the variants; a variant without a sufficient buffer shows the values of the nearest one.

    Parameters
    ----------
    chosen : dict
        The recommended variant.
    """
    met = all(variant["met"] for variant in variants)
    columns = (
        Column("law", lambda variant: cell(variant["law"] + _recommended(variant, chosen))),
        fact_column("queue", "queue"),
        fact_column("meets the targets", "met")._replace(main=not met),
        fact_column("buffer [packets]", "buffer_packets").within(_at),
        Column("interval", lambda variant: cell(_interval(variant) or None)).minor(),
        Column("buffer [BDP]", lambda variant: cell(variant["buffer_bdp"], digits=3)).minor(),
        *(cost.within(_at) for cost in COSTS),
    )
    note = "If a variant does not meet the targets, its row shows the measurements with the nearest buffer."
    return tabulated("Variants, with 95 % intervals", columns, variants, "" if met else note, names=2)


def _deployed(variants: Sequence[VariantDocument], chosen: VariantDocument) -> tuple[Table, ...]:
    """Make the table of the buffers that are compared; empty if they are those of the other table."""
    rows = [(variant, variant["deployed"]) for variant in variants if variant["deployed"] is not None]
    if all(row["buffer_packets"] == _at(variant)["buffer_packets"] for variant, row in rows):
        return ()
    columns = (
        Column("law", lambda row: cell(row[0]["law"] + _recommended(row[0], chosen))),
        fact_column("queue", "queue").within(lambda row: row[0]),
        *(each.within(lambda row: row[1]) for each in (fact_column("buffer [packets]", "buffer_packets"), *COSTS)),
    )
    return (tabulated("With the buffers that are compared, with 95 % intervals", columns, rows, names=2),)


def _recommended(variant: VariantDocument, chosen: VariantDocument) -> str:
    return " (recommended)" if variant is chosen and chosen["met"] else ""


def _trade_off(variants: Sequence[VariantDocument], chosen: VariantDocument, curves: dict[str, Any]) -> Figure:
    """Draw every measured buffer as a point of (delay, utilization), and mark each answer."""
    series, delays, lowest, sentences = [], [], 1.0, []
    for k, variant in enumerate(variants):
        name = label(variant) + _recommended(variant, chosen)
        look: dict[str, Any] = {"colour": colour(k), "dashed": k >= len(COLOURS)}
        delay, used = _curve(variant, curves[label(variant)])
        if delay.size:
            series.append(Series(name, delay, used, **look, faint=True, label=f"{label(variant)}, other buffers"))
        measured = _at(variant)
        x, y = measured["queueing_delay_s"], measured["utilization"]
        if not x or not y or x["mean"] is None or y["mean"] is None or x["mean"] <= 0:
            continue
        half = y["ci95"] or 0.0
        point = np.array([1e3 * x["mean"]]), np.array([y["mean"]])
        bounds = np.array([y["mean"] - half]), np.array([min(1.0, y["mean"] + half)])
        series.append(Series(name, *point, *bounds, **look, kind="points", label=_answer(variant)))
        delays.append(1e3 * x["mean"])
        lowest = min(lowest, y["mean"])
        sentences.append(f"{name}: {plain(y, '%')} busy at {plain(x, 's')}")
    target = chosen["target"]
    marks = []
    if "utilization" in target:
        marks.append(Mark(target["utilization"], f"wanted {target['utilization']:g}", "y", "wanted"))
    if "delay_s" in target:
        marks.append(Mark(1e3 * target["delay_s"], f"wanted {1e3 * target['delay_s']:g} ms", "x", "wanted"))
        delays.append(1e3 * target["delay_s"])
    ends = (min(delays) / REACH, max(delays) * REACH) if delays else (None, None)
    return Figure(
        "trade-off",
        "Utilization against delay as the buffer grows",
        f"Utilization against queueing delay for each variant. {'. '.join(sentences)}.",
        Axis("mean queueing delay", "ms", "log", *ends),
        Axis("utilization", "", "share", max(0.0, min(lowest, target.get("utilization", 1.0)) - 0.1), 1.0),
        tuple(series),
        tuple(marks),
        height=400,
        note="Lines: as the buffer grows. Points: the smallest buffer that meets the targets, or the nearest one.",
    )


def _answer(variant: VariantDocument) -> str:
    buffer = _at(variant)["buffer_packets"]
    return f"{label(variant)}, {count(buffer, 'packet')}" if buffer is not None else label(variant)


def _curve(variant: VariantDocument, models: dict[str, Any]) -> tuple[Any, Any]:
    """Delay [ms] and utilization as the buffer grows: as measured, or by the trusted model if nothing was simulated."""
    rows = [
        (row["queueing_delay_s"]["mean"], row["utilization"]["mean"])
        for row in variant["curve"]
        if row["queueing_delay_s"]["mean"] and row["utilization"]["mean"] is not None
    ]
    if not rows and variant["trusted_model"] in models:
        sentences = models[variant["trusted_model"]]
        return 1e3 * sentences["queueing_delay_s"], sentences["utilization"]
    delay, used = np.array(rows, dtype=float).reshape(-1, 2).T
    return 1e3 * delay, used


def _costs(variants: Sequence[VariantDocument], chosen: VariantDocument) -> list[Figure]:
    """Draw one picture for each quantity, with a place for each variant."""
    names = tuple(label(v) for v in variants)
    found = []
    for key, title, axis, scale in COLUMNS:
        x, mean, half = [], [], []
        for k, variant in enumerate(variants):
            measured: Mapping[str, Any] = _at(variant)
            value = measured[key]
            if key == "buffer_packets":
                low, high = variant["buffer_interval_packets"] or (value, value)
                if value is None or not variant["met"]:
                    continue
                bounds = low, high if high is not None else value
            elif value is None or value["mean"] is None:
                continue
            else:
                ci95 = value["ci95"] or 0.0
                value, bounds = value["mean"], (value["mean"] - ci95, value["mean"] + ci95)
            x.append(float(k))
            mean.append(scale * value)
            half.append([scale * max(0.0, bound) for bound in bounds])
        if not x:
            continue
        low, high = np.array(half).T
        series = Series(title, np.array(x), np.array(mean), low, high, "blue", "points")
        sentences = ", ".join(f"{names[int(k)]} {number(v, 3)}" for k, v in zip(x, mean, strict=True))
        alt = f"{title} of each variant, {axis.title}: {sentences}."
        marks = _levels(chosen["target"], key, scale)
        place = Axis("", scale="names", names=names)
        found.append(Figure(f"cost-{key.split('_')[0]}", title, alt, place, axis, (series,), marks, height=240))
    return found


def _levels(target: Mapping[str, float], key: str, scale: float) -> tuple[Mark, ...]:
    named = {"queueing_delay_s": "delay_s", "loss_ratio": "loss", "jain": "fairness"}.get(key, "")
    return (Mark(scale * target[named], "wanted", "y", "wanted"),) if named in target else ()


def _curves(variants: Sequence[VariantDocument]) -> list[Table]:
    found = []
    for variant in variants:
        if variant["curve"]:
            made = curve_table(variant)
            title = f"{label(variant)}: {made.title[:1].lower()}{made.title[1:]}"
            # Notebooks omit it: the answer of each variant shows its own curve there.
            found.append(replace(made, title=title, main=(False,) * len(made.heads)))
    return found


def _warnings(variants: Sequence[VariantDocument]) -> tuple[WarningDocument, ...]:
    """Collect the warnings of all variants, each once."""
    return tuple({tuple(w.items()): w for variant in variants for w in variant["warnings"]}.values())


def _command(variants: Sequence[VariantDocument]) -> str:
    laws, queues = (",".join(dict.fromkeys(v[key] for v in variants)) for key in ("law", "queue"))
    return command(variants[0], f" --laws {laws} --queues {queues}")
