"""Model `poisson-loss`: loss at a small buffer of traffic that the link does not limit, as a bound and exactly."""

from __future__ import annotations

import numpy as np

from elephan.theory.elastic import drain_time, load_for_loss, loss
from elephan.theory.models.card import Columns, Values, read_model


def _table(v: Values) -> Columns:
    below = v["load"] < 1
    bound = np.where(below, loss(np.where(below, v["load"], 0.0), v["buffer"]), np.nan)
    return {
        "bound": bound,
        "mm1k": loss(v["load"], v["buffer"], "M/M/1/K"),
        "md1k": loss(v["load"], v["buffer"], "M/D/1/K"),
        "load_for_target": load_for_loss(v["target"], v["buffer"]),
        "drain_s": drain_time(v["buffer"], v["packet"], v["rate"]),
    }


MODEL = read_model(__file__, compute=_table)
