"""Long names and units of the columns of results: the attributes of arrays, as in the CF conventions.

Source: CF Metadata Conventions 1.11, sections 3.1 and 3.2 (`units`, `long_name`).
"""

from __future__ import annotations

CONVENTIONS = "CF-1.11"

OVER_TIME = "_over_time"
"""Suffix of the names of samples, which tells them apart from their means."""

LINKS = {
    "rate_bps": "rate of the link",
    "buffer_packets": "buffer of the link in packets of the mean size",
    "mean_rtt_s": "mean base round-trip time of the flows of the link",
    "capacity_bps": "what the link could carry, where its rate changes",
    "propagation_s": "how long packets were on their way to the end of the link, where that differs",
    "propagation_min_s": "the shortest of it",
    "propagation_max_s": "the longest of it",
    "arrived": "packets arrived",
    "utilization": "bits that began service over what the link could carry",
    "loss_ratio": "packets dropped over packets arrived",
    "backlog_packets": "packets waiting, averaged over time",
    "backlog_max_packets": "the most packets that waited",
    "queueing_delay_s": "waiting time, own service excluded",
    "empty_fraction": "share of time in which no packet waits",
    "loss_events": "bursts of drops less than a round trip apart",
    "flows_hit": "flows that lost a packet in a loss event, summed over the events",
    "pool_held": "what waited in the memory of its pool, averaged over time",
    "pool_held_max": "the most that waited in the memory of its pool",
    "pool_drops": "packets dropped because the pool had no room, though the buffer had",
    **{
        f"drops_{cause}": f"packets dropped: {cause}"
        for cause in ("overflow", "early", "forced", "sojourn", "injected")
    },
    **{
        f"marks_{cause}": f"packets marked: {cause}" for cause in ("overflow", "early", "forced", "sojourn", "injected")
    },
}
"""Columns per link and replication; the first three are properties of the link."""

FLOWS = {
    "base_rtt_s": "round-trip time without queues",
    "start_s": "time at which the flow starts",
    "goodput_bps": "wire size of what was delivered in order, per time",
    "sent": "packets sent",
    "retransmitted": "packets sent again",
    "dropped": "packets dropped anywhere",
    "timeouts": "retransmission timeouts",
    "loss_events": "cuts of the window",
    "cwnd_segments": "congestion window, averaged over the samples",
    "srtt_s": "smoothed round-trip time, averaged over the samples",
    "delay_s": "time from sending a datagram until its receiver has it; of a ping until its answer is back",
    "finished_s": "time at which the receiver has all of a finite transfer",
}
"""Columns per flow and replication."""

LINK_SAMPLES = {
    "backlog_packets": "packets waiting",
    "begun_bytes": "bytes that began service since the start",
}
"""Columns per link, replication and sample; gauges of a queue have names of their own."""

FLOW_SAMPLES = {
    "cwnd_segments": "congestion window",
    "srtt_s": "smoothed round-trip time; of timed datagrams the delay of the one that arrived last",
}
"""Columns per flow, replication and sample."""

RUNS = {
    "jain": "Jain's index of the goodputs",
    "jain_maxmin": "Jain's index of the goodputs over their max-min fair shares",
    "rtt_ratio": "goodput of the third with the shortest round-trip times over that of the third with the longest",
}
"""Columns per replication."""

COMPARED = {
    "utilization": "bits that began service over what the link could carry",
    "queueing_delay_s": "waiting time, own service excluded",
    "loss_ratio": "packets dropped over packets arrived",
    "period_s": "mean time between cuts of a window",
    "cwnd_high_segments": "mean window before a cut",
    "cwnd_low_segments": "mean window after recovery from a cut",
    "jain": "Jain's index of the goodputs",
}
"""Quantities in which a model, a simulation and a testbed are compared."""

_UNITS = {
    "_s": "s",
    "_bps": "bit/s",
    "_bytes": "byte",
    "_packets": "packets",
    "_segments": "segments",
}


def unit(name: str) -> str:
    """Return the unit of a column, which is the end of its name.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    str
        ``1`` of counts and ratios.

    Examples
    --------
    >>> unit("goodput_bps"), unit("queueing_delay_s"), unit("utilization"), unit("srtt_s_over_time")
    ('bit/s', 's', '1', 's')
    """
    plain = name.removesuffix(OVER_TIME)
    return next((found for end, found in _UNITS.items() if plain.endswith(end)), "1")


def attributes(name: str, long_name: str) -> dict[str, str]:
    """Return the attributes of an array.

    Parameters
    ----------
    name : str
        Name of the column.
    long_name : str
        Meaning of the column; by default its name.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> attributes("rate_bps", "rate of the link")
    {'units': 'bit/s', 'long_name': 'rate of the link'}
    """
    return {"units": unit(name), "long_name": long_name or name}
