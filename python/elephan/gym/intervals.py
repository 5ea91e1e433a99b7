"""Measurements of the driven flows from one decision to the next, and the features of them that agents may observe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elephan import _native
from elephan.errors import InputError, suggest

Floats = NDArray[np.float64]

COLUMNS = {name: i for i, name in enumerate(_native.SteppedRuns.MEASURED)}
"""Indices of the measured columns, by name."""


class Interval:
    """Measurements of each flow in one step; every array has the shape (links, flows).

    Parameters
    ----------
    values : ndarray, shape (links, flows, columns)
        Values of `_native.SteppedRuns`.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.zeros((1, 1, len(COLUMNS)))
    >>> one[..., COLUMNS["rtt_s"]] = 0.1
    >>> Interval(one).rtt_s.tolist()
    [[0.1]]
    """

    __slots__ = ("values",)

    def __init__(self, values: Floats) -> None:
        self.values = values

    def __getattr__(self, name: str) -> Floats:
        if name not in COLUMNS:
            raise AttributeError(name)
        return self.values[..., COLUMNS[name]]

    time_s: Floats
    """Time at the end of the step [s]."""
    step_s: Floats
    """Duration of the step [s]."""
    sent: Floats
    """Segments sent, retransmissions included."""
    retransmitted: Floats
    """Segments sent that were retransmissions."""
    delivered: Floats
    """Segments newly acknowledged (cumulatively or selectively), as the sender knows."""
    timeouts: Floats
    """Expired retransmission timers."""
    loss_events: Floats
    """Number of reductions that a law would have made: at most one for all losses and marks of a window."""
    rtt_s: Floats
    """Mean round-trip time of the ACKs [s]; without ACKs that of the step before; 0 before the first."""
    srtt_s: Floats
    """Smoothed round-trip time [s]; 0 before the first sample."""
    min_rtt_s: Floats
    """Minimum round-trip time of the connection [s]; 0 before the first sample."""
    base_rtt_s: Floats
    """Round-trip time without queues [s], unknown to a sender."""
    cwnd: Floats
    """Congestion window at the end [segments]."""
    pacing_rate: Floats
    """Pacing rate at the end [segments/s]; 0 without pacing."""
    in_flight: Floats
    """Segments in the network at the end."""
    throughput_bps: Floats
    """Throughput that reached the receiver, on the wire [bit/s], as the sender knows it."""
    best_bps: Floats
    """The largest throughput of the episode so far [bit/s]."""
    throughput_share: Floats
    """Throughput over the largest one of the episode so far."""
    loss_ratio: Floats
    """Retransmitted over sent segments: the losses that the sender inferred."""
    rtt_ratio: Floats
    """Mean over minimum round-trip time; 1 before the first sample."""
    rtt_gradient: Floats
    """Rise of the mean round-trip time from step to step [s/s]; 0 in the first."""
    sending_ratio: Floats
    """Segments sent over segments delivered; without deliveries, one more than the segments sent."""
    segment_bits: Floats
    """Bits of a full segment on the wire."""
    waiting: Floats
    """Packets of all flows that wait at the link at the end, unknown to a sender."""
    dropped: Floats
    """Packets of all flows that the link dropped, unknown to a sender."""


@dataclass(frozen=True)
class Feature:
    """One number of an observation.

    Parameters
    ----------
    name : str
    column : str
        Attribute of an `Interval`.
    low, high : float
        Bounds; values beyond them are clipped.
    meaning : str
    """

    name: str
    column: str
    low: float
    high: float
    meaning: str


FEATURES = {
    name: Feature(name, column, low, high, meaning)
    for name, column, low, high, meaning in (
        ("throughput", "throughput_share", 0.0, 1.0, "throughput over the largest of the episode so far (Orca)"),
        ("loss", "loss_ratio", 0.0, 1.0, "retransmissions over segments sent"),
        ("events", "loss_events", 0.0, 1.0, "whether a law would have reduced its window"),
        ("timeouts", "timeouts", 0.0, 1.0, "whether the retransmission timer expired"),
        ("rtt_ratio", "rtt_ratio", 1.0, 100.0, "mean over minimum round-trip time (Aurora)"),
        ("rtt_gradient", "rtt_gradient", -10.0, 10.0, "rise of the mean round-trip time [s/s] (Aurora)"),
        ("sending_ratio", "sending_ratio", 0.0, 100.0, "segments sent over delivered (Aurora)"),
        ("cwnd", "cwnd_log2", 0.0, 20.0, "window [log2 of segments]"),
        ("in_flight", "in_flight_ratio", 0.0, 100.0, "segments in flight over the window"),
        ("waiting", "waiting", 0.0, 1e6, "packets that wait at the link, unknown to a sender"),
    )
}
"""Features that an agent may observe, by name."""

OBSERVED = ("throughput", "loss", "rtt_ratio", "rtt_gradient", "sending_ratio", "cwnd")
"""Features that an agent observes by default."""


def features(names: Sequence[str]) -> tuple[Feature, ...]:
    """Look up features by name.

    Raises
    ------
    InputError
        For an unknown name.

    Examples
    --------
    >>> [feature.high for feature in features(["loss", "cwnd"])]
    [1.0, 20.0]
    >>> features(["los"])
    Traceback (most recent call last):
    elephan.errors.InputError: observe: there is no feature 'los'; did you mean "loss"?
    """
    if not names:
        raise InputError(f"observe: is empty; give some of {', '.join(FEATURES)}")
    for name in names:
        if name not in FEATURES:
            raise InputError(f"observe: there is no feature {name!r}; {suggest(name, FEATURES)}")
    return tuple(FEATURES[name] for name in names)


class Eye:
    """Encoder of intervals as observations.

    Parameters
    ----------
    wanted : sequence of Feature

    Examples
    --------
    >>> import numpy as np
    >>> Eye(features(["loss", "rtt_ratio"]))(Interval(np.full((1, 1, len(COLUMNS)), 2.0))).tolist()
    [[[1.0, 2.0]]]
    """

    def __init__(self, wanted: Sequence[Feature]) -> None:
        self._columns = np.array([COLUMNS[feature.column] for feature in wanted])
        self.low = np.array([feature.low for feature in wanted], dtype=np.float32)
        self.high = np.array([feature.high for feature in wanted], dtype=np.float32)

    def __call__(self, interval: Interval) -> NDArray[np.float32]:
        """Make observations of shape (links, flows, features), within their bounds."""
        seen = interval.values.take(self._columns, axis=-1).astype(np.float32)
        np.maximum(seen, self.low, out=seen)
        return np.minimum(seen, self.high, out=seen)
