"""Comparisons of models of loss recovery with flows that lose packets at a full link or in timed bursts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.theory.models import ModelPicture
from elephan.theory.models.links import rate as rate_text
from elephan.theory.models.links import time as time_text
from elephan_evidence.against.entry import ModelTest
from elephan_evidence.against.scenes import bulk, cuts, link, scene

if TYPE_CHECKING:
    from elephan.runs.outcome import ReplicationOutcome
    from elephan.scenario import Scenario
    from elephan_evidence.against.entry import Row

ROOM = 0.02
"""Buffer as a share of the flow's window; with less, the bursts in which HighSpeed grows overflow it at 0.3 windows."""
BEGUN = 0.9
"""Window at which slow start ends, as a share of the flow's window when it fills the link."""
TEETH = 8
"""Number of recoveries that are measured."""
SAMPLES = 400
"""Samples of cwnd in one recovery."""

ACCESS, LINK = 1.5, 4.0
"""Rates of the flow's access link and of the shared link, divided by the rate of the flow. The slow access link
spreads the packets over most of a round trip."""
BURST_RTTS, BURST = 0.8, 0.9
"""Length of a burst [round trips], short enough to be one loss event, and its rate as a share of the link's."""
SETTLING, BURSTS = 30, 20
"""Periods of warm-up, and periods measured. Windows change by a few percent per period, so the warm-up is long."""


def _filling(row: Row) -> Scenario:
    """Make a flow alone on a link with a very small buffer, which it fills repeatedly."""
    window = row["rate"] / 8 / row["mss"] * row["rtt"]
    there = link(row["rate"], row["rtt"] / 4, ROOM * window)
    took = row["integral_s"]
    group = bulk(row["law"], row["mss"], (row["rtt"], row["rtt"]), 1, row["rate"], BEGUN * window, took)
    return scene(f"one {row['law']} flow fills a link", there, [group], 3 * took, TEETH * took, took / SAMPLES)


def _between_losses(outcome: ReplicationOutcome, _: Row) -> float:
    lost = cuts(outcome)
    return float(np.diff(outcome.samples["time_s"][lost]).mean()) if lost.size > 1 else float("nan")


def _hit(row: Row) -> Scenario:
    """Make a flow, and periodic bursts of datagrams, each of which overflows the link for most of a round trip."""
    fair, rtt, period = row["integral_bps"], row["rtt"], row["period"]
    window = fair / 8 / row["mss"] * rtt
    there = link(LINK * fair, rtt / 4, max(10, window / 20))
    flow = bulk(row["law"], row["mss"], (rtt, rtt), 1, LINK * fair, window / 2, period) | {
        "access": {"rate": rate_text(ACCESS * fair)}
    }
    bursts = {
        "name": "bursts",
        "count": SETTLING + BURSTS,
        "path": ["link"],
        "rtt": time_text(rtt),
        "packet": f"{row['mss']:.0f} B",
        "start": {"from": time_text(period), "every": time_text(period)},
        "stop": {"after": time_text(BURST_RTTS * rtt)},
        "traffic": {"kind": "cbr", "rate": rate_text(BURST * LINK * fair)},
    }
    return scene("losses every so often", there, [flow, bursts], SETTLING * period, BURSTS * period, rtt / 4)


def _rate_at_losses(outcome: ReplicationOutcome, row: Row) -> float:
    """Return the largest window between two bursts as a rate, mean over the measured periods [bit/s]."""
    number = np.floor(outcome.samples["time_s"] / row["period"])
    cwnd = outcome.samples["cwnd_segments"][0]
    tops = [float(cwnd[number == k].max()) for k in range(BURSTS)]
    return float(np.mean(tops) * 8 * row["mss"] / row["rtt"])


RECOVERY_TIME = ModelTest(
    model="recovery-time",
    line="integral_s",
    says=(
        "Time between two losses of one flow that fills a link with a buffer of 2 % of its window. From 20 Mbit/s "
        "on it is 3 to 9 % longer than the integral: 2 to 4 % because the window at the loss is the link's and "
        "the buffer's, and the round trips in which the loss is detected and repaired. At 5 Mbit/s, 42 segments, a "
        "packet of buffer and a round trip of twenty make it a quarter. With less buffer HighSpeed does not fill "
        "the link at all: the bursts of its own growth overflow one place at a third of the window."
    ),
    scenario=_filling,
    measure=_between_losses,
    picture=ModelPicture("rate", ("integral_s", "steps_s", "crude_s"), "xy", "recovery time"),
    given={"rate": "5 Mbit/s..100 Mbit/s:13", "law": "reno,highspeed", "rtt": "100 ms"},
    called="recovery_s",
)

LOSS_SHARE = ModelTest(
    model="loss-share",
    line="integral_bps",
    says=(
        "One flow on a link that bursts of datagrams overflow for most of a round trip every 4 s, one loss event "
        "each: the window before it over the RTT. It is 6 to 9 % below the fluid for Reno and 12 to 31 % for the "
        "two others; the model itself, asked for a period two round trips shorter, is within 7 % of the run: a "
        "recovery takes those, and the share goes with a high power of the time that is left. The order of the "
        "laws and what a long RTT costs are the model's."
    ),
    scenario=_hit,
    measure=_rate_at_losses,
    picture=ModelPicture("rtt", ("integral_bps", "steps_bps"), "y", "rate"),
    given={"rtt": "80 ms..130 ms:11"},
    called="rate_bps",
)
