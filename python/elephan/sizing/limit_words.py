"""Sentences about the answer of an inverse sizing: the path, rate or flows that a buffer is sufficient for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elephan.units import format_bytes, format_packets, format_rate, format_time

if TYPE_CHECKING:
    from collections.abc import Mapping


def limit_sentence(document: Mapping[str, Any]) -> str:
    """Write the answer as a sentence."""
    wanted = f"utilization >= {document['target']['utilization']:g}"
    buffer = _what_there_is(document)
    if document["amount"] is None:
        return f"No answer for {wanted} with {buffer} at link {document['link']}."
    amount = said(document["find"], document["amount"])
    size = f"{amount} ({_interval(document)})"
    return {
        "rtt": f"{buffer} are enough for {wanted} up to a mean base RTT of {size}.",
        "rate": f"{buffer} are enough for {wanted} up to {size} on link {document['link']}.",
        "flows": f"{buffer} are enough for {wanted} from {size} on.",
        "red": f"RED with {buffer} meets {wanted} from min_th = {size} on, with max_th = 3 min_th.",
        "pool": f"Link {document['link']} meets {wanted} from a pool of {size} on.",
        "alpha": f"Link {document['link']} meets {wanted} with {buffer} from alpha = {size} on.",
    }[document["find"]]


def _what_there_is(document: Mapping[str, Any]) -> str:
    """Describe the existing buffer, or the pool."""
    if document["buffer_packets"] is not None:
        return format_packets(round(document["buffer_packets"]))
    pool = document.get("pool")
    if pool is None:
        return "this buffer"
    of = format_packets(pool["size_packets"]) if pool["size_bytes"] is None else format_bytes(pool["size_bytes"])
    return f"{of} of shared memory"


def said(find: str, amount: float) -> str:
    """Write an amount with its unit."""
    if find == "rtt":
        return format_time(amount)
    if find in ("pool", "alpha"):
        return format_bytes(amount) if find == "pool" else f"{amount:.3g}"
    return format_rate(amount) if find == "rate" else f"{amount:,.0f} {'flows' if find == 'flows' else 'packets'}"


def _interval(document: Mapping[str, Any]) -> str:
    if document["interval"] is None:
        return "no interval from one replication"
    low, high = document["interval"]
    unit = {"flows": " flows", "red": " packets"}.get(document["find"], "")
    least = said(document["find"], low).removesuffix(unit)
    return (
        f"95 %: {least} or more"
        if high is None
        else f"95 %: {least} to {said(document['find'], high).removesuffix(unit)}"
    )
