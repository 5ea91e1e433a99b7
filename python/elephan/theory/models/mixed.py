"""Model `mixed`: buffers for a few flows that the link limits, and for the background traffic."""

from __future__ import annotations

import numpy as np

from elephan.errors import InputError
from elephan.network import Network
from elephan.theory.elastic import mixed
from elephan.theory.models import links
from elephan.theory.models.bottleneck import bottleneck
from elephan.theory.models.card import Columns, Values, read_model
from elephan.theory.models.flows import no_capacity_left


def _table(v: Values) -> Columns:
    names = ("rate", "packet", "rtt", "background", "offered")
    rows = [
        # Permanent flows do not count as offered load.
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


MODEL = read_model(__file__, compute=_table, from_link=_from_link)
