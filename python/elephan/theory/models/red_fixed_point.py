"""Model `red-fixed-point`: loss-responsive flows, and RED's drops under Poisson arrivals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np

from elephan.errors import InputError
from elephan.theory.fixed_points import Chain, Delay, FixedPoint, RedThresholds, red_each
from elephan.theory.models.bottleneck import Bottleneck
from elephan.theory.models.card import Columns, Prediction, Values, read_model
from elephan.theory.models.droptail_fixed_point import columns, doubts, prediction
from elephan.theory.models.flows import (
    ANSWERING,
    mixed,
    other_signals,
    packet_rate,
    spread,
    throughput,
    vectorized_over,
)
from elephan.theory.models.senders import period_inputs
from elephan.theory.response import Floats

KINDS = ("red", "ared", "gared")
"""Disciplines to which the model applies."""

MOST_STATES = 1_000_000
"""Maximum buffer [packets]: the Markov chain has a state for each packet."""

# Lower limit of max_p for gARED, which has none. Below it practically no packet is dropped before the queue is full.
_LEAST_P_MAX = 1e-6
# Number of bisections of the logarithm of an adaptive max_p; the result is within 4 %.
_HALVINGS = 8


@vectorized_over("buffer", "min_th", "max_th", "p_max", "gentle")
def _table(v: Values) -> Columns:
    low, high, buffers = v["min_th"], v["max_th"], v["buffer"]
    if not ((low >= 0) & (low < high)).all():
        raise InputError("min_th, max_th: min_th must lie below max_th, both as shares of the buffer")
    if not ((v["p_max"] >= 0) & (v["p_max"] <= 1)).all():
        raise InputError("p_max: must lie between 0 and 1")
    _states(buffers)
    given = zip(low * buffers, high * buffers, v["p_max"], v["gentle"] == "yes", strict=True)
    curves = [RedThresholds(*row) for row in given]
    law, chosen = str(v["law"][0]), {name: v[name][0] for name in ("delay", "chain")}
    return columns(red_each(throughput(law), packet_rate(v), buffers, spread(v), curves, **chosen))


def _states(buffers: Floats) -> None:
    if not ((buffers >= 1) & (buffers <= MOST_STATES)).all():
        raise InputError(f"buffer: give 1 to {MOST_STATES} packets; the model has a state for each")


def _predict(link: Bottleneck, buffers: Floats) -> Prediction:
    _states(buffers)
    queues = [link.queue(float(buffer)) for buffer in buffers]
    top = np.array([float(queue["max_p"]) for queue in queues])
    if link.discipline == "red":
        return prediction(link, _solved(link, buffers, top))
    # An adaptive max_p settles where the mean queue is in the middle of the band, or at one of its limits.
    bottom = np.array([float(queue.get("bottom", _LEAST_P_MAX)) for queue in queues])
    top = np.array([float(queue.get("top", 0.5)) for queue in queues])
    wanted = np.array([_middle(queue) for queue in queues])
    found = _solved(link, buffers, bottom)
    adapting = np.flatnonzero(columns(found)["backlog_packets"] > wanted)
    if adapting.size:
        low, high = np.log(bottom[adapting]), np.log(top[adapting])
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            part = _solved(link, buffers[adapting], np.exp(middle))
            long = columns(part)["backlog_packets"] > wanted[adapting]
            low, high = np.where(long, middle, low), np.where(long, high, middle)
        for i, points in zip(adapting, part, strict=True):
            found[i] = points
    return prediction(link, found)


def _solved(link: Bottleneck, buffers: Floats, p_max: Floats) -> list[list[FixedPoint]]:
    curves = [_curve(link.queue(float(buffer)), p) for buffer, p in zip(buffers, p_max.tolist(), strict=True)]
    # States include the packet in service; the buffer of a scenario does not.
    return red_each(mixed(link.laws), link.rate, np.round(buffers) + 1, link.rtts_s, curves)


def _curve(queue: Mapping[str, object], p_max: float) -> RedThresholds:
    return RedThresholds(packets(queue["min_th"]) + 1, packets(queue["max_th"]) + 1, p_max, bool(queue["gentle"]))


def _middle(queue: Mapping[str, object]) -> float:
    low, high = packets(queue["min_th"]), packets(queue["max_th"])
    share: Sequence[float] = [float(str(queue[name])) for name in ("target_low", "target_high")]
    return low + sum(share) / 2 * (high - low)


def packets(amount: object) -> float:
    """Read an amount of a resolved discipline.

    Parameters
    ----------
    amount : str
        Such as ``"312.5 packets"``.

    Returns
    -------
    float [packets]

    Examples
    --------
    >>> packets("312.5 packets")
    312.5
    """
    return float(str(amount).removesuffix("packets"))


def _unsuited(link: Bottleneck) -> str:
    if link.discipline not in KINDS:
        return f"its queue is one of {', '.join(KINDS)}; here {link.discipline}"
    return other_signals(link)


def _doubts(link: Bottleneck) -> list[str]:
    lines = ["drops by the instantaneous queue, where RED takes an average"]
    if link.discipline != "red":
        lines.append(
            "assumes that the slope is settled where the mean queue is in the middle of the band, or at the slope's end"
        )
    return lines + doubts(link)


MODEL = read_model(
    __file__,
    choices={"law": ANSWERING, "delay": get_args(Delay), "chain": get_args(Chain)},
    compute=_table,
    predict=_predict,
    unsuited=_unsuited,
    doubts=_doubts,
    asks=period_inputs,
    takes_pacing=True,
)
