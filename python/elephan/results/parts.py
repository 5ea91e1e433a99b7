"""Parts of a result: a run's document and its columns as arrays, with its labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan.results.documents import MeasuredRun, PartDocument

    Arrays = dict[str, NDArray[Any]]


class FlowName(NamedTuple):
    """A flow: its group, and its index in the group from 0."""

    group: str
    number: int

    def __str__(self) -> str:
        return f"{self.group}[{self.number}]"


@dataclass(frozen=True)
class RunArrays:
    """Columns of a run as arrays.

    Parameters
    ----------
    links : tuple of str
    flows : tuple of FlowName
    facts : dict of str to ndarray, shape (links,)
        Properties of each link known before the run; NaN if undefined, such as the size of an unlimited buffer.
    of_runs : dict of str to ndarray, shape (replications,)
    of_links : dict of str to ndarray, shape (replications, links)
    of_flows : dict of str to ndarray, shape (replications, flows)
    time_s : ndarray, shape (samples,) [s]
        Empty if no series were kept.
    link_samples : dict of str to ndarray, shape (replications, links, samples)
    flow_samples : dict of str to ndarray, shape (replications, flows, samples)
    """

    links: tuple[str, ...]
    flows: tuple[FlowName, ...]
    facts: Arrays
    of_runs: Arrays
    of_links: Arrays
    of_flows: Arrays
    time_s: NDArray[Any]
    link_samples: Arrays
    flow_samples: Arrays

    @property
    def replications(self) -> int:
        """Number of replications."""
        return len(next(iter(self.of_links.values())))


@dataclass(frozen=True)
class ResultPart:
    """A run of a result.

    Parameters
    ----------
    labels : mapping of str to value
        Labels that distinguish the part: for a point of a sweep its labels, for a comparison its ``source``.
    document : mapping
        As ``elephan run --json``; a model's has fewer quantities.
    arrays : callable or None
        Reads its columns; None of a model, which has no replications.
    compared : mapping of str to float
        For a comparison: the compared values, by quantity.
    """

    labels: Mapping[str, Any]
    document: MeasuredRun | PartDocument
    arrays: Callable[[], RunArrays] | None
    compared: Mapping[str, float] = field(default_factory=dict)
