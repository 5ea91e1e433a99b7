"""Causes of idle time: constructed cases whose answers are known, sums without a remainder, and what a null would say.

The link carries 10 Mbit/s, a packet takes 0.8 ms, and a round trip without queues 80.8 ms: 101 packets are the
bandwidth-delay product. In the cases of one flow packets are lost in stated intervals only.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import elephan
from elephan.causes import LIMITS, IdleCauses, why
from elephan.causes.pictures import idle_figure
from elephan.cli.columns import LINES
from elephan.cli.why import screen
from elephan.errors import InputError
from elephan.runs.outcome import simulate

if TYPE_CHECKING:
    from pathlib import Path

SERVICE_S, BDP = 0.8e-3, 101
ROUND_S = BDP * SERVICE_S

LINK = """
[[links]]
name = "l"
rate = "10 Mbit/s"
buffer = "{buffer}"
{link}
"""

FLOW = """
[[flows]]
name = "{name}"
path = ["l"]
rtt = "80 ms"
packet = "1000 B"
recovery = "sack"
control = {{ law = "reno" }}
{flow}
"""


def _scenario(
    *flows: str, link: str = "", buffer: str = "1000 packets", duration: str = "40 s", warmup: str = "0 s"
) -> elephan.Scenario:
    text = f'title = "t"\nduration = "{duration}"\nwarmup = "{warmup}"\nreplications = 1\n'
    text += LINK.format(buffer=buffer, link=link)
    text += "".join(FLOW.format(name=f"f{i}", flow=flow) for i, flow in enumerate(flows))
    return elephan.Scenario.from_text(text)


def _lost(*spans: tuple[float, float]) -> str:
    inside = ", ".join(f'["{low} s", "{high} s"]' for low, high in spans)
    return f"loss = {{ during = [{inside}] }}"


def _rest(found: IdleCauses, name: str) -> float:
    """Return the idle time charged to a limit [s]."""
    return sum(period.rest_ps[name] for period in found.periods) / 1e12


def _check_sums(found: IdleCauses) -> None:
    """Charges add up to the idle time, waits to the integral of the backlog; both agree with the run's own numbers."""
    assert sum(charge.idle_ps for charge in found.charges) == found.idle_ps
    for period in found.periods:
        assert sum(period.charged_ps.values()) + sum(period.rest_ps.values()) == period.idle_ps
    assert sum(period.idle_ps for period in found.periods) == found.idle_ps
    outcome = simulate(found.scenario, found.replication - 1, with_hash=True)
    assert found.hash == f"{outcome.hash:016x}"
    link = found.scenario.link_index(found.link)
    waited = sum(wait for *_, wait in found.waits)
    # The columns are floats, and the sums of integers.
    assert waited == pytest.approx(float(outcome.links["backlog_packets"][link]) * found.measured_s, rel=1e-9, abs=1e-9)
    # A packet that is in service at an end of the measured time counts as a whole for the utilization.
    packet = 12_000 / found.scenario.links[link]["rate_bps"] / found.measured_s
    assert found.idle_fraction == pytest.approx(1 - float(outcome.links["utilization"][link]), abs=packet)


def test_one_drop_costs_what_the_window_lacks_until_it_has_grown_again() -> None:
    """The link is idle for BDP - w/2 - i services in round i after a cut to w/2 < BDP: half of the square in all."""
    scenario = _scenario("tcp = { initial_ssthresh = 110 }", link=_lost((1.5, 1.5008)), duration="10 s")
    found = why(scenario)
    _check_sums(found)
    events = [event for event in found.events if event.idle_ps]
    assert [(event.drops, event.flows_hit, event.flows) for event in events] == [(1, 1, 1)]
    # Reno grows by one a round trip from 110, a round trip of w services once a queue stands.
    lack = BDP - _cwnd_before(scenario, 1.5) / 2
    expected_s = SERVICE_S * lack * (lack + 1) / 2
    # In the round of the recovery a segment leaves for every second ACK, and the window grows a round later.
    assert events[0].idle_ps / 1e12 == pytest.approx(expected_s, abs=2 * lack * SERVICE_S)
    assert events[0].timeout_ps == 0
    # Before the first event the window had to open.
    assert _rest(found, "slow_start") > 0
    assert found.cut_ps == 0


def _cwnd_before(scenario: elephan.Scenario, at_s: float) -> float:
    sampled = simulate(scenario.replace({"record.every": "10 ms"}), 0, series=True).samples
    return float(sampled["cwnd_segments"][0][np.searchsorted(sampled["time_s"], at_s) - 1])


