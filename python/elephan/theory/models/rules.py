"""Model `rules`: every buffer rule for one link, and the assumptions of the rule that the link violates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from elephan.catalog import catalog
from elephan.citations import short
from elephan.errors import InputError, suggest
from elephan.network import Network
from elephan.theory import controls
from elephan.theory.models import links
from elephan.theory.models.card import Columns, Values, read_model
from elephan.theory.rules import RULES, LinkFacts, broken, of_link

# Largest rate that a parameter can have; it represents an unlimited rate.
UNLIMITED_BPS = 1e15


def _table(v: Values) -> Columns:
    rows = [dict(zip(v, row, strict=True)) for row in zip(*(column.tolist() for column in v.values()), strict=True)]
    known = [_facts(row) for row in rows]
    packets = np.array([RULES[row["rule"]].packets(link) for row, link in zip(rows, known, strict=True)])
    return {
        "packets": packets,
        "delay_s": packets * 8 * v["packet"] / v["rate"],
        "formula": np.array([RULES[row["rule"]].title for row in rows]),
        "source": np.array([short(RULES[row["rule"]].source) for row in rows]),
        "broken": np.array(["; ".join(broken(row["rule"], link)) for row, link in zip(rows, known, strict=True)]),
    }


def _facts(row: Mapping[str, Any]) -> LinkFacts:
    if not row["rtt_min"] <= row["rtt"] <= row["rtt_max"]:
        raise InputError(f"rtt: {1e3 * row['rtt']:g} ms does not lie between rtt_min and rtt_max; give all three")
    packets_per_s = row["rate"] / 8 / row["packet"]
    return LinkFacts(
        packets_per_s=packets_per_s,
        bdp_packets=packets_per_s * row["rtt"],
        min_rtt_s=row["rtt_min"],
        max_rtt_s=row["rtt_max"],
        delay_s=row["delay"],
        flows=round(row["flows"]),
        buffer_packets=row["buffer"] or math.nan,
        discipline=row["queue"],
        laws=tuple(sorted(_laws(row["law"]))),
        other_traffic=row["other"] == "yes",
        access_ratio=row["access"] / row["rate"],
    )


@cache
def _catalogue() -> set[str]:
    return {card["name"] for card in catalog("laws")}


def _laws(text: str) -> set[str]:
    laws = set(text.split("+")) - {"none"}
    unknown = {controls.kind(law) for law in laws} - _catalogue()
    if unknown:
        hint = suggest(min(unknown), sorted(_catalogue()), "see `elephan list laws`, or write none")
        raise InputError(f'law: there is no "{min(unknown)}"; {hint}')
    return {controls.write(controls.control(law)) for law in laws}


def _from_link(network: Network, link: int) -> dict[str, str]:
    facts = network.links[link]
    known = of_link(network, link)
    return {
        "rate": links.rate(facts.rate_bps),
        "packet": f"{facts.packet_bytes:.0f} B",
        "rtt_min": links.time(known.min_rtt_s),
        "rtt": links.time(known.bdp_packets / known.packets_per_s),
        "rtt_max": links.time(known.max_rtt_s),
        "delay": links.time(known.delay_s),
        "flows": str(known.flows),
        "law": "+".join(known.laws) or "none",
        "queue": known.discipline,
        "buffer": "0" if math.isnan(known.buffer_packets) else f"{known.buffer_packets:.0f}",
        "access": links.rate(min(known.access_ratio * facts.rate_bps, UNLIMITED_BPS)),
        "other": "yes" if known.other_traffic else "no",
    }


MODEL = read_model(__file__, choices={"rule": tuple(RULES)}, compute=_table, from_link=_from_link)
