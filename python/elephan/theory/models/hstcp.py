"""Model `hstcp`: one HighSpeed flow between two losses, closed form beside the exact equation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elephan.theory import hstcp
from elephan.theory.laws import LOW_P
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Values
from elephan.theory.response import Floats


def _table(v: Values) -> Mapping[str, Floats]:
    closed = hstcp.closed_form(v["p"], v["rtt"])
    # Above p = 1e-3 the window is Reno's; HighSpeed has no equation to integrate there.
    exact = [hstcp.exact(p, rtt).period if p <= LOW_P else None for p, rtt in zip(v["p"], v["rtt"], strict=True)]
    return {
        "peak_segments": closed.peak,
        "decrease": closed.decrease,
        "closed_duration_s": closed.duration,
        "exact_duration_s": np.array([float(e.duration) if e else np.nan for e in exact]),
        "closed_packets": closed.packets,
        "exact_packets": np.array([float(e.packets) if e else np.nan for e in exact]),
        "closed_packets_per_s": closed.throughput,
        "exact_packets_per_s": np.array([float(e.throughput) if e else np.nan for e in exact]),
    }


MODEL = Model(
    name="hstcp",
    title="One HighSpeed flow as a fluid: throughput at a loss rate",
    source="Barman2004",
    says="Window before the loss, duration and packets of the period between two losses, and throughput lambda(p).",
    fails=(
        "The closed form holds b at its least value: its throughput is within 0.6 % of the exact equation, its period "
        "and its packets are up to seven times too large.",
        "p belongs to the window before the loss, so lambda is 1 - b/2 times what RFC 3649 gives.",
    ),
    parameters={
        "p": ModelParameter("1e-7..1e-3:5", "1", "loss events per segment", within="(0, 1]"),
        "rtt": ModelParameter("120 ms", "s", "round-trip time", within="(0, inf)"),
    },
    columns={
        "peak_segments": ModelColumn("segments", "window before the loss"),
        "decrease": ModelColumn("1", "share of it given up"),
        "closed_duration_s": ModelColumn("s", "T_p, closed form"),
        "exact_duration_s": ModelColumn("s", "T_p, exact equation"),
        "closed_packets": ModelColumn("segments", "N_p, closed form"),
        "exact_packets": ModelColumn("segments", "N_p, exact equation"),
        "closed_packets_per_s": ModelColumn("segments/s", "lambda(p), closed form"),
        "exact_packets_per_s": ModelColumn("segments/s", "lambda(p), exact equation"),
    },
    compute=_table,
    picture=ModelPicture("p", ("closed_packets_per_s", "exact_packets_per_s"), "xy", "throughput"),
)
