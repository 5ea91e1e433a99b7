"""Model `sawtooth`: windows as a fluid, all cut whenever the buffer overflows."""

from __future__ import annotations

from collections.abc import Mapping

from elephan.theory.law_responses import SOURCES
from elephan.theory.laws import response
from elephan.theory.models.bottleneck import Bottleneck
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Prediction, Values
from elephan.theory.models.flows import few_segments, mixed_laws, no_capacity_left, other_traffic, vectorized_over
from elephan.theory.models.senders import sawtooth_inputs
from elephan.theory.response import Floats
from elephan.theory.sawtooth import synchronised

LAWS = tuple(SOURCES)
"""Laws that grow until a loss."""

COLUMNS = {
    "utilization": "utilisation",
    "period_s": "period",
    "backlog_packets": "queue",
    "loss_ratio": "dropped",
    "loss_events": "events",
}
"""Columns of the table, with the names of `Sawtooth`'s fields."""


@vectorized_over("rate", "packet", "buffer", "rtt", "flows")
def _table(v: Values) -> Mapping[str, Floats]:
    rate = v["rate"] / 8 / v["packet"]
    found = synchronised(response(str(v["law"][0])), rate, v["buffer"], v["rtt"], v["flows"])
    return {name: getattr(found, field) for name, field in COLUMNS.items()}


def _predict(link: Bottleneck, buffers: Floats) -> Prediction:
    found = synchronised(response(link.law), link.rate, buffers, link.mean_rtt_s, link.flows)
    used = link.background + (1 - link.background) * found.utilisation
    return Prediction(used, found.dropped, found.queue / link.rate, found.period)


def _unsuited(link: Bottleneck) -> str:
    if reason := no_capacity_left(link) or mixed_laws(link):
        return reason
    return "" if link.law_name in LAWS else f"how {link.law} grows between two losses is not a matter of losses alone"


def _doubts(link: Bottleneck) -> list[str]:
    lines = []
    if link.discipline != "drop-tail":
        lines.append(f"assumes that the buffer fills before anything is lost; here {link.discipline}")
    if max(link.rtts_s) > 1.1 * min(link.rtts_s):
        lines.append("takes one RTT for all, their mean")
    return lines + few_segments(link) + other_traffic(link)


MODEL = Model(
    name="sawtooth",
    title="All windows cut at every overflow",
    source="LakshmanMadhow1997",
    says="Utilization, period, loss and mean queue of equal flows that lose together at a drop-tail queue; or of one.",
    fails=(
        "Real flows are neither all cut together nor one at a time: with many flows or different RTTs it asks for too "
        "large a buffer.",
        "No bursts and no timeouts: with a buffer of a few packets utilization falls far below it. BIC's steps of 32 "
        "segments overflow a shorter buffer twice, which costs about 5 % of utilization.",
        "CUBIC and BIC aim below every other loss (fast convergence); flows that are not cut together aim as they can.",
        "Compound swings around the 30 segments of its own that it lets wait, and may empty the queue for that.",
    ),
    parameters={
        "law": ModelParameter("highspeed", "", "congestion-control law", LAWS),
        "rate": ModelParameter("1 Gbit/s", "bit/s", "of the link", within="(0, inf)"),
        "packet": ModelParameter("1000 B", "B", "size of a packet", within="(0, inf)"),
        "buffer": ModelParameter("10..15000", "packets", "of the link", within="[0, inf)"),
        "rtt": ModelParameter("120 ms", "s", "round-trip time without queueing", within="(0, inf)"),
        "flows": ModelParameter("10", "1", "how many", within="[1, 100000]"),
    },
    columns={
        "utilization": ModelColumn("1", "share of the rate that is used"),
        "period_s": ModelColumn("s", "between two overflows"),
        "backlog_packets": ModelColumn("packets", "mean queue"),
        "loss_ratio": ModelColumn("1", "lost segments per segment sent"),
        "loss_events": ModelColumn("1", "cuts per segment sent"),
    },
    compute=_table,
    picture=ModelPicture("buffer", ("utilization",), "x"),
    predict=_predict,
    unsuited=_unsuited,
    doubts=_doubts,
    asks=sawtooth_inputs,
)
