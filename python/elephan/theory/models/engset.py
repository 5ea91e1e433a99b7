"""Model `engset`: a closed population of users that alternate between thinking and transfers."""

from __future__ import annotations

import numpy as np

from elephan.theory.elastic import active_by_balance, engset
from elephan.theory.models.card import Columns, Values, read_model


def _table(v: Values) -> Columns:
    rate = v["rate"] / 8 / v["packet"]
    users = np.round(v["users"])
    given = (users.astype(int).tolist(), v["think"].tolist(), v["session"].tolist(), rate.tolist())
    rows = [engset(*row) for row in zip(*given, strict=True)]
    return {
        "active": np.array([row.active for row in rows]),
        # At low loads the formula for full load gives a negative number of active users.
        "active_at_full_load": np.maximum(active_by_balance(users, v["think"], v["session"], rate), 0),
        "utilization": np.array([row.throughput for row in rows]) / rate,
        "throughput_bps": np.array([row.throughput for row in rows]) * 8 * v["packet"],
        "session_s": np.array([row.active / row.throughput for row in rows]) * v["session"],
    }


MODEL = read_model(__file__, compute=_table)
