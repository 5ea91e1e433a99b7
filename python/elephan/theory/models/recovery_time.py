"""Model `recovery-time`: time that a flow takes after a loss to reach its previous rate again."""

from __future__ import annotations

from typing import get_args

from elephan.theory.fairness import LAWS, PAPERS, Method, law, recovery_time
from elephan.theory.models.card import Columns, Values, read_model
from elephan.theory.models.flows import vectorized_over

METHODS: tuple[Method, ...] = get_args(Method)


@vectorized_over("rtt", "rate", "mss")
def _table(v: Values) -> Columns:
    own = law(str(v["law"][0]))
    return {f"{method}_s": recovery_time(own, v["rate"], v["rtt"], v["mss"], method) for method in METHODS}


MODEL = read_model(__file__, choices={"law": (PAPERS, *LAWS)}, compute=_table)