def test_of_two_drops_each_is_charged_with_what_it_alone_adds() -> None:
    first = (1.5, 1.5008)
    alone = why(_scenario("tcp = { initial_ssthresh = 110 }", link=_lost(first)))
    both = why(_scenario("tcp = { initial_ssthresh = 110 }", link=_lost(first, (2.5, 2.5008))))
    _check_sums(both)
    (one,) = [event for event in alone.events if event.idle_ps]
    former, latter = [event for event in both.events if event.idle_ps]
    # Without the second drop the run is the one with the first drop alone, picosecond by picosecond.
    assert former.idle_ps == one.idle_ps
    assert latter.idle_ps == both.idle_ps - alone.idle_ps
    # The null charges the idle time of each period to the last event before it.
    (period,) = [period for period in both.periods if period.from_s == latter.from_s]
    assert period.idle_ps - latter.idle_ps > 0.15 * one.idle_ps
    assert sum(period.charged_ps.values()) == period.idle_ps


def test_a_timeout_has_the_length_of_the_timer() -> None:
    """All packets of 0.3 s are lost: nothing is acknowledged until the timer of 1 s expires."""
    tcp = 'tcp = { initial_ssthresh = 102, receive_window = 102, min_rto = "1 s" }'
    found = why(_scenario(tcp, link=_lost((10.0, 10.3))))
    _check_sums(found)
    (event,) = [event for event in found.events if event.idle_ps]
    step_s = found.found["step"] / 1e12
    assert event.timeout_ps / 1e12 == pytest.approx(1.0, abs=2 * step_s)
    # A round trip until the first packet arrives again; slow start from 1 to half of 102, then one more a round.
    slow_start = sum(BDP - 2**i for i in range(6))
    growth = sum(range(1, BDP - 51 + 1))
    expected_s = 1.0 + ROUND_S + SERVICE_S * (slow_start + growth)
    # A packet more or less in each of some 56 rounds.
    assert event.idle_ps / 1e12 == pytest.approx(expected_s, abs=56 * SERVICE_S)
    assert found.charges[0] == event


def test_a_pause_is_charged_to_the_application() -> None:
    """A flow ends at 10 s and another begins at 15 s; the senders are looked at each 8 ms."""
    found = why(
        _scenario(
            'stop = "10 s"\ntcp = { initial_ssthresh = 110 }',
            'start = "15 s"\ntcp = { initial_ssthresh = 110 }',
            warmup="8 s",
            duration="16 s",
        )
    )
    _check_sums(found)
    assert not found.events
    # The last packets leave a round trip after the stop at the latest; the new flow has its first ACK after one.
    shares = {name: _rest(found, name) for name in LIMITS}
    assert shares["application"] == pytest.approx(5.0, abs=2.5 * ROUND_S)
    assert shares["recovery"] == shares["timeout"] == shares["receive_window"] == 0


def test_a_pause_after_drops_is_charged_to_the_application() -> None:
    """A flow that loses packets all the time ends at 22 s, another begins at 28 s: 60 packets may wait."""
    tcp = "tcp = { initial_ssthresh = 110 }"
    flows = 'stop = "22 s"', f'start = "28 s"\n{tcp}'
    found = why(_scenario(*flows, buffer="60 packets", duration="30 s", warmup="1 s"))
    _check_sums(found)
    assert len(found.events) > 3
    assert _rest(found, "application") == pytest.approx(6.0, abs=60 * SERVICE_S + 2.5 * ROUND_S)
    # The null takes the idle time of the unlimited queue, which holds seconds of packets after the first slow start.
    assert sum(event.idle_ps for event in found.events if event.from_s and event.from_s < 1.0) / 1e12 < 1.0


@pytest.mark.parametrize("window", [20, 50, 90])
def test_a_receive_window_below_the_bdp_leaves_the_rest_idle(window: int) -> None:
    found = why(_scenario(f"tcp = {{ receive_window = {window} }}", warmup="10 s"))
    _check_sums(found)
    # At the ends there may be a burst of a window more or less.
    assert found.idle_fraction == pytest.approx(1 - window / BDP, abs=window * SERVICE_S / 30)
    assert [charge.cause for charge in found.charges] == ["receive_window"]


def test_an_event_that_hits_both_flows_says_so() -> None:
    flow = "tcp = { initial_ssthresh = 55 }"
    found = why(_scenario(flow, flow, link=_lost((1.5, 1.6))))
    _check_sums(found)
    (event,) = [event for event in found.events if event.idle_ps]
    assert (event.flows_hit, event.flows) == (2, 2)
    assert event.drops > 2
    assert "which hit 2 of 2 flows" in found.sentence()


