"""Notebook display of answers and comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from elephan import display
from elephan.sizing.targets import GROUP_DELAYS, asked_of
from elephan.units import count, format_bytes, format_packets, format_rate, format_time

if TYPE_CHECKING:
    from elephan.results import WarningDocument
    from elephan.sizing.answer import SizeAnswer
    from elephan.sizing.comparison import SizeComparison
    from elephan.sizing.documents import SizeDocument


def sentence(answer: SizeAnswer) -> str:
    """Summarize an answer in one line."""
    wanted, name = " and ".join(str(target) for target in answer.targets), answer.facts["name"]
    if answer.buffer_packets is None:
        return f"no buffer of {name} found for {wanted}: {answer.note}"
    share = answer.buffer_packets / answer.facts["bdp_packets"]
    return f"{name} needs {format_packets(answer.buffer_packets)} ({share:.2g} BDP) for {wanted}{_interval(answer)}"


def _interval(answer: SizeAnswer) -> str:
    if answer.interval is None:
        return "" if answer.is_simulated else ", by a model, nothing simulated"
    low, high = answer.interval
    upper = f"to {math.ceil(high)}" if math.isfinite(high) else "or more"
    return f"; 95 %: {math.floor(low)} {upper}"


def answer_page(answer: SizeAnswer) -> str:
    """Return the HTML that a notebook shows for an answer.

    Returns
    -------
    str
        HTML.
    """
    document, link = answer.to_json(), answer.facts
    rows: dict[str, object] = {
        "link": f"{link['name']}: {format_rate(link['rate_bps'])}, {count(link['flows'], 'flow')}, mean base RTT "
        f"{format_time(link['mean_rtt_s'])}, BDP {link['bdp_packets']:.0f} packets"
    }
    if document["buffer_bytes"] is not None:
        rows["in bytes"] = format_bytes(document["buffer_bytes"])
        rows |= _measured(document)
    if document["suggested_packets"] is not None:
        rows["suggested"] = format_packets(document["suggested_packets"])
    if document["tc"]:
        rows["Linux"] = document["tc"]
    rules: dict[str, list[object]] = {
        "rule of thumb": [name.replace("_", " ") for name in document["rules"]],
        "packets": [round(packets) for packets in document["rules"].values()],
    }
    applicable = {name: row for name, row in document["models"].items() if not row["silent"]}
    models: dict[str, list[object]] = {
        "model": [f"{name} (trusted)" if name == answer.trusted else name for name in applicable],
        "packets": [row["buffer_packets"] for row in applicable.values()],
        "off here [points of utilization]": [row["off"]["utilization_points"] for row in applicable.values()],
    }
    ran = f"{count(answer.runs, 'run')}, {answer.packets_simulated / 1e6:.0f} million packets" if answer.runs else ""
    return display.joined(
        display.facts(rows, f"{answer.scenario.title}: {sentence(answer)}"),
        *(display.note(f"{text[:1].upper()}{text[1:]}.") for text in [*document["dangers"], *document["advice"]]),
        display.table(_buffers(document)) if document["table"] else "",
        display.table(rules),
        display.table(models) if applicable else "",
        display.note(ran) if ran else "",
        display.note(answer.note) if answer.note and answer.is_met else "",
        _warned(document["warnings"]),
    )


def _buffers(document: SizeDocument) -> dict[str, list[object]]:
    """Return the table of the few buffers that an operator compares."""
    rows = document["table"]
    columns: dict[str, list[object]] = {
        "buffer [packets]": [row["buffer_packets"] for row in rows],
        "what it is": [", ".join(row["is"]) for row in rows],
    }
    keys = [asked_of(of) for of in zip(*(row["groups"] for row in rows), strict=True)]
    for row in rows:
        for label, value in _measured(row).items():
            columns.setdefault(label, []).append(value)
        for group, key in zip(row["groups"], keys, strict=True):
            factor, what = (
                (1e3, f"{GROUP_DELAYS[key]} [ms]") if key in GROUP_DELAYS else (1e-6, "goodput of a flow [Mbit/s]")
            )
            own: Mapping[str, Any] = group
            scaled = {part: None if x is None else factor * x for part, x in own[key].items()}
            columns.setdefault(f"{group['name']}: {what}", []).append(scaled)
    return columns


def _measured(document: Mapping[str, Any]) -> dict[str, object]:
    """Return utilization, loss, delay and fairness at the answer."""
    rows: dict[str, object] = {}
    named = (("utilization", "utilization", 1.0), ("loss [%]", "loss_ratio", 100.0))
    for label, metric, factor in (
        *named,
        ("queueing delay [ms]", "queueing_delay_s", 1e3),
        ("Jain's index", "jain", 1),
    ):
        found = document[metric]
        if found is not None and found["mean"] is not None:
            rows[label] = {key: None if value is None else factor * value for key, value in found.items()}
    return rows


def _warned(warnings: Iterable[WarningDocument]) -> str:
    """Return the HTML of the warnings of a document."""
    return "".join(
        display.note(f"Warning: {row['where']}: {row['message']}; {row['remedy']} ({row['rule']})") for row in warnings
    )


def comparison_page(comparison: SizeComparison) -> str:
    """Return the HTML that a notebook shows for a comparison.

    Returns
    -------
    str
        HTML.
    """
    found, chosen = comparison.recommendation, comparison.recommended()
    columns: dict[str, list[object]] = {"law with queue": [], "buffer [packets]": []}
    for variant in comparison.variants:
        mark = " (recommended)" if variant is chosen and found.meets else ""
        columns["law with queue"].append(variant.label + mark)
        columns["buffer [packets]"].append(variant.answer.buffer_packets or "not met")
        measured = _measured(variant.answer.at(variant.candidate.buffer_packets))
        for label in ("utilization", "loss [%]", "queueing delay [ms]", "Jain's index"):
            columns.setdefault(label, []).append(measured.get(label))
    wanted = ", ".join(str(target) for target in comparison.variants[0].answer.targets)
    head = "Recommended" if found.meets else "Nearest"
    return display.joined(
        display.table(columns, f"{comparison.scenario.title}: {wanted}"),
        display.note(f"{head}: {found.reason}."),
        *(display.note(f"Otherwise: {found.otherwise}.") for _ in [0] if found.otherwise),
        *(display.note(f"But: {caveat}.") for caveat in found.caveats),
    )
