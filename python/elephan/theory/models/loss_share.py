"""Model `loss-share`: rates of flows with different RTTs under periodic synchronised losses."""

from __future__ import annotations

from collections.abc import Mapping

from elephan.theory.fairness import LAWS, PAPERS, law, share
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Values
from elephan.theory.models.flows import vectorized_over
from elephan.theory.models.recovery_time import METHODS
from elephan.theory.response import Floats


@vectorized_over("period", "rtt", "mss")
def _table(v: Values) -> Mapping[str, Floats]:
    own = law(str(v["law"][0]))
    return {f"{method}_bps": share(own, v["period"], v["rtt"], v["mss"], method) for method in METHODS}


MODEL = Model(
    name="loss-share",
    title="Rate for a period of synchronised losses",
    source="PhillipsHu2006",
    says=(
        "The largest rate whose recovery takes no longer than the time between two losses that hit all flows: what "
        "each flow gets, as a fluid, in whole round trips, and crudely."
    ),
    fails=(
        "The paper reads 96, 43, 22 and 13 Mbit/s off its figure for a loss every 4 s; whole round trips give 99, 49, "
        '22 and 13, the fluid 109, 50, 25 and 13. Its "more than four times" for RTTs of 1 to 0.7 is 7.4 by its own '
        "numbers.",
        "Losses are rarely all synchronised, and queueing delay evens RTTs out.",
        "Looked for between 10 kbit/s and 10 Gbit/s; nothing is said where the rate lies outside, or where recovery "
        "takes as long at any rate (Scalable TCP).",
    ),
    parameters={
        "law": ModelParameter(
            f"{PAPERS},nr-hstcp,reno",
            "",
            "congestion-control law; phillips-hu is the source's HighSpeed",
            (PAPERS, *LAWS),
        ),
        "period": ModelParameter("4 s", "s", "between two losses", within="(0, inf)"),
        "rtt": ModelParameter("87.5 ms,100 ms,112.5 ms,125 ms", "s", "round-trip time", within="(0, inf)"),
        "mss": ModelParameter("1500 B", "B", "size of a segment", within="(0, inf)"),
    },
    columns={
        "integral_bps": ModelColumn("bit/s", "rate, fluid"),
        "steps_bps": ModelColumn("bit/s", "rate, whole round trips"),
        "crude_bps": ModelColumn("bit/s", "rate, w b / a round trips"),
    },
    compute=_table,
    picture=ModelPicture("rtt", ("integral_bps", "steps_bps"), "y", "rate"),
)
