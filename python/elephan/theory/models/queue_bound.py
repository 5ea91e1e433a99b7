"""Model `queue-bound`: lower bound of the queue of any number of Reno flows, and the buffer that never runs empty."""

from __future__ import annotations

import math

import numpy as np

from elephan.network import Network
from elephan.theory.models import links
from elephan.theory.models.card import Columns, Values, read_model
from elephan.theory.rules import smallest_queue


def _table(v: Values) -> Columns:
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


MODEL = read_model(__file__, compute=_table, from_link=_from_link)
