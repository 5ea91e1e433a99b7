"""Actions of an agent: they multiply the window or the pacing rate of each flow by a factor, or set its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elephan.errors import InputError, suggest
from elephan.gym.intervals import Floats, Interval

ACTIONS = ("window", "rate", "set-window", "set-rate")
"""Values of ``action``: the agent multiplies a window or rate by a factor, or sets its value."""

MOST = 2.0
"""Default of the largest factor; the smallest is its inverse."""

WINDOWS_PER_ROUND = 2.0
"""Ratio of the window to rate x smoothed RTT if the agent sets the rate; above 1, so that pacing limits the flow."""

FEWEST = 4.0
"""Minimum window if the agent sets the rate [segments]."""


@dataclass(frozen=True)
class Actions:
    """Conversion of an agent's numbers into windows and rates.

    Parameters
    ----------
    what : str
        One of `ACTIONS`.
    levels : tuple of float or None
        Allowed choices: factors, or values [segments or bit/s]. None for continuous actions from -1 to 1.
    most : float
        Largest factor: an action of 1 multiplies by it, -1 divides by it, and 0 changes nothing.

    Examples
    --------
    >>> Actions("window", None, 2.0).factors(np.array([-1.0, 0.0, 0.5])).round(3).tolist()
    [0.5, 1.0, 1.414]
    """

    what: str
    levels: tuple[float, ...] | None
    most: float

    @classmethod
    def of(cls, what: str, levels: Sequence[float] | None, most: float) -> Actions:
        """Check the requested action, levels and largest factor.

        Raises
        ------
        InputError
            If the action does not exist, or a level or the factor is invalid.
        """
        if what not in ACTIONS:
            raise InputError(f"action: there is no {what!r}; {suggest(what, ACTIONS)}")
        if not (np.isfinite(most) and most > 1):
            raise InputError(f"most: is {most:g}; must be a factor above 1, for example 2")
        if levels is not None and (len(levels) < 2 or not all(np.isfinite(level) and level > 0 for level in levels)):
            raise InputError("levels: must be two numbers above 0 or more, for example (0.5, 1.0, 1.1)")
        return cls(what, None if levels is None else tuple(float(level) for level in levels), float(most))

    @property
    def paced(self) -> bool:
        """Whether the agent sets the rate, not the window."""
        return self.what.endswith("rate")

    @property
    def sets(self) -> bool:
        """Whether actions are values, not factors."""
        return self.what.startswith("set-")

    def factors(self, given: Floats) -> Floats:
        """Return the factors for actions from -1 to 1."""
        return np.asarray(self.most ** np.clip(given, -1.0, 1.0))

    def decide(self, given: Floats, last: Interval, spans: Floats) -> tuple[Floats, Floats]:
        """Convert actions to windows [segments] and rates [segments/s]; rates are NaN if the agent sets the window.

        Parameters
        ----------
        given : ndarray, shape (links, flows)
            Indices of levels, or actions from -1 to 1.
        last : Interval
            The interval before the decision.
        spans : ndarray, shape (2, links, flows)
            If actions are values: the values for -1 and 1 [segments or bit/s]; values between are spaced geometrically.
        """
        if self.levels is not None:
            chosen = np.asarray(self.levels)[np.asarray(given, dtype=np.intp)]
        elif self.sets:
            low, high = spans
            chosen = low * (high / low) ** (np.clip(given, -1.0, 1.0) / 2 + 0.5)
        else:
            chosen = self.factors(np.asarray(given, dtype=float))
        none = np.full(chosen.shape, np.nan)
        if not self.paced:
            return (chosen if self.sets else chosen * last.cwnd), none
        rates = chosen / last.segment_bits if self.sets else chosen * last.pacing_rate
        rtt = np.where(last.srtt_s > 0, last.srtt_s, last.base_rtt_s)
        return np.maximum(WINDOWS_PER_ROUND * rates * rtt, FEWEST), rates
