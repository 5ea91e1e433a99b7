"""The laws against an independent reading of their sources, on the same random streams of ACKs, losses and timeouts."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from reference.laws import LAWS
from reference.laws.event import Event
from reference.laws.streams import PRESETS, record, replay

from elephan import _native

KINDS = {"ack": 0, "loss": 1, "mark": 2, "timeout": 3}
SEEDS = (1, 2)
SECONDS = 60.0


def as_rows(events: Sequence[Event]) -> NDArray[np.float64]:
    """Write events in the form that `replay_law` takes."""
    return np.array(
        [
            (
                KINDS[e.kind],
                e.now,
                e.acked,
                e.marked,
                math.nan if e.rtt is None else e.rtt,
                e.srtt,
                e.min_rtt,
                e.in_flight,
                e.delivered,
                e.round_start,
                e.cwnd_limited,
            )
            for e in events
        ],
        dtype=np.float64,
    )


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", LAWS)
def test_a_law_agrees_with_its_second_reading(name: str, preset: str) -> None:
    initial = 60_000.0 if preset == "10G-full" else 2.0
    for seed in SEEDS:
        events = record(LAWS[name](initial_window=initial), seed, SECONDS, preset)
        theirs = np.array(replay(LAWS[name](initial_window=initial), events))
        ours = _native.replay_law(f'"{name}"', as_rows(events), initial_window=initial)
        for column in (0, 1):
            finite = np.isfinite(theirs[:, column])
            np.testing.assert_array_equal(np.isfinite(ours[:, column]), finite)
            error = np.abs(ours[finite, column] / theirs[finite, column] - 1)
            worst = int(np.argmax(error))
            print(name, preset, seed, column, error[worst], worst, events[worst].kind)
