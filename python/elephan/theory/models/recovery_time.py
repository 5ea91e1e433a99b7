"""Model `recovery-time`: time that a flow of a given rate takes to reach it again after a loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from elephan.theory.fairness import LAWS, PAPERS, Method, law, recovery_time
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Values
from elephan.theory.models.flows import vectorized_over
from elephan.theory.response import Floats

METHODS: tuple[Method, ...] = get_args(Method)


@vectorized_over("rtt", "rate", "mss")
def _table(v: Values) -> Mapping[str, Floats]:
    own = law(str(v["law"][0]))
    return {f"{method}_s": recovery_time(own, v["rate"], v["rtt"], v["mss"], method) for method in METHODS}


MODEL = Model(
    name="recovery-time",
    title="Time to recover from a loss",
    source="PhillipsHu2006",
    says=(
        "Time in congestion avoidance from (1 - b) w back to w, the window of a given rate: as a fluid, in whole "
        "round trips, and by the crude w b(w) / a(w) of them. Where curves of two RTTs lie apart, losses that hit all "
        "flows together give them different rates. With law=nr-hstcp and rtt=75 ms,100 ms,150 ms,250 ms it is the "
        "right half of the paper's Figure 1."
    ),
    fails=(
        "No queueing delay and no slow start or timeout after the loss: real recoveries take longer.",
        "Laws whose growth depends on the time since the loss (BIC, CUBIC, H-TCP) or on delay (Compound) are not here.",
        "The paper does not say that a and b of NR-HSTCP go on below 38 segments; its curves come out only so.",
    ),
    parameters={
        "law": ModelParameter(
            PAPERS, "", "congestion-control law; phillips-hu is the source's HighSpeed", (PAPERS, *LAWS)
        ),
        "rtt": ModelParameter("87.5 ms,100 ms,112.5 ms,125 ms", "s", "round-trip time", within="(0, inf)"),
        "rate": ModelParameter(
            ",".join(f"{n} Mbit/s" for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)),
            "bit/s",
            "at which the loss occurs",
            within="(0, 1e13]",
        ),
        "mss": ModelParameter("1500 B", "B", "size of a segment", within="(0, inf)"),
    },
    columns={
        "integral_s": ModelColumn("s", "recovery time, fluid"),
        "steps_s": ModelColumn("s", "recovery time, whole round trips"),
        "crude_s": ModelColumn("s", "recovery time, w b / a round trips"),
    },
    compute=_table,
    picture=ModelPicture("rate", ("integral_s",), "xy"),
)
