"""Runs of experiments in the form that claims and figures need: points by their labels, columns by replication."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from elephan.results import RunDocument
    from elephan.store import StoredRun

_LEADING = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


class NotRunError(LookupError):
    """Raised if a run that a measure needs was not made, or failed: its claims are not judged."""


@dataclass(frozen=True)
class ExperimentPoint:
    """A point of an experiment.

    Parameters
    ----------
    labels : dict
        Varied parameters, by the experiment's short names.
    """

    labels: dict[str, Any]
    stored: StoredRun
    of: ExperimentPoint | None = field(default=None, repr=False, compare=False)
    """The point whose data it uses, if only its labels are its own."""
    looked: set[int] | None = field(default=None, repr=False, compare=False)
    """Set to which the point adds its id when its data is read."""

    def under(self, labels: dict[str, Any], looked: set[int] | None = None) -> ExperimentPoint:
        """Return the same data under other labels: a hypothetical result of another setting.

        Parameters
        ----------
        looked : set of int, optional
            Set to which the point adds its id when its data is read.
        """
        return ExperimentPoint(labels, self.stored, self.of or self, looked)

    @property
    def document(self) -> Any:
        """The document of ``elephan run --json``; a paper knows which optional parts its runs have."""
        return self._data._document

    @property
    def _data(self) -> ExperimentPoint:
        if self.looked is not None:
            self.looked.add(id(self))
        return self.of or self

    def link(self, column: str, name: str | None = None) -> NDArray[np.float64]:
        """Return a column of ``links.parquet``.

        Parameters
        ----------
        name : str, optional
            Name of the link; the first by default.

        Returns
        -------
        ndarray, shape (replications,)
        """
        links = self._data._links
        mine = links["link"] == (links["link"][0] if name is None else name)
        return np.asarray(links[column][mine], dtype=float)

    def flows(self, column: str, group: str | None = None) -> NDArray[np.float64]:
        """Return a column of ``flows.parquet``.

        Parameters
        ----------
        group : str, optional
            Select only its flows.

        Returns
        -------
        ndarray, shape (replications, flows)
        """
        flows = self._data._flows
        mine = np.ones(len(flows["group"]), dtype=bool) if group is None else flows["group"] == group
        values = np.asarray(flows[column][mine], dtype=float)
        return values.reshape(len(np.unique(flows["replication"])), -1)

    def samples(self, kind: str = "flows", replication: int | None = None) -> dict[str, NDArray[Any]]:
        """Return the samples over time, if the experiment keeps the series.

        Parameters
        ----------
        kind : str
            Rows of ``"links"`` or of ``"flows"``.
        replication : int, optional
            Select only this replication.

        Returns
        -------
        dict of str to ndarray
            Columns of ``samples.parquet``.
        """
        samples = self._data._samples
        mine = samples["kind"] == kind.removesuffix("s")
        if replication is not None:
            mine &= samples["replication"] == replication
        return {name: column[mine] for name, column in samples.items()}

    def transfers(self, column: str, group: str) -> list[NDArray[np.float64]]:
        """Return a column of ``transfers.parquet``, if the experiment keeps the series.

        Returns
        -------
        list of ndarray
            One per replication.
        """
        transfers = self._data._transfers
        mine = transfers["group"] == group
        of, values = transfers["replication"][mine], transfers[column][mine]
        return [np.asarray(values[of == replication], dtype=float) for replication in np.unique(of)]

    @property
    def packets(self) -> dict[str, NDArray[Any]]:
        """Packets at their arrival at links, if the scenario records them: columns of ``packets.parquet``."""
        return self._data._packets

    @cached_property
    def _document(self) -> RunDocument:
        return self.stored.document

    @cached_property
    def _packets(self) -> dict[str, NDArray[Any]]:
        return _columns(self.stored.read("packets"))

    @cached_property
    def _links(self) -> dict[str, NDArray[Any]]:
        return _columns(self.stored.read("links"))

    @cached_property
    def _flows(self) -> dict[str, NDArray[Any]]:
        return _columns(self.stored.read("flows"))

    @cached_property
    def _samples(self) -> dict[str, NDArray[Any]]:
        return _columns(self.stored.read("samples"))

    @cached_property
    def _transfers(self) -> dict[str, NDArray[Any]]:
        return _columns(self.stored.read("transfers"))


@dataclass(frozen=True)
class ExperimentPoints:
    """The points of an experiment, in the order of its sweep.

    Parameters
    ----------
    name : str
        Name of the experiment.
    failed : tuple of str
        Reasons for points without a result.
    """

    name: str
    points: tuple[ExperimentPoint, ...]
    failed: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[ExperimentPoint]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def where(self, **labels: object) -> ExperimentPoints:
        """Keep the points with these labels: the same text, or a number at the beginning of the label's text."""
        kept = tuple(p for p in self.points if all(same(p.labels.get(name), x) for name, x in labels.items()))
        return ExperimentPoints(self.name, kept, self.failed)

    def at(self, **labels: object) -> ExperimentPoint:
        """Return the one point with these labels.

        Raises
        ------
        NotRunError
            If there is no such point, or more than one.
        """
        found = self.where(**labels).points
        if len(found) != 1:
            labelled = ", ".join(f"{name}={value}" for name, value in labels.items()) or "no labels"
            message = f"{self.name}: {len(found)} points with {labelled}"
            raise NotRunError(message)
        return found[0]

    def labels(self, name: str) -> list[Any]:
        """Return the values of a label, each once, in the order of the sweep."""
        return list(dict.fromkeys(point.labels[name] for point in self.points if name in point.labels))


@dataclass(frozen=True)
class ExperimentRuns:
    """Experiments by name.

    Parameters
    ----------
    quick : bool
        Whether the runs are shortened.
    """

    experiments: Mapping[str, ExperimentPoints] = field(default_factory=dict)
    quick: bool = False

    def __getitem__(self, name: str) -> ExperimentPoints:
        if name not in self.experiments:
            message = f"{name}: not run"
            raise NotRunError(message)
        points = self.experiments[name]
        if points.failed:
            # A statement about every point would be made about fewer points.
            message = f"{name}: {len(points.failed)} points failed: {points.failed[0]}"
            raise NotRunError(message)
        return points

    def __contains__(self, name: object) -> bool:
        return name in self.experiments

    def only(self, names: Sequence[str]) -> ExperimentRuns:
        """Keep some experiments; a claim cannot use an experiment that it does not name."""
        return ExperimentRuns({name: self.experiments[name] for name in names if name in self.experiments}, self.quick)


def leading(value: object) -> float:
    """Return the number that a label is or begins with.

    Returns
    -------
    float
        NaN if there is none.

    Examples
    --------
    >>> leading("0.1 bdp"), leading(50), leading("reno")
    (0.1, 50.0, nan)
    """
    if isinstance(value, int | float):
        return float(value)
    found = _LEADING.match(str(value))
    return float(found[0]) if found else float("nan")


def same(label: object, wanted: object) -> bool:
    """Return whether a label matches: a text by its text, a number by the number at the label's beginning.

    Examples
    --------
    >>> same("50 ms", 50), same("50 ms", "50 s"), same("50 ms", "50 ms")
    (True, False, True)
    """
    if label is None:
        return wanted is None
    if isinstance(wanted, str | bool) or isinstance(label, bool):
        return label == wanted or str(label) == str(wanted)
    return leading(label) == leading(wanted)


def _columns(table: Any) -> dict[str, NDArray[Any]]:
    return {name: column.to_numpy() for name, column in zip(table.column_names, table.columns, strict=True)}
