"""Comparisons of models of window and loss rate with one flow on a link that loses every n-th packet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.theory.law_responses import law_responses
from elephan.theory.models import ModelColumn, ModelPicture
from elephan.theory.sawtooth import synchronised
from elephan_evidence.against.entry import ExtraColumn, ModelTest
from elephan_evidence.against.scenes import bulk, cuts, link, scene

if TYPE_CHECKING:
    from elephan.runs.outcome import ReplicationOutcome
    from elephan.scenario import Scenario
    from elephan.theory.models import ModelTable
    from elephan.theory.response import Floats
    from elephan_evidence.against.entry import Row

PACKET = 1000
"""Packet size [bytes]."""
ROOM = 20
"""Rate of the link over that of the flow: no window reaches it."""
SETTLING, PERIODS = 4, 8
"""Periods between two losses that are left out, and periods that are measured."""


def _losing(row: Row, law: str, window: float, every_s: float = 0.0) -> Scenario:
    """Make a flow that loses one packet of 1/p, starting near its mean window."""
    rate = 8 * PACKET * ROOM * window / row["rtt"]
    lossy = link(rate, row["rtt"] / 4, ROOM * window, loss={"every": round(1 / row["p"])})
    period = row["rtt"] / (row["p"] * window)
    group = bulk(law, PACKET, (row["rtt"], row["rtt"]), 1, rate, window, period)
    return scene(
        f"one {law} flow, p = {row['p']:g}",
        lossy,
        [group],
        SETTLING * period,
        PERIODS * period,
        every_s or period / 100,
    )


def _followed(table: ModelTable) -> Floats:
    """Integrate the mean window between two losses 1/p segments apart, from a(w) and b(w), for laws that have both."""
    v = table.values
    found = np.full(len(v["p"]), np.nan)
    tops = np.geomspace(2, 1e7, 600)
    for name, rtt in dict.fromkeys(zip(v["law"].tolist(), v["rtt"].tolist(), strict=True)):
        law = law_responses(name)
        if law.remembers:
            continue
        rows = (v["law"] == name) & (v["rtt"] == rtt)
        tooth = synchronised(law, tops / rtt, 0, rtt)
        # Both fall with p along nearly straight lines in a doubly logarithmic picture.
        p, mean = np.log(tooth.events[::-1]), np.log(tooth.utilisation * tops)[::-1]
        found[rows] = np.exp(np.interp(np.log(v["p"][rows]), p, mean, left=np.nan, right=np.nan))
    return found


def _mean_window(outcome: ReplicationOutcome, _: Row) -> float:
    return float(outcome.flows["cwnd_segments"][0])


def _goodput(outcome: ReplicationOutcome, _: Row) -> float:
    return float(outcome.flows["goodput_bps"][0]) / 8 / PACKET


def _at_share(outcome: ReplicationOutcome, row: Row) -> float:
    """Return the window at a share of the period, mean over the periods."""
    time, cwnd = outcome.samples["time_s"], outcome.samples["cwnd_segments"][0]
    last = cuts(outcome)
    first = last[:-1] + 1
    return float(np.interp(time[first] + row["share"] * (time[last[1:]] - time[first]), time, cwnd).mean())


RESPONSE = ModelTest(
    model="response",
    line="window_segments",
    says=(
        "One flow that never queues on a link that loses every (1/p)-th packet: mean cwnd over eight losses. Reno "
        "and HighSpeed are within 2 % at p = 1e-4 and below, and 5 and 12 % low at 0.001 and 0.01: the window "
        "stands still for the round trip of a recovery, one of nine there. Scalable's 0.08/p is the window before "
        "the loss if losses are evenly spaced; the mean over such a sawtooth is 0.075/p, the dashed line, and the "
        "run lies on it. CUBIC is up to 13 % low by fast convergence, of which its response function knows "
        "nothing: without it the same run is up to 11 % above."
    ),
    scenario=lambda row: _losing(row, row["law"], row["window_segments"]),
    measure=_mean_window,
    picture=ModelPicture("p", ("window_segments", "followed_segments"), "xy", "mean window"),
    given={"law": "reno,highspeed,scalable,cubic", "p": "1e-5..1e-2:13"},
    points=4,
    beside={
        "followed_segments": ExtraColumn(ModelColumn("segments", "a(w) and b(w) followed from loss to loss"), _followed)
    },
)

HSTCP = ModelTest(
    model="hstcp",
    line="closed_packets_per_s",
    says=(
        "One HighSpeed flow that never queues on a link that loses every (1/p)-th packet. It gets 13 % (p = 1e-6) "
        "to 39 % (p = 0.001) more than lambda(p): the model puts w(p) at the peak, RFC 3649 and the simulated law "
        "at the mean, and the mean window of the run is w(p) within 1 %."
    ),
    scenario=lambda row: _losing(row, "highspeed", row["closed_packets_per_s"] * row["rtt"]),
    measure=_goodput,
    picture=ModelPicture("p", ("closed_packets_per_s", "exact_packets_per_s"), "xy", "throughput"),
    given={"p": "1e-6..1e-3:13"},
    called="packets_per_s",
    points=4,
)

HSTCP_WINDOW = ModelTest(
    model="hstcp-window",
    line="closed_segments",
    says=(
        "cwnd of one HighSpeed flow on a link that loses every (1/p)-th packet, sampled four times a round trip, "
        "mean over eight periods. The shape is that of both curves, all of it about 20 % higher: the model puts "
        "w(p) at the peak, RFC 3649 and the simulated law at the mean."
    ),
    scenario=lambda row: _losing(row, "highspeed", row["closed_segments"] / row["closed_share"], row["rtt"] / 4),
    measure=_at_share,
    picture=ModelPicture("share", ("closed_segments", "exact_segments"), "", "window"),
    given={"share": "0..1:21"},
    called="segments",
    points=11,
)
