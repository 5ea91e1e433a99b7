"""Model `hstcp`: one HighSpeed flow between two losses, in closed form and by the exact equation."""

from __future__ import annotations

import numpy as np

from elephan.theory import hstcp
from elephan.theory.laws import LOW_P
from elephan.theory.models.card import Columns, Values, read_model


def _table(v: Values) -> Columns:
    closed = hstcp.closed_form(v["p"], v["rtt"])
    # Above p = 1e-3 the window is in Reno's range, for which HighSpeed has no equation to integrate.
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


MODEL = read_model(__file__, compute=_table)
