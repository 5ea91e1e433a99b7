"""Acceptance criteria of claims in a short notation, and their evaluation for a measured value.

``min x``, ``max x`` and ``in a..b`` bound the measured value; ``abs x``, ``rel x`` and ``factor x`` give a band around
the claim's value, and so does ``interval x``: x is the half-width of the paper's own interval, to which ours is added.
``sign`` requires the sign given by the claim's value (``> 0`` or ``< 0``) or, without a value, by the text after it;
``so`` requires True.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Standing = Literal["met", "undecided", "contradicted"]
"""Verdict of an interval on a claim: all of it is accepted, a part of it, or none of it."""

EDGE = 1 + 1e-9
"""Factor by which rounding may exceed a tolerance: "1.25" for "1.2" is half of its last digit."""

_PLAIN = {
    "min": "at least {}",
    "max": "at most {}",
    "abs": "within {} of it",
    "factor": "within a factor of {}",
    "interval": "within {} and our interval of it",
}


@dataclass(frozen=True)
class AcceptedBand:
    """An accepted band of values.

    Parameters
    ----------
    how : str
        The first word of the criterion.
    numbers : tuple of float
        The numbers after it.
    value : float
        Value of the claim, for bands around it; 1 or -1 for a sign.

    Examples
    --------
    >>> AcceptedBand.read("abs 0.03", "0.98").holds(1.0), AcceptedBand.read("sign", "< 0").holds(0.0)
    (True, False)
    >>> AcceptedBand.read("so").holds(True)
    True
    """

    how: str
    numbers: tuple[float, ...] = ()
    value: float = float("nan")

    @classmethod
    def read(cls, text: str, value: str = "") -> AcceptedBand:
        """Parse a criterion.

        Parameters
        ----------
        value : str
            Value of the claim.

        Raises
        ------
        ValueError
            If it cannot be parsed, or the value does not fit it.
        """
        how, _, rest = text.strip().partition(" ")
        if how == "so" and not rest:
            return cls(how)
        if how == "sign" and not (rest and value):
            wanted = rest or value
            if wanted not in ("> 0", "< 0"):
                message = f"a sign needs a value of '> 0' or '< 0', not {wanted!r}"
                raise ValueError(message)
            return cls(how, (), 1.0 if wanted == "> 0" else -1.0)
        if how == "in":
            low, _, high = rest.partition("..")
            return cls(how, (float(low), float(high)))
        if how in ("min", "max"):
            return cls(how, (float(rest),))
        if how in ("abs", "rel", "factor", "interval"):
            return cls(how, (float(rest),), float(value))
        message = f"{text!r}: must be min x, max x, abs x, rel x, factor x, interval x, in a..b, sign or so"
        raise ValueError(message)

    def holds(self, found: float | bool) -> bool:
        """Return whether a value is accepted; NaN never is."""
        if self.how == "so":
            return found is True
        if self.how == "sign":
            return self.value * found > 0
        low, high = self.bounds
        return low <= found <= high

    @property
    def bounds(self) -> tuple[float, float]:
        """Limits of the accepted band, which a sign excludes; NaN for ``so``."""
        if self.how == "so":
            return math.nan, math.nan
        if self.how == "sign":
            return (0.0, math.inf) if self.value > 0 else (-math.inf, 0.0)
        if self.how == "in":
            return self.numbers[0], self.numbers[1]
        [number] = self.numbers
        if self.how in ("min", "max"):
            return (number, math.inf) if self.how == "min" else (-math.inf, number)
        if self.how == "factor":
            return self.value / number, self.value * number
        within = (number * abs(self.value) if self.how == "rel" else number) * EDGE
        return self.value - within, self.value + within

    def beside(self, ci95: float | None) -> AcceptedBand:
        """Return the band for a value with an interval: a paper's interval is widened by ours.

        Parameters
        ----------
        ci95 : float or None
            Half-width of our interval.

        Returns
        -------
        AcceptedBand
            The band, which is used for the nulls, too, whatever their intervals are.
        """
        if self.how != "interval":
            return self
        return AcceptedBand("abs", (self.numbers[0] + (ci95 or 0.0),), self.value)

    def standing(self, mean: float, ci95: float) -> Standing:
        """Judge a value by its 95 % interval.

        Parameters
        ----------
        mean, ci95 : float
            Mean and half-width of the interval.

        Returns
        -------
        str
            ``"met"``, ``"undecided"`` or ``"contradicted"``; NaN is ``"contradicted"``.

        Examples
        --------
        >>> [AcceptedBand.read("sign", "> 0").standing(mean, 0.2) for mean in (0.3, 0.1, -0.3)]
        ['met', 'undecided', 'contradicted']
        """
        ends = [self.holds(mean - ci95), self.holds(mean + ci95)]
        if all(ends):
            return "met"
        # One end may be accepted, or only the middle of an interval that is wider than the band.
        low, high = self.bounds
        return "undecided" if any(ends) or mean - ci95 < low < high < mean + ci95 else "contradicted"

    def __str__(self) -> str:
        if self.how == "so":
            return "as said"
        if self.how == "sign":
            return "above 0" if self.value > 0 else "below 0"
        if self.how == "in":
            return "from {:g} to {:g}".format(*self.numbers)
        if self.how == "rel":
            return f"within {100 * self.numbers[0]:g} % of it"
        return _PLAIN[self.how].format(f"{self.numbers[0]:g}")
