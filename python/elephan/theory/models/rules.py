"""Model `rules`: every buffer rule for one link, and its assumptions that do not hold there."""

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
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Values
from elephan.theory.models.flows import LINK
from elephan.theory.rules import RULES, LinkFacts, broken, of_link

# The largest rate that can be formatted.
UNLIMITED_BPS = 1e15


def _table(v: Values) -> Mapping[str, Any]:
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


MODEL = Model(
    name="rules",
    title="Buffer rules",
    source="Villamizar1994",
    says=(
        "How many packets each published rule gives a link, how long a full buffer of that size makes packets wait, "
        "and which of the rule's assumptions the link breaks."
    ),
    fails=(
        "No rule says what utilization, loss or delay its buffer brings; `elephan size` does.",
        "Most assume Reno at a drop-tail queue: ten HighSpeed flows use 92 % of the link of the defaults with a "
        "twelfth of the bandwidth-delay product.",
        "An assumption is checked only where a link and its flows decide it: synchronised losses, bursts "
        "and timeouts are guessed from RTTs, access rates and windows.",
    ),
    parameters={
        "rule": ModelParameter(",".join(RULES), "", "which", tuple(RULES)),
        **LINK,
        "rtt_min": ModelParameter("115.5 ms", "s", "smallest base RTT", within="(0, inf)"),
        "rtt": ModelParameter("120 ms", "s", "mean base RTT", within="(0, inf)"),
        "rtt_max": ModelParameter("124.5 ms", "s", "largest base RTT", within="(0, inf)"),
        "delay": ModelParameter("50 ms", "s", "the link's own, one way", within="[0, inf)"),
        "flows": ModelParameter("10", "1", "how many", within="[1, inf)"),
        "law": ModelParameter(
            "highspeed", "", "of long flows; several joined by +, as reno+cubic; none if that is open"
        ),
        "queue": ModelParameter("drop-tail", "", "discipline"),
        "buffer": ModelParameter("0", "packets", "what the link has; 0 if that is open", within="[0, inf)"),
        "access": ModelParameter("10 Gbit/s", "bit/s", "of the fastest flow", within="(0, inf)"),
        "other": ModelParameter("no", "", "whether anything but long flows crosses the link", ("no", "yes")),
    },
    columns={
        "packets": ModelColumn("packets", "buffer"),
        "delay_s": ModelColumn("s", "wait behind a full buffer"),
        "formula": ModelColumn("", "the rule"),
        "source": ModelColumn("", "where it is from"),
        "broken": ModelColumn("", "which of its assumptions do not hold"),
    },
    compute=_table,
    picture=ModelPicture("flows", ("packets",), "xy"),
    from_link=_from_link,
)
