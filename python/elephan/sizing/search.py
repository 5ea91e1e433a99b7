"""The search for the smallest buffer that meets the targets, by simulations, which are slow and noisy.

A geometric grid of buffers is measured with two replications each, then the bracket around the first buffer that meets
all floors (utilization, loss) is narrowed to neighbours of a finer grid, beginning where the fitted curve crosses the
target. Every buffer uses the same random numbers. Only the answer, and buffers whose intervals contain the level of a
target, get all replications. If a model predicts the answer, the search begins at the two buffers of the grid around
the prediction and goes along the grid, in growing steps, until it has a bracket. This gives the same answer from fewer
runs, unless the curve is not monotone.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from elephan.sizing.curve import BufferCurve
from elephan.sizing.targets import BufferSample, Target

PILOT = 2
"""First number of replications of a buffer, the smallest that gives an interval; more follow if they are needed."""

GRID_FACTOR = 2.0
"""Ratio of neighbours on the first grid."""

NEAR = 1.3
"""Maximum factor by which a buffer of the grid is moved: neighbours stay within `elephan.sizing.curve.APART`."""

Measure = Callable[[Sequence[tuple[int, int]], Callable[[], None]], Sequence[BufferSample]]
"""Measures (buffer [packets], replication) pairs, in their order, calling back after each."""


@dataclass(frozen=True)
class SearchProgress:
    """Progress of a search.

    Parameters
    ----------
    done, expected : int
        Number of finished runs, and estimated number of all runs.
    points : int
        Number of measured buffers.
    below, above : int or None [packets]
        The best bracket so far: a buffer that misses a floor, and one that meets all.
    """

    done: int
    expected: int
    points: int
    below: int | None
    above: int | None


@dataclass
class Search:
    """A search in progress.

    Parameters
    ----------
    measure : callable
        See `Measure`.
    replications : int
        Maximum number per buffer.
    precision : float [1]
        The bracket is narrowed until its ends differ by no more than this share, or by one packet.
    grid : tuple of int [packets]
        Smallest and largest buffer of the first grid.
    largest : int [packets]
        Largest buffer to try.
    watch : callable, optional
        Called with a `SearchProgress` after every run.
    start : float or None [packets]
        Buffer near which the answer is expected; None measures the whole grid first.
    least : int [packets]
        No smaller buffer is measured.
    through : collection of int [packets]
        Buffers that are measured in any case: buffers of the grid near them are replaced by them.

    Examples
    --------
    >>> def measure(pairs, done):
    ...     return [BufferSample(buffer / (buffer + 10), 0.0, 0.0) for buffer, _ in pairs]
    >>> from elephan.sizing.targets import parse_targets
    >>> search = Search(measure, parse_targets("utilization=0.9"), 3, 0.05, (10, 1000), 10_000)
    >>> 90 <= search.smallest() <= 95
    True
    """

    measure: Measure
    targets: Sequence[Target]
    replications: int
    precision: float
    grid: tuple[int, int]
    largest: int
    watch: Callable[[SearchProgress], None] | None = None
    start: float | None = None
    least: int = 1
    through: Collection[int] = ()
    curve: BufferCurve = field(init=False)
    _lattice: list[int] = field(init=False)
    _coarse: set[int] = field(default_factory=set)
    _stride: int = 1
    _last_width: float = math.inf
    _done: int = 0

    def __post_init__(self) -> None:
        """Make the grid."""
        self.curve = BufferCurve(self.replications)
        self._lattice = grid_through(geometric(*self.grid), self.through)

    @property
    def floors(self) -> list[Target]:
        """Targets that large buffers meet."""
        return [target for target in self.targets if target.is_floor]

    @property
    def ceilings(self) -> list[Target]:
        """Targets that small buffers meet."""
        return [target for target in self.targets if target.is_ceiling]

    def smallest(self) -> int | None:
        """Find the smallest buffer whose mean over replications meets all floors.

        Returns
        -------
        int [packets] or None
            None if no buffer up to the largest does. The mean at the buffer returned meets every floor itself, not only
            the fit: where a fitted curve first reaches a level, so does the mean (see `elephan.stats.isotonic`).
        """
        self._go_to(self._first())
        while True:
            below, above = self._bracket()
            top, bottom = self.curve.buffers[-1], self.curve.buffers[0]
            if above is None and top < self.largest:
                self._go_to([self._next_above(top, self._take_stride())])
            elif below is None and bottom > self.least:
                self._go_to([self._next_below(bottom, self._take_stride())])
            elif self._settle(below, above):
                continue
            elif above is not None and below is not None and (passed := self._unmeasured(below, above)):
                self._go_to([passed[len(passed) // 2]])
            elif above is None or below is None or not (inside := self._inside(below, above)):
                if above is None and self._left_out():
                    # If the curve is not monotone, a skipped buffer may meet the floors.
                    self.complete()
                elif not self._bound(above):
                    return above
            else:
                self._measure([self._between(below, above, inside)], PILOT)

    def mean(self, buffer: int, target: Target) -> float:
        """Mean of a target's metric at a buffer that was measured."""
        return self.curve.estimate(buffer, target.metric).mean

    def measure_also(self, buffers: Collection[int], replications: int) -> None:
        """Measure buffers that the search does not need, to complete the reported curve.

        Parameters
        ----------
        buffers : collection of int [packets]
        replications : int
            Replications of each buffer, unless the search has fewer.
        """
        self._measure(sorted(buffers), replications)

    def complete(self) -> None:
        """Measure the buffers of the grid that the search has skipped, for a complete curve."""
        self._go_to(self._left_out())

    def _go_to(self, buffers: Sequence[int]) -> None:
        """Measure buffers of the grid, or beyond its ends."""
        self._coarse.update(buffers)
        self._measure(buffers, PILOT)

    def _left_out(self) -> list[int]:
        return [b for b in self._lattice if not self.curve.replications(b)]

    def _unmeasured(self, low: float, high: float) -> list[int]:
        """Return the skipped buffers of the grid between two others."""
        return [b for b in self._left_out() if low < b < high]

    def _first(self) -> list[int]:
        """Return the buffers to start with: the whole grid, or the two neighbours of the start.

        A start that is a buffer of the grid is a rule of thumb, not a model's answer: it alone, with longer steps.
        """
        if self.start is None or len(self._lattice) < 2:
            return self._lattice
        if self.start in self._lattice:
            self._stride = 2
            return [round(self.start)]
        i = min(max(bisect.bisect_left(self._lattice, self.start), 1), len(self._lattice) - 1)
        return self._lattice[i - 1 : i + 1]

    def _take_stride(self) -> int:
        """Number of steps on the grid to go on, doubled each time since the start may be far from the answer."""
        stride, self._stride = self._stride, 2 * self._stride
        return stride

    def _next_above(self, top: int, stride: int = 1) -> int:
        later = [b for b in self._lattice if b > top]
        return later[min(stride, len(later)) - 1] if later else min(self.largest, math.ceil(top * GRID_FACTOR))

    def _next_below(self, bottom: int, stride: int = 1) -> int:
        earlier = [b for b in self._lattice if b < bottom]
        return earlier[-min(stride, len(earlier))] if earlier else max(self.least, math.floor(bottom / GRID_FACTOR**2))

    def _inside(self, below: int, above: int) -> list[int]:
        """Return the buffers of a finer grid within a bracket.

        The grid does not depend on measurements, so the possible answers do not, either.
        """
        low, high = max(b for b in self._coarse if b <= below), min(b for b in self._coarse if b >= above)
        inside = [b for b in finer(low, high, self.precision) if below < b < above]
        if not inside and above - below > max(1.0, self.precision * above):
            # Whole packets: on a grid of few packets neighbours may be further apart.
            return [min(max(round(math.sqrt(below * above)), below + 1), above - 1)]
        return inside

    def _between(self, below: int, above: int, inside: Sequence[int]) -> int:
        """Choose one of these buffers: the first above the crossing of the fitted curve.

        If the last choice has not halved the bracket, the one in the middle.
        """
        width = math.log(above / below)
        crossing = max(self.curve.crossing(target) for target in self.floors)
        is_slow = width > self._last_width / 2
        self._last_width = math.inf if is_slow else width
        at = len(inside) // 2 if is_slow else bisect.bisect_left(inside, crossing)
        return inside[min(at, len(inside) - 1)]

    def _bound(self, above: int | None) -> bool:
        """Measure along the grid until the interval of the answer is covered; return whether any buffer was added."""
        interval = None if above is None or not self.floors else self.curve.interval(self.floors, above)
        if interval is None:
            return False
        buffers = self.curve.buffers
        top, bottom = buffers[-1], buffers[0]
        further = [self._next_below(bottom)] if interval[0] <= bottom and bottom > self._lattice[0] else []
        further += [self._next_above(top)] if math.isinf(interval[1]) and top < self._lattice[-1] else []
        if not further:
            # The ends of the interval depend on the buffers around them: measure those that were skipped there.
            low = max(b for b in buffers if b <= interval[0])
            high = min((b for b in buffers if b >= interval[1]), default=top)
            further = [*self._unmeasured(low, above or low)[-1:], *self._unmeasured(above or high, high)[:1]]
        self._go_to(further)
        return bool(further)

    def _bracket(self) -> tuple[int | None, int | None]:
        """Return the largest buffer that misses a floor, and the smallest that meets all."""
        meets, buffers = self.curve.meeting(self.floors), self.curve.buffers
        count = int((~meets).sum())
        return (buffers[count - 1] if count else None, buffers[count] if count < len(buffers) else None)

    def _settle(self, below: int | None, above: int | None) -> bool:
        """Run the missing replications of buffers in doubt, and of the end of a fine bracket; return if any ran."""
        wanted = {
            buffer
            for buffer in self.curve.buffers
            if any(not self.curve.is_settled(buffer, target) for target in self.floors)
        }
        is_fine = below is None or above is None or not self._inside(below, above)
        if is_fine and above is not None:
            wanted.add(above)
        unfinished = sorted(b for b in wanted if self.curve.replications(b) < self.replications)
        self._measure(unfinished, self.replications)
        return bool(unfinished)

    def _measure(self, buffers: Sequence[int], replications: int) -> None:
        """Bring every buffer to a number of replications, in one batch."""
        upto = min(replications, self.replications)
        pairs = [(b, r) for b in buffers for r in range(self.curve.replications(b), upto)]
        if not pairs:
            return
        below, above = self._bracket() if self.curve.buffers else (None, None)
        expected = self._done + len(pairs) + self._still_to_come(below, above, len(pairs))

        before = self._done

        def on_done() -> None:
            self._done += 1
            if self.watch is not None:
                points = len({*self.curve.buffers, *(buffer for buffer, _ in pairs[: self._done - before])})
                self.watch(SearchProgress(self._done, max(expected, self._done), points, below, above))

        for (buffer, replication), sample in zip(pairs, self.measure(pairs, on_done), strict=True):
            self.curve.add(buffer, replication, sample)

    def _still_to_come(self, below: int | None, above: int | None, planned: int) -> int:
        """Estimate the runs after this batch: the remaining halvings, with all replications, and the last bracket."""
        width = above / below if below and above else GRID_FACTOR
        fine = math.log(1 + self.precision)
        halvings = max(0, math.ceil(math.log2(max(1.0, math.log(width) / fine))))
        return max(0, (halvings + 2) * self.replications - (planned if below else 0))


