"""Model `response`: the window of each law at a loss rate, and the loss rate that it needs for a window."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Values
from elephan.theory.response import Floats, Response
from elephan.theory.textbook import RESPONSES, published


def _table(v: Values) -> Mapping[str, Floats]:
    names = ("window_segments", "throughput_packets_per_s", "increase_segments", "decrease", "p_for_window")
    columns = {name: np.full(len(v["law"]), np.nan) for name in names}
    for name in dict.fromkeys(v["law"].tolist()):
        rows = v["law"] == name
        found = _of(published(name), v["p"][rows], v["rtt"][rows], v["window"][rows])
        for column, values in zip(columns.values(), found, strict=True):
            column[rows] = values
    return columns


def _of(law: Response, p: Floats, rtt: Floats, window: Floats) -> tuple[Floats, ...]:
    held = law.window(p, rtt)
    unknown = np.full_like(p, np.nan)
    increase = unknown if law.increase_curve is None else law.increase(held, rtt)
    decrease = unknown if law.decrease_curve is None else law.decrease(held, rtt)
    return held, held / rtt, increase, decrease, law.loss(window, rtt)


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
