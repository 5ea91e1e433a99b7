"""Trace of one flow, ACK by ACK: its columns, the gauges of its law, and the phases of its states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.runs.qlog import LAW_STATES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from elephan.runs.outcome import ReplicationOutcome

STATES = LAW_STATES["bbr3"]
"""States of BBR in the order of its gauge's numbers; the draft's names."""

SHORT = {"Down": "ProbeBW_DOWN", "Cruise": "ProbeBW_CRUISE", "Refill": "ProbeBW_REFILL", "Up": "ProbeBW_UP"}
SAME_S = 1e-11
"""Instants closer than this are treated as equal [s]: clocks count whole picoseconds."""

PROBE_BW = tuple(SHORT.values())


@dataclass(frozen=True)
class Phase:
    """A period in one state.

    Parameters
    ----------
    state : str
        One of `STATES`.
    start, end : int
        First row, and one past the last row.
    """

    state: str
    start: int
    end: int


@dataclass(frozen=True)
class LawTrace:
    """The trace of a flow, and the facts of its path.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Columns of `ReplicationOutcome.traces`.
    names : mapping of str to float
        Facts of the path and measured values: ``rate`` [bit/s], ``rtt`` [s], ``bdp`` [segments], ``segments`` [1/s],
        ``at`` [s].
    is_bbr : bool
        Whether its states are those of BBR, version 3.
    """

    columns: Mapping[str, Any]
    names: Mapping[str, float]
    is_bbr: bool

    @classmethod
    def of(cls, outcome: ReplicationOutcome, names: Mapping[str, float], law: str) -> LawTrace:
        """Build the trace of the one recorded flow."""
        [trace] = outcome.traces
        return cls(trace, names, law == "bbr3")

    @property
    def time(self) -> NDArray[np.float64]:
        """Times of the rows [s]."""
        found: NDArray[np.float64] = self.columns["time_s"]
        return found

    def gauge(self, name: str) -> NDArray[np.float64]:
        """Return a gauge of the law; NaN where it has no value, and everywhere if another law lacks it."""
        gauges = self.columns["gauges"]
        if not self.is_bbr or name not in gauges:
            return np.full(self.time.size, np.nan)
        values = np.asarray(gauges[name], dtype=float)
        # A gauge may be shorter than the trace: it ends where the law last showed it.
        return np.concatenate([values, np.full(self.time.size - values.size, np.nan)])

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """Phases in their order; empty for another law."""
        state = self.gauge("state")
        if not state.size or np.isnan(state[0]):
            return ()
        edges = [0, *(np.flatnonzero(np.diff(state)) + 1).tolist(), state.size]
        return tuple(Phase(STATES[int(state[a])], a, b) for a, b in pairwise(edges))

    def phase(self, state: str, nth: int = 1) -> Phase | None:
        """Return the nth phase in a state, counted from 1; None if the state was entered fewer times.

        ``Descent`` is a PROBE_DOWN after a PROBE_UP.
        """
        if state == "Descent":
            found = [b for a, b in pairwise(self.phases) if (a.state, b.state) == (SHORT["Up"], SHORT["Down"])]
        else:
            found = [each for each in self.phases if each.state == SHORT.get(state, state)]
        return found[nth - 1] if len(found) >= nth else None

    def after(self, phase: Phase) -> str:
        """Return the state after a phase; empty if the run ended in the phase."""
        return "" if phase.end >= self.time.size else STATES[int(self.gauge("state")[phase.end])]

    def passes_down(self, phase: Phase) -> bool:
        """Whether the ACK that ends a phase began PROBE_DOWN, which the same ACK may have ended as well."""
        if phase.end >= self.time.size:
            return False
        return bool(abs(self.gauge("cycle_stamp")[phase.end] - self.time[phase.end]) < SAME_S)

    @cached_property
    def acked(self) -> NDArray[np.float64]:
        """Segments newly acknowledged by each row, if no loss came before."""
        una: NDArray[np.int64] = self.columns["una"].astype(np.int64)
        return np.diff(una, prepend=0).astype(float)

    @cached_property
    def round_starts(self) -> NDArray[np.bool_]:
        """Whether each row begins a round."""
        return np.diff(self.gauge("round_count"), prepend=0) > 0