def geometric(low: int, high: int) -> list[int]:
    """Make a geometric grid of whole numbers.

    Parameters
    ----------
    low, high : int
        The first and the last one.

    Returns
    -------
    list of int
        Rising, each about `GRID_FACTOR` times the one before.

    Examples
    --------
    >>> geometric(1, 10)
    [1, 2, 3, 6, 10]
    """
    steps = max(1, math.ceil(math.log(high / low) / math.log(GRID_FACTOR) - 1e-9))
    return sorted({round(low * (high / low) ** (i / steps)) for i in range(steps + 1)})


def finer(low: int, high: int, precision: float) -> list[int]:
    """Make a geometric grid whose neighbours differ by no more than a share of the larger, or by one.

    Parameters
    ----------
    low, high : int
        Its ends.
    precision : float [1]
        The share.

    Returns
    -------
    list of int
        Rising.

    Examples
    --------
    >>> finer(10, 20, 0.2)
    [10, 12, 14, 17, 20]
    >>> finer(2, 6, 0.125)
    [2, 3, 4, 5, 6]
    """
    steps = 1 if precision >= 1 else math.ceil(math.log(high / low) / -math.log1p(-precision) - 1e-9)
    if steps >= high - low:
        return list(range(low, high + 1))
    return sorted({round(low * (high / low) ** (i / steps)) for i in range(steps + 1)})


def grid_through(grid: Sequence[int], wanted: Collection[int]) -> list[int]:
    """Move buffers of a grid onto others that are near.

    Parameters
    ----------
    grid : sequence of int [packets]
        Rising.
    wanted : collection of int [packets]

    Returns
    -------
    list of int [packets]
        Rising, as many as before; the ends stay.

    Examples
    --------
    >>> grid_through([10, 20, 40, 80, 160], {23, 60, 1000})
    [10, 23, 40, 80, 160]
    """
    moved = list(grid)
    for buffer in sorted(wanted):
        near = [i for i in range(1, len(grid) - 1) if 1 / NEAR <= buffer / grid[i] <= NEAR and moved[i] == grid[i]]
        if near:
            moved[near[0]] = buffer
    return moved
