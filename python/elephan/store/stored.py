"""A run as it lies in a store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError
from elephan.scenario import Scenario
from elephan.store import folders

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from elephan.store.labels import Labels


@dataclass(frozen=True)
class Stored:
    """A run in a store.

    Parameters
    ----------
    id : str
        64 hexadecimal digits: `elephan.store.key` of what was asked.
    folder : Path
        Where its files are.
    """

    id: str
    folder: Path
    _sets: Callable[[], list[Labels]]

    @property
    def labels(self) -> list[Labels]:
        """The sets of labels it carries, one for each point of a sweep that it is."""
        return self._sets()

    @property
    def document(self) -> dict[str, Any]:
        """The document of ``elephan run --json``."""
        return folders.as_document(self._full)

    @property
    def provenance(self) -> dict[str, Any]:
        """Where, when and with what it was computed, and how long that took [s]."""
        return dict(self._full["provenance"])

    @property
    def resolved(self) -> dict[str, Any]:
        """The canonical form of its scenario."""
        return dict(self._full["resolved"])

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario as it was run."""
        run = self._full["run"]
        text = (self.folder / "scenario.toml").read_text(encoding="utf-8")
        return replace(Scenario.from_text(text, run["scenario"]), warmup_rule=run["warmup_rule"])

    def flows(self) -> Any:
        """Read ``flows.parquet``.

        Returns
        -------
        pyarrow.Table
            A row per replication and flow.
        """
        return self._parquet("flows")

    def links(self) -> Any:
        """Read ``links.parquet``.

        Returns
        -------
        pyarrow.Table
            A row per replication and link.
        """
        return self._parquet("links")

    def samples(self) -> Any:
        """Read ``samples.parquet``.

        Returns
        -------
        pyarrow.Table
            A row per replication, instant and flow or link.

        Raises
        ------
        InputError
            If the series were not kept.
        """
        return self._parquet("samples")

    def _parquet(self, name: str) -> Any:
        import pyarrow.parquet as pq  # noqa: PLC0415 (slow to import; only columns need it)

        path = self.folder / f"{name}.parquet"
        if not path.exists() and path.name not in self._full["files"]:
            message = f"run {self.id[:12]}: has no {name}; run it again with series=True"
            raise InputError(message)
        return pq.read_table(path)

    @cached_property
    def _full(self) -> dict[str, Any]:
        return folders.read(self.folder).full
