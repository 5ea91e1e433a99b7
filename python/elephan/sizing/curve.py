"""The measured curve of a link against its buffer: samples by buffer and replication, monotone fits, confidence sets.

Source: isotonic regression, Ayer1955; intervals by inverting a test, Fieller1954.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elephan.sizing.targets import BufferSample, GroupSample, Target
from elephan.stats import Estimate, estimate, isotonic, t_quantile

if TYPE_CHECKING:
    from elephan.sizing.documents import GroupQuantities

APART = 4.0
"""Maximum ratio of two neighbouring measured buffers between which the curve is interpolated and drawn."""


class BufferCurve:
    """Samples by buffer and replication.

    Every buffer holds replications 0, 1, … without gaps, so buffers share their random numbers.

    Parameters
    ----------
    full : int, optional
        A buffer with at least this many replications has an interval by its own spread; with fewer, the spread of all
        buffers is used, too (see `half_width`). By default each has its own.

    Examples
    --------
    >>> from elephan.sizing.targets import BufferSample
    >>> curve = BufferCurve()
    >>> curve.add(100, 0, BufferSample(0.9, 0.01, 0.002))
    >>> curve.buffers, curve.replications(100)
    ([100], 1)
    """

    def __init__(self, full: int = 0) -> None:
        self.full = full
        self._samples: dict[int, list[BufferSample]] = {}

    def add(self, buffer: int, replication: int, sample: BufferSample) -> None:
        """Add the sample of one replication.

        Parameters
        ----------
        buffer : int [packets]
        replication : int
            The next one for this buffer.

        Raises
        ------
        ValueError
            If replications are added out of order.
        """
        row = self._samples.setdefault(buffer, [])
        if replication != len(row):
            raise ValueError(f"replication {replication} of buffer {buffer} came after {len(row)} others")
        row.append(sample)

    @property
    def buffers(self) -> list[int]:
        """Buffers measured so far [packets], rising."""
        return sorted(self._samples)

    def replications(self, buffer: int) -> int:
        """Return the number of replications of a buffer.

        Parameters
        ----------
        buffer : int [packets]
        """
        return len(self._samples.get(buffer, ()))

    def samples(self, buffer: int) -> tuple[BufferSample, ...]:
        """Return the samples of a buffer, one per replication.

        Parameters
        ----------
        buffer : int [packets]

        Returns
        -------
        tuple of BufferSample
            Samples by replication.
        """
        return tuple(self._samples.get(buffer, ()))

    def estimate(self, buffer: int, metric: str) -> Estimate:
        """Mean and interval of a metric at a buffer.

        Parameters
        ----------
        buffer : int [packets]
        metric : str
            As `Target.metric`.

        Returns
        -------
        Estimate
        """
        return estimate([sample.value(metric) for sample in self._samples[buffer]])

    def half_width(self, buffer: int, metric: str) -> float | None:
        """Half-width of the 95 % confidence interval of a mean.

        Two replications hardly estimate their spread: Student's t with one degree of freedom is 12.7. If a buffer has
        fewer than `full` replications, the pooled spread of all buffers is used, or its own if that is larger, with the
        degrees of freedom of all; the interval is never longer than its own.

        Parameters
        ----------
        buffer : int [packets]
        metric : str
            As `Target.metric`.

        Returns
        -------
        float or None
            None with a single replication.

        Examples
        --------
        >>> from elephan.sizing.targets import BufferSample
        >>> alone, together = BufferCurve(), BufferCurve(full=5)
        >>> for curve in (alone, together):
        ...     for buffer, used in ((10, 0.80), (10, 0.81), (20, 0.85), (20, 0.86), (40, 0.90), (40, 0.91)):
        ...         curve.add(buffer, curve.replications(buffer), BufferSample(used, 0.0, 0.0))
        >>> round(alone.half_width(10, "utilization"), 3), round(together.half_width(10, "utilization"), 3)
        (0.064, 0.016)
        """
        count = self.replications(buffer)
        own = self.estimate(buffer, metric).ci95
        if own is None or count >= self.full:
            return own
        rows = [[sample.value(metric) for sample in row] for row in self._samples.values() if len(row) > 1]
        freedom = sum(len(row) - 1 for row in rows)
        pooled = sum((len(row) - 1) * float(np.var(row, ddof=1)) for row in rows) / freedom
        spread = max(math.sqrt(pooled), own * math.sqrt(count) / t_quantile(count - 1))
        return min(own, t_quantile(freedom) * spread / math.sqrt(count))

    def group(self, buffer: int, group: int, quantity: str) -> Estimate:
        """Mean and interval of a quantity of one group of flows at a buffer.

        Parameters
        ----------
        buffer : int [packets]
        group : int
            Among those that cross the link, from 0.
        quantity : str
            Field of `GroupSample`.

        Returns
        -------
        Estimate
        """
        return estimate([getattr(sample.groups[group], quantity) for sample in self._samples[buffer]])

    def group_quantities(self, buffer: int, group: int) -> GroupQuantities:
        """Mean and interval of every quantity of one group of flows at a buffer, as JSON shows them.

        Parameters
        ----------
        buffer : int [packets]
        group : int
            As for `group`.

        Returns
        -------
        dict
        """
        found: Any = {name: self.group(buffer, group, name).to_json() for name in GroupSample._fields}
        quantities: GroupQuantities = found
        return quantities

    def columns(self, metrics: Sequence[str], groups: Sequence[str] = ()) -> dict[str, list[Any]]:
        """Return everything that was measured, with an entry for each buffer.

        Parameters
        ----------
        metrics : sequence of str
            As `Target.metric`.
        groups : sequence of str
            Names of the groups whose quantities follow.

        Returns
        -------
        dict of str to list
            ``replications``, and means and half-widths of intervals.
        """
        found: dict[str, list[Any]] = {"replications": [self.replications(buffer) for buffer in self.buffers]}
        of_groups = [(i, name, quantity) for i, name in enumerate(groups) for quantity in GroupSample._fields]
        for buffer in self.buffers:
            rows = {metric: self.estimate(buffer, metric) for metric in metrics}
            rows |= {f"{quantity}[{name}]": self.group(buffer, i, quantity) for i, name, quantity in of_groups}
            for name, (mean, ci95) in rows.items():
                found.setdefault(name, []).append(mean)
                found.setdefault(f"{name}_ci95", []).append(ci95)
        return found

    def fit(self, target: Target, shift: float = 0.0) -> NDArray[np.float64]:
        """Fit the means, moved by some half-widths of their intervals, by a monotone curve.

        Parameters
        ----------
        target : Target
            Names the metric, and whether it rises with the buffer.
        shift : float
            0 fits the means, 1 the upper and -1 the lower ends of the intervals.

        Returns
        -------
        ndarray of float, shape (buffers,)
            In the order of `buffers`.
        """
        values = [
            self.estimate(buffer, target.metric).mean
            + (shift * (self.half_width(buffer, target.metric) or 0.0) if shift else 0.0)
            for buffer in self.buffers
        ]
        return isotonic(values, [self.replications(buffer) for buffer in self.buffers], increasing=bool(target.rises))

    def is_settled(self, buffer: int, target: Target) -> bool:
        """Return whether the interval at a buffer leaves no doubt about a target.

        Parameters
        ----------
        buffer : int [packets]

        Returns
        -------
        bool
            False with a single replication.
        """
        half = self.half_width(buffer, target.metric)
        return half is not None and abs(self.estimate(buffer, target.metric).mean - target.level) > half

    def meeting(self, targets: Sequence[Target]) -> NDArray[np.bool_]:
        """Return which buffers meet all targets, after fitting.

        Parameters
        ----------
        targets : sequence of Target
            Targets of one kind: all floors or all ceilings.

        Returns
        -------
        ndarray of bool, shape (buffers,)
            Monotone in the buffer.
        """
        meets = np.ones(len(self.buffers), dtype=bool)
        for target in targets:
            meets &= np.array([target.meets(value) for value in self.fit(target)], dtype=bool)
        return meets

    def crossing(self, target: Target, shift: float = 0.0) -> float:
        """Buffer at which the fitted curve of a metric passes the target's level.

        Parameters
        ----------
        shift : float
            As in `fit`.

        Returns
        -------
        float [packets]
            Interpolated in the logarithm of the buffer; the smallest buffer measured if the curve begins beyond the
            level, infinite if it never gets there.
        """
        sign = 1.0 if target.rises else -1.0
        values, level = sign * self.fit(target, shift), sign * target.level
        # Floors are met from their level on, ceilings up to and including theirs.
        beyond = values >= level if target.is_floor else values > level
        if not beyond.any():
            return math.inf
        k = int(np.argmax(beyond))
        if k == 0:
            return float(self.buffers[0])
        low, high = math.log(self.buffers[k - 1]), math.log(self.buffers[k])
        part = (level - values[k - 1]) / (values[k] - values[k - 1])
        return math.exp(low + float(part) * (high - low))

    def interval(self, floors: Sequence[Target], buffer: int) -> tuple[float, float] | None:
        """95 % confidence interval of the smallest buffer that meets all floors.

        The set of buffers at which the test "the mean equals the level" is not rejected: from the buffer where the
        upper ends of the intervals first reach the level to the one where the lower ends do, both made monotone.
        Nothing is linearised, so a flat curve gives a long interval.

        Parameters
        ----------
        buffer : int [packets]
            The answer, which the interval holds by construction.

        Returns
        -------
        tuple of float [packets], or None
            The upper end is infinite if the data allow no bound; None with a single replication.

        References
        ----------
        Fieller1954.
        """
        if not floors or any(self.replications(b) < 2 for b in self.buffers):
            return None
        low = max(self.crossing(target, 1.0 if target.rises else -1.0) for target in floors)
        high = max(self.crossing(target, -1.0 if target.rises else 1.0) for target in floors)
        return min(low, float(buffer)), max(high, float(buffer))


def measured_at(rows: Sequence[Mapping[str, Any]], buffer: float, metric: str) -> float | None:
    """Mean of a metric between the buffers measured.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of ``curve`` of the document.
    buffer : float [packets]
    metric : str
        Key in the rows.

    Returns
    -------
    float or None
        Linear in the logarithm of the buffer; None outside of what was measured, and between buffers that are more
        than `APART` times each other.

    Examples
    --------
    >>> rows = [{"buffer_packets": b, "utilization": {"mean": u}} for b, u in ((10, 0.8), (40, 1.0), (1000, 1.0))]
    >>> round(measured_at(rows, 20, "utilization"), 3), measured_at(rows, 100, "utilization")
    (0.9, None)
    """
    buffers = [row["buffer_packets"] for row in rows]
    if not buffers or not buffers[0] <= buffer <= buffers[-1]:
        return None
    if buffer not in buffers:
        above = next(b for b in buffers if b > buffer)
        below = max(b for b in buffers if b < buffer)
        if above > APART * below:
            return None
    return float(np.interp(math.log(buffer), np.log(buffers), [row[metric]["mean"] for row in rows]))
