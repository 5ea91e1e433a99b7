"""Declarations of the quantities of groups, transfers, flows and their samples, and of fairness, in document order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from elephan.metrics.fairness import jain, jain_maxmin
from elephan.metrics.flows import rtt_ratio
from elephan.metrics.link_quantities import ORDINALS
from elephan.metrics.links import loss_ratio
from elephan.metrics.quantity import (
    ALWAYS,
    COMPARED,
    FAIRNESS,
    FLOW_SAMPLES,
    FLOWS,
    GROUPS,
    TRANSFERS,
    Quantity,
    Shown,
    declare,
)
from elephan.metrics.values import PERCENTILES, GroupValues, TransferValues

_IF_WEB = "only of pages (`web`)"
_OF_SIMULATIONS = "only of simulated TCP"


def _delay(k: int) -> Callable[[GroupValues], Sequence[float]]:
    return lambda group: group.delays[k]


def _goodput(p: int) -> Callable[[GroupValues], Sequence[float]]:
    return lambda group: group.percentile("goodput_bps", p)


def _of_transfers(histogram: str, p: int, scale: float) -> Callable[[TransferValues], Sequence[float]]:
    return lambda transfers: transfers.percentile(histogram, p, scale)


def _datagram_times(name: str, what: str, only: str, title: str) -> list[Quantity]:
    """Return the quantities of delays or round-trip times of datagrams: mean over flows, percentiles over datagrams."""
    return [
        Quantity(
            GROUPS,
            f"{name}_s",
            f"{what}, mean over the flows",
            only=only,
            applies=lambda group: group.timed == name,
            compute=lambda group: group.mean["delay_s"],
            needs=("delay_s",),
            column=name,
            title=f"mean {title}",
            listed=True,
        ),
        *(
            Quantity(
                GROUPS,
                f"{name}_p{p}_s",
                f"{what}, {ORDINALS[p]}",
                only=only,
                applies=lambda group: group.timed == name,
                compute=_delay(k),
                column=f"{name}_p{p}",
                title=f"95th percentile of the {title}" if p == 95 else "",
                listed=p == 95,
            )
            for k, p in enumerate(PERCENTILES)
        ),
    ]


def _spurious(name: str, what: str, head: str, position: int) -> Quantity:
    """Return the quantity of a sender's counter that exists only if receivers report duplicates."""
    return Quantity(
        GROUPS,
        name,
        f"{what}, of all flows of the group together",
        only="only where receivers report duplicates (a link reorders, or `tcp.undo` is `always`)",
        applies=lambda group: group.is_tcp and name in group.total,
        compute=lambda group: group.total[name],
        needs=(name,),
        column=name,
        title=what.partition(" (")[0],
        shown=Shown(position, head, 6, page=name.replace("_", " "), unless_zero=True),
        listed=True,
    )


