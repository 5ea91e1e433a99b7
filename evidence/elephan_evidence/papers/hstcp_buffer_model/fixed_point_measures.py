"""Existence and uniqueness of the first paper's fixed points, and whether plain substitution converges to them.

*Source*: Barman2004, Sections III and IV, which claim that a fixed point exists and leave its uniqueness to the size of
the buffer. Here the load that flows offer at an assumed load is computed independently of the solver of
`elephan.theory.fixed_points`, for loads from a ten-thousandth to a hundred capacities: if it falls at every step from
above the assumed load to below it, there is exactly one fixed point. *Differs from the source*: above a loss of 1e-3,
which the paper does not cover, flows are Reno; the upward jump of the rate by 0.2 % between the two laws is ignored.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elephan.theory import hstcp
from elephan.theory.fixed_points import RedThresholds, blocking, droptail, occupancy
from elephan_evidence.papers.hstcp_buffer_model.links import LINKS
from elephan_evidence.papers.measures import MeasureRegistry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan_evidence.papers.runs import ExperimentRuns

    Floats = NDArray[np.float64]

MEASURES = MeasureRegistry()

LOADS = np.geomspace(1e-4, 100.0, 241)
"""Assumed loads [capacities of the link]."""
FLOWS = (1, 10, 100)
"""Numbers of flows that share the link, with its round trips spread over them."""
P_MAX = (0.01, 0.1, 1.0)
"""RED's max_p, whose value the paper does not give."""
RED_SIZES = (5, 2500)
"""Buffers for RED [packets]: its chain has a state for each packet, and its thresholds need a few."""
LOW_P = 1e-3
"""Loss above which flows are Reno."""
LEAST_LOSS = 1e-100
"""Smallest loss for which the closed form is evaluated; at a smaller loss flows exceed the load by far."""


class LinkSetting(NamedTuple):
    """A link with its flows and its queue.

    Parameters
    ----------
    buffer : int [packets]
    p_max : float or None
        RED's max_p, with thresholds at 0.4 of the buffer and at the buffer; None for drop-tail.
    """

    link: str
    flows: int
    buffer: int
    p_max: float | None

    @property
    def rtts(self) -> Floats:
        """Round-trip times of the flows, over the range of the link's [s]."""
        of = LINKS[self.link].rtts
        return np.linspace(min(of), max(of), self.flows) if self.flows > 1 else np.array([np.mean(of)])

    def __str__(self) -> str:
        queue = "drop-tail" if self.p_max is None else f"RED to {self.p_max:g}"
        return f"{self.link}, {self.flows} flows, {self.buffer} packets, {queue}"


@cache
def settings() -> tuple[LinkSetting, ...]:
    """Return the settings: both links, 1 to 100 flows, buffers from one packet to twice the link's product."""
    found = []
    for link, on in LINKS.items():
        sizes = sorted({int(size) for size in np.geomspace(1, 2 * on.full, 12)})
        for flows in FLOWS:
            found += [LinkSetting(link, flows, size, None) for size in sizes]
            some = [size for size in sizes if RED_SIZES[0] <= size <= RED_SIZES[1]]
            found += [LinkSetting(link, flows, size, p_max) for size in some for p_max in P_MAX]
    return tuple(found)


def queue(setting: LinkSetting) -> tuple[Floats, Floats]:
    """Return the loss at each load, and the mean number that accepted arrivals find [packets]."""
    if setting.p_max is None:
        return droptail_queue(setting, LOADS)
    return _red(setting.buffer, setting.p_max)


def droptail_queue(setting: LinkSetting, loads: Floats) -> tuple[Floats, Floats]:
    """Return the loss at each of some loads, and the mean number that accepted arrivals find [packets]."""
    return blocking(loads, setting.buffer), occupancy(loads, max(setting.buffer - 1, 0))


@cache
def offered(setting: LinkSetting) -> Floats:
    """Return the load that flows offer at the queue of each assumed load [capacities].

    Returns
    -------
    ndarray, shape of `LOADS`
        NaN where the loss is below `LEAST_LOSS`.
    """
    return behind(setting, *queue(setting))


