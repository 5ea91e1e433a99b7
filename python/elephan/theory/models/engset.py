"""Model `engset`: a closed population of users that alternate between thinking and transfers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elephan.theory.elastic import active_by_balance, engset
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Values
from elephan.theory.response import Floats


def _table(v: Values) -> Mapping[str, Floats]:
    rate = v["rate"] / 8 / v["packet"]
    users = np.round(v["users"])
    given = (users.astype(int).tolist(), v["think"].tolist(), v["session"].tolist(), rate.tolist())
    rows = [engset(*row) for row in zip(*given, strict=True)]
    return {
        "active": np.array([row.active for row in rows]),
        # Below full load the balance would give a negative number of active users.
        "active_at_full_load": np.maximum(active_by_balance(users, v["think"], v["session"], rate), 0),
        "utilization": np.array([row.throughput for row in rows]) / rate,
        "throughput_bps": np.array([row.throughput for row in rows]) * 8 * v["packet"],
        "session_s": np.array([row.active / row.throughput for row in rows]) * v["session"],
    }


MODEL = Model(
    name="engset",
    title="A closed population of users",
    source="Andrew2005",
    says=(
        "How many of so many users are in a session at once, and how busy they keep the link, if sessions share it "
        "equally; for any distributions of thinking times and of sizes."
    ),
    fails=(
        "Round trips, slow start and losses of TCP are left out: it is the limit of short RTTs. The paper simulates "
        "about 110 of 200 and 400 of 500 users active, because losses leave the link idle at times.",
        "It has no buffer, so no idle time that falls as the buffer grows.",
    ),
    parameters={
        "users": ModelParameter("20,50,100,150,200,300,400,500", "1", "how many", within="[1, 100000]"),
        "think": ModelParameter("2 s", "s", "mean time between a user's sessions", within="(0, inf)"),
        "session": ModelParameter("100.5 packets", "packets", "mean size of a session", within="[1e-6, 1e9]"),
        "packet": ModelParameter("500 B", "B", "size of a packet", within="(0, inf)"),
        "rate": ModelParameter("16 Mbit/s", "bit/s", "of the link", within="(0, inf)"),
    },
    columns={
        "active": ModelColumn("1", "mean number of users in a session"),
        "active_at_full_load": ModelColumn("1", "the same by balance, if the link is always busy"),
        "utilization": ModelColumn("1", "share of the rate that is used"),
        "throughput_bps": ModelColumn("bit/s", "of all users"),
        "session_s": ModelColumn("s", "mean time that a session takes"),
    },
    compute=_table,
    picture=ModelPicture("users", ("active", "active_at_full_load"), "", "users in a session"),
)
