"""Model `gaussian`: the sum of many independent windows, and the utilization that follows from its distribution."""

from __future__ import annotations

import numpy as np

from elephan.errors import InputError
from elephan.theory.law_responses import SOURCES
from elephan.theory.laws import response
from elephan.theory.models.bottleneck import Bottleneck
from elephan.theory.models.card import Columns, Prediction, Values, read_model
from elephan.theory.models.flows import (
    few_segments,
    mixed_laws,
    other_signals,
    other_traffic,
    packet_rate,
    spread,
    used,
    vectorized_over,
)
from elephan.theory.models.senders import period_inputs
from elephan.theory.response import Floats, Response, bisect
from elephan.theory.rules import (
    buffer_for_utilization,
    effective_flows,
    utilization,
    utilization_bound,
    window_deviation,
)

LAWS = tuple(SOURCES)
"""Laws that respond only to loss."""

FEWEST = 10
"""Smallest number of flows whose sum is approximately Gaussian."""


class FullLinkShares:
    """Shares of flows of one law on a link that is fully used, without a queue.

    Parameters
    ----------
    law : Response
    rate : float [segments/s]
    rtts : ndarray [s], shape (n,)

    Examples
    --------
    >>> shares = FullLinkShares(response("reno"), 1000.0, np.array([0.1, 0.3]))
    >>> round(shares.flows, 2), round(shares.bdp), round(shares.decrease, 2)
    (1.6, 150, 0.5)
    """

    def __init__(self, law: Response, rate: float, rtts: Floats) -> None:
        loss = filling(law, rate, rtts, np.zeros(1))
        rates = law.throughput(loss, rtts)
        self.flows = float(effective_flows(rates))
        """Effective number of flows."""
        self.bdp = rate * float(rates @ rtts / rates.sum())
        """Sum of the windows that fill the link without a queue [segments]."""
        cuts = law.decrease(law.window(loss, rtts), rtts)
        self.decrease = float(rates @ cuts / rates.sum())
        """Share by which a loss reduces the window, averaged over segments (weighted by rates) [1]."""


def filling(law: Response, rate: float, rtts: Floats, waits: Floats) -> Floats:
    """Loss rates at which flows just use the rate of a link.

    Parameters
    ----------
    rate : float [segments/s]
    rtts : ndarray [s], shape (n,)
    waits : ndarray [s], shape (cases,)
        Queueing delays added to the RTTs.

    Returns
    -------
    ndarray [loss events per segment], shape (cases,)

    Examples
    --------
    >>> filling(response("reno"), 1000.0, np.array([0.1]), np.array([0.0])).round(6).tolist()
    [0.00015]
    """
    over = rtts + waits[:, None]
    return 1 / bisect(lambda n: law.throughput(1 / n[:, None], over).sum(-1), np.full(len(waits), rate), 1.0, 1e20)


@vectorized_over("buffer", "target")
def _table(v: Values) -> Columns:
    buffers, targets = v["buffer"], v["target"]
    if not ((targets > 0) & (targets < 1)).all():
        raise InputError("target: must lie strictly between 0 and 1")
    if not (buffers > 0).all():
        raise InputError("buffer: must be above 0")
    shares = FullLinkShares(response(str(v["law"][0])), packet_rate(v), spread(v))
    bdp, n, b = shares.bdp, shares.flows, shares.decrease
    wanted = buffer_for_utilization(bdp, targets, n, b)
    return {
        "utilization": utilization(bdp, buffers, n, b),
        "utilization_bound": utilization_bound(bdp, buffers, n, b),
        "deviation_packets": window_deviation(bdp, buffers, n, b),
        "effective_flows": np.full(buffers.size, n),
        "buffer_for_target_packets": np.where(np.isfinite(wanted), wanted, np.nan),
    }


def _predict(link: Bottleneck, buffers: Floats) -> Prediction:
    law, rtts = response(link.law), np.array(link.rtts_s)
    shares = FullLinkShares(law, link.rate, rtts)
    busy = utilization(shares.bdp, buffers, shares.flows, shares.decrease)
    # On average half of the buffer is used, because the normal distribution is symmetric.
    queue = buffers / 2
    return Prediction(used(link, busy), filling(law, link.rate, rtts, queue / link.rate), queue / link.rate)


def _unsuited(link: Bottleneck) -> str:
    if reason := other_signals(link) or mixed_laws(link):
        return reason
    if link.flows < FEWEST:
        return f"it assumes the sum of many windows; here {link.flows}"
    return ""


def _doubts(link: Bottleneck) -> list[str]:
    lines = []
    # Appenzeller2004 observed synchronized flows below about a hundred, and hardly ever above 500.
    if link.flows < 100:
        lines.append(f"assumes hundreds of unsynchronized flows; here {link.flows}")
    n = FullLinkShares(response(link.law), link.rate, np.array(link.rtts_s)).flows
    # 10 % fewer flows need 5 % more buffer; smaller differences are not reported.
    if n < 0.9 * link.flows:
        lines.append(
            f"replaces unequal flows by {n:.0f} equal ones; Spang2021 says the root of n fails for unfair flows"
        )
    if link.flows > 1 and max(link.rtts_s) <= 1.1 * min(link.rtts_s):
        lines.append("assumes unsynchronized flows; these RTTs are within 10 % of each other, so flows may synchronize")
    lines += few_segments(link)
    if link.discipline != "drop-tail":
        lines.append(f"assumes that the mean queue is half the buffer, of drop-tail; here {link.discipline}")
    return lines + other_traffic(link)


MODEL = read_model(
    __file__,
    choices={"law": LAWS},
    compute=_table,
    predict=_predict,
    unsuited=_unsuited,
    doubts=_doubts,
    asks=period_inputs,
)
