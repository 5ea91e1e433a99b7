"""Comparisons of models of arriving and ending transfers with sessions and datagrams.

Source: Andrew2005 for the closed population, AugeRoberts2006 for the flow beside a Poisson background.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.errors import InputError
from elephan.theory.models import ModelPicture
from elephan.theory.models.links import rate as rate_text
from elephan.theory.models.links import time as time_text
from elephan_evidence.against.entry import ModelTest
from elephan_evidence.against.scenes import bulk, link, scene

if TYPE_CHECKING:
    from typing import Any

    from elephan.runs.outcome import ReplicationOutcome
    from elephan.scenario import Scenario
    from elephan_evidence.against.entry import Row

HEADER = 40
"""Header of a packet [bytes]."""


def _transfers(outcome: ReplicationOutcome) -> dict[str, Any]:
    found = outcome.transfers[0]
    assert found is not None  # the group's transfers end
    return found


SHARED = 2500
"""Transfers in a run."""


def _sharing(row: Row) -> Scenario | None:
    if row["load"] == 0:
        return None
    packet, rtt = 1500, 0.002
    group = {
        "name": "flows",
        "path": ["link"],
        "rtt": time_text(rtt),
        "packet": f"{packet} B",
        "traffic": {
            "kind": "elastic",
            "load": row["load"],
            "size": f"{row['size'] * (1 - HEADER / packet):.0f} B",
            "places": 500,
        },
        "tcp": {"initial_ssthresh": 40, "send_jitter": time_text(8 * packet / row["rate"])},
    }
    alone = 8 * row["size"] / row["rate"]
    there = link(row["rate"], rtt / 4, 40)
    return scene("transfers", there, [group], 50 * alone / row["load"], SHARED * alone / row["load"], alone / 8)


def _in_progress(outcome: ReplicationOutcome, row: Row) -> float:
    histogram = _transfers(outcome)["open_histogram"]
    n = round(row["flows"])
    return float(histogram[n] / histogram.sum()) if n < len(histogram) else 0.0


PROCESSOR_SHARING = ModelTest(
    model="processor-sharing",
    line="chance",
    says=(
        "Transfers of 1.25 MB on average, exponential, that arrive as a Poisson process on 25 Mbit/s with an RTT "
        "of 2 ms, by TCP: how often so many were in progress, over 2500 transfers. Geometric as the model says, "
        "within the intervals; idle a point less often, which is what slow start adds to a transfer."
    ),
    scenario=_sharing,
    measure=_in_progress,
    given={"load": "0.5,0.7", "flows": "0..8:9", "size": "1.25 MB", "rate": "25 Mbit/s"},
    picture=ModelPicture("flows", ("chance",), "y"),
    points=9,
    replications=5,
)

ARRIVALS = 1e6
"""Packets in a run."""
LEAST_LOST = 100
"""Minimum expected number of losses in a run: with fewer a ratio is not accurate to a tenth."""


def _datagrams(row: Row) -> Scenario | None:
    if ARRIVALS * row["md1k"] < LEAST_LOST or row["buffer"] < 2:
        return None
    group = {
        "name": "datagrams",
        "path": ["link"],
        "rtt": "1 ms",
        "packet": f"{row['packet']:.0f} B",
        "traffic": {"kind": "poisson", "rate": rate_text(row["load"] * row["rate"])},
    }
    seconds = ARRIVALS * 8 * row["packet"] / row["rate"] / row["load"]
    # K includes the packet in service, a scenario's buffer does not.
    return scene("datagrams", link(row["rate"], 0, row["buffer"] - 1), [group], seconds / 100, seconds, seconds / 10)


POISSON_LOSS = ModelTest(
    model="poisson-loss",
    line="md1k",
    says=(
        "A million Poisson packets of one size at a drop-tail queue, where at least a hundred of them are lost. "
        "M/D/1/K is what is simulated, and it agrees within the intervals; rho^n and M/M/1/K are bounds."
    ),
    scenario=_datagrams,
    measure=lambda outcome, _: outcome.loss_ratio(0),
    given={"buffer": "10,20", "load": "0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95,1"},
    picture=ModelPicture("load", ("bound", "mm1k", "md1k"), "y", "loss ratio"),
    called="loss_ratio",
)


def _beside(row: Row) -> Scenario:
    """Make a scenario of one Reno flow and Poisson packets, at the buffer that the model requires."""
    if row["permanent"] != 1 or row["offered"] != 0:
        message = "mixed: simulated is one flow that never ends; leave permanent=1 and offered=0"
        raise InputError(message)
    window = row["residual_bps"] / 8 / row["packet"] * row["rtt"]
    flow = bulk("reno", row["packet"], (row["rtt"], row["rtt"]), 1, row["rate"], window)
    datagrams = {
        "name": "background",
        "path": ["link"],
        "rtt": time_text(row["rtt"]),
        "packet": f"{row['packet']:.0f} B",
        "traffic": {"kind": "poisson", "rate": rate_text(row["background"] * row["rate"])},
    }
    buffer = max(row["background_packets"], row["bottlenecked_packets"])
    groups = [flow, datagrams] if row["background"] > 0 else [flow]
    return scene("mixed", link(row["rate"], row["rtt"] / 4, buffer), groups, 60, 240)


MIXED = ModelTest(
    model="mixed",
    line="residual_bps",
    says=(
        "One Reno flow beside Poisson packets on 50 Mbit/s, 100 ms, at the larger of the two buffers that the "
        "model asks for: what the flow gets of what is left. 99 % at a background of 0.2, 90 % at 0.7, 79 % at "
        "0.9: the buffer is one BDP of what is left, just enough for a sawtooth alone, and the swings of the "
        "background overflow it before the window is full. Twice the buffer gives all at 0.5 and 93 % at 0.8."
    ),
    scenario=_beside,
    measure=lambda outcome, _: float(outcome.flows["goodput_bps"][0]),
    given={"permanent": "1", "offered": "0"},
    picture=ModelPicture("background", ("residual_bps",), ""),
)


def _population(row: Row) -> Scenario:
    group = {
        "name": "users",
        "count": round(row["users"]),
        "path": ["link"],
        "rtt": {"pareto": {"mean": "100 ms", "shape": 1.2, "by": "quantiles"}},
        "access": {"rate": rate_text(10 * row["rate"])},
        "packet": f"{row['packet']:.0f} B",
        "start": {"from": "0 s", "to": time_text(row["think"])},
        "traffic": {
            "kind": "engset",
            "size": f"{row['session'] * (row['packet'] - HEADER):.0f} B",
            "law": "uniform",
            "think": time_text(row["think"]),
        },
        "tcp": {"send_jitter": time_text(8 * row["packet"] / row["rate"])},
    }
    buffer = row["rate"] / 8 / row["packet"] * 0.1
    return scene("users", link(row["rate"], 0, buffer), [group], 60, 200)


ENGSET = ModelTest(
    model="engset",
    line="active",
    says=(
        "The third paper's users: sessions of 1 to 200 packets, 2 s of thinking, RTTs of 100 ms on average "
        "(Pareto) on 16 Mbit/s. From 140 users on, where the link is full, the run agrees within a user. With 20 "
        "to 60 it is five to twelve times the model: a session of 100 packets takes some 0.4 s of round trips in "
        "slow start, which processor sharing, 0.025 s on an idle link, does not model."
    ),
    scenario=_population,
    measure=lambda outcome, _: float(_transfers(outcome)["open_mean"]),
    given={"users": "20,40,60,80,100,120,140,170,200"},
    picture=ModelPicture("users", ("active", "active_at_full_load"), "", "users in a session"),
)
