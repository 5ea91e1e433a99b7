"""The laws compared with independent implementations, on the same random streams of ACKs, losses and timeouts.

A stream is recorded with the second reading and fed to the law. Then it is replayed to the second reading, and right
before each cut it takes over the law's window: so both answer every cut from the same window, which must give the same
number, none of the decisions at a cut (whether a maximum falls, whether throughput has changed) can hang on rounding,
and each stretch between two cuts is compared for itself.
"""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from elephan import _native
from reference.laws import LAWS
from reference.laws.event import Event
from reference.laws.sender import Sender
from reference.laws.streams import PRESETS, record

pytestmark = pytest.mark.slow

KINDS = {"ack": 0, "loss": 1, "mark": 2, "timeout": 3}
SEED = 1
SECONDS = 30.0

# Windows are on a grid of 2^-32 segments here, times whole picoseconds. A cut, which begins with equal windows, has no
# other error: this share of the window, or of a segment if that is more.
ROUNDING = 1e-9

# Tolerance of windows between cuts: a number of segments, or a share of the window if that is larger.
#
# Laws that take ACKs in runs (all but cubic, fast, vegas) grow throughout an integer interval of the window as in its
# middle, and an ACK of several segments by the growth of the interval it comes in. At two segments 1/2.5 stands for 1/2
# per segment, 0.2 segments for an ACK of two; the error falls with 1/w and ends with the interval.
COUNTS = 0.25
TOLERANCES = {
    "highspeed": (COUNTS, 1e-6),
    # The mode is the same throughout: a test of another size, or a mode that differs, is an error of segments.
    "ghstcp": (COUNTS, 1e-6),
    # Growth goes with a power of the round-trip time: of that at the round's start here, half a round behind the ACK's.
    "nr-hstcp": (COUNTS, 0.012),
    # 0.01 per segment on the grid: 1e-8 of it.
    "scalable": (COUNTS, 1e-8),
    # Alpha for the middle of a round expected to take srtt, not for each ACK: rounds of another length, and the one in
    # which alpha begins to rise, tell.
    "htcp": (1.0, 4e-4),
    # In the interval of its maximum it takes the mean of growths that differ a hundredfold: it is past that up to a
    # third of a round trip early or late, and a round trip beyond it brings up to 32 segments.
    "bic": (10.0, 0.0),
    # No runs of ACKs: both do the same arithmetic.
    "cubic": (ROUNDING, ROUNDING),
    "vegas": (ROUNDING, ROUNDING),
    "fast": (ROUNDING, ROUNDING),
}

# Each law with a parameter a little off.
WRONG = {
    "highspeed": '{ law = "highspeed", high_p = 1.05e-7 }',
    "ghstcp": '{ law = "ghstcp", z_threshold = 2.9 }',
    "nr-hstcp": '{ law = "nr-hstcp", mss = 1460.0 }',
    "scalable": '{ law = "scalable", increase = 0.0101 }',
    "htcp": '{ law = "htcp", low_speed = "1.05 s" }',
    "bic": '{ law = "bic", min_increment = 0.02 }',
    "cubic": '{ law = "cubic", c = 0.41 }',
    "vegas": '{ law = "vegas", beta = 3.05 }',
    "fast": '{ law = "fast", gamma = 0.501 }',
}


def as_rows(events: Sequence[Event]) -> NDArray[np.float64]:
    """Write events in the form that `replay_law` takes, cuts with the newest round-trip time."""
    rows = np.zeros((len(events), 11))
    newest = math.nan
    for row, e in zip(rows, events, strict=True):
        newest = newest if e.rtt is None else e.rtt
        rtt = newest if e.kind != "ack" else math.nan if e.rtt is None else e.rtt
        row[:8] = KINDS[e.kind], e.now, e.acked, e.marked, rtt, e.srtt, e.min_rtt, e.in_flight
        row[8:] = e.delivered, e.round_start, e.cwnd_limited
    return rows


def follow(law: Sender, events: Sequence[Event], windows: Sequence[float]) -> NDArray[np.float64]:
    """Window and ssthresh after each event; `windows` are those that `law` takes over right before a cut."""
    states = []
    for i, event in enumerate(events):
        if event.kind == "ack":
            law.on_ack(event)
        else:
            law.cwnd = windows[i - 1]
            law.on_congestion(event)
        states.append((law.cwnd, law.ssthresh))
    return np.array(states)


def error(name: str, control: str, preset: str) -> float:
    """Return the largest difference, as a multiple of the tolerance."""
    initial = 60_000.0 if preset == "10G-full" else 2.0
    events = record(LAWS[name](initial_window=initial), SEED, SECONDS, preset)
    ours = _native.replay_law(control, as_rows(events), initial_window=initial)
    theirs = follow(LAWS[name](initial_window=initial), events, ours[:, 0].tolist())
    unset = np.isinf(theirs)  # ssthresh before the first cut
    np.testing.assert_array_equal(np.isinf(ours), unset)
    segments, share = TOLERANCES[name]
    allowed = np.maximum(segments, share * theirs[:, 0])
    cut = np.array([event.kind != "ack" for event in events])
    allowed[cut] = ROUNDING * np.maximum(1.0, theirs[cut, 0])
    gap = np.abs(np.where(unset, 0.0, ours) - np.where(unset, 0.0, theirs))
    return float((gap / allowed[:, None]).max())


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", LAWS)
def test_a_law_agrees_with_its_second_reading(name: str, preset: str) -> None:
    assert error(name, f'"{name}"', preset) <= 1.0


@pytest.mark.parametrize("name", LAWS)
def test_a_law_with_a_wrong_parameter_does_not(name: str) -> None:
    assert error(name, WRONG[name], "noisy") > 2.0
