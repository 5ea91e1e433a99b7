"""Model `small-buffer`: a buffer that fills and drains far within a round trip, and loses the load's power."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.errors import InputError
from elephan.theory.fixed_points import droptail_each
from elephan.theory.law_responses import SOURCES
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Prediction
from elephan.theory.models.flows import (
    LINK,
    SPREAD,
    mixed,
    other_signals,
    other_traffic,
    packet_rate,
    spread,
    throughput,
    together,
    used,
)
from elephan.theory.models.senders import period_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elephan.theory.fixed_points import Throughput
    from elephan.theory.models.bottleneck import Bottleneck
    from elephan.theory.models.card import Values
    from elephan.theory.response import Floats


def _solved(law: Throughput, rate: float, buffers: Floats, rtts: Sequence[float] | Floats) -> dict[str, Floats]:
    found = [points[0] for points in droptail_each(law, rate, buffers, rtts, delay="none", loss="tail")]
    load = np.array([point.load for point in found])
    # The queue of M/M/1, which the power is the tail of; no longer than the buffer, as it is where the load is 1.
    queue = np.where(load < 1, load / np.maximum(1 - load, 1e-12), np.inf)
    values = {
        "utilization": np.array([point.utilisation for point in found]),
        "load": load,
        "loss_ratio": np.array([point.loss for point in found]),
        "window_segments": np.array([float((point.rates * rtts).mean()) for point in found]),
        "backlog_packets": np.minimum(queue, buffers),
    }
    small = buffers**2 <= rate * float(np.mean(rtts))
    return {name: np.where(small, value, np.nan) for name, value in values.items()}


def _table(v: Values) -> Mapping[str, Floats]:
    if not (v["buffer"] >= 1).all():
        message = f"buffer: {v['buffer'].min():g} packets is too small; give at least 1"
        raise InputError(message)
    table = {name: np.empty(len(v["buffer"])) for name in COLUMNS}
    for rows in together(v, ["buffer"]):
        law = throughput(str(v["law"][rows[0]]))
        found = _solved(law, packet_rate(v, rows[0]), v["buffer"][rows], spread(v, rows[0]))
        for name, column in found.items():
            table[name][rows] = column
    return table


def _predict(link: Bottleneck, buffers: Floats) -> Prediction:
    found = _solved(mixed(link.laws), link.rate, buffers, link.rtts_s)
    return Prediction(used(link, found["utilization"]), found["loss_ratio"], found["backlog_packets"] / link.rate)


def _unsuited(link: Bottleneck) -> str:
    if link.discipline != "drop-tail":
        return f"its queue is drop-tail; here {link.discipline}"
    return other_signals(link)


def _doubts(link: Bottleneck) -> list[str]:
    lines = []
    # A tenth of the link: the spacing at which Enachescu2006 finds pacing unnecessary, roughly.
    if link.access_bps > 0.1 * link.rate_bps:
        lines.append("takes paced senders or slow access links; here a flow can send bursts at a tenth of the rate")
    # Appenzeller2004 saw flows in step below about a hundred of them.
    if link.flows < 100:
        lines.append(f"takes many independent flows; here {link.flows}")
    if link.buffer_packets is None or link.buffer_packets**2 > link.bdp:
        lines.append(f"assumes a buffer below the root of the BDP, {link.bdp**0.5:.0f} packets; here it is larger")
    return lines + other_traffic(link)


COLUMNS = {
    "utilization": ModelColumn("1", "share of the rate that is used"),
    "load": ModelColumn("1", "offered, in capacities of the link"),
    "loss_ratio": ModelColumn("1", "dropped over arrived"),
    "window_segments": ModelColumn("segments", "mean window of the flows"),
    "backlog_packets": ModelColumn("packets", "mean queue"),
}

MODEL = Model(
    name="small-buffer",
    title="Paced flows and a very small buffer: loss is load^B",
    source="RainaWischik2005",
    says="Load, loss and utilization at which many paced flows offer what a buffer of some tens of packets lets pass.",
    fails=(
        "It says nothing where the square of the buffer exceeds the BDP: such a queue no longer forgets within a round "
        "trip.",
        "Windows sent in bursts lose far more than load^B: Enachescu2006 asks for paced senders or slow access links.",
        "It is the fixed point, stable or not; the model fluid counts the modes that grow.",
    ),
    parameters={
        "law": ModelParameter("reno", "", "congestion-control law", tuple(SOURCES)),
        **LINK,
        "buffer": ModelParameter("5..100:14", "packets", "of the link"),
        **SPREAD,
        "flows": ModelParameter("1000", "1", "how many"),
    },
    columns=COLUMNS,
    compute=_table,
    picture=ModelPicture("buffer", ("utilization",), ""),
    predict=_predict,
    unsuited=_unsuited,
    doubts=_doubts,
    asks=period_inputs,
)