declare(
    Quantity(
        GROUPS,
        "goodput_bps",
        "wire size of what was delivered in order, per time, of all flows of the group together",
        compute=lambda group: group.total["goodput_bps"],
        needs=("goodput_bps",),
        metric="goodput",
        precision="goodput",
        title="goodput",
        shown=Shown(0, page="goodput"),
        listed=True,
    ),
    Quantity(
        GROUPS,
        "goodput_per_flow_bps",
        "wire size of what was delivered in order, per time, mean over the flows",
        compute=lambda group: group.mean["goodput_bps"],
        needs=("goodput_bps",),
        metric="goodput",
        column="goodput",
        title="goodput per flow",
        shown=Shown(1, "each", 0, 4),
        listed=True,
    ),
    Quantity(
        GROUPS,
        "loss_ratio",
        "packets dropped anywhere over packets sent",
        compute=lambda group: list(map(loss_ratio, group.total["dropped"], group.total["sent"])),
        needs=("dropped", "sent"),
        metric="loss_ratio",
        column="loss",
        title="loss ratio",
        percent=ALWAYS,
        shown=Shown(2, "loss", 3),
        listed=True,
    ),
    Quantity(
        GROUPS,
        "cwnd_segments",
        "congestion window, averaged over samples and flows",
        compute=lambda group: group.mean["cwnd_segments"],
        needs=("cwnd_segments",),
        column="cwnd",
        title="mean cwnd",
        shown=Shown(3, "cwnd", 4, 4),
        listed=True,
    ),
    Quantity(
        GROUPS,
        "srtt_s",
        "smoothed round-trip time, averaged over samples and flows",
        compute=lambda group: group.mean["srtt_s"],
        needs=("srtt_s",),
        metric="srtt",
        column="srtt",
        title="mean srtt",
        shown=Shown(4, "srtt", 1, 4),
        listed=True,
    ),
    *_datagram_times(
        "delay",
        "time from sending a datagram until its receiver has it",
        "only of datagrams at equal gaps (`cbr`)",
        "delay of datagrams",
    ),
    *_datagram_times("rtt", "time from a ping until its answer is back", "only of pings", "round trip of pings"),
    Quantity(
        GROUPS,
        "timeouts",
        "retransmission timeouts, of all flows of the group together",
        compute=lambda group: group.of_tcp(group.total["timeouts"]),
        needs=("timeouts",),
        metric="timeouts",
        column="timeouts",
        title="timeouts",
        shown=Shown(6, "timeouts", 4, page="timeouts of all flows"),
        listed=True,
    ),
    Quantity(
        GROUPS,
        "loss_events",
        "cuts of the window, of all flows of the group together",
        compute=lambda group: group.of_tcp(group.total["loss_events"]),
        needs=("loss_events",),
        metric="cuts",
        column="cuts",
        title="cuts of the window",
        shown=Shown(5, "cuts", 5, page="loss events of all flows"),
        listed=True,
    ),
    _spurious("dsack_dups", "segments that the receivers reported as duplicates (DSACK)", "DSACKs", 12),
    _spurious("spurious_recoveries", "cuts of the window by losses that proved spurious and were undone", "undone", 13),
    _spurious(
        "spurious_timeouts", "cuts of the window by timeouts that proved spurious and were undone", "undone RTOs", 14
    ),
    *(
        Quantity(
            GROUPS,
            f"goodput_p{p}_bps",
            f"goodput that {p} % of the flows of the group stay below",
            compute=_goodput(p),
            needs=("goodput_bps",),
            reported=False,
            column=f"goodput_p{p}",
        )
        for p in (5, 50, 95)
    ),
    Quantity(
        GROUPS,
        "retransmitted",
        "packets sent again, of all flows of the group together",
        compute=lambda group: group.of_tcp(group.total["retransmitted"]),
        needs=("retransmitted",),
        reported=False,
        column="retransmitted",
    ),
    Quantity(
        TRANSFERS, "opened", "transfers opened after the warm-up", compute=lambda transfers: transfers.each("opened")
    ),
    Quantity(
        TRANSFERS,
        "completed",
        "transfers of these that are complete at the end",
        compute=lambda transfers: transfers.each("completed"),
        column="completed",
        shown=Shown(7, "transfers", 2, 5, unit="done"),
        listed=True,
    ),
    Quantity(
        TRANSFERS,
        "refused",
        "transfers refused for want of a place",
        compute=lambda transfers: transfers.each("refused"),
        listed=True,
    ),
    Quantity(
        TRANSFERS,
        "open",
        "transfers that are open at a time, averaged over time",
        compute=lambda transfers: transfers.each("open_mean"),
        listed=True,
    ),
    Quantity(
        TRANSFERS,
        "completion_time_s",
        "time from the opening of a transfer until the receiver has all of it, mean",
        compute=lambda transfers: transfers.mean("duration_sum_s", "completed"),
        metric="completion_time",
        column="completion_time",
        shown=Shown(8, "time", 1, 4, unit="s"),
        listed=True,
    ),
    *(
        Quantity(
            TRANSFERS,
            f"completion_time_p{p}_s",
            f"time from the opening of a transfer until the receiver has all of it, {ORDINALS[p]}",
            compute=_of_transfers("duration_ps", p, 1e-12),
            column=f"completion_time_p{p}",
            shown=Shown(9, "time 95 %", 2, 4, unit="s") if p == 95 else None,
            listed=p == 95,
        )
        for p in PERCENTILES
    ),
    Quantity(
        TRANSFERS,
        "slowdown",
        "completion time over the least that the transfer can take, mean",
        compute=lambda transfers: transfers.mean("slowdown_sum", "completed"),
        metric="slowdown",
        column="slowdown",
        listed=True,
    ),
    *(
        Quantity(
            TRANSFERS,
            f"slowdown_p{p}",
            f"completion time over the least that the transfer can take, {ORDINALS[p]}",
            compute=_of_transfers("slowdown_1024", p, 1 / 1024),
            column=f"slowdown_p{p}",
        )
        for p in PERCENTILES
    ),
    Quantity(
        TRANSFERS,
        "pages",
        "pages that are complete at the end",
        only=_IF_WEB,
        applies=lambda transfers: transfers.has_pages,
        compute=lambda transfers: transfers.each("pages"),
    ),
    Quantity(
        TRANSFERS,
        "page_time_s",
        "time from the opening of a page to its last byte, mean",
        only=_IF_WEB,
        applies=lambda transfers: transfers.has_pages,
        compute=lambda transfers: transfers.mean("page_sum_s", "pages"),
        column="page_time",
        shown=Shown(10, "page", 1, 4, unit="s"),
    ),
    *(
        Quantity(
            TRANSFERS,
            f"page_time_p{p}_s",
            f"time from the opening of a page to its last byte, {ORDINALS[p]}",
            only=_IF_WEB,
            applies=lambda transfers: transfers.has_pages,
            compute=_of_transfers("page_ps", p, 1e-12),
            column=f"page_time_p{p}",
            shown=Shown(11, "page 95 %", 1, 4, unit="s") if p == 95 else None,
        )
        for p in PERCENTILES
    ),
    Quantity(
        FAIRNESS,
        "jain",
        "Jain's index of the goodputs of the flows that do not end",
        compute=lambda flows: [jain(x) for x in flows.goodputs],
        needs=("goodput_bps",),
        metric="jain",
        column="jain",
        title="Jain's index",
        compared=True,
    ),
    Quantity(
        FAIRNESS,
        "jain_maxmin",
        "Jain's index of the goodputs over their max-min fair shares",
        compute=lambda flows: [jain_maxmin(x, flows.shares) for x in flows.goodputs],
        metric="jain_maxmin",
        column="jain_maxmin",
        title="Jain's index over max-min fair shares",
    ),
    Quantity(
        FAIRNESS,
        "rtt_ratio",
        "goodput of the third with the shortest round-trip times over that of the third with the longest",
        compute=lambda flows: list(map(rtt_ratio, flows.goodputs, flows.rtts)),
        metric="rtt_ratio",
        column="rtt_ratio",
    ),
    Quantity(
        FAIRNESS,
        "total_bps",
        "goodput of all flows together",
        compute=lambda flows: [float(x.sum()) for x in flows.goodputs],
        needs=("goodput_bps",),
        reported=False,
        column="total",
    ),
    *(
        Quantity(FLOWS, name, meaning, reported=False)
        for name, meaning in (
            ("base_rtt_s", "round-trip time without queues"),
            ("start_s", "time at which the flow starts"),
            ("goodput_bps", "wire size of what was delivered in order, per time"),
            ("sent", "packets sent"),
            ("retransmitted", "packets sent again"),
            ("dropped", "packets dropped anywhere"),
            ("timeouts", "retransmission timeouts"),
            ("loss_events", "cuts of the window"),
            ("dsack_dups", "segments that the receiver reported as duplicates, dsack_dups of ss"),
            ("spurious_recoveries", "cuts by losses that proved spurious and were undone"),
            ("spurious_timeouts", "cuts by timeouts that proved spurious and were undone"),
            ("cwnd_segments", "congestion window, averaged over the samples"),
            ("srtt_s", "smoothed round-trip time, averaged over the samples"),
            ("delay_s", "time from sending a datagram until its receiver has it; of a ping until its answer is back"),
            ("finished_s", "time at which the receiver has all of a finite transfer"),
        )
    ),
    Quantity(FLOW_SAMPLES, "cwnd_segments", "congestion window"),
    Quantity(
        FLOW_SAMPLES, "srtt_s", "smoothed round-trip time; of timed datagrams the delay of the one that arrived last"
    ),
    Quantity(FLOW_SAMPLES, "rttvar_s", "mean deviation of the round-trip time, rttvar of ss"),
    Quantity(FLOW_SAMPLES, "min_rtt_s", "smallest round-trip time, minrtt of ss", only=_OF_SIMULATIONS),
    Quantity(FLOW_SAMPLES, "delivered_segments", "segments delivered since the start", only=_OF_SIMULATIONS),
    Quantity(FLOW_SAMPLES, "retrans_segments", "segments sent again since the start"),
    Quantity(
        FLOW_SAMPLES,
        "delivery_rate_bps",
        "payload delivered per time, delivery_rate of ss",
        only="only of laws that take rate samples",
    ),
    Quantity(
        FLOW_SAMPLES,
        "pacing_rate_bps",
        "rate at which payload is paced, pacing_rate of ss",
        only="only of simulated TCP with pacing or bursts",
    ),
    *(
        Quantity(FLOW_SAMPLES, f"{name}_limited", f"whether {what} limits the sender now", only=_OF_SIMULATIONS)
        for name, what in (
            ("cwnd", "the congestion window"),
            ("rwnd", "the receive window"),
            ("app", "the application"),
            ("pacing", "the pace"),
        )
    ),
    Quantity(
        COMPARED,
        "period_s",
        "mean time between cuts of a window",
        title="time between cuts",
        shown=Shown(0, unit="s"),
        compared=True,
    ),
    Quantity(COMPARED, "cwnd_high_segments", "mean window before a cut", title="cwnd before a cut", compared=True),
    Quantity(
        COMPARED, "cwnd_low_segments", "mean window after recovery from a cut", title="cwnd after a cut", compared=True
    ),
)
