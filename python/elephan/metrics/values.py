"""Values of a link, a group of flows, its transfers or all flows in all replications, as quantities take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elephan.metrics.links import percentiles

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

PERCENTILES = (50, 95, 99)
"""Percentiles reported for backlogs, delays and completion times."""


class LinkValues(NamedTuple):
    """Values of a link.

    Parameters
    ----------
    columns : mapping of str to sequence, shape (replications,)
        Counters of the engine, and columns derived from them.
    buffer : float or None [packets]
        None without a limit.
    backlogs, delays : sequence, shape (PERCENTILES, replications)
        Percentiles of the backlog [packets] and the queueing delay [s].
    rate_changes, delay_varies : bool
        Whether its rate changes, and whether packets have different propagation delays.
    """

    columns: Mapping[str, Sequence[float]]
    buffer: float | None
    backlogs: Sequence[Sequence[float]]
    delays: Sequence[Sequence[float]]
    rate_changes: bool
    delay_varies: bool


def buffer_packets(link: Mapping[str, Any]) -> float | None:
    """Buffer of a link in packets of its flows' mean size.

    Parameters
    ----------
    link : mapping
        Facts of the link.

    Returns
    -------
    float [packets] or None
        None for a buffer without limit, or one in bytes on a link without flows.

    Examples
    --------
    >>> buffer_packets({"buffer_limit_packets": None, "buffer_limit_bytes": 3000, "packet_bytes": 1500.0})
    2.0
    """
    if link["buffer_limit_packets"] is not None:
        return int(link["buffer_limit_packets"])
    if link["buffer_limit_bytes"] is not None and link["packet_bytes"]:
        return float(link["buffer_limit_bytes"] / link["packet_bytes"])
    return None


class GroupValues:
    """Values of a group of flows.

    Parameters
    ----------
    names : sequence of str
        Columns of flows.
    columns : ndarray, shape (replications, columns, flows)
    is_tcp : bool
        Whether the flows have a congestion control; datagrams cannot time out.
    timed : str
        Prefix of the quantities of timed datagrams: ``delay`` of one way, ``rtt`` of both; empty if there are none.
    delays : sequence, shape (PERCENTILES, replications)
        Percentiles of the delays of datagrams [s].
    """

    def __init__(
        self,
        names: Sequence[str],
        columns: NDArray[np.float64],
        *,
        is_tcp: bool = True,
        timed: str = "",
        delays: Sequence[Sequence[float]] = (),
    ) -> None:
        self.is_tcp, self.timed, self.delays = is_tcp, timed, delays
        self.names, self.flows = list(names), columns
        sums = columns.sum(axis=2)
        self.total: dict[str, list[float]] = dict(zip(names, sums.T.tolist(), strict=True))
        self.mean: dict[str, list[float]] = dict(zip(names, _means(columns, sums).T.tolist(), strict=True))

    def of_tcp(self, values: Sequence[float]) -> Sequence[float]:
        """Return values that only flows with a congestion control have; otherwise NaN."""
        # That is not the same as zero.
        return values if self.is_tcp else [np.nan] * len(values)

    def percentile(self, name: str, percent: float) -> list[float]:
        """Return a percentile over the flows, of each replication."""
        column = self.names.index(name)
        return [float(np.percentile(each[column], percent)) for each in self.flows]


class TransferValues:
    """Values of the transfers of a group.

    Parameters
    ----------
    replications : sequence of mapping
        Counts, sums and histograms of each replication.
    """

    def __init__(self, replications: Sequence[Mapping[str, Any]]) -> None:
        self.replications = replications

    @property
    def has_pages(self) -> bool:
        """Whether any page was completed."""
        return any(one["pages"] for one in self.replications)

    def each(self, name: str) -> list[float]:
        """Return a count of each replication."""
        return [one[name] for one in self.replications]

    def mean(self, total: str, count: str) -> list[float]:
        """Return the mean of each replication; NaN where nothing was counted."""
        return [one[total] / one[count] if one[count] else np.nan for one in self.replications]

    def percentile(self, histogram: str, percent: int, scale: float) -> Sequence[float]:
        """Return a percentile of a histogram, of each replication."""
        (found,) = histogram_percentiles([[one[histogram] for one in self.replications]], scale)
        return found[PERCENTILES.index(percent)]


class FairnessValues(NamedTuple):
    """Values of all flows that count for fairness, per replication.

    Parameters
    ----------
    goodputs, rtts : sequence of ndarray, shape (flows,)
        Goodputs [bit/s] and base round-trip times [s].
    shares : ndarray, shape (flows,) [bit/s]
        Max-min fair shares.
    """

    goodputs: Sequence[NDArray[np.float64]]
    rtts: Sequence[NDArray[np.float64]]
    shares: NDArray[np.float64]


def histogram_percentiles(
    histograms: Sequence[Sequence[ArrayLike]], scale: float = 1.0
) -> list[list[tuple[float, ...]]]:
    """Return `PERCENTILES` of histograms per item and replication, as a tuple of replications for each."""
    shares = [p / 100 for p in PERCENTILES]
    found = scale * percentiles([counts for each in histograms for counts in each], shares)
    rows = iter(found.tolist())
    return [list(zip(*(next(rows) for _ in each), strict=True)) for each in histograms]


def _means(x: NDArray[np.float64], sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means along the last axis of `x`, given its sums; ignores NaN."""
    means: NDArray[np.float64] = sums / max(x.shape[-1], 1)
    unknown = ~np.isfinite(sums)
    for at in zip(*np.nonzero(unknown), strict=True) if unknown.any() else ():
        known = x[at][np.isfinite(x[at])]
        means[at] = known.mean() if known.size else np.nan
    return means
