"""What was measured of the driven flows from one decision to the next, and what agents may see of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elephan import _native
from elephan.errors import InputError, suggest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_COLUMNS = {name: i for i, name in enumerate(_native.SteppedRuns.MEASURED)}


class Interval:
    """What was measured of each flow in one step; every array has the shape (links, flows).

    Parameters
    ----------
    values : ndarray, shape (links, flows, columns)
        As `_native.SteppedRuns` gives it.
    segment_bits : ndarray, shape (links, flows) [bits]
        Of a full segment on the wire.
    best_bps : ndarray, shape (links, flows) [bit/s]
        The largest throughput of the steps before, in the same episode.
    last_rtt_s : ndarray, shape (links, flows) [s]
        The mean round-trip time of the step before; 0 of none.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.zeros((1, 1, len(_COLUMNS)))
    >>> one[..., [_COLUMNS["step_s"], _COLUMNS["delivered"], _COLUMNS["sent"]]] = 0.5, 100, 110
    >>> interval = Interval(one, np.full((1, 1), 12e3), np.zeros((1, 1)), np.zeros((1, 1)))
    >>> float(interval.throughput_bps[0, 0]), float(interval.sending_ratio[0, 0])
    (2400000.0, 1.1)
    """

    __slots__ = ("best_bps", "last_rtt_s", "segment_bits", "throughput_bps", "values")

    def __init__(self, values: Floats, segment_bits: Floats, best_bps: Floats, last_rtt_s: Floats) -> None:
        self.values = values
        self.segment_bits = segment_bits
        step = values[..., _COLUMNS["step_s"]]
        self.throughput_bps: Floats = self.delivered * segment_bits / np.where(step > 0, step, np.inf)
        """What reached the receiver [bit/s], as the sender knows."""
        self.best_bps = np.maximum(best_bps, self.throughput_bps)
        self.last_rtt_s = last_rtt_s

    def _column(self, name: str) -> Floats:
        return self.values[..., _COLUMNS[name]]

    @property
    def time_s(self) -> Floats:
        """When it ended [s]."""
        return self._column("time_s")

    @property
    def step_s(self) -> Floats:
        """How long it was [s]."""
        return self._column("step_s")

    @property
    def sent(self) -> Floats:
        """Segments that left, retransmissions included."""
        return self._column("sent")

    @property
    def retransmitted(self) -> Floats:
        """Of these, sent before."""
        return self._column("retransmitted")

    @property
    def delivered(self) -> Floats:
        """Segments that the sender learned to have arrived."""
        return self._column("delivered")

    @property
    def timeouts(self) -> Floats:
        """Expired retransmission timers."""
        return self._column("timeouts")

    @property
    def loss_events(self) -> Floats:
        """Times at which a law would have cut its window: one at most for the losses and marks of a window."""
        return self._column("loss_events")

    @property
    def rtt_s(self) -> Floats:
        """Mean round-trip time of the ACKs [s]; of a step without any that of the one before; 0 before the first."""
        return self._column("rtt_s")

    @property
    def srtt_s(self) -> Floats:
        """Smoothed round-trip time [s]; 0 before the first sample."""
        return self._column("srtt_s")

    @property
    def min_rtt_s(self) -> Floats:
        """The least round-trip time of the connection [s]; 0 before the first sample."""
        return self._column("min_rtt_s")

    @property
    def base_rtt_s(self) -> Floats:
        """The round-trip time without queues [s], which no sender knows."""
        return self._column("base_rtt_s")

    @property
    def cwnd(self) -> Floats:
        """Congestion window at the end [segments]."""
        return self._column("cwnd")

    @property
    def pacing_rate(self) -> Floats:
        """Pace at the end [segments/s]; 0 without."""
        return self._column("pacing_rate")

    @property
    def in_flight(self) -> Floats:
        """Segments in the network at the end."""
        return self._column("in_flight")

    @property
    def waiting(self) -> Floats:
        """Packets of all flows that wait at the link at the end, which no sender knows."""
        return self._column("waiting")

    @property
    def dropped(self) -> Floats:
        """Packets of all flows that the link dropped, which no sender knows."""
        return self._column("dropped")

    @property
    def loss_ratio(self) -> Floats:
        """Retransmissions over what was sent: what the sender took for lost."""
        return self.retransmitted / np.maximum(self.sent, 1.0)

    @property
    def rtt_ratio(self) -> Floats:
        """Mean over least round-trip time; 1 before the first sample."""
        least = self.min_rtt_s
        return np.where(least > 0, self.rtt_s / np.where(least > 0, least, 1.0), 1.0)

    @property
    def rtt_gradient(self) -> Floats:
        """How fast the mean round-trip time rises from step to step [s/s]; 0 in the first."""
        rises = (self.rtt_s - self.last_rtt_s) / np.where(self.step_s > 0, self.step_s, np.inf)
        return np.where(self.last_rtt_s > 0, rises, 0.0)

    @property
    def sending_ratio(self) -> Floats:
        """Segments sent over segments delivered; 1 of none."""
        return np.where(self.delivered > 0, self.sent / np.maximum(self.delivered, 1.0), 1.0 + self.sent)


@dataclass(frozen=True)
class Feature:
    """A number of an observation.

    Parameters
    ----------
    name : str
    low, high : float
        Bounds; what is beyond them is held to them.
    meaning : str
    of : callable
        Of an `Interval`.
    """

    name: str
    low: float
    high: float
    meaning: str
    of: Callable[[Interval], Floats]


FEATURES = {
    feature.name: feature
    for feature in (
        Feature(
            "throughput",
            0.0,
            1.0,
            "throughput over the largest of the episode so far (Orca)",
            lambda it: it.throughput_bps / np.maximum(it.best_bps, 1.0),
        ),
        Feature("loss", 0.0, 1.0, "retransmissions over segments sent", lambda it: it.loss_ratio),
        Feature("events", 0.0, 1.0, "whether a law would have cut its window", lambda it: it.loss_events),
        Feature("timeouts", 0.0, 1.0, "whether the retransmission timer expired", lambda it: it.timeouts),
        Feature("rtt_ratio", 1.0, 100.0, "mean over least round-trip time (Aurora)", lambda it: it.rtt_ratio),
        Feature("rtt_gradient", -10.0, 10.0, "rise of the round-trip time (Aurora) [s/s]", lambda it: it.rtt_gradient),
        Feature("sending_ratio", 0.0, 100.0, "segments sent over delivered (Aurora)", lambda it: it.sending_ratio),
        Feature("cwnd", 0.0, 20.0, "window [log2 segments]", lambda it: np.log2(np.maximum(it.cwnd, 1.0))),
        Feature("in_flight", 0.0, 100.0, "segments in flight over the window", lambda it: it.in_flight / it.cwnd),
        Feature(
            "waiting",
            0.0,
            32.0,
            "packets at the link [log2 of one more], which no sender knows",
            lambda it: np.log2(1.0 + it.waiting),
        ),
    )
}
"""What an agent may see, by name."""

OBSERVED = ("throughput", "loss", "rtt_ratio", "rtt_gradient", "sending_ratio", "cwnd")
"""What it sees where nothing is said."""


def features(names: Sequence[str]) -> tuple[Feature, ...]:
    """Look features up.

    Raises
    ------
    InputError
        For a name that is none.

    Examples
    --------
    >>> [feature.high for feature in features(["loss", "cwnd"])]
    [1.0, 20.0]
    >>> features(["los"])
    Traceback (most recent call last):
    elephan.errors.InputError: observe: there is no feature 'los'; did you mean "loss"?
    """
    if not names:
        message = f"observe: is empty; give some of {', '.join(FEATURES)}"
        raise InputError(message)
    for name in names:
        if name not in FEATURES:
            message = f"observe: there is no feature {name!r}; {suggest(name, FEATURES)}"
            raise InputError(message)
    return tuple(FEATURES[name] for name in names)


def observed(interval: Interval, wanted: Sequence[Feature]) -> NDArray[np.float32]:
    """Make observations of shape (links, flows, features), within their bounds."""
    seen = np.empty((*interval.values.shape[:2], len(wanted)), dtype=np.float32)
    for i, feature in enumerate(wanted):
        column = seen[..., i]
        column[...] = feature.of(interval)
        np.maximum(column, feature.low, out=column)
        np.minimum(column, feature.high, out=column)
    return seen
