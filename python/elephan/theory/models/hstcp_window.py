"""Model `hstcp-window`: window of one HighSpeed flow from a loss to the next, closed form beside the exact equation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elephan.theory import hstcp
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Values
from elephan.theory.models.flows import vectorized_over
from elephan.theory.response import Floats

# Number of instants; linear interpolation between them has an error below 1e-6 of the window.
SAMPLES = 2001


@vectorized_over("share")
def _table(v: Values) -> Mapping[str, Floats]:
    p, rtt = float(v["p"][0]), float(v["rtt"][0])
    closed, found = hstcp.closed_form(p, rtt), hstcp.exact(p, rtt, samples=SAMPLES)
    t, exact_t = v["share"] * closed.duration, v["share"] * found.period.duration
    window, exact = hstcp.window(t, p, rtt), np.interp(exact_t, found.t, found.window)
    return {
        "closed_time_s": t,
        "closed_segments": window,
        "exact_time_s": exact_t,
        "exact_segments": exact,
        "closed_share": window / float(closed.peak),
        "exact_share": exact / float(closed.peak),
    }


MODEL = Model(
    name="hstcp-window",
    title="One HighSpeed flow as a fluid: window between two losses",
    source="Barman2004",
    says=(
        "w(t) from a loss to the next, over the share of each one's period: closed form, and the exact equation "
        "integrated. Time and window are those of a trace of cwnd that starts at a loss."
    ),
    fails=(
        "The closed form holds b at its least value, so its period is up to seven times too long; over the share of "
        "the period the two curves are within 1 % of each other.",
        "A simulated window is larger at the same p, by 1/(1 - b/2): the paper puts w(p) at the peak, RFC 3649 at the "
        "mean.",
    ),
    parameters={
        "p": ModelParameter("1e-5", "1", "loss events per segment", within="(0, 0.001]"),
        "rtt": ModelParameter("120 ms", "s", "round-trip time", within="(0, inf)"),
        "share": ModelParameter("0..1:11", "1", "share of the period that has passed", within="[0, 1]"),
    },
    columns={
        "closed_time_s": ModelColumn("s", "since the loss, closed form"),
        "closed_segments": ModelColumn("segments", "window, closed form"),
        "exact_time_s": ModelColumn("s", "since the loss, exact equation"),
        "exact_segments": ModelColumn("segments", "window, exact equation"),
        "closed_share": ModelColumn("1", "window over the window before the loss, closed form"),
        "exact_share": ModelColumn("1", "window over the window before the loss, exact equation"),
    },
    compute=_table,
    picture=ModelPicture("share", ("closed_segments", "exact_segments"), "", "window"),
)
