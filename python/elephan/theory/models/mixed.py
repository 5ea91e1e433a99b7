"""Model `mixed`: the buffers for a few flows limited by the link, and for the other traffic beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from elephan.errors import InputError
from elephan.network import Network
from elephan.theory.elastic import mixed
from elephan.theory.models import links
from elephan.theory.models.bottleneck import bottleneck
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Values
from elephan.theory.models.flows import no_capacity_left


def _table(v: Values) -> Mapping[str, Any]:
    names = ("rate", "packet", "rtt", "background", "offered")
    rows = [
        # Permanent flows are not an offered load.
        mixed(*given, loss_target=target, chance=chance)
        for *given, target, chance in zip(*(v[name].tolist() for name in (*names, "target", "chance")), strict=True)
    ]
    known = (v["permanent"] == 0) | (v["offered"] == 0)
    regimes = [
        "elastic" if row.regime == "transparent" and more else row.regime
        for row, more in zip(rows, v["permanent"] > 0, strict=True)
    ]
    return {
        "residual_bps": np.array([row.residual_bps for row in rows]),
        "load": np.array([row.load for row in rows]),
        "flows": np.where(known, [row.flows if row.load < 1 else np.nan for row in rows] + v["permanent"], np.nan),
        "background_packets": np.array([row.background_packets for row in rows], dtype=float),
        "bottlenecked_packets": np.array([row.bottlenecked_packets for row in rows]),
        "regime": np.array(regimes),
    }


def _from_link(network: Network, link: int) -> dict[str, str]:
    seen = bottleneck(network, link)
    if seen is None:
        raise InputError(f"{network.origin}: link {network.links[link].name}: it limits no long-lived TCP flow")
    if reason := no_capacity_left(seen):
        raise InputError(f"{network.origin}: link {seen.name}: {reason}")
    return {
        "rate": links.rate(seen.rate_bps),
        "packet": f"{seen.packet_bytes:.0f} B",
        "rtt": links.time(seen.mean_rtt_s),
        "background": f"{seen.background:.9g}",
        "offered": "0",
        "permanent": str(seen.flows),
    }


MODEL = Model(
    name="mixed",
    title="Bottlenecked flows beside background traffic",
    source="AugeRoberts2006",
    says=(
        "What the background leaves of a link, how many bottlenecked flows are in progress at once, the buffer that "
        "the background needs for its loss target, and the one with which a Reno flow uses all that is left."
    ),
    fails=(
        "Nothing is said of buffers between the two: the paper simulates 40 % of the residual rate for one Reno flow "
        "with 20 packets, most of it with 100.",
        "The background is Poisson packets whatever the bottlenecked flows do. How many finite flows there are "
        "beside permanent ones is left open.",
    ),
    parameters={
        "rate": ModelParameter("50 Mbit/s", "bit/s", "of the link", within="(0, inf)"),
        "packet": ModelParameter("1000 B", "B", "size of a packet", within="(0, inf)"),
        "rtt": ModelParameter("100 ms", "s", "of a bottlenecked flow without queueing", within="(0, inf)"),
        "background": ModelParameter(
            "0..0.9:10", "1", "load of traffic limited elsewhere, over the rate", within="[0, 1)"
        ),
        "offered": ModelParameter("0.25", "1", "load of finite bottlenecked flows, over the rate", within="[0, inf)"),
        "permanent": ModelParameter("0", "1", "bottlenecked flows that never end", within="[0, inf)"),
        "target": ModelParameter("1e-3", "1", "loss ratio of the background that may be", within="(0, 1)"),
        "chance": ModelParameter("0.05", "1", "how often more flows may be in progress", within="(0, 1)"),
    },
    columns={
        "residual_bps": ModelColumn("bit/s", "what the background leaves"),
        "load": ModelColumn("1", "load of the bottlenecked flows over that"),
        "flows": ModelColumn("1", "in progress, exceeded with the given chance"),
        "background_packets": ModelColumn("packets", "buffer for the background"),
        "bottlenecked_packets": ModelColumn("packets", "buffer for one Reno flow to use all that is left"),
        "regime": ModelColumn("", "transparent: nobody is held back; elastic: a few are; overload: more than fits"),
    },
    compute=_table,
    picture=ModelPicture("background", ("background_packets", "bottlenecked_packets"), "y", "buffer"),
    from_link=_from_link,
)
