"""Model `queue-bound`: lower bound of the queue of any number of Reno flows, and the buffer that never empties."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from elephan.network import Network
from elephan.theory.models import links
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Values
from elephan.theory.rules import smallest_queue


def _table(v: Values) -> Mapping[str, Any]:
    rate = v["rate"] / 8 / v["packet"]
    product = rate * v["rtt_max"]
    given = zip(rate, v["rtt_max"], v["buffer"], strict=True)
    least = np.array([float(smallest_queue(mu, [rtt], buffer)) for mu, rtt, buffer in given])
    return {
        "least_packets": least,
        "least_delay_s": least / rate,
        "max_bdp_packets": product,
        "empties": np.where(v["buffer"] > product, "never", "may"),
    }


def _from_link(network: Network, link: int) -> dict[str, str]:
    facts = network.links[link]
    limit = 10 * math.ceil(facts.rate_bps / 8 / facts.packet_bytes * facts.max_rtt_s / 5)
    return {
        "rate": links.rate(facts.rate_bps),
        "packet": f"{facts.packet_bytes:.0f} B",
        "rtt_max": links.time(facts.max_rtt_s),
        "buffer": f"0..{limit}:11",
    }


MODEL = Model(
    name="queue-bound",
    title="Least queue after an overflow, and the largest bandwidth-delay product",
    source="Andrew2005",
    says=(
        "However many Reno flows with whatever RTTs: the queue does not fall below (B - rate x largest RTT) / 2 after "
        "the first overflow, so a buffer above that product never empties."
    ),
    fails=(
        "A bound for the worst case, in which all traffic is the longest flow's: it says nothing of utilization, and "
        "measured needs are far below it (5 flows with Pareto RTTs: about half the mean product for 99 %).",
        "Reno, drop-tail, at most one loss per flow and overflow, no timeouts; slow-start overshoot breaks it.",
    ),
    parameters={
        "rate": ModelParameter("16 Mbit/s", "bit/s", "of the link", within="(0, inf)"),
        "packet": ModelParameter("500 B", "B", "size of a packet", within="(0, inf)"),
        "rtt_max": ModelParameter("100 ms,150 ms", "s", "largest RTT without queueing", within="(0, inf)"),
        "buffer": ModelParameter("0..1000:11", "packets", "of the link", within="[0, inf)"),
    },
    columns={
        "least_packets": ModelColumn("packets", "least queue"),
        "least_delay_s": ModelColumn("s", "least queueing delay"),
        "max_bdp_packets": ModelColumn("packets", "rate x largest RTT"),
        "empties": ModelColumn("", "whether the queue ever empties"),
    },
    compute=_table,
    picture=ModelPicture("buffer", ("least_packets",), ""),
    from_link=_from_link,
)
