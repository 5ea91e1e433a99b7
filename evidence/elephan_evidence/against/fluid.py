"""Comparisons of the model `fluid`: equilibrium and motion of the queue, and the backlog of a simulation.

Source: Hollot2001 for the flows, the link and RED's thresholds. *Differs from* it: RED's weight, so that the queue
settles or not within seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.errors import InputError
from elephan.theory.models import ModelPicture
from elephan_evidence.against.entry import ModelTest
from elephan_evidence.against.scenes import bulk, link, scene

if TYPE_CHECKING:
    from typing import Any

    from elephan.runs.outcome import ReplicationOutcome
    from elephan.scenario import Scenario
    from elephan_evidence.against.entry import Row

LONGEST_S = 60.0
BEGUN = 3
"""Round trips until flows that start together have the fluid's initial window."""
EVERY_S = 0.25


def discipline(kind: str, row: Row, room: float) -> dict[str, Any]:
    """Write a queue discipline from a row whose parameters are shares of the buffer.

    Parameters
    ----------
    kind : str
        ``red`` or another of its family, or one without parameters.
    room : float [packets]
        Buffer size.

    Examples
    --------
    >>> discipline("drop-tail", {}, 100)
    {'discipline': 'drop-tail'}
    """
    if kind == "pie":
        return {"discipline": "pie", "target": f"{1e3 * row['target']:g} ms"}
    if kind not in ("red", "ared", "gared"):
        return {"discipline": kind}
    written = {
        "discipline": kind,
        "min_th": f"{row['min_th'] * room:g} packets",
        "max_th": f"{row['max_th'] * room:g} packets",
        "max_p": row["p_max"],
    }
    return written | ({"w_q": row["weight"]} if "weight" in row else {})


def _managed(row: Row) -> Scenario:
    if row["queue"] == "small-buffer":
        message = "fluid: no simulated queue is called small-buffer; give queue=drop-tail with few packets"
        raise InputError(message)
    if row["time"] > LONGEST_S:
        message = f"time: the simulation ends at {LONGEST_S:g} s; give no more"
        raise InputError(message)
    rtts = (row["rtt"], row["rtt"])
    there = link(row["rate"], row["rtt"] / 4, row["buffer"], queue=discipline(row["queue"], row, row["buffer"]))
    window = row["start"] * row["rest_window_segments"]
    group = bulk(row["law"], row["packet"], rtts, round(row["flows"]), row["rate"], window)
    return scene("flows under a queue", there, [group], BEGUN * row["rtt"], LONGEST_S + EVERY_S, EVERY_S)


def _backlog(outcome: ReplicationOutcome, row: Row) -> float:
    return float(np.interp(row["time"], outcome.samples["time_s"], outcome.samples["backlog_packets"][0]))


FLUID = ModelTest(
    model="fluid",
    line="backlog_packets",
    says=(
        "60 Reno flows and RED on 15 Mbit/s, packets of 500 B, the setting of Hollot et al., from an empty queue "
        "and windows of 0.9 of those at rest; one run, so no interval. At 100 ms, where no mode grows, fluid and "
        "packets swing alike and settle: at 259 packets and 245, of 251 at rest. At 200 ms two modes grow and "
        "both swing without end: the fluid as a perfect cycle, the packets with two thirds of its amplitude and "
        "out of step with it after two swings. That is not chance, for ten times the flows on ten times the rate "
        "swing no more: the fluid has one mean window for all flows, and exaggerates what they do together."
    ),
    scenario=_managed,
    measure=_backlog,
    picture=ModelPicture("time", ("rest_backlog_packets", "backlog_packets"), "", "queue"),
    given={
        "time": "0..30 s:241",
        "law": "reno",
        "rate": "15 Mbit/s",
        "packet": "500 B",
        "rtt": "100 ms,200 ms",
        "flows": "60",
        "buffer": "800",
        "min_th": "0.1875",
        "max_th": "0.875",
        "weight": "2e-4",
        "start": "0.9",
    },
    meanings={"backlog_packets": "followed in time", "rest_backlog_packets": "at rest"},
    points=61,
    replications=1,
)
