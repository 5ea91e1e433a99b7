"""The synthetic streams on which laws are compared with their second implementations."""

import itertools

import pytest

from reference.laws import LAWS, Highspeed
from reference.laws.streams import MOST_EVENTS, PRESETS, Path, record, replay


@pytest.mark.parametrize("name", LAWS)
def test_a_stream_is_the_same_each_time_and_replays_to_the_same_windows(name: str) -> None:
    law = LAWS[name]()
    events = record(law, 7, 10.0, "lossy")
    assert events == record(LAWS[name](), 7, 10.0, "lossy")
    assert events != record(LAWS[name](), 8, 10.0, "lossy")
    assert replay(LAWS[name](), events)[-1] == (law.cwnd, law.ssthresh)


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_a_stream_is_in_order_and_has_one_round_per_round_trip(preset: str) -> None:
    path: Path = PRESETS[preset]
    events = record(Highspeed(), 3, 20.0, preset)
    assert 100 < len(events) <= MOST_EVENTS
    for a, b in itertools.pairwise(events):
        assert b.now >= a.now
        assert b.delivered >= a.delivered + b.acked
        assert b.min_rtt <= a.min_rtt
        if a.kind != "ack":
            assert b.kind == "ack"
    starts = [e.now for e in events if e.round_start]
    cuts = [e.now for e in events if e.kind != "ack"]
    # A round takes at least a base round trip, up to one acknowledgement's share of a window, unless a cut ends it.
    for a_start, b_start in itertools.pairwise(starts):
        if not any(a_start <= cut <= b_start for cut in cuts):
            assert b_start - a_start >= 0.5 * path.base_rtt


def test_the_streams_hold_every_kind_of_event() -> None:
    events = record(Highspeed(), 5, 60.0, "lossy")
    assert {e.kind for e in events} == {"ack", "loss", "mark", "timeout"}
    acks = [e for e in events if e.kind == "ack"]
    assert {e.acked for e in acks} == {1.0, 2.0}
    assert any(e.rtt is None for e in acks)
    assert any(not e.cwnd_limited for e in acks)
    assert any(e.marked for e in acks)