SUMS = {
    "drop-tail": ("", "20 packets", "count = 5", ""),
    "red": ('queue = { discipline = "red" }', "100 packets", "count = 5", ""),
    "codel": ('queue = { discipline = "codel" }', "100 packets", "count = 3", ""),
    "fq-codel": ('queue = { discipline = "fq-codel" }', "100 packets", "count = 3", ""),
    "drr": ('queue = { discipline = "drr" }', "20 packets", "count = 3", ""),
    "marks": ('queue = { discipline = "red", ecn = true }', "100 packets", "count = 3", 'ecn = "on"'),
    "random": ("loss = { random = 0.003 }", "50 packets", "count = 3", ""),
    "sessions": ("", "20 packets", 'traffic = { kind = "elastic", rate = "8 Mbit/s", size = "100 kB" }', ""),
}


@pytest.mark.parametrize("case", SUMS)
def test_charges_add_up_and_the_run_is_the_same(case: str) -> None:
    link, buffer, flow, tcp = SUMS[case]
    text = _scenario(f"tcp = {{ {tcp} }}\n{flow}", link=link, buffer=buffer, duration="20 s", warmup="5 s")
    found = why(text, forks=3)
    _check_sums(found)
    if case != "sessions":
        assert found.events


def test_marks_are_events_too() -> None:
    link, buffer, flow, tcp = SUMS["marks"]
    found = why(_scenario(f"tcp = {{ {tcp} }}\n{flow}", link=link, buffer=buffer))
    assert sum(event.marks for event in found.events) > 10
    assert any(event.marks and event.idle_ps for event in found.events)


def test_a_fork_is_a_small_part_of_a_run() -> None:
    """Simulated time, not the clock: forks go no further than the periods in which they have idle time."""
    found = why(_scenario("tcp = { initial_ssthresh = 110 }", buffer="30 packets", duration="120 s", warmup="10 s"))
    _check_sums(found)
    assert found.found["forks"] >= 10
    assert found.found["forked"] / found.found["forks"] <= 0.1 * found.found["to"]


def test_the_screen_and_the_picture_show_all_of_the_idle_time() -> None:
    tcp = "tcp = { initial_ssthresh = 110 }"
    flows = 'stop = "22 s"', f'start = "28 s"\n{tcp}'
    found = why(_scenario(*flows, buffer="60 packets", duration="60 s", warmup="1 s"))
    lines = screen(found)
    assert lines[0].startswith("l was idle for ")
    assert len(lines) <= LINES
    assert any(line.startswith("sum") and line.rstrip().endswith("100.0") for line in lines)
    picture = idle_figure(found)
    drawn_s = 0.0
    for series in picture.series:
        assert series.low is not None
        assert series.high is not None
        drawn_s += float(np.nansum((series.high - series.low)[:-1] * np.diff(series.x)) / 100)
    assert drawn_s == pytest.approx(found.idle_ps / 1e12, rel=1e-9)
    assert {series.name for series in picture.series} >= {"after drops or marks", "application"}


def test_what_cannot_be_explained_is_refused_in_one_line() -> None:
    flow = "tcp = { initial_ssthresh = 110 }"
    plain = _scenario(flow)
    with pytest.raises(InputError, match=r'there is no link "m"'):
        why(plain, "m")
    with pytest.raises(InputError, match="replication 2: there are 1"):
        why(plain, replication=2)
    with pytest.raises(InputError, match="determined by elephan run --out"):
        why(_scenario(flow, warmup="auto"))
    with pytest.raises(InputError, match="XCP sets windows without drops"):
        why(_scenario(flow, link='queue = { discipline = "xcp" }'))
    with pytest.raises(InputError, match="array of 2"):
        why(_scenario("count = 2").replace({"links[0].count": 2, "flows[0].path": ["l[*]"]}))


def test_saved_and_stored_runs_are_explained_as_their_scenarios(tmp_path: Path) -> None:
    scenario = _scenario("count = 2", buffer="20 packets", duration="10 s", warmup="2 s")
    plain = why(scenario).to_json()
    result = elephan.run(scenario)
    result.write(tmp_path / "run")
    with elephan.Store(tmp_path / "store") as store:
        stored = store.run(scenario)
        assert why(stored).to_json() == plain
        prefix = stored.id[:12]
    assert why(tmp_path / "run").to_json() == plain
    assert why(prefix, store=tmp_path / "store").to_json() == plain
    assert why(result).to_json() == plain
    # Another scenario under the same results.
    file = tmp_path / "run" / "scenario.toml"
    file.write_text(file.read_text().replace("20 packets", "21 packets"))
    with pytest.raises(InputError, match="another version wrote it"):
        why(tmp_path / "run")
    assert json.dumps(plain)
