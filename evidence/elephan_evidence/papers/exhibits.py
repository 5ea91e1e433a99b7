"""Figures and tables of a paper, reproduced from our runs, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from elephan.pictures.figure import Figure
    from elephan.pictures.table import Table
    from elephan_evidence.papers.runs import ExperimentRuns

    Made = tuple[Figure | Table, ...]


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of a paper, and its reproduction.

    Parameters
    ----------
    place : str
        Name in the paper: ``"Figure 3"``.
    paper : str
        Content of the paper's exhibit and its numbers, in our words.
    experiments : tuple of str
        Experiments with the necessary runs.
    make : callable
        Function of the runs that returns pictures and tables.
    """

    place: str
    title: str
    paper: str
    experiments: tuple[str, ...]
    make: Callable[[ExperimentRuns], Made]


class PaperExhibits:
    """The exhibits of a paper, in its order.

    Examples
    --------
    >>> figures = PaperExhibits()
    >>> @figures("Figure 1", "Growth", paper="Windows grow.")
    ... def growth(runs):
    ...     return ()
    >>> [exhibit.place for exhibit in figures]
    ['Figure 1']
    """

    def __init__(self) -> None:
        self._every: list[Exhibit] = []

    def __call__(
        self,
        place: str,
        title: str,
        *,
        paper: str,
        experiments: Sequence[str] = (),
    ) -> Callable[[Callable[[ExperimentRuns], Made]], Callable[[ExperimentRuns], Made]]:
        """Register the function that follows."""

        def register(make: Callable[[ExperimentRuns], Made]) -> Callable[[ExperimentRuns], Made]:
            self._every.append(Exhibit(place, title, paper, tuple(experiments), make))
            return make

        return register

    def __iter__(self) -> Iterator[Exhibit]:
        return iter(self._every)

    def update(self, other: PaperExhibits) -> None:
        """Add another file's exhibits."""
        self._every.extend(other)
