"""Wording shared by the terminal and the pages of a sizing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from elephan.network import Network
from elephan.sizing.limits import full_beside
from elephan.units import format_packets

if TYPE_CHECKING:
    from elephan.sizing.documents import SizeDocument


def interval_words(document: SizeDocument) -> str:
    """Describe the confidence interval of the buffer.

    Parameters
    ----------
    document : mapping
        Document of ``elephan size --json``.

    Examples
    --------
    >>> interval_words({"buffer_interval_packets": [1898, 1975]})
    '95 %: 1,898 to 1,975'
    """
    bounds = document["buffer_interval_packets"]
    if bounds is None:
        if not document["simulated"]["runs"]:
            return "by a model, not simulated"
        return "no interval from one replication" if document["replications"] == 1 else "no target bounds it from below"
    low, high = bounds
    return f"95 %: {low:,} to {high:,}" if high is not None else f"95 %: {low:,} or more"


def full_words(network: Network, link: int) -> str:
    """Name the other links that are full, and the option that sizes them; empty if there is none."""
    full = full_beside(network, link)
    if not full:
        return ""
    if len(full) == 1:
        return f"{full[0]} is full, too: this command with --link {full[0]} sizes it."
    names = " and ".join(full) if len(full) == 2 else f"{', '.join(full[:2])} and {len(full) - 2} more"
    return f"{names} are full, too: this command with --link {full[0]} sizes that one."


def paced_words(document: SizeDocument) -> str:
    """Return the answer for paced senders as a sentence; empty if it was not asked for."""
    found = document.get("paced")
    if found is None:
        return ""
    if found["buffer_packets"] is None:
        return f"Paced as Linux does: no answer: {found['note']}."
    own = document["buffer_packets"]
    times = f", {found['buffer_packets'] / own:.2g} times as much" if own and own != found["buffer_packets"] else ""
    bounds, other = found["buffer_interval_packets"], document["buffer_interval_packets"]
    if times and bounds and other and max(bounds[0], other[0]) <= min(bounds[1] or math.inf, other[1] or math.inf):
        times = "; which needs less is not decided"
    sure = "" if bounds is None else f" (95 %: {bounds[0]:,} {'or more' if bounds[1] is None else f'to {bounds[1]:,}'})"
    return f"Paced as Linux does: {format_packets(found['buffer_packets'])}{sure}{times}."
