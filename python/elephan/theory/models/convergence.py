"""Model `convergence`: laws under which synchronised losses equalize the rates of flows with different RTTs."""

from __future__ import annotations

from typing import Any

import numpy as np

from elephan.errors import InputError
from elephan.theory.fairness import LAWS, PAPERS, convergence, law
from elephan.theory.models.card import Columns, Values, read_model

# Numbers of compared rates and RTTs; rates are spaced geometrically, RTTs equally.
RATES, RTTS = 25, 8


def _table(v: Values) -> Columns:
    rows = [_row(*given) for given in zip(*(column.tolist() for column in v.values()), strict=True)]
    return {name: np.array([row[name] for row in rows]) for name in MODEL.columns}


def _row(name: str, slowest: float, fastest: float, short: float, longest: float, mss: float) -> dict[str, Any]:
    if not (slowest < fastest and short <= longest):
        raise InputError("convergence: give a rate_max above rate_min and an rtt_max of at least rtt_min")
    # Equal RTTs would be counted several times.
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


MODEL = read_model(__file__, choices={"law": (PAPERS, *LAWS)}, compute=_table)
