"""Comparisons of buffer models with long flows on the link of a table's row.

Source: by default the links of Barman2004 (1 Gbit/s, 120 ms, ten HighSpeed flows) and Andrew2005 (16 Mbit/s, 500 B),
and for models of many flows a link on which each has a window of 38 segments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.theory.laws import response
from elephan.theory.models import ModelColumn, ModelPicture
from elephan.theory.models.links import time as time_text
from elephan.theory.sawtooth import partial, synchronised
from elephan_evidence.against.entry import ExtraColumn, ModelTest
from elephan_evidence.against.fluid import discipline
from elephan_evidence.against.scenes import OF_PAPERS, bulk, link, scene, with_sawtooth_duration

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from elephan.runs.outcome import ReplicationOutcome
    from elephan.scenario import Scenario
    from elephan.theory.models import ModelTable
    from elephan.theory.response import Floats
    from elephan_evidence.against.entry import Row

SETTLING, MEASURED = 3, 6
"""Settling and measuring time, in sawteeth of the slowest flow."""
LEAST_PACKETS = 1e6
"""Minimum number of packets that a link can carry while many short sawteeth are measured."""


def _used(outcome: ReplicationOutcome, _: Row) -> float:
    return float(outcome.links["utilization"][0])


def _flows(
    row: Row,
    buffer: float,
    law: str,
    *,
    least: float = 0.0,
    every_s: float = 1.0,
    access: Mapping[str, str] | None = None,
    **more: Any,
) -> Scenario:
    """Make equal flows on the link of a row, which gives their RTTs by ``rtt`` or by ``rtt_min`` and ``rtt_max``."""
    rtts = (row["rtt"], row["rtt"]) if "rtt" in row else (row["rtt_min"], row["rtt_max"])
    count = round(row["flows"])
    share = row["rate"] / 8 / row["packet"] * sum(rtts) / 2 / count
    # Runs of a single flow differ only in the point of its sawtooth at which the measurement begins.
    within_s = row["period_s"] if count == 1 and "period_s" in row else 1.0
    group = bulk(law, row["packet"], rtts, count, row["rate"], share, within_s)
    if access is not None:
        group["access"] = access
    there = link(row["rate"], rtts[0] / 4, buffer, **more)
    return with_sawtooth_duration(
        scene(f"{count} {law} flows", there, [group], 10, 10, every_s), SETTLING, MEASURED, least
    )


def _simulated(row: Row) -> str:
    """Return the law that a row represents."""
    return OF_PAPERS.get(row["law"], str(row["law"]))


def reno_closed_form(table: ModelTable) -> Floats:
    """Utilization of Reno flows that lose together, 3/4 (1 + B)^2 / (1 + B + B^2); 1 from B = 1 on.

    Parameters
    ----------
    table : ModelTable
        Table of the model `sawtooth`.

    Returns
    -------
    ndarray, shape (rows,)
        NaN for other laws.

    Notes
    -----
    B is the buffer in BDP. The sum of the windows climbs from (1 + B)/2 to 1 + B [BDP], by the same step each round
    trip. Below 1 a round trip takes tau and the link idles; above 1 it takes as long as sending the sum. The times are
    (1 - B)/2 and ((1 + B)^2 - 1)/2, and the amount sent is 3/8 (1 + B)^2.
    """
    v = table.values
    shares = v["buffer"] / (v["rate"] / 8 / v["packet"] * v["rtt"])
    below = 0.75 * (1 + shares) ** 2 / (1 + shares + shares**2)
    return np.where(v["law"] == "reno", np.where(shares < 1, below, 1.0), np.nan)


def _followed(table: ModelTable) -> Floats:
    """Integrate windows in time until they repeat; all flows are cut at an overflow."""
    v = table.values
    rows = zip(v["law"], v["rate"] / 8 / v["packet"], v["buffer"], v["rtt"], v["flows"], strict=True)
    # One of several equal flows is enough: the others behave identically.
    return np.array(
        [
            float(partial(response(str(law)), rate / n, buffer / n, [rtt], 1, turns=1).utilisation)
            for law, rate, buffer, rtt, n in rows
        ]
    )


def _together(table: ModelTable) -> Floats:
    """Compute windows of one RTT, all cut at an overflow: the other extreme for a given buffer."""
    v = table.values
    rtt = (v["rtt_min"] + v["rtt_max"]) / 2
    rate = v["rate"] / 8 / v["packet"]
    rows = zip(v["law"], rate, v["buffer"], rtt, v["flows"], strict=True)
    return np.array([float(synchronised(response(str(law)), *rest).utilisation) for law, *rest in rows])


SAWTOOTH = ModelTest(
    model="sawtooth",
    line="utilization",
    says=(
        "One flow on 16 Mbit/s, 100 ms, packets of 500 B. For Reno the integral, the windows followed in time and "
        "the closed form 3/4 (1 + B)^2 / (1 + B + B^2), B in BDP, are one curve, and the run lies on it within "
        "half a point; HighSpeed's within a point from 11 packets on. At 4 packets HighSpeed is 8 points low: "
        "there it grows by four segments in a round trip, and four places do not hold them."
    ),
    scenario=lambda row: _flows(row, row["buffer"], row["law"]),
    measure=_used,
    given={
        "law": "reno,highspeed",
        "rate": "16 Mbit/s",
        "packet": "500 B",
        "rtt": "100 ms",
        "flows": "1",
        "buffer": "4..800:22",
    },
    picture=ModelPicture("buffer", ("closed_utilization", "utilization", "followed_utilization"), "x", "utilization"),
    beside={
        "closed_utilization": ExtraColumn(ModelColumn("1", "closed form, for Reno"), reno_closed_form),
        "followed_utilization": ExtraColumn(ModelColumn("1", "windows followed in time"), _followed),
    },
    meanings={"utilization": "integral over the window"},
    points=6,
)

STAGGERED = ModelTest(
    model="staggered",
    line="utilization",
    says=(
        "Ten HighSpeed flows with access ten times as fast as the first paper's link of 1 Gbit/s, 120 ms. The run "
        "is far below the model, and from 1000 packets on within two points of the other end, all windows cut: 8 "
        "to 9 of the 10 flows lose at each overflow. Below 1000 packets it is lower than both by up to 65 points: "
        "windows come as bursts at ten times the rate, and a small buffer overflows long before they fill the "
        "link; with access at 200 Mbit/s, so that packets come one by one, 125 packets give 0.58 instead of 0.2."
    ),
    scenario=lambda row: _flows(row, row["buffer"], row["law"]),
    measure=_used,
    given={"buffer": "125..8000:13"},
    picture=ModelPicture("buffer", ("utilization", "together_utilization"), "x", "utilization"),
    meanings={"utilization": "the largest alone cut"},
    beside={"together_utilization": ExtraColumn(ModelColumn("1", "all cut at every overflow"), _together)},
)


def _red(row: Row) -> Scenario:
    room = row["buffer"] - 1
    queue = discipline("red", row, room) | {"gentle": row["gentle"] == "yes"}
    return _flows(row, room, _simulated(row), queue=queue)


DROPTAIL = ModelTest(
    model="droptail-fixed-point",
    line="utilization",
    says=(
        "Ten HighSpeed flows on the first paper's link of 1 Gbit/s, 120 ms. The model has no knee where the run "
        "has one: 93 % against 20 % at 125 packets, 0.8 % of the BDP, and 99 % against 91 % at 1000. Poisson "
        "arrivals have neither the bursts that overflow a small buffer nor the losses that 8 to 9 of the 10 flows "
        "have at once."
    ),
    # K includes the packet in service, a scenario's buffer does not.
    scenario=lambda row: _flows(row, row["buffer"] - 1, _simulated(row)),
    measure=_used,
    given={"buffer": "126..8001:13"},
    picture=ModelPicture("buffer", ("utilization",), "x"),
)

RED = ModelTest(
    model="red-fixed-point",
    line="utilization",
    says=(
        "Ten HighSpeed flows on the first paper's link under RED, whose thresholds are the same shares of the "
        "buffer: 94 % against 30 % at 250 packets, 98 % against 73 % at 800, 99 % against 91 % at 2500. Early "
        "drops do not take the flows apart: the average moves slowly, the windows grow by tens of segments in a "
        "round trip, and 8 to 9 of the 10 flows lose before it falls again."
    ),
    scenario=_red,
    measure=_used,
    given={"buffer": "251..8001:13"},
    points=4,
    picture=ModelPicture("buffer", ("utilization",), "x"),
)

GAUSSIAN = ModelTest(
    model="gaussian",
    line="utilization",
    says=(
        "200 Reno flows with RTTs of 60 to 180 ms on 500 Mbit/s, access ten times as fast. The run is far below "
        "the expected utilization: a loss event hits 30 to 50 of the flows together and all of them at 10 "
        "packets, so the windows are not independent, and the mean queue is not half the buffer (13 of 100 "
        "packets, 70 of 316, 470 of 1000). At 1000 packets, 1.9 times BDP/sqrt(n), it is 99.0 %; at 0.6 times "
        "that 90 %, where the bound says 88 %. Below 100 packets bursts matter most: with access at 5 Mbit/s 10 "
        "packets give 85 % instead of 38 %."
    ),
    scenario=lambda row: _flows(row, row["buffer"], row["law"], least=LEAST_PACKETS),
    measure=_used,
    given={"rate": "500 Mbit/s", "flows": "200", "buffer": "10..1000:13"},
    meanings={"utilization": "mean shortfall taken away", "utilization_bound": "chance that the queue never empties"},
    picture=ModelPicture("buffer", ("utilization", "utilization_bound"), "x", "utilization"),
)


def _of_exponential_packets(table: ModelTable) -> Floats:
    """Compute the same fixed point with the loss as a power of the load."""
    values = {**table.values, "sizes": np.full(len(table.values["buffer"]), "exponential")}
    return np.asarray(table.model.compute(values)["utilization"])


def _paced(row: Row) -> Scenario:
    short = _flows(row, row["buffer"], row["law"], least=LEAST_PACKETS)
    return short.replace({"flows[0].tcp.pacing": "linux"})


SMALL = ModelTest(
    model="small-buffer",
    line="utilization",
    says=(
        "500 Reno flows on 500 Mbit/s, 120 ms, paced as Linux paces, so that packets come one by one. The run is "
        "within a point of the loss of packets of one size up to 16 packets; load^B, dashed, is that of packets of "
        "exponential size, whose queue is twice as long, and 17 to 25 points too low there. From 20 packets on the "
        "run falls, down to 91 % at 64: the windows swing together, and such swings overflow any queue this short. A "
        "fixed point has a steady load. With a receive window of 16 segments, which keeps windows from swinging, the "
        "run follows the line up to 40 packets, where it uses 97 %."
    ),
    scenario=_paced,
    measure=_used,
    picture=ModelPicture("buffer", ("utilization", "exponential_utilization"), "", "utilization"),
    given={"rate": "500 Mbit/s", "flows": "500", "buffer": "4,5,6,8,10,12,16,20,24,32,40,48,64"},
    meanings={"utilization": "packets of one size, M/D/1/K"},
    beside={
        "exponential_utilization": ExtraColumn(ModelColumn("1", "of exponential size, load^B"), _of_exponential_packets)
    },
)

MIXTURE = 5
"""Number of flows, with RTTs from a fifth of the largest up."""


def _mixture(row: Row) -> Scenario:
    given = {**row, "rtt_min": row["rtt_max"] / MIXTURE, "flows": MIXTURE}
    return _flows(given, row["buffer"], "reno", every_s=0.005)


QUEUE_BOUND = ModelTest(
    model="queue-bound",
    line="least_packets",
    says=(
        "Least backlog of five Reno flows with RTTs from a fifth of the largest up to it, sampled every 5 ms over "
        "six sawteeth, mean of five runs. It is never below the bound, and 95 to 210 packets above it from 500 "
        "packets on: only one of the five has the RTT that the bound takes for all."
    ),
    scenario=_mixture,
    measure=lambda outcome, _: float(outcome.samples["backlog_packets"][0].min()),
    given={"buffer": "100,200,300,400,500,600,700,800,900,1000"},
    picture=ModelPicture("buffer", ("least_packets",), ""),
    replications=5,
)


EACH_S = 20.0
"""Time between the starts of two flows [s]: with more flows FAST needs longer to settle."""


def _one_by_one(row: Row) -> Scenario:
    count, rtt = round(row["flows"]), 0.1
    share = row["rate"] / 8 / row["packet"] * rtt / count
    group = bulk(row["law"], row["packet"], (rtt, rtt), count, row["rate"], share)
    group["start"] = {"from": "0 s", "every": time_text(EACH_S)}
    there = link(row["rate"], rtt / 4, row["buffer"])
    return scene("flows come one by one", there, [group], count * EACH_S, 2 * EACH_S)


BACKLOG_TARGET = ModelTest(
    model="backlog-target",
    line="joining_packets",
    says=(
        "FAST flows on 100 Mbit/s, 100 ms, that come 20 s apart; mean queue after the last. It is joining_packets "
        "within 1 %, up to twice the targets of all flows: each newcomer takes the queue that it meets for "
        "distance. What is missing with eight flows is that they are still on their way after 20 s; with 30 s "
        "each it is 0.2 %."
    ),
    scenario=_one_by_one,
    measure=lambda outcome, _: float(outcome.links["backlog_packets"][0]),
    picture=ModelPicture("flows", ("room_packets", "joining_packets"), "xy", "queue"),
    given={"rate": "100 Mbit/s", "flows": "1,2,3,5,8", "law": "fast"},
    called="backlog_packets",
)
