"""The two links of the first paper, the buffers as shares, and the predictions of its models.

*Source*: Barman2004; `elephan.theory.hstcp` and `elephan.theory.fixed_points` hold its equations. *Differs from the
source*: RED's p_max, which the paper does not give, is 0.1.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elephan.theory import highspeed, hstcp, sawtooth
from elephan.theory.fixed_points import FixedPoint, RedThresholds, droptail, red

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan.theory.fixed_points import Chain


class BottleneckLink(NamedTuple):
    """A bottleneck with its ten flows.

    Parameters
    ----------
    rate : float [packets/s]
    full : int [packets]
        The buffer at a share of 1: rate times twice the link's own delay.
    rtts : tuple of float [s]
    """

    rate: float
    full: int
    rtts: tuple[float, ...]

    def packets(self, share: float) -> int:
        """Return a share of the buffer in whole packets."""
        return int(self.full * share + 1e-9)


LINKS = {
    "1g": BottleneckLink(125_000, 12_500, tuple(np.linspace(0.1155, 0.1245, 10))),
    "2g5": BottleneckLink(312_500, 6_250, tuple(np.linspace(0.038, 0.142, 10))),
}
SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)


@cache
def tail_at(link: str, share: float) -> FixedPoint:
    """Return the fixed point of drop-tail, Section III."""
    on = LINKS[link]
    [point] = droptail(hstcp.throughput, on.rate, on.packets(share), on.rtts)
    return point


@cache
def red_at(link: str, share: float, p_max: float = 0.1, chain: Chain = "thinned") -> FixedPoint:
    """Return the fixed point of RED, Section IV: thresholds at 0.4 of the buffer and at the buffer."""
    on = LINKS[link]
    k = on.packets(share)
    [point] = red(hstcp.throughput, on.rate, k, on.rtts, RedThresholds(0.4 * k, k, p_max), chain=chain)
    return point


def modelled(queue: str, link: str, share: float) -> FixedPoint:
    """Return the fixed point of ``"droptail"`` or of RED."""
    return tail_at(link, share) if queue == "droptail" else red_at(link, share)


@cache
def in_step(link: str, shares: tuple[float, ...] = SHARES) -> NDArray[np.float64]:
    """Return the utilization of a sawtooth whose flows are all cut whenever the buffer is full."""
    on = LINKS[link]
    buffers = np.array([on.packets(share) for share in shares], dtype=float)
    return np.asarray(sawtooth.partial(highspeed(), on.rate, buffers, on.rtts, len(on.rtts)).utilisation)


def two_in_step(buffer: float, rtts: tuple[float, float] = (0.08, 0.04)) -> NDArray[np.float64]:
    """Return the rates of two flows on the first link that are both cut whenever the buffer is full [packets/s]."""
    return np.asarray(sawtooth.partial(highspeed(), LINKS["1g"].rate, buffer, rtts, 2).rates, dtype=float).ravel()
