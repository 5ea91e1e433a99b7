"""The samples of a run: windows and round-trip times of flows, backlog and bytes of links, at the same instants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.report.sources import read_parquet

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


@dataclass(frozen=True)
class SampledRun:
    """The first replication over time, and the backlog of all.

    Parameters
    ----------
    time_s : ndarray, shape (samples,) [s]
    flows : ndarray of str, shape (flows,)
        The group of each flow.
    cwnd_segments, srtt_s : ndarray, shape (flows, samples)
        NaN where there is none.
    backlog_packets, begun_bytes : ndarray, shape (links, samples)
    backlogs : dict of str to ndarray
        Of each link, of all replications after the warm-up.
    """

    time_s: NDArray[np.float64]
    flows: NDArray[Any]
    cwnd_segments: NDArray[np.float64]
    srtt_s: NDArray[np.float64]
    links: list[str]
    backlog_packets: NDArray[np.float64]
    begun_bytes: NDArray[np.float64]
    backlogs: dict[str, NDArray[np.float64]]

    def distribution(self, link: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Say which share of the samples had at most so much waiting.

        Parameters
        ----------
        link : str

        Returns
        -------
        values, share : ndarray
        """
        values, counts = np.unique(self.backlogs.get(link, np.empty(0)), return_counts=True)
        return values, np.cumsum(counts) / max(1, counts.sum())


def sampled_run(path: Path, warmup_s: float = 0.0) -> SampledRun:
    """Read the samples of a run.

    Parameters
    ----------
    path : Path
        ``samples.parquet``.
    warmup_s : float [s]
        Left out of the distribution.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    import pyarrow.compute as pc  # noqa: PLC0415 (Arrow is slow to import)

    columns = ["replication", "time_s", "kind", "name", "index", "cwnd_segments", "srtt_s", "backlog_packets"]
    table = read_parquet(path, [*columns, "begun_bytes"])
    is_link = pc.equal(table["kind"], "link")
    late = table.filter(pc.and_(is_link, pc.greater_equal(table["time_s"], warmup_s)))
    first = table.filter(pc.equal(table["replication"], 0))
    flows = first.filter(pc.equal(first["kind"], "flow"))
    links = first.filter(pc.equal(first["kind"], "link"))
    time_s = np.unique(_numbers(first["time_s"]))
    named = np.array(late["name"].to_pylist(), dtype=object)
    backlog = _numbers(late["backlog_packets"])

    def grid(rows: Any, column: str) -> NDArray[np.float64]:
        return _numbers(rows[column]).reshape(-1, time_s.size) if rows.num_rows else np.empty((0, time_s.size))

    def heads(rows: Any) -> list[str]:
        return list(rows["name"].take(list(range(0, rows.num_rows, time_s.size))).to_pylist()) if rows.num_rows else []

    return SampledRun(
        time_s,
        np.array(heads(flows), dtype=object),
        grid(flows, "cwnd_segments"),
        grid(flows, "srtt_s"),
        heads(links),
        grid(links, "backlog_packets"),
        grid(links, "begun_bytes"),
        {str(name): backlog[named == name] for name in dict.fromkeys(named)},
    )


def _numbers(column: Any) -> NDArray[np.float64]:
    return np.asarray(column.to_numpy(), dtype=float)
