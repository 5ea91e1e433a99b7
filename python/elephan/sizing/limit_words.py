"""Sentences about the answer of an inverse sizing: the RTT, rate, number of flows, threshold, pool or alpha."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.units import count, format_bytes, format_packets, format_rate, format_time

if TYPE_CHECKING:
    from elephan.sizing.documents import LimitDocument


def limit_sentence(document: LimitDocument) -> str:
    """Write the answer as a sentence."""
    wanted = f"utilization >= {document['target']['utilization']:g}"
    buffer = _what_there_is(document)
    if document["amount"] is None:
        return f"No answer for {wanted} with {buffer} at link {document['link']}."
    amount = said(document["find"], document["amount"])
    size = f"{amount} ({_interval(document)})"
    enough = f"{buffer} {'is' if buffer in ('1 packet', 'this buffer') else 'are'} enough for {wanted}"
    return {
        "rtt": f"{enough} up to a mean base RTT of {size}.",
        "rate": f"{enough} up to {size} on link {document['link']}.",
        "flows": f"{enough} from {size} on.",
        "red": f"RED with {buffer} meets {wanted} from min_th = {size} on, with max_th = 3 min_th.",
        "pool": f"Link {document['link']} meets {wanted} from a pool of {size} on.",
        "alpha": f"Link {document['link']} meets {wanted} with {buffer} from alpha = {size} on.",
    }[document["find"]]


def _what_there_is(document: LimitDocument) -> str:
    """Describe the given buffer, or the shared pool of memory."""
    if document["buffer_packets"] is not None:
        return format_packets(round(document["buffer_packets"]))
    pool = document.get("pool")
    if pool is None:
        return "this buffer"
    in_bytes = pool["size_bytes"]
    of = format_packets(pool["size_packets"] or 0) if in_bytes is None else format_bytes(in_bytes)
    return f"{of} of shared memory"


def said(find: str, amount: float) -> str:
    """Format an amount with its unit; alpha has none."""
    if find == "rtt":
        return format_time(amount)
    if find in ("pool", "alpha"):
        return format_bytes(amount) if find == "pool" else f"{amount:.3g}"
    return format_rate(amount) if find == "rate" else count(round(amount), "flow" if find == "flows" else "packet")


def _interval(document: LimitDocument) -> str:
    if document["interval"] is None:
        return "no interval from one replication"
    low, high = document["interval"]
    ends = [said(document["find"], end) for end in (low, high) if end is not None]
    if document["find"] in ("flows", "red"):
        # The unit is beside the amount.
        ends = [end.split()[0] for end in ends]
    if high is None:
        return f"95 %: {ends[0]} or more"
    return f"95 %: {' to '.join(dict.fromkeys(ends))}"
