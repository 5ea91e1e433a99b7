"""Share of the gap between the paper's number and ours that one variant closes, with the interval that decides it.

A claim that is not met is explained if the runs of *one* variant, the same for a whole table or figure, with five seeds
or more, close at least 70 % of its gap: the lower end of the 95 % interval of the share decides, not its mean. Where
the paper's value is V, ours x and the variant's y, a share s is closed if (1 - s) |x - V| - |y - V| is not below 0. The
two signs of y - V give two conditions that are linear in the values of each replication, so that each has a t interval
of paired differences; the lower end is the largest s at which neither interval reaches below 0 (Fieller's argument for
a ratio, E. C. Fieller, J. Royal Stat. Soc. B 16, 1954). A claim without a value, an ordering or a shape, is explained
if the variant meets it, by its interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.stats import estimate
from elephan_evidence.papers import measured
from elephan_evidence.papers.measured import MeasuredQuantity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan_evidence.papers.accept import AcceptedBand
    from elephan_evidence.papers.measured import Found

NEEDED = 0.7
"""Share of the gap that must be closed: the rest is then less than half of the explained part."""

SEEDS = 5
"""Minimum number of a variant's seeds: an interval of two or three runs is too wide, or by chance too narrow."""

_LOWEST = -1e3
"""Lower limit of the search for a share: the variant is then a thousand gaps farther from the paper than ours."""


@dataclass(frozen=True)
class VariantVerdict:
    """Result of a variant for a claim.

    Parameters
    ----------
    found : Found or None
        The claim's measure in the variant; None if it was not run.
    holds : bool
        Whether the claim is met in the variant, as far as its interval decides it.
    seeds : int or None
        Replications of the variant; None if no runs are needed.
    share, lower : float or None
        Share of the gap that it closes: by the means, and at the lower end of the 95 % interval. None without a gap or
        without a number.
    note : str
        Reason for a missing result, in a few words.
    """

    found: Found | None
    holds: bool
    seeds: int | None = None
    share: float | None = None
    lower: float | None = None
    explains: bool = False
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the result as an entry of a document."""
        return {
            "measured": None if self.found is None else measured.to_json(self.found),
            "holds": self.holds,
            "seeds": self.seeds,
            "share": self.share,
            "share_lower": self.lower,
            "explains": self.explains,
            "note": self.note,
        }


def explain(
    accept: AcceptedBand, ours: Found, theirs: Found, *, met: bool, seeds: int | None, valued: bool
) -> VariantVerdict:
    """Compute the share of a gap that a variant closes, and whether that is enough.

    Parameters
    ----------
    accept : AcceptedBand
        Accepted band of the claim.
    ours, theirs : Found
        The claim's measure, here and in the variant.
    met : bool
        Whether the claim is met in the variant, by its interval if it has one.
    seeds : int or None
        Replications of the variant; None if formulas decide.
    valued : bool
        Whether the claim has a number, from which ours differs.
    """
    enough = seeds is None or seeds >= SEEDS
    few = "" if enough else f"{seeds} seeds, of {SEEDS} that are needed"
    if not valued or accept.how not in ("abs", "rel", "factor", "interval"):
        note = few or ("" if met else "not met there, either")
        return VariantVerdict(theirs, met, seeds, explains=met and enough, note=note)
    share, lower = closed(ours, theirs, accept.value, logarithmic=accept.how == "factor")
    decisive = share if seeds is None else lower
    explains = enough and decisive is not None and decisive >= NEEDED
    note = few
    if not note and not explains:
        note = (
            "its runs leave no interval" if decisive is None else f"less than {100 * NEEDED:.0f} % of the gap for sure"
        )
    return VariantVerdict(theirs, met, seeds, share, lower, explains, note)


def closed(ours: Found, theirs: Found, value: float, *, logarithmic: bool = False) -> tuple[float | None, float | None]:
    """Return the closed share of a gap: by the means, and the lower end of its 95 % interval.

    Parameters
    ----------
    ours, theirs : Found
        Numbers, or measured replication by replication with the same random numbers.
    value : float
        The paper's value.
    logarithmic : bool
        Whether the gap is between logarithms, for orders of magnitude.

    Returns
    -------
    share, lower : float or None
        None without a gap, a number or (the lower end) an interval.

    Examples
    --------
    >>> closed(MeasuredQuantity([8.0, 8.2, 7.8]), MeasuredQuantity([5.1, 5.0, 4.9]), 5.0)[0]
    1.0
    """
    here, there = (_samples(found) for found in (ours, theirs))
    if logarithmic:
        with np.errstate(invalid="ignore", divide="ignore"):
            here, there, value = np.log(here), np.log(there), float(np.log(value))
    gap, left = here - value, there - value
    if gap.size != left.size or gap.mean() == 0 or not (np.isfinite(gap).all() and np.isfinite(left).all()):
        return None, None
    gap = gap * np.sign(gap.mean())
    share = float(1 - abs(left.mean()) / gap.mean())
    return share, _lower(gap, left, share) if gap.size > 1 else None


def _lower(gap: NDArray[np.float64], left: NDArray[np.float64], share: float) -> float | None:
    """Return the largest share at which neither interval reaches below 0, by bisection; None if there is none."""

    def certain(s: float) -> bool:
        return all(_lowest((1 - s) * gap - sign * left) >= 0 for sign in (1.0, -1.0))

    low, high = _LOWEST, share
    if certain(high):
        return high
    if not certain(low):
        return None  # no interval shows that there is a gap
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if certain(middle) else (low, middle)
    return low


def _lowest(samples: NDArray[np.float64]) -> float:
    of = estimate(samples)
    return float(of.mean) - float(of.ci95 or 0.0)


def _samples(found: Found) -> NDArray[np.float64]:
    return found.samples if isinstance(found, MeasuredQuantity) else np.array([float(found)])
