"""Figures of a sizing as plain data, for HTML pages and image files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elephan.pictures.figure import COLOURS, Axis, Figure, Mark, Series, colour
from elephan.pictures.numbers import span
from elephan.pictures.words import number
from elephan.results import ResultPart
from elephan.sizing.curve import APART
from elephan.units import count

if TYPE_CHECKING:
    from elephan.sizing.documents import SizeDocument

Columns = Mapping[str, NDArray[Any]]
"""Curves of a model: columns of ``models.parquet``."""

METRICS = (
    ("utilization", "Utilization", Axis("utilization", scale="share"), 1.0),
    ("queueing_delay_s", "Queueing delay", Axis("mean queueing delay", "ms", "log"), 1e3),
    ("loss_ratio", "Loss", Axis("loss ratio", "%", "log"), 100.0),
)
"""Metrics drawn against the buffer: key, title, axis, and factor from the document's unit to the axis's."""

MODEL_COLOURS = ("purple", "orange", "sky", "muted", "ink", "green", "vermilion")
"""Colours of the models, in the order of the catalogue."""

PANELS = (
    ("utilization", Axis("utilization", "%", low=0.0, high=103.0), 100.0, 240),
    ("queueing_delay_s", Axis("queueing delay", "ms", low=0.0), 1e3, 160),
    ("loss_ratio", Axis("loss", "%", low=0.0), 100.0, 160),
)
"""Panels of a measured figure: quantity, axis, factor, height."""

DECADE = 10.0
"""Ratio of the largest to the smallest value above which an axis is logarithmic."""

MOST_SAID = 4
"""Maximum number of lines that an alternative text describes."""


def measured_pictures(parts: Sequence[ResultPart], document: Mapping[str, Any]) -> tuple[Figure, ...]:
    """Return the figures of utilization, delay and loss against the buffer, or against the searched quantity.

    Parameters
    ----------
    parts : sequence of ResultPart
        Their last label is the position on the axis; each combination of the others has a line.
    document : mapping
        Document of the sizing.

    Returns
    -------
    tuple of Figure
        A line for each variant; none if nothing was simulated.
    """
    if not parts:
        return ()
    *others, axis = parts[0].labels
    x = np.array([_amount(part.labels[axis]) for part in parts])
    names = [", ".join(str(part.labels[name]) for name in others) or "measured" for part in parts]
    wide = x.min() > 0 and x.max() > DECADE * x.min()
    unit = str(document.get("unit", "packets"))
    across = Axis(axis, "" if unit == axis else unit, scale="log" if wide else "linear")
    rows = [part.document["links"][0] for part in parts]
    found = []
    for metric, upright, factor, height in PANELS:
        mean, half = (_column(rows, metric, end) * factor for end in ("mean", "ci95"))
        series = []
        for i, name in enumerate(dict.fromkeys(names)):
            own = [k for k, each in enumerate(names) if each == name]
            low, high = np.maximum(mean[own] - half[own], 0.0), mean[own] + half[own]
            again = i >= len(COLOURS)
            series.append(Series(name, x[own], mean[own], low, high, colour(i), "both", dashed=again, faint=again))
        said = ". ".join(f"{one.name}: {span(one, upright.unit)}" for one in series[:MOST_SAID])
        alt = f"{upright.title[:1].upper()}{upright.title[1:]} against {across.title}, with 95 % intervals. {said}."
        title = upright.label[:1].upper() + upright.label[1:]
        marks = _marks(document) if metric == "utilization" else ()
        found.append(Figure(metric, title, alt, across, upright, tuple(series), marks, link="amount", height=height))
    return tuple(found)


def _marks(document: Mapping[str, Any]) -> tuple[Mark, ...]:
    """Mark the wanted level, and the answer of an inverse sizing."""
    level = document.get("target", {}).get("utilization")
    wanted = (Mark(100 * level, f"wanted: {100 * level:g} %", "y", "wanted"),) if level is not None else ()
    amount = document.get("amount")
    return (*wanted, Mark(amount, "answer", "x", "answer")) if amount is not None else wanted


def _amount(label: Any) -> float:
    """Return the number at the start of a label, such as 25 of ``25 packets``."""
    return float(str(label).split()[0])


def _column(rows: list[Any], metric: str, end: str) -> NDArray[np.float64]:
    otherwise = np.nan if end == "mean" else 0.0
    return np.array([otherwise if row[metric][end] is None else row[metric][end] for row in rows], dtype=float)


def rule_name(name: str) -> str:
    """Write the name of a rule of thumb as people do.

    Examples
    --------
    >>> rule_name("bdp_over_sqrt_n"), rule_name("max_bdp")
    ('BDP/√n', 'max BDP')
    """
    return name.replace("_over_sqrt_n", "/√n").replace("_", " ").replace("bdp", "BDP")


def answer_pictures(
    document: SizeDocument, facts: Mapping[str, Any], models: Mapping[str, Columns]
) -> tuple[Figure, ...]:
    """Return a figure of each metric against the buffer.

    Parameters
    ----------
    document : dict
    facts : mapping
        Facts of the link.
    models : mapping
        Columns of ``models.parquet`` by model.

    Returns
    -------
    tuple of Figure
        Zoomed together.
    """
    bdp = facts["bdp_packets"]
    shown = [row["buffer_packets"] for row in document["curve"]]
    shown += [document["buffer_packets"]] if document["buffer_packets"] else []
    reach = max(1.0, 0.9 * min([bdp / 100, *shown])), 1.1 * max([2 * bdp, *shown])
    x = Axis("buffer", "packets", "log", *reach, above=("buffer", "bandwidth-delay products", bdp))
    return tuple(
        Figure(
            key.replace("_", "-"),
            f"{title} against the buffer",
            _alt(document, key, title, axis, scale, facts),
            x,
            _y(axis, scale, document, key, models, reach),
            (*_measured(document, key, scale), *_predicted(document, key, scale, models)),
            marks(document, key, scale, facts),
            link="buffer",
            height=340 if key == "utilization" else 260,
        )
        for key, title, axis, scale in METRICS
    )


DRAWN_RULES = ("bdp_over_sqrt_n", "bdp")
"""Rules of thumb in a figure outside of a page; pages of sizings have all rules, and the models."""


def brief(figures: Sequence[Figure], document: SizeDocument) -> tuple[Figure, ...]:
    """Reduce the figures of an answer to what is readable without the page around them.

    Parameters
    ----------
    figures : sequence of Figure
        Figures of `answer_pictures`.
    document : mapping
        Document of the sizing.

    Returns
    -------
    tuple of Figure
        The answer, the measurements (or the trusted model if there are none), and two rules of thumb.
    """
    rules = {packets: rule_name(name) for name in DRAWN_RULES if (packets := document["rules"].get(name)) is not None}
    found = []
    for figure in figures:
        measured = tuple(series for series in figure.series if series.label == "measured")
        trusted = f"model {document['trusted_model']}"
        series = measured or tuple(series for series in figure.series if series.label == trusted) or figure.series
        # Other rules may be as large, and have no label below the first picture.
        marks = dict.fromkeys(
            mark
            for mark in figure.marks
            if mark.role != "rule" or (mark.at in rules and mark.label in ("", rules[mark.at]))
        )
        found.append(replace(figure, series=series, marks=tuple(marks)))
    return tuple(found)


def _y(
    axis: Axis,
    scale: float,
    document: SizeDocument,
    key: str,
    models: Mapping[str, Columns],
    reach: tuple[float, float],
) -> Axis:
    """Return the axis of a metric, scaled to measurements and targets; models that are far off may leave it."""
    curve: Sequence[Mapping[str, Any]] = document["curve"]
    known = [scale * row[key]["mean"] for row in curve if row[key]["mean"]]
    known += [scale * level for name, level in document["target"].items() if name.removesuffix("_s") in key.split("_")]
    trusted = models.get(document["trusted_model"] or "")
    if trusted is not None:
        seen = (trusted["buffer_packets"] >= reach[0]) & (trusted["buffer_packets"] <= reach[1])
        values = scale * trusted[key][seen & np.isfinite(trusted[key])]
        known += [float(v) for v in values if v > 0 and (key == "utilization" or v > values.max() / 1000)]
    if not known:
        return axis
    if axis.scale == "share":
        return Axis(axis.label, axis.unit, axis.scale, max(0.0, min(known) - 0.05), 1.0)
    return Axis(axis.label, axis.unit, axis.scale, min(known) / 2, 2 * max(known))


def _measured(document: SizeDocument, key: str, scale: float) -> tuple[Series, ...]:
    curve: Sequence[Mapping[str, Any]] = document["curve"]
    rows = [row for row in curve if row[key]["mean"] is not None]
    if not rows:
        return ()
    mean = scale * np.array([row[key]["mean"] for row in rows])
    half = scale * np.array([row[key]["ci95"] or 0.0 for row in rows])
    most = 1.0 if key == "utilization" else np.inf
    buffers = np.array([float(row["buffer_packets"]) for row in rows])
    low, high = np.maximum(mean - half, 0.0), np.minimum(mean + half, most)
    # No line between buffers that are far apart: each part is a series, and all have the same name.
    parts = np.split(np.arange(buffers.size), np.flatnonzero(buffers[1:] > APART * buffers[:-1]) + 1)
    name = "measured, with 95 % intervals"
    return tuple(
        Series(name, buffers[part], mean[part], low[part], high[part], "blue", "both", label="measured")
        for part in parts
    )


def _predicted(document: SizeDocument, key: str, scale: float, models: Mapping[str, Columns]) -> list[Series]:
    """Return the models' curves: full for the one that the search started from, pale where a model did not hold."""
    found = []
    applicable = ((name, own) for name, own in models.items() if np.isfinite(own["utilization"]).any())
    for hue, (name, columns) in zip(MODEL_COLOURS, applicable, strict=False):
        values = scale * columns[key]
        if not np.isfinite(values).any():
            continue
        trusted = name == document["trusted_model"]
        label = f"model {name}" + (" (the search began there)" if trusted and document["curve"] else "")
        held = columns["held"] > 0
        look: dict[str, Any] = {"colour": hue, "dashed": not trusted, "label": f"model {name}"}
        found.append(Series(label, columns["buffer_packets"], values, faint=True, **look))
        if held.any():
            found.append(Series(label, columns["buffer_packets"], np.where(held, values, np.nan), **look))
    return found


