"""Model `small-buffer`: a buffer that fills and drains within much less than a round trip; packets arrive singly.

Source: RainaWischik2005, with a loss of load^B, which applies to exponential packet sizes. Differs from the source: by
default packets have one size, as in simulations (M/D/1/K, Keilson1966).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elephan.errors import InputError
from elephan.theory.equal_packets import equal_packets
from elephan.theory.fixed_points import Throughput, droptail_each
from elephan.theory.law_responses import SOURCES
from elephan.theory.models.bottleneck import Bottleneck
from elephan.theory.models.card import Columns, Prediction, Values, read_model
from elephan.theory.models.flows import (
    bursts,
    mixed,
    other_signals,
    other_traffic,
    packet_rate,
    spread,
    throughput,
    used,
    vectorized_over,
)
from elephan.theory.models.senders import period_inputs
from elephan.theory.response import Floats


def _solved(
    law: Throughput, rate: float, buffers: Floats, rtts: Sequence[float] | Floats, sizes: str
) -> dict[str, Floats]:
    small = buffers**2 <= rate * float(np.mean(rtts))
    if not small.all():
        nothing = {name: np.full(len(buffers), np.nan) for name in MODEL.columns}
        if small.any():
            for name, column in _solved(law, rate, buffers[small], rtts, sizes).items():
                nothing[name][small] = column
        return nothing
    equal = sizes == EQUAL
    # K includes the packet in service.
    room, loss = (buffers + 1, "equal") if equal else (buffers, "tail")
    each = droptail_each(law, rate, room, rtts, delay="none", loss=loss)  # type: ignore[arg-type]  # one of two
    found = [points[0] for points in each]
    load = np.array([point.load for point in found])
    if equal:
        queue = equal_packets(load, room).waiting
    else:
        # Mean queue of M/M/1 (load^B is the tail of its distribution), limited to the buffer.
        queue = np.minimum(np.where(load < 1, load / np.maximum(1 - load, 1e-12), np.inf), buffers)
    return {
        "utilization": np.array([point.utilisation for point in found]),
        "load": load,
        "loss_ratio": np.array([point.loss for point in found]),
        "window_segments": np.array([float((point.rates * rtts).mean()) for point in found]),
        "backlog_packets": queue,
    }


@vectorized_over("buffer")
def _table(v: Values) -> Columns:
    if not (v["buffer"] >= 1).all():
        raise InputError(f"buffer: {v['buffer'].min():g} packets is too small; give at least 1")
    return _solved(throughput(str(v["law"][0])), packet_rate(v), v["buffer"], spread(v), str(v["sizes"][0]))


def _predict(link: Bottleneck, buffers: Floats) -> Prediction:
    found = _solved(mixed(link.laws), link.rate, buffers, link.rtts_s, EQUAL)
    return Prediction(used(link, found["utilization"]), found["loss_ratio"], found["backlog_packets"] / link.rate)


def _unsuited(link: Bottleneck) -> str:
    if link.discipline != "drop-tail":
        return f"its queue is drop-tail; here {link.discipline}"
    return other_signals(link)


def _doubts(link: Bottleneck) -> list[str]:
    lines = []
    if how := bursts(link):
        lines.append(f"takes paced senders or slow access links; here {how}")
    # Appenzeller2004 observed synchronized flows below about a hundred.
    if link.flows < 100:
        lines.append(f"takes many independent flows; here {link.flows}")
    if link.buffer_packets is None or link.buffer_packets**2 > link.bdp:
        lines.append(f"assumes a buffer below the root of the BDP, {link.bdp**0.5:.0f} packets; here it is larger")
    return lines + other_traffic(link)


EQUAL = "equal"

MODEL = read_model(
    __file__,
    choices={"law": tuple(SOURCES), "sizes": (EQUAL, "exponential")},
    compute=_table,
    predict=_predict,
    unsuited=_unsuited,
    doubts=_doubts,
    asks=period_inputs,
    takes_pacing=True,
)
