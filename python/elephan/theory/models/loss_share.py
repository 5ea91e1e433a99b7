"""Model `loss-share`: rates of flows with different RTTs under periodic synchronised losses."""

from __future__ import annotations

from elephan.theory.fairness import LAWS, PAPERS, law, share
from elephan.theory.models.card import Columns, Values, read_model
from elephan.theory.models.flows import vectorized_over
from elephan.theory.models.recovery_time import METHODS


@vectorized_over("period", "rtt", "mss")
def _table(v: Values) -> Columns:
    own = law(str(v["law"][0]))
    return {f"{method}_bps": share(own, v["period"], v["rtt"], v["mss"], method) for method in METHODS}


MODEL = read_model(__file__, choices={"law": (PAPERS, *LAWS)}, compute=_table)
