"""The fluid sawtooth of every law that has one, compared with packets."""

from functools import cache
from typing import NamedTuple

import pytest

import elephan
from elephan.theory import Sawtooth, aimd, partial, response, synchronised
from elephan.theory.models.sawtooth import LAWS

pytestmark = pytest.mark.slow

RATE = 100e6 / 8 / 1500  # packets/s
# Utilization: bursts, the round trip in which a sender learns of a loss and the one in which it repairs it, and whole
# segments. More than two points need another reason, which stands with the case.
POINTS = 0.02


class Seen(NamedTuple):
    utilization: float
    queue: float
    hit: float


@cache
def seen(law: str, rtt_ms: int, share: float, flows: int = 1, control: str = "") -> Seen:
    """Run on 100 Mbit/s with a buffer of a share of the product, starting below the window at the first overflow."""
    product = RATE * rtt_ms / 1e3
    buffer = round(product * share)
    # Seven periods of the slowest, Reno at 100 ms: 43 to 52 s.
    scenario = elephan.Scenario.from_text(f"""
        duration = "400 s"
        warmup   = "50 s"
        [[links]]
        name   = "core"
        rate   = "100 Mbit/s"
        delay  = "1 ms"
        buffer = "{buffer} packets"
        queue  = {{ discipline = "drop-tail" }}
        [[flows]]
        name     = "bulk"
        count    = {flows}
        path     = ["core"]
        rtt      = "{rtt_ms} ms"
        control  = {{ law = "{law}", slow_start = "classic"{control} }}
        recovery = "sack"
        packet   = "1500 B"
        traffic  = {{ kind = "bulk" }}
        tcp      = {{ initial_ssthresh = {max(2, round(0.7 * (product + buffer) / flows))} }}
        """)
    link = elephan.run(scenario, replications=1).to_json()["links"][0]
    hit = link["flows_hit_per_loss_event"]["mean"] or 0.0
    return Seen(link["utilization"]["mean"], link["backlog_packets"]["mean"], hit)


def fluid(law: str, rtt_ms: int, share: float, flows: int = 1) -> Sawtooth:
    return synchronised(response(law), RATE, room(rtt_ms, share), rtt_ms / 1e3, flows)


def room(rtt_ms: int, share: float) -> int:
    return round(RATE * rtt_ms / 1e3 * share)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("rtt_ms", "share"), [(40, 0.05), (40, 0.2), (40, 1.0), (100, 0.05), (100, 0.2)])
def test_one_flow_uses_what_the_fluid_says(law: str, rtt_ms: int, share: float) -> None:
    if (law, rtt_ms, share) == ("bic", 40, 0.05):
        share = 0.12  # room for a step; the next test says why
    run, said = seen(law, rtt_ms, share), fluid(law, rtt_ms, share)
    assert run.utilization == pytest.approx(float(said.utilisation), abs=POINTS)
    if share == 1.0:
        # The two round trips about a cut, of which the fluid knows nothing, see the fullest queue: of H-TCP's 36 a
        # period they add 2/36 (333 - 104) to 104, an eighth; of the others' queues, which are longer, less.
        assert run.queue == pytest.approx(float(said.queue), rel=0.15)


def test_bics_step_overflows_a_shorter_buffer_twice() -> None:
    # At 40 ms and 0.05 of the product there is room for 17 segments: a round trip at 32 more loses some thirty, and
    # what repairs them comes in bursts that overflow 17 again. The window is cut twice where the fluid cuts once.
    said = fluid("bic", 40, 0.05)
    assert seen("bic", 40, 0.05).utilization < said.utilisation - POINTS
    # So it is not with half the step.
    halved = seen("bic", 40, 0.05, control=", max_increment = 16.0")
    assert halved.utilization == pytest.approx(
        float(synchronised(response("bic(max_increment=16)"), RATE, 17, 0.04).utilisation), abs=POINTS
    )


@pytest.mark.parametrize("law", [law for law in LAWS if law not in {"cubic", "hybla"}])
@pytest.mark.parametrize("share", [0.05, 0.25])
def test_four_flows_lose_together_and_use_what_the_fluid_says(law: str, share: float) -> None:
    run = seen(law, 100, share, 4)
    assert run.hit > 3.7
    assert run.utilization == pytest.approx(float(fluid(law, 100, share, 4).utilisation), abs=POINTS)


def test_compound_between_losing_and_resting_does_both() -> None:
    # 42 segments of room each: above the 30 that Compound lets wait, below the 30 and two round trips at 8 that it may
    # have when it knows. In packets some flows lose and some rest, and the queue is empty between; the fluid's flows,
    # which are all alike, swing by turns.
    run = seen("compound", 100, 0.2, 4)
    assert run.hit < 3
    assert run.utilization < fluid("compound", 100, 0.2, 4).utilisation - POINTS


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_cubic_flows_are_not_all_cut_and_use_what_the_fluid_says_of_three_in_four(share: float) -> None:
    # On the plateau they grow by less than a segment a round trip: when the buffer is full not all have one too many.
    run = seen("cubic", 100, share, 4)
    assert 2.5 < run.hit < 3.5
    three = partial(response("cubic"), RATE, room(100, share), [0.1] * 4, 3, turns=4)
    assert run.utilization == pytest.approx(float(three.utilisation), abs=POINTS)


def test_hyblas_steps_of_four_flows_are_followed_by_its_round_trip_without_a_queue() -> None:
    # 16 segments a round trip each, at 100 ms, are 64 lost in one, of 1000.
    said = fluid("hybla", 100, 0.2, 4)
    assert seen("hybla", 100, 0.2, 4).utilization == pytest.approx(float(said.utilisation), abs=POINTS)
    # With a quarter of the steps: rho = 2.
    calm = seen("hybla", 100, 0.2, 4, control=', reference_rtt = "50 ms"')
    assert calm.utilization == pytest.approx(
        float(synchronised(aimd(4, 0.5), RATE, room(100, 0.2), 0.1, 4).utilisation), abs=POINTS
    )