def behind(setting: LinkSetting, lost: Floats, waiting: Floats) -> Floats:
    """Return the load that flows offer behind a queue with given losses and waiting packets [capacities]."""
    rate, rtts = LINKS[setting.link].rate, setting.rtts
    seen = np.clip(lost, LEAST_LOSS, 1.0)[:, np.newaxis]
    total = hstcp.throughput(seen, rtts + waiting[:, np.newaxis] / rate).sum(axis=1) / rate
    return np.where(lost > LEAST_LOSS, total, np.nan)


@cache
def _red(buffer: int, p_max: float) -> tuple[Floats, Floats]:
    """Return the loss of RED's chain, and the mean number that accepted arrivals find, at each load."""
    drop = RedThresholds(0.4 * buffer, buffer, p_max).drop(np.arange(buffer + 1.0))
    drop[-1] = 1.0
    n = np.arange(buffer + 1.0)
    with np.errstate(divide="ignore"):
        thinned = np.concatenate(([0.0], np.cumsum(np.log1p(-drop[:-1]))))
    weights = n * np.log(LOADS)[:, np.newaxis] + thinned
    law = np.exp(weights - weights.max(axis=1, keepdims=True))
    law /= law.sum(axis=1, keepdims=True)
    # Computed separately from the loss, which is close to one if nearly everything is dropped.
    passed = law @ (1 - drop)
    return law @ drop, (law @ ((1 - drop) * n)) / passed


def crossings(setting: LinkSetting) -> int:
    """Count the crossings of the offered load with the assumed one."""
    above = np.where(np.isnan(offered(setting)), np.inf, offered(setting)) > LOADS
    return int(np.count_nonzero(np.diff(above.astype(int))))


@MEASURES
def fewest_fixed_points(_: ExperimentRuns) -> float:
    """Return the smallest number of fixed points of any setting."""
    return float(min(crossings(each) for each in settings()))


@MEASURES
def most_fixed_points(_: ExperimentRuns) -> float:
    """Return the largest number of fixed points of any setting."""
    return float(max(crossings(each) for each in settings()))


@MEASURES
def least_fall(_: ExperimentRuns) -> float:
    """Return the smallest fall of the logarithm of the offered load between assumed loads, over all settings.

    If it is above 0, no setting has a second fixed point between those loads. The step at which HighSpeed becomes Reno
    is left out.
    """
    falls = []
    for each in settings():
        slower = queue(each)[0] > LOW_P
        falls.append(-np.diff(np.log(offered(each)))[slower[1:] == slower[:-1]])
    return float(min(np.nanmin(fall) for fall in falls))


def slope(link: str, buffer: int) -> float:
    """Return d log offered / d log load at the fixed point of drop-tail.

    Parameters
    ----------
    buffer : int [packets]

    Returns
    -------
    float [1]
        Plain substitution of the offered for the assumed load converges only within -1 and 1.
    """
    on = LINKS[link]
    [point] = droptail(hstcp.throughput, on.rate, buffer, on.rtts)
    step = 1e-5

    def at(load: float) -> float:
        waiting = float(occupancy(load, max(buffer - 1, 0))) / on.rate
        return float(np.log(hstcp.throughput(blocking(load, buffer), np.array(on.rtts) + waiting).sum()))

    return (at(point.load * np.exp(step)) - at(point.load * np.exp(-step))) / (2 * step)


@MEASURES
def contracts_at(_: ExperimentRuns, *, buffer: int) -> bool:
    """Return whether plain substitution converges to the fixed point on both links with a buffer."""
    return all(abs(slope(link, buffer)) < 1 for link in LINKS)


@MEASURES
def largest_contracting(_: ExperimentRuns) -> float:
    """Return the largest buffer up to which plain substitution converges to the fixed point on both links [packets].

    The search ends at the buffer of the figures' smallest share.
    """
    buffers = range(1, LINKS["1g"].packets(0.005) + 1)
    return float(next((size - 1 for size in buffers if not contracts_at(_, buffer=size)), buffers[-1]))
