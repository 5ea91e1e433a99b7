"""Base class of all results: a run, a sweep, a testbed, a comparison, a store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.display import ColumnTable, figure
from elephan.errors import InputError
from elephan.results.files import write_files
from elephan.results.parts import ResultPart
from elephan.results.tables import SAMPLED, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ResultTables(ABC):
    """Tables, samples, figures, data frames and arrays of results; derived classes define `parts`."""

    @property
    @abstractmethod
    def parts(self) -> Sequence[ResultPart]:
        """Runs of the result, in order."""

    @property
    def _title(self) -> str:
        """Title of the result: that of its scenario."""
        return str(self.scenario.title) if hasattr(self, "scenario") else ""

    @property
    def links(self) -> ColumnTable:
        """Table with a row per link (and point): utilization, loss, delay and more, with intervals."""
        return table(self.parts, "links")

    @property
    def groups(self) -> ColumnTable:
        """Table with a row per group of flows: goodput, window, round-trip time and more, with intervals."""
        return table(self.parts, "groups")

    @property
    def fairness(self) -> ColumnTable:
        """Table with a row per run: Jain's index, the same over max-min shares, and the RTT ratio."""
        return table(self.parts, "fairness")

    def samples(self, kind: str = "links") -> ColumnTable:
        """Return the samples over time, if the series were kept.

        Parameters
        ----------
        kind : str
            ``"links"``: backlog, bytes that began service, what the queue shows of itself; ``"flows"``: window and
            smoothed round-trip time.

        Returns
        -------
        ColumnTable
            One row per replication, link or flow, and instant; of a sweep with the labels of the point before it.

        Raises
        ------
        InputError
            If no series were kept, or there is no such kind.

        Examples
        --------
        >>> from elephan.runs import run
        >>> from elephan.scenario import EXAMPLE, Scenario
        >>> result = run(Scenario.from_text(EXAMPLE), replications=1, series=True)
        >>> list(result.samples("flows"))[:6]
        ['replication', 'time_s', 'name', 'index', 'cwnd_segments', 'srtt_s']
        """
        if kind not in SAMPLED:
            raise InputError(f'samples: "{kind}" is neither "links" nor "flows"')
        return table(self.parts, f"{SAMPLED[kind]}_samples")

    def files(self) -> Iterator[tuple[str, Any]]:
        """Yield the files of the result, as `elephan.results.files.encode_files` takes them."""
        raise InputError(f"write: a {type(self).__name__} has no files of its own")

    def write(self, folder: Path | str, tables: str = "parquet") -> list[Path]:
        """Write the files of the result into a folder: its document, tables, and the scenario.

        Parameters
        ----------
        folder : Path or str
            Made if missing. Each file appears whole or not at all.
        tables : str
            Format of the tables: ``"parquet"``, ``"csv"``, ``"json"`` or one that you have defined
            (`elephan.results.formats.TableFormat`). `elephan.load` reads all of them.

        Returns
        -------
        list of Path

        Raises
        ------
        InputError
            If there is no such format.
        OSError
            If the folder cannot be written.
        """
        return write_files(Path(folder), self.files(), tables)

    def plot(self, name: str | None = None) -> Figure:
        """Draw one of the figures; `elephan.plots.figures` draws all.

        Parameters
        ----------
        name : str, optional
            Name of the figure: for a run ``"run"`` (windows, backlog and more over time: needs the series),
            ``"distributions"`` or ``"packets-LINK"`` (recorded packets); for a sweep or store ``"sweep"``; for a
            comparison ``"compare"``, for one of a sweep the folders of its points. By default the first that exists.

        Returns
        -------
        Figure

        Raises
        ------
        InputError
            If there is no such picture.
        """
        return figure(self, name)

    def to_pandas(self, table: str = "links") -> Any:
        """Return one of the tables for pandas.

        Parameters
        ----------
        table : str
            ``"links"``, ``"groups"`` or ``"fairness"`` (means and half of their 95 % intervals),
            ``"link_replications"`` or ``"flow_replications"`` (a row for each replication), ``"link_samples"`` or
            ``"flow_samples"`` (over time).

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        InputError
            If there is no such table, its series were not kept, or pandas is not installed.
        """
        return self._table(table).to_pandas()

    def to_polars(self, table: str = "links") -> Any:
        """Return one of the tables for polars.

        Parameters
        ----------
        table : str
            As for `to_pandas`.

        Returns
        -------
        polars.DataFrame

        Raises
        ------
        InputError
            If there is no such table, its series were not kept, or polars is not installed.
        """
        return self._table(table).to_polars()

    def to_xarray(self) -> Any:
        """Return all columns on common axes.

        Returns
        -------
        xarray.Dataset
            Dimensions: the axes of a sweep (numbers with units where the labels are such), ``source`` of a
            comparison, ``replication``, ``link`` or ``flow``, ``time``. Variables begin with ``link_`` or ``flow_``
            and then have the names of columns; what was sampled ends with ``_over_time``. Units and long names are
            attributes. NaN where a run has no such link, flow or replication.

        Raises
        ------
        InputError
            If xarray is not installed, or the result is empty.

        Examples
        --------
        >>> from elephan.runs import run
        >>> from elephan.scenario import EXAMPLE, Scenario
        >>> dataset = run(Scenario.from_text(EXAMPLE), replications=2).to_xarray()
        >>> dict(dataset.sizes), dataset.link_queueing_delay_s.attrs["units"]
        ({'link': 1, 'replication': 2, 'flow': 2}, 's')
        """
        from elephan.results.dataset import dataset  # noqa: PLC0415 (few need it)

        return dataset(self.parts, self._title)

    def _table(self, name: str) -> ColumnTable:
        return table(self.parts, name)
