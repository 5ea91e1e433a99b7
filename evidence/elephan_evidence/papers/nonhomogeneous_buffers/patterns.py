"""The queue that remains after a pattern of losses: the fluid of Section II, flow by flow.

*Source*: Andrew2005, Section II: Reno flows, at most one loss per flow and overflow, no timeouts. Flows may share the
link in any way when the buffer overflows, any of them may lose a packet, and each that does halves its window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from elephan.theory import reno

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

MU = 4000.0
"""Rate of the link [packets/s]."""


def left(rtts: Sequence[float], buffer: float, shares: ArrayLike, losers: ArrayLike) -> float:
    """Return the queue that remains after the flows with losses have halved their windows.

    Parameters
    ----------
    rtts : sequence of float [s]
        RTTs without queueing at this link.
    buffer : float [packets]
    shares : array_like
        Shares of the link when the buffer overflows, with the sum 1.

    Returns
    -------
    float [packets]
        Zero if the remaining windows do not fill the link.
    """
    times = np.asarray(rtts, dtype=float)
    windows = np.asarray(shares, dtype=float) * MU * (times + buffer / MU)
    windows = np.where(losers, windows * (1 - reno().decrease(windows)), windows)

    def spare(queue: float) -> float:
        return float((windows / (times + queue / MU)).sum() - MU)

    # Limited to the buffer, which rounding may exceed if no flow has a loss.
    return float(brentq(spare, 0.0, 2 * buffer, xtol=1e-9)) if spare(0.0) > 0 else 0.0


def patterns(buffers: tuple[float, float], count: int = 500) -> Iterator[tuple[list[float], float, float]]:
    """Yield random patterns: round-trip times, buffer, and the remaining queue.

    Parameters
    ----------
    buffers : tuple of float
        Range from which they are drawn, in products of the rate and the longest round-trip time.

    Yields
    ------
    tuple of list of float [s], float [packets] and float [packets]
    """
    draw = np.random.default_rng(1)
    for _ in range(count):
        n = int(draw.integers(1, 9))
        rtts = draw.uniform(0.01, 0.2, n)
        # Small parameters of the Dirichlet distribution make shares uneven: often one flow has nearly the whole link.
        shares = draw.dirichlet(np.full(n, 0.2))
        losers = draw.random(n) < draw.choice([0.3, 0.7, 1.0])
        buffer = float(draw.uniform(*buffers) * MU * rtts.max())
        yield rtts.tolist(), buffer, left(rtts.tolist(), buffer, shares, losers)
