"""Model `sawtooth`: windows as a fluid, all cut whenever the buffer overflows."""

from __future__ import annotations

from elephan.theory.law_responses import SOURCES
from elephan.theory.laws import response
from elephan.theory.models.bottleneck import Bottleneck
from elephan.theory.models.card import Columns, Prediction, Values, read_model
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
def _table(v: Values) -> Columns:
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
    return (
        "" if link.law_name in LAWS else f"the growth of {link.law} between two losses does not depend on losses alone"
    )


def _doubts(link: Bottleneck) -> list[str]:
    lines = []
    if link.discipline != "drop-tail":
        lines.append(f"assumes that the buffer fills before anything is lost; here {link.discipline}")
    if max(link.rtts_s) > 1.1 * min(link.rtts_s):
        lines.append("takes one RTT for all, their mean")
    return lines + few_segments(link) + other_traffic(link)


MODEL = read_model(
    __file__,
    choices={"law": LAWS},
    compute=_table,
    predict=_predict,
    unsuited=_unsuited,
    doubts=_doubts,
    asks=sawtooth_inputs,
)
