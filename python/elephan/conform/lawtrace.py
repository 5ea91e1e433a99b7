"""What one flow showed, ACK by ACK: its columns, the gauges of its law, and the phases that it went through."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.run.qlog import LAW_STATES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from elephan.run.outcome import ReplicationOutcome

STATES = LAW_STATES["bbr3"]
"""Of BBR, by the number that its gauge shows; the draft's names."""

SHORT = {"Down": "ProbeBW_DOWN", "Cruise": "ProbeBW_CRUISE", "Refill": "ProbeBW_REFILL", "Up": "ProbeBW_UP"}
SAME_S = 1e-11
"""Instants closer than this are one: clocks are whole picoseconds."""

PROBE_BW = tuple(SHORT.values())


@dataclass(frozen=True)
class Phase:
    """A time in one state.

    Parameters
    ----------
    state : str
        One of `STATES`.
    start, end : int
        Its first row, and the first that is not of it: the number of rows if the run ended there.
    """

    state: str
    start: int
    end: int


@dataclass(frozen=True)
class LawTrace:
    """The trace of a flow, and what the case knows of its path.

    Parameters
    ----------
    columns : mapping of str to ndarray
        As `ReplicationOutcome.traces` has them.
    names : mapping of str to float
        Path and what was found: ``rate`` [bit/s], ``rtt`` [s], ``bdp`` [segments], ``segments`` [1/s], ``at`` [s].
    is_bbr : bool
        Whether its states are those of BBR, version 3.
    """

    columns: Mapping[str, Any]
    names: Mapping[str, float]
    is_bbr: bool

    @classmethod
    def of(cls, outcome: ReplicationOutcome, names: Mapping[str, float], law: str) -> LawTrace:
        """Take the one flow that was recorded."""
        [trace] = outcome.traces
        return cls(trace, names, law == "bbr3")

    @property
    def time(self) -> NDArray[np.float64]:
        """Of the rows [s]."""
        found: NDArray[np.float64] = self.columns["time_s"]
        return found

    def gauge(self, name: str) -> NDArray[np.float64]:
        """Return a gauge of the law; NaN where it showed none, and everywhere if the law is another."""
        gauges = self.columns["gauges"]
        if not self.is_bbr or name not in gauges:
            return np.full(self.time.size, np.nan)
        values = np.asarray(gauges[name], dtype=float)
        # A gauge is as long as it was last shown.
        return np.concatenate([values, np.full(self.time.size - values.size, np.nan)])

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """In their order; none of another law."""
        state = self.gauge("state")
        if not state.size or np.isnan(state[0]):
            return ()
        edges = [0, *(np.flatnonzero(np.diff(state)) + 1).tolist(), state.size]
        return tuple(Phase(STATES[int(state[a])], a, b) for a, b in pairwise(edges))

    def phase(self, state: str, nth: int = 1) -> Phase | None:
        """Return the nth phase in a state, counted from 1; None if it was not entered so often.

        ``Descent`` is a PROBE_DOWN that follows a PROBE_UP.
        """
        if state == "Descent":
            found = [b for a, b in pairwise(self.phases) if (a.state, b.state) == (SHORT["Up"], SHORT["Down"])]
        else:
            found = [each for each in self.phases if each.state == SHORT.get(state, state)]
        return found[nth - 1] if len(found) >= nth else None

    def after(self, phase: Phase) -> str:
        """Return the state that a phase was left to; empty if the run ended in it."""
        return "" if phase.end >= self.time.size else STATES[int(self.gauge("state")[phase.end])]

    def passes_down(self, phase: Phase) -> bool:
        """Whether PROBE_DOWN was begun by the ACK that ends a phase, which may have ended it as well."""
        if phase.end >= self.time.size:
            return False
        return bool(abs(self.gauge("cycle_stamp")[phase.end] - self.time[phase.end]) < SAME_S)

    @cached_property
    def acked(self) -> NDArray[np.float64]:
        """Segments acknowledged by each row, if none was lost before."""
        una: NDArray[np.int64] = self.columns["una"].astype(np.int64)
        return np.diff(una, prepend=0).astype(float)

    @cached_property
    def round_starts(self) -> NDArray[np.bool_]:
        """Rows that begin a round."""
        return np.diff(self.gauge("round_count"), prepend=0) > 0
