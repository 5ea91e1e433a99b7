"""Samples of senders as `ss` shows them, what limits a sender, and counts of what was sent in vain."""

from typing import Any

import numpy as np
import pytest

import elephan as package
from elephan.reports.run import groups_table
from elephan.runs.files import COUNTERS


def _sampled(flow: str, link: str = "", record: str = 'every = "50 ms"') -> dict[str, Any]:
    """Samples of a flow of 1500-byte packets with 1448 bytes of data, alone on 100 Mbit/s and 40 ms."""
    text = f"""
title = "one"
duration = "6 s"
warmup = "1 s"
[record]
{record}
[[links]]
name = "core"
rate = "100 Mbit/s"
delay = "10 ms"
buffer = "2000 packets"
{link}
[[flows]]
name = "one"
path = ["core"]
rtt = "40 ms"
packet = "1500 B"
{flow}
"""
    outcome = package.run(package.Scenario.from_text(text), series=True, replications=1).outcomes[0]
    late = outcome.samples["time_s"] >= 1.0
    return {name: values[0][late] for name, values in outcome.samples.items() if name in COUNTERS}


def test_a_receive_window_below_the_path_limits_and_the_application_does_where_it_writes_little() -> None:
    # 20 segments each 40 ms are 6 of 100 Mbit/s: the congestion window grows beyond.
    held = _sampled('tcp = { header = "52 B", receive_window = 20 }')
    assert held["rwnd_limited"].all()
    assert not held["cwnd_limited"].any()
    # A response of ten segments fits into the initial window, unless it comes after a timeout; then there is nothing.
    asked = _sampled('traffic = { kind = "request-response", size = "14 kB", law = "constant", think = "500 ms" }')
    assert asked["app_limited"].mean() > 0.9
    # Ten segments of bulk data, and no more: the window limits.
    fixed = 'control = { law = "constant-rate", increase = 1e-9, decrease = 1e-9 }\n'
    bulk = _sampled(fixed + "tcp = { initial_window = 10, initial_ssthresh = 10.0 }")
    assert bulk["cwnd_limited"].all()
    assert np.isnan(bulk["pacing_rate_bps"]).all(), "nothing paces it"
    assert np.isnan(bulk["delivery_rate_bps"]).all(), "the law takes no rate samples"


def test_the_pacing_rate_is_a_factor_times_window_over_round_trip_and_the_delivery_rate_that_of_the_path() -> None:
    fixed = 'control = { law = "constant-rate", increase = 1e-9, decrease = 1e-9 }\n'
    paced = _sampled(
        fixed + 'tcp = { initial_window = 40, initial_ssthresh = 40.0, pacing = "linux", header = "52 B" }'
    )
    # 1.2 windows of 40 segments in each round trip of 40 ms and the 0.12 ms that a packet takes on the link.
    assert paced["pacing_rate_bps"] == pytest.approx(1.2 * 40 * 1448 * 8 / 0.04012, rel=1e-3)
    # ACKs come no faster than the pace that made them: it delays nothing, and the window limits.
    assert paced["cwnd_limited"].all()
    bbr = _sampled('control = "bbr3"\ntcp = { header = "52 B" }')
    names = ("cwnd_limited", "rwnd_limited", "app_limited", "pacing_limited")
    assert set(sum(bbr[name] for name in names)) == {1}, "one limits at a time"
    # A window of two bandwidth-delay products at the rate of the path: the pace limits, except at the end of ProbeRTT.
    assert bbr["pacing_limited"].mean() > 0.9
    seen = bbr["delivery_rate_bps"]
    # A rate sample takes the longer of the times of sending and acknowledging: no more than the path delivers.
    assert seen.max() < 1.01 * 1448 / 1500 * 100e6
    assert np.median(seen) == pytest.approx(1448 / 1500 * 100e6, rel=0.02), (
        "the link is full but for ProbeRTT and drains"
    )


LATE = """
title = "late"
duration = "30 s"
warmup = "2 s"
[[links]]
name = "core"
rate = "40 Mbit/s"
buffer = "500 packets"
reorder = { late = 0.001, by = "700 us" }
[[flows]]
name = "one"
path = ["core"]
rtt = "2 ms"
packet = "1000 B"
recovery = "sack"
control = { law = "constant-rate", increase = 1e-9, decrease = 1e-9 }
tcp = { initial_window = 40, initial_ssthresh = 40.0, undo = "always" }
"""
"""A window of 40 segments over a link that loses nothing; one in a thousand comes three gaps and a half late."""


def test_every_retransmission_on_a_path_without_loss_is_reported_and_every_cut_undone() -> None:
    found = package.run(package.Scenario.from_text(LATE), replications=1)
    flows = {name: int(found.outcomes[0].flows[name][0]) for name in ("retransmitted", "loss_events", "dropped")}
    group = found.to_json()["groups"][0]
    assert flows["dropped"] == 0
    # Three overtake one in a thousand of some 140,000 segments; what is under way at either end is not reported yet.
    assert flows["retransmitted"] > 100
    assert group["dsack_dups"]["mean"] == pytest.approx(flows["retransmitted"], abs=3)
    # A cut is not undone if another follows before the report. Within two windows, that is for 80 of 1000 at most.
    assert 0.92 * flows["loss_events"] <= group["spurious_recoveries"]["mean"] <= flows["loss_events"]
    assert group["spurious_timeouts"]["mean"] == 0
    heads = groups_table(found.to_json()["groups"]).heads
    assert {"dsack dups", "spurious recoveries"} <= set(heads)
    assert "spurious timeouts" not in heads, "only what is not zero"
    # Receivers report duplicates on every path that reorders; a sender that is not told to does not undo anything.
    plain = package.run(package.Scenario.from_text(LATE.replace(', undo = "always"', "")), replications=1)
    [other] = plain.to_json()["groups"]
    assert other["dsack_dups"]["mean"] == pytest.approx(float(plain.outcomes[0].flows["retransmitted"][0]), abs=3)
    assert other["spurious_recoveries"]["mean"] == 0


def test_a_delay_spike_beyond_the_timeout_is_one_spurious_timeout_a_flow() -> None:
    steps = 'delay = { steps = [["0 s", "10 ms"], ["3 s", "600 ms"], ["3.5 s", "10 ms"]] }'
    flow = 'count = 3\ntcp = { profile = "linux", undo = "always", receive_window = 20 }'
    text = LATE[: LATE.index("recovery")].replace('reorder = { late = 0.001, by = "700 us" }', steps) + flow
    [link] = [line for line in text.splitlines() if line.startswith("rate")]
    text = text.replace(link, 'rate = "1 Gbit/s"').replace('duration = "30 s"', 'duration = "6 s"')
    found = package.run(package.Scenario.from_text(text.replace('rtt = "2 ms"', 'rtt = "200 ms"')), replications=1)
    flows = found.outcomes[0].flows
    assert flows["dropped"].sum() == 0
    assert flows["spurious_timeouts"].tolist() == [1, 1, 1] == flows["timeouts"].tolist()
    assert found.to_json()["groups"][0]["spurious_timeouts"]["mean"] == 3
