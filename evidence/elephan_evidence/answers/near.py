"""The published answer nearest to a scenario, which ``elephan size`` cites."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from elephan_evidence.answers.answer import answers

if TYPE_CHECKING:
    from elephan.network import FlowGroup
    from elephan.scenario import Scenario

MANY = 10
"""Number of long flows from which averages over flows decide."""

FAST_BPS, SLOW_BPS = 5e9, 100e6
"""Rate of links of data centres and science networks, and of access links."""


@dataclass(frozen=True)
class _Link:
    """Properties of a link and of the flows that cross it, by which answers are chosen."""

    scenario: Scenario
    link: int

    @cached_property
    def resolved(self) -> dict[str, Any]:
        found: dict[str, Any] = self.scenario.resolved["links"][self.link]
        return found

    @cached_property
    def groups(self) -> tuple[FlowGroup, ...]:
        return self.scenario.network.crossing(self.link)

    @cached_property
    def traffic(self) -> set[str]:
        return {group.traffic for group in self.groups}

    @cached_property
    def laws(self) -> set[str]:
        return {str(group.law).partition("(")[0] for group in self.groups if group.law}

    @cached_property
    def long_flows(self) -> int:
        return sum(group.flows for group in self.groups if group.is_tcp and group.traffic == "bulk")

    @cached_property
    def rate_bps(self) -> float:
        return float(self.scenario.network.links[self.link].rate_bps)

    @cached_property
    def rtt_s(self) -> float:
        return float(self.scenario.network.links[self.link].mean_rtt_s)


def nearest(scenario: Scenario, link: int) -> str | None:
    """Return the key of the published answer nearest to a link of a scenario; None if there is none near.

    Rules are ordered from the most particular cause to the most general: a policer decides whatever the senders are.

    Parameters
    ----------
    link : int
        Index of the link.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> nearest(Scenario.from_text(EXAMPLE), 0)
    'root-of-n'
    """
    it = _Link(scenario, link)
    bbr = any(law.startswith("bbr") for law in it.laws)
    rules = (
        (it.resolved.get("policer") is not None, "policer"),
        (it.resolved.get("pool") is not None, "shared-memory"),
        (it.resolved.get("loss") is not None and it.rtt_s > 0.3, "satellite"),
        (isinstance(it.resolved["rate_bps"], dict) and it.laws <= {"cubic", "westwood", "bbr", "bbr3"}, "leo"),
        (bool({"dctcp", "prague"} & it.laws) and bool({"cubic", "reno"} & it.laws), "dctcp-beside-cubic"),
        (bool({"ping", "cbr"} & it.traffic) and it.rate_bps <= SLOW_BPS, "access-call"),
        ("web" in it.traffic and it.long_flows > 0, "web-beside-elephants" if it.rate_bps > SLOW_BPS else "uplink-web"),
        ("nr-hstcp" in it.laws and len(it.laws) > 1, "nr-hstcp-beside"),
        ("ghstcp" in it.laws and "reno" in it.laws, "ghstcp-beside-reno"),
        (bbr and len(it.laws) > 1, "transit-mix"),
        (it.laws == {"highspeed"}, "highspeed-pacing"),
        (it.long_flows == 1 and it.rate_bps >= FAST_BPS, "fixed-buffer"),
        (it.long_flows >= MANY and it.laws <= {"reno", "cubic"} and it.rate_bps >= FAST_BPS, "backbone-mix"),
        (it.long_flows >= 2 and it.laws <= {"reno", "cubic"}, "root-of-n"),
        (it.long_flows > 0, "ten-percent"),
    )
    found = next((key for holds, key in rules if holds), None)
    return found if found in {each.id for each in answers()} else None
