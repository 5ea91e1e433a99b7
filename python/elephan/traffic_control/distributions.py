"""Distributions of netem's jitter, as delays that are equally likely.

*Source*: tc-netem(8) for the names; the tables that iproute2 installs are those of these quantile functions, to a
percent of the jitter up to the 99 % quantile (facts, not text). All are of mean 0 and in units of the jitter, and end
at four of it.
"""

from __future__ import annotations

from statistics import NormalDist, fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DELAYS = 200
"""Equally likely delays for a distribution: its function is met to half of their share, 0.25 %."""

FINE = 20
"""Quantiles of each of them, whose mean it is."""


def _normal(share: float) -> float:
    return NormalDist().inv_cdf(share)


def _pareto(share: float) -> float:
    # Of shape 3, less its mean of 3/2.
    return float(min(4 / 3 * ((1 - share) ** (-1 / 3) - 1.5), 4.0))


def _pareto_normal(share: float) -> float:
    return 0.25 * _normal(share) + 0.75 * _pareto(share)


QUANTILES: dict[str, Callable[[float], float]] = {
    "normal": _normal,
    "pareto": _pareto,
    "paretonormal": _pareto_normal,
}


def delays(name: str, delay_s: float, jitter_s: float) -> list[float]:
    """Return the equally likely delays [s] of a distribution, none below zero.

    Examples
    --------
    >>> few = delays("normal", 0.02, 0.004)
    >>> round(sum(few) / len(few), 6), round(few[0], 4), round(few[-1], 4)
    (0.02, 0.0084, 0.0316)
    """
    fine = [QUANTILES[name]((i + 0.5) / (DELAYS * FINE)) for i in range(DELAYS * FINE)]
    means = [fmean(fine[i : i + FINE]) for i in range(0, len(fine), FINE)]
    return [max(delay_s + jitter_s * each, 0.0) for each in means]
