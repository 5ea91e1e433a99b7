"""Model `response`: the window of each law at a loss rate, and the loss rate that it needs for a window."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Values
from elephan.theory.models.flows import vectorized_over
from elephan.theory.response import Floats
from elephan.theory.textbook import RESPONSES, published


@vectorized_over("p", "rtt", "window")
def _table(v: Values) -> Mapping[str, Floats]:
    law, rtt = published(str(v["law"][0])), v["rtt"]
    held = law.window(v["p"], rtt)
    unknown = np.full_like(held, np.nan)
    return {
        "window_segments": held,
        "throughput_packets_per_s": held / rtt,
        "increase_segments": unknown if law.increase_curve is None else law.increase(held, rtt),
        "decrease": unknown if law.decrease_curve is None else law.decrease(held, rtt),
        "p_for_window": law.loss(v["window"], rtt),
    }


MODEL = Model(
    name="response",
    title="Published response functions: window at a loss rate",
    source="RFC3649",
    says=(
        "For every window law whose response is published or follows from its equations: mean window and throughput "
        "at a loss rate, a(w) and b(w) there, and the loss rate that it needs to hold a given window."
    ),
    fails=(
        "One loss event a period and no timeouts: a few per cent off at p = 0.01, useless above 0.1.",
        "Laws that follow delay have no such function and are not here; a(w) is given only where growth depends on "
        "the window alone, so not for BIC, CUBIC and H-TCP.",
        "RFC 3649 says that standard TCP may lose one packet in 5e9 for 10 Gbit/s at 100 ms; its own w = sqrt(1.5/p) "
        "gives 4.6e9.",
    ),
    parameters={
        "law": ModelParameter(
            "reno,highspeed,scalable,bic,cubic,htcp,compound,hybla,constant-rate,nr-hstcp",
            "",
            "congestion-control law",
            tuple(RESPONSES),
        ),
        "p": ModelParameter("1e-8..1e-2:7", "1", "loss events per segment", within="(0, 1]"),
        "rtt": ModelParameter("100 ms", "s", "round-trip time", within="(0, inf)"),
        "window": ModelParameter("83333 packets", "packets", "window to hold on average", within="(0, inf)"),
    },
    columns={
        "window_segments": ModelColumn("segments", "mean window"),
        "throughput_packets_per_s": ModelColumn("segments/s", "mean window per round-trip time"),
        "increase_segments": ModelColumn("segments", "a(w) at the mean window, per round-trip time"),
        "decrease": ModelColumn("1", "b(w) at the mean window"),
        "p_for_window": ModelColumn("1", "loss events per segment that the window to hold needs"),
    },
    compute=_table,
    picture=ModelPicture("p", ("window_segments",), "xy"),
)
