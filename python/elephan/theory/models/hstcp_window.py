"""Model `hstcp-window`: window of one HighSpeed flow between two losses, in closed form and by the exact equation."""

from __future__ import annotations

import numpy as np

from elephan.theory import hstcp
from elephan.theory.models.card import Columns, Values, read_model
from elephan.theory.models.flows import vectorized_over

# Number of instants; linear interpolation between them has an error below 1e-6 of the window.
SAMPLES = 2001


@vectorized_over("share")
def _table(v: Values) -> Columns:
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


MODEL = read_model(__file__, compute=_table)