def marks(document: SizeDocument, key: str, scale: float, facts: Mapping[str, Any]) -> tuple[Mark, ...]:
    """Mark the answer with its interval, the wanted level, and the rules of thumb.

    Parameters
    ----------
    key : str
        The metric.
    facts : mapping
        Facts of the link.
    """
    named = {"utilization": "utilization", "loss_ratio": "loss", "queueing_delay_s": "delay_s"}[key]
    found = [
        Mark(packets, rule_name(name) if key == "utilization" else "")
        for name, packets in document["rules"].items()
        if packets >= facts["bdp_packets"] / 100
    ]
    if named in document["target"]:
        level = document["target"][named] * scale
        unit = {"queueing_delay_s": " ms", "loss_ratio": " %"}.get(key, "")
        found.append(Mark(level, f"wanted {level:g}{unit}", "y", "wanted"))
    if document["buffer_packets"] is not None:
        low, high = document["buffer_interval_packets"] or (None, None)
        label = count(document["buffer_packets"], "packet") if key == "utilization" else ""
        found.append(Mark(document["buffer_packets"], label, "x", "answer", low, high))
    return tuple(found)


def _alt(document: SizeDocument, key: str, title: str, axis: Axis, scale: float, facts: Mapping[str, Any]) -> str:
    """Return the alternative text of a figure, with numbers."""
    measured = _measured(document, key, scale)
    if measured:
        line = replace(
            measured[0],
            x=np.concatenate([part.x for part in measured]),
            y=np.concatenate([part.y for part in measured]),
            low=None,
            high=None,
        )
        words = (
            f"{title} as the buffer grows from {number(line.x[0])} to {count(int(line.x[-1]), 'packet')}: measured, it "
            f"goes {span(line, axis.unit)}"
        )
    else:
        words = f"{title} as the buffer grows, by analytic models; nothing was simulated"
    buffer = document["buffer_packets"]
    if buffer is None:
        return f"{words}. No buffer meets the targets."
    row: Mapping[str, Any] = document
    at = row[key]
    value = "" if at is None or at["mean"] is None else f", where it is {number(scale * at['mean'], 3)} {axis.unit}"
    bdp = number(facts["bdp_packets"], 3)
    return f"{words}. The answer is marked at {count(buffer, 'packet')}{value.rstrip()}; one BDP is {bdp}."
