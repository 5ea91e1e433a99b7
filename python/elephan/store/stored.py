"""A run read back from a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError
from elephan.results.formats import read_table
from elephan.runs.measures import AskedMetric
from elephan.runs.saved import FolderRun
from elephan.scenario import Scenario
from elephan.store import folders
from elephan.store.errors import StoreError
from elephan.store.labels import Labels

if TYPE_CHECKING:
    from elephan.results import RunDocument, RunFileDocument

SCENARIO = "scenario.toml"


@dataclass(frozen=True, repr=False)
class StoredRun(FolderRun):
    """A run in a store.

    Parameters
    ----------
    id : str
        64 hexadecimal digits: `elephan.store.key` of the request.
    folder : Path
        Folder of the run's files.
    metrics : tuple of AskedMetric
        Additional metrics of the document.
    """

    id: str
    folder: Path
    _sets: Callable[[], list[Labels]]
    metrics: tuple[AskedMetric, ...] = ()

    @property
    def labels(self) -> list[Labels]:
        """Sets of labels of the run; a sweep adds one for each point whose result is this run."""
        return self._sets()

    @property
    def resolved(self) -> dict[str, Any]:
        """Canonical form of the scenario."""
        return dict(self._full["resolved"])

    @property
    def has_samples(self) -> bool:
        """Whether samples over time were stored."""
        return folders.SAMPLES in self._full["files"]

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario as it was run."""
        run = self._full["run"]
        try:
            text = (self.folder / SCENARIO).read_text(encoding="utf-8")
        except (OSError, ValueError):
            raise self._damaged(SCENARIO) from None
        return replace(Scenario.from_text(text, run["scenario"]), warmup_rule=run["warmup_rule"])

    def __repr__(self) -> str:
        return f"<Stored run {self.id[:12]} of {self.document['run']['scenario']!r}>"

    def flows(self) -> Any:
        """Read ``flows.parquet``.

        Returns
        -------
        pyarrow.Table
            A row per replication and flow.
        """
        return self.read("flows")

    def packets(self) -> Any:
        """Read ``packets.parquet``.

        Returns
        -------
        pyarrow.Table
            A row per replication and recorded packet: packets that arrived at a link in a span of ``record.packets``.

        Raises
        ------
        InputError
            If the scenario has no ``record.packets``, or the file is damaged.
        """
        return self.read("packets")

    def transfers(self) -> Any:
        """Read ``transfers.parquet``.

        Returns
        -------
        pyarrow.Table
            A row per replication and complete transfer that opened after the warm-up.

        Raises
        ------
        InputError
            If the series were not stored, no transfer ended, or the file is damaged.
        """
        return self.read("transfers")

    def to_json(self) -> RunDocument:
        """Return the document of ``elephan run --json``, with the additional metrics.

        Returns
        -------
        dict
        """
        document = self.document.copy()
        if self.metrics:
            document["metrics"] = self.measured(self.metrics)
        return document

    def files(self) -> Iterator[tuple[str, Any]]:
        """Yield the files that `elephan.runs.result.RunResult.files` yields."""
        for name in self._full["files"]:
            yield name, self.folder / name
        yield folders.DOCUMENT, {**self.to_json(), "resolved": self.resolved, "provenance": self.provenance}

    def read(self, name: str) -> Any:
        """Read a table of the run, see `elephan.runs.saved.FolderRun.read`."""
        file = f"{name}.parquet"
        if file not in self._full["files"]:
            remedy = "with record.packets in its scenario" if name == "packets" else "with series=True"
            raise StoreError(f"run {self.id[:12]}: has no {name}; run it again {remedy}")
        try:
            return read_table(self.folder / file)
        except InputError:
            raise self._damaged(file) from None

    @cached_property
    def _full(self) -> RunFileDocument:
        try:
            return folders.read(self.folder).full
        except (OSError, ValueError):
            raise self._damaged(folders.DOCUMENT) from None

    def _damaged(self, file: str) -> StoreError:
        message = f"run {self.id}: {file}: is missing or damaged; elephan store verify --repair drops the run"
        return StoreError(message)
