"""What the textbook would have said: rules of thumb for the buffer of a link; and a scenario with another buffer.

Source: bandwidth-delay product, Villamizar1994; over the root of the number of flows, Appenzeller2004; rate times twice
the link's own delay, Barman2004.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elephan.scenario import Scenario

RULES: dict[str, tuple[str, str]] = {
    "bdp": ("rate x mean base RTT", "Villamizar1994"),
    "bdp_over_sqrt_n": ("the same over the root of the number of flows", "Appenzeller2004"),
    "max_bdp": ("rate x largest base RTT", "Villamizar1994"),
    "min_bdp": ("rate x smallest base RTT", "Villamizar1994"),
    "link_bdp": ("rate x twice the link's own delay", "Barman2004"),
}
"""Meaning and source of each rule."""


def rules(link: dict[str, Any]) -> dict[str, float]:
    """Buffers that rules of thumb give.

    Parameters
    ----------
    link : dict
        Facts of a link that carries flows.

    Returns
    -------
    dict of str to float [packets]
        Keys as in `RULES`; a rule that gives no packet is left out.

    References
    ----------
    Villamizar1994, Appenzeller2004, Barman2004.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> {name: round(value) for name, value in rules(Scenario.from_text(EXAMPLE).links[0]).items()}
    {'bdp': 100, 'bdp_over_sqrt_n': 71, 'max_bdp': 100, 'min_bdp': 100, 'link_bdp': 50}
    """
    packets_per_s = link["rate_bps"] / 8 / link["packet_bytes"]
    values = {
        "bdp": link["bdp_packets"],
        "bdp_over_sqrt_n": link["bdp_packets"] / math.sqrt(link["flows"]),
        "max_bdp": packets_per_s * link["max_rtt_s"],
        "min_bdp": packets_per_s * link["min_rtt_s"],
        "link_bdp": packets_per_s * 2 * link["delay_s"],
    }
    return {name: round(value, 6) for name, value in values.items() if value > 0}


def with_buffer(scenario: Scenario, link: int, packets: int) -> Scenario:
    """Return a scenario with another buffer, in bytes if its file's is in bytes.

    Parameters
    ----------
    scenario : Scenario
    link : int
    packets : int [packets]

    Returns
    -------
    Scenario
        What its discipline derives from the buffer follows.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> with_buffer(Scenario.from_text(EXAMPLE), 0, 1250).links[0]["tc"]
    'tc qdisc replace dev eth0 root pfifo limit 1250'
    """
    facts = scenario.links[link]
    in_bytes = facts["buffer_limit_bytes"] is not None
    text = f"{round(packets * facts['packet_bytes'])} B" if in_bytes else f"{packets} packets"
    return scenario.override({f"links[{link}].buffer": text})
