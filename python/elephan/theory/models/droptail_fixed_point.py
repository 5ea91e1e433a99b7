"""Model `droptail-fixed-point`: loss-responsive flows, and the loss of a drop-tail queue with Poisson arrivals."""

from __future__ import annotations

from typing import get_args

import numpy as np

from elephan.errors import InputError
from elephan.theory.fixed_points import Delay, FixedPoint, droptail_each
from elephan.theory.models.bottleneck import Bottleneck
from elephan.theory.models.card import Columns, Prediction, Values, read_model
from elephan.theory.models.flows import (
    ANSWERING,
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


def columns(found: list[list[FixedPoint]]) -> dict[str, Floats]:
    """Arrange fixed points as columns. A row with several fixed points shows the one with the smallest load.

    Returns
    -------
    dict of str to ndarray, shape (rows,)

    Examples
    --------
    >>> from elephan.theory import reno
    >>> columns(droptail_each(reno().throughput, 1000, [50], [0.1]))["utilization"].round(3).tolist()
    [0.876]
    """
    first = [points[0] for points in found]
    return {
        "utilization": np.array([point.utilisation for point in first]),
        "load": np.array([point.load for point in first]),
        "loss_ratio": np.array([point.loss for point in first]),
        "backlog_packets": np.array([point.queue for point in first]),
        "shortest_over_longest": np.array([float(point.rates[0] / point.rates[-1]) for point in first]),
        "solutions": np.array([float(len(points)) for points in found]),
    }


def prediction(link: Bottleneck, found: list[list[FixedPoint]]) -> Prediction:
    """Return the prediction for a link from its fixed points.

    Returns
    -------
    Prediction
        With exponential service, which is memoryless, the mean wait is the mean backlog in service times.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory import reno
    >>> from elephan.theory.models import bottleneck
    >>> link = bottleneck(Scenario.from_text(EXAMPLE).network, 0)
    >>> prediction(link, droptail_each(reno().throughput, link.rate, [26], link.rtts_s)).utilization.round(2).tolist()
    [0.81]
    """
    shown = columns(found)
    return Prediction(used(link, shown["utilization"]), shown["loss_ratio"], shown["backlog_packets"] / link.rate)


@vectorized_over("buffer")
def _table(v: Values) -> Columns:
    if not (v["buffer"] >= 1).all():
        raise InputError(f"buffer: {v['buffer'].min():g} packets is too small; give at least 1")
    law, chosen = str(v["law"][0]), {name: v[name][0] for name in ("delay", "loss")}
    return columns(droptail_each(throughput(law), packet_rate(v), v["buffer"], spread(v), **chosen))


def _predict(link: Bottleneck, buffers: Floats) -> Prediction:
    # K includes the packet in service, a scenario's buffer does not.
    return prediction(link, droptail_each(mixed(link.laws), link.rate, buffers + 1, link.rtts_s))


def _unsuited(link: Bottleneck) -> str:
    if link.discipline != "drop-tail":
        return f"its queue is drop-tail; here {link.discipline}"
    return other_signals(link)


def doubts(link: Bottleneck) -> list[str]:
    """List the assumptions of Poisson arrivals that a link violates.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import bottleneck
    >>> doubts(bottleneck(Scenario.from_text(EXAMPLE).network, 0))[0]
    'assumes arrivals of many independent flows; here 2, whose losses are synchronized'
    """
    lines = []
    # Appenzeller2004 observed synchronized flows below about a hundred.
    if link.flows < 100:
        lines.append(f"assumes arrivals of many independent flows; here {link.flows}, whose losses are synchronized")
    if how := bursts(link):
        lines.append(f"assumes packets arrive one by one; here {how}")
    return lines + other_traffic(link)


MODEL = read_model(
    __file__,
    choices={"law": ANSWERING, "delay": get_args(Delay)},
    compute=_table,
    predict=_predict,
    unsuited=_unsuited,
    doubts=doubts,
    asks=period_inputs,
    takes_pacing=True,
)
