"""Wording shared by the terminal and the pages of a sizing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elephan.sizing.documents import SizeDocument


def interval_words(document: SizeDocument) -> str:
    """Describe the confidence interval of the buffer.

    Parameters
    ----------
    document : mapping
        As ``elephan size --json``.

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
