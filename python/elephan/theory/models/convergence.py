"""Model `convergence`: laws under which synchronised losses equalize the rates of flows with different RTTs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from elephan.errors import InputError
from elephan.theory.fairness import LAWS, PAPERS, convergence, law
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Values

# Numbers of compared rates and RTTs; rates are spaced geometrically, RTTs equally.
RATES, RTTS = 25, 8


def _table(v: Values) -> Mapping[str, Any]:
    rows = [_row(*given) for given in zip(*(column.tolist() for column in v.values()), strict=True)]
    return {name: np.array([row[name] for row in rows]) for name in MODEL.columns}


def _row(name: str, slowest: float, fastest: float, short: float, longest: float, mss: float) -> dict[str, Any]:
    if not (slowest < fastest and short <= longest):
        raise InputError("convergence: give a rate_max above rate_min and an rtt_max of at least rtt_min")
    # A repeated RTT would only count twice.
    rtts = np.unique(np.linspace(short, longest, RTTS))
    found = convergence(law(name), np.geomspace(slowest, fastest, RATES), rtts, mss)
    worst = found.worst or (np.nan,) * 4
    return {
        "holds": "no" if found.worst else "yes",
        "violations": found.violations,
        "worst_ratio": found.worst_ratio,
        "fast_bps": worst[0],
        "fast_rtt_s": worst[1],
        "slow_bps": worst[2],
        "slow_rtt_s": worst[3],
    }


MODEL = Model(
    name="convergence",
    title="Do synchronised losses even out rates?",
    source="PhillipsHu2006",
    says=(
        "Condition (4): of any two flows the slower must recover first. Checked for every pair of rates and RTTs: how "
        "often it fails, and the largest ratio of rates that the losses would then hold apart."
    ),
    fails=(
        "Losses that do not hit all flows together even rates out as well; queueing delay is left out.",
        "It is checked on a grid of 25 rates and 8 RTTs; the paper claims it for NR-HSTCP in its own region only: "
        "below 20 Mbit/s at 75 ms it does not quite hold.",
        "Laws whose growth depends on the time since the loss (BIC, CUBIC, H-TCP) or on delay (Compound) are not here.",
    ),
    parameters={
        "law": ModelParameter(
            "highspeed,nr-hstcp,reno",
            "",
            "congestion-control law; phillips-hu is the source's HighSpeed",
            (PAPERS, *LAWS),
        ),
        "rate_min": ModelParameter("20 Mbit/s", "bit/s", "lowest rate", within="(0, inf)"),
        "rate_max": ModelParameter("5 Gbit/s", "bit/s", "highest rate", within="(0, 1e13]"),
        "rtt_min": ModelParameter("75 ms", "s", "shortest RTT", within="(0, inf)"),
        "rtt_max": ModelParameter("100 ms,150 ms,200 ms,250 ms", "s", "longest RTT", within="(0, inf)"),
        "mss": ModelParameter("1500 B", "B", "size of a segment", within="(0, inf)"),
    },
    columns={
        "holds": ModelColumn("", "whether the condition holds for every pair"),
        "violations": ModelColumn("1", "share of pairs for which it fails"),
        "worst_ratio": ModelColumn("1", "largest ratio of rates for which it fails; 1 if for none"),
        "fast_bps": ModelColumn("bit/s", "there, rate of the faster flow"),
        "fast_rtt_s": ModelColumn("s", "its RTT"),
        "slow_bps": ModelColumn("bit/s", "rate of the slower"),
        "slow_rtt_s": ModelColumn("s", "its RTT"),
    },
    compute=_table,
    picture=ModelPicture("rtt_max", ("violations",), ""),
)
