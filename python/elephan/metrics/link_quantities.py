"""Declarations of the quantities of links, in document order. Columns that are not reported are engine counters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elephan.metrics.links import flows_hit_per_loss_event, idle_fraction, occupancy
from elephan.metrics.quantity import ALWAYS, LINK_FACTS, LINK_SAMPLES, LINKS, RUNS_ONLY, Quantity, Shown, declare
from elephan.metrics.values import PERCENTILES, LinkValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

CAUSES = ("overflow", "early", "forced", "sojourn", "injected")
"""Reasons for dropping or marking packets."""

ORDINALS = {50: "median", 95: "95th percentile", 99: "99th percentile"}
"""Names of percentiles in meanings."""

_IF_CHANGES = "only where its rate changes"
_IF_VARIES = "only where its delay changes or has jitter"


def _loss_ratio(links: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Packets dropped over packets arrived, for each link; 0 for a link at which none arrived."""
    dropped, arrived = sum(links[f"drops_{cause}"] for cause in CAUSES), links["arrived"]
    ratios: NDArray[Any] = (dropped * (arrived > 0)) / arrived.clip(1)
    return ratios


def _percentile(of: str, k: int) -> Callable[[LinkValues], Sequence[float]]:
    return lambda link: getattr(link, of)[k]


def _marks(link: LinkValues) -> list[float]:
    return [sum(each) for each in zip(*(link.columns[f"marks_{cause}"] for cause in CAUSES), strict=True)]


declare(
    Quantity(LINK_FACTS, "rate_bps", "rate of the link"),
    Quantity(LINK_FACTS, "buffer_packets", "buffer of the link in packets of the mean size"),
    Quantity(LINK_FACTS, "mean_rtt_s", "mean base round-trip time of the flows of the link"),
    Quantity(
        LINKS,
        "capacity_bps",
        "what the link could carry in the measured time",
        only=_IF_CHANGES,
        applies=lambda link: link.rate_changes,
    ),
    *(
        Quantity(LINKS, name, meaning, only=_IF_VARIES, applies=lambda link: link.delay_varies)
        for name, meaning in (
            ("propagation_s", "how long packets were on their way to the end of the link, mean over packets"),
            ("propagation_min_s", "the shortest time that a packet was on its way to the end of the link"),
            ("propagation_max_s", "the longest time that a packet was on its way to the end of the link"),
        )
    ),
    Quantity(
        LINKS,
        "utilization",
        "bits that began service over what the link could carry",
        metric="utilization",
        column="utilization",
        precision="utilization",
        title="utilization",
        percent=RUNS_ONLY,
        shown=Shown(0, "utilization", 0, 4),
        listed=True,
        compared=True,
    ),
    Quantity(
        LINKS,
        "loss_ratio",
        "packets dropped over packets arrived",
        derive=_loss_ratio,
        metric="loss_ratio",
        column="loss",
        precision="loss",
        title="loss ratio",
        percent=ALWAYS,
        shown=Shown(1, "loss", 0),
        listed=True,
        compared=True,
    ),
    Quantity(
        LINKS,
        "backlog_packets",
        "packets waiting, averaged over time",
        metric="backlog",
        column="backlog",
        precision="backlog",
        title="mean backlog",
        shown=Shown(4, "backlog", 3),
        listed=True,
    ),
    Quantity(
        LINKS,
        "backlog_max_packets",
        "the most packets that waited",
        metric="backlog",
        shown=Shown(5, page="largest"),
        listed=True,
    ),
    *(
        Quantity(
            LINKS,
            f"backlog_p{p}_packets",
            f"packets waiting, {ORDINALS[p]} over time",
            compute=_percentile("backlogs", k),
            metric="percentile",
            column="backlog_p95" if p == 95 else "",
        )
        for k, p in enumerate(PERCENTILES)
    ),
    Quantity(
        LINKS,
        "occupancy",
        "mean backlog over the buffer",
        compute=lambda link: [occupancy(x, link.buffer) for x in link.columns["backlog_packets"]],
        metric="occupancy",
    ),
    Quantity(
        LINKS,
        "queueing_delay_s",
        "waiting time at the link, own service excluded, mean over packets",
        metric="queueing_delay",
        column="delay",
        precision="delay",
        title="mean queueing delay",
        shown=Shown(2, "delay", 0),
        listed=True,
        after="loss_ratio",
        compared=True,
    ),
    *(
        Quantity(
            LINKS,
            f"queueing_delay_p{p}_s",
            f"waiting time at the link, own service excluded, {ORDINALS[p]} over packets",
            compute=_percentile("delays", k),
            metric="percentile",
            column=f"delay_p{p}",
            title="95th percentile of the queueing delay" if p == 95 else "",
            shown=Shown(3, "delay 95 %", 2, page="delay, 95th percentile") if p == 95 else None,
        )
        for k, p in enumerate(PERCENTILES)
    ),
    Quantity(
        LINKS,
        "idle_fraction",
        "share of the capacity that is not used: 1 - utilization",
        compute=lambda link: list(map(idle_fraction, link.columns["utilization"])),
        metric="idle_fraction",
        percent=RUNS_ONLY,
        listed=True,
    ),
    Quantity(
        LINKS,
        "empty_fraction",
        "share of time in which no packet waits",
        metric="empty_fraction",
        percent=RUNS_ONLY,
        listed=True,
    ),
    *(Quantity(LINKS, f"drops.{cause}", f"packets dropped: {cause}") for cause in CAUSES),
    Quantity(LINKS, "marks", "packets marked", compute=_marks, column="marks", listed=True),
    Quantity(
        LINKS,
        "loss_events",
        "bursts of drops less than one round trip apart",
        metric="flows_hit_per_loss_event",
        title="loss events",
        shown=Shown(6, page="loss events"),
        listed=True,
    ),
    Quantity(
        LINKS,
        "flows_hit_per_loss_event",
        "flows that lost a packet, per loss event",
        compute=lambda link: list(
            map(flows_hit_per_loss_event, link.columns["flows_hit"], link.columns["loss_events"])
        ),
        metric="flows_hit_per_loss_event",
    ),
    *(
        Quantity(LINKS, name, meaning, reported=False)
        for name, meaning in (
            ("arrived", "packets arrived"),
            ("flows_hit", "flows that lost a packet in a loss event, summed over the events"),
            ("pool_held", "what waited in the memory of its pool, averaged over time"),
            ("pool_held_max", "the most that waited in the memory of its pool"),
            ("pool_drops", "packets dropped because the pool had no room, though the buffer had"),
            *((f"marks_{cause}", f"packets marked: {cause}") for cause in CAUSES),
        )
    ),
    Quantity(LINK_SAMPLES, "backlog_packets", "packets waiting"),
    Quantity(LINK_SAMPLES, "begun_bytes", "bytes that began service since the start"),
)
