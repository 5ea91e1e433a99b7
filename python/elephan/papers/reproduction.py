"""Every claim of the papers judged from its experiments: the document of ``elephan reproduce --json``."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError, suggest
from elephan.papers import experiments as running
from elephan.papers.judged import VERDICTS, Argued, Judged, Seen, judge, see
from elephan.papers.paper import Paper
from elephan.papers.runs import Runs
from elephan.run.files import provenance, write_json
from elephan.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from elephan.papers.exhibits import Exhibit
    from elephan.papers.experiments import Ran
    from elephan.papers.paper import Claim, Experiment, Open
    from elephan.sweep import Progress

PAPERS = ("hstcp-buffer-model", "ghstcp-gared", "nonhomogeneous-buffers", "elastic-regime-fq", "nr-hstcp")
"""By the order in which they are read best."""

DOCUMENT = "reproduce.json"


@dataclass(frozen=True, repr=False)
class Reproduction:
    """The result of `reproduce`.

    Parameters
    ----------
    papers : tuple of Paper
        Those that some claim asked for is of.
    asked : tuple of str
        Ids of claims, in order.
    ran : dict of str to dict of str to Ran
        Experiments by paper and name.
    quick : bool
    wall_s : float [s]
    """

    papers: tuple[Paper, ...]
    asked: tuple[str, ...]
    ran: Mapping[str, Mapping[str, Ran]]
    quick: bool
    wall_s: float

    @cached_property
    def judged(self) -> dict[str, Judged]:
        """Verdicts by claim."""
        return {
            claim.id: judge(paper, claim, self.runs[paper.name], self.argued[paper.name])
            for paper in self.papers
            for claim in paper.claims.values()
            if claim.id in self._wanted
        }

    @cached_property
    def argued(self) -> dict[str, tuple[Argued, ...]]:
        """By paper the deviations that concern what was asked."""
        return {
            paper.name: tuple(
                Argued(each, tuple(see(paper, shown, self.runs[paper.name]) for shown in each.shown))
                for each in paper.deviations
                if not self._wanted.isdisjoint(each.claims)
            )
            for paper in self.papers
        }

    @cached_property
    def _wanted(self) -> frozenset[str]:
        return frozenset(self.asked)

    @cached_property
    def runs(self) -> dict[str, Runs]:
        """By paper the runs of its experiments."""
        return {name: Runs({each: ran.points for each, ran in of.items()}, self.quick) for name, of in self.ran.items()}

    def exhibits(self, paper: Paper) -> list[Exhibit]:
        """Return the figures and tables of a paper whose experiments were all run."""
        return [each for each in paper.figures if set(each.experiments) <= self.ran[paper.name].keys()]

    @cached_property
    def open(self) -> dict[str, list[tuple[Open, tuple[Seen, ...]]]]:
        """By paper what it leaves open, with what runs show of it, as far as they were made."""
        return {paper.name: [(each, self._shown(paper, each)) for each in paper.open] for paper in self.papers}

    def _shown(self, paper: Paper, left: Open) -> tuple[Seen, ...]:
        runs = self.runs[paper.name]
        made = (shown for shown in left.shown if set(shown.experiments) <= runs.experiments.keys())
        return tuple(see(paper, shown, runs) for shown in made)

    @cached_property
    def counts(self) -> dict[str, list[Seen]]:
        """By paper what is counted over many of its claims, as far as their runs were made."""
        every = {
            paper.name: [see(paper, each, self.runs[paper.name]) for each in paper.counts] for paper in self.papers
        }
        return {name: [seen for seen in of if seen.found is not None] for name, of in every.items()}

    @property
    def summary(self) -> dict[str, dict[str, int]]:
        """How many claims of each paper have which verdict."""
        verdicts = [(judged.claim.paper, judged.verdict) for judged in self.judged.values()]
        return {paper.name: {v: verdicts.count((paper.name, v)) for v in VERDICTS} for paper in self.papers}

    @property
    def only_wider(self) -> dict[str, int]:
        """How many claims of each paper pass by the wider bands of shortened runs alone."""
        papers = [judged.claim.paper for judged in self.judged.values() if judged.only_wider]
        return {paper.name: papers.count(paper.name) for paper in self.papers}

    @property
    def holds(self) -> bool:
        """Whether no claim failed and none was left out."""
        return all(judged.verdict in ("pass", "deviation") for judged in self.judged.values())

    def to_json(self) -> dict[str, Any]:
        """Return the document of ``elephan reproduce --json``.

        Returns
        -------
        dict
        """
        return {
            "claims": [judged.to_json(quick=self.quick) for judged in self.judged.values()],
            "summary": self.summary,
            "counts": [
                {"paper": name, **seen.to_json(quick=self.quick)}
                for name, every in self.counts.items()
                for seen in every
            ],
            "deviations": [
                {"paper": name, **argued.to_json(quick=self.quick)}
                for name, every in self.argued.items()
                for argued in every
            ],
            "open": [
                {
                    "paper": name,
                    "id": each.id,
                    "what": each.what,
                    "default": each.default,
                    "shown": [one.to_json(quick=self.quick) for one in seen],
                }
                for name, every in self.open.items()
                for each, seen in every
            ],
            "experiments": [ran.to_json() for every in self.ran.values() for ran in every.values()],
            "quick": self.quick,
            "wall_s": self.wall_s,
            "provenance": provenance(),
        }

    def write(self, folder: Path) -> Path:
        """Write ``reproduce.json``, of which `elephan.report` makes a page.

        Parameters
        ----------
        folder : Path
            Made if missing.

        Returns
        -------
        Path
        """
        return write_json(folder / DOCUMENT, self.to_json())

    def __repr__(self) -> str:
        said = (f"{n} {v}" for v, n in self._totals().items() if n)
        return f"<Reproduction of {len(self.asked)} claims: {', '.join(said)}>"

    def _totals(self) -> dict[str, int]:
        return {v: sum(of[v] for of in self.summary.values()) for v in VERDICTS}


@cache
def papers() -> tuple[Paper, ...]:
    """Read all papers, once.

    Returns
    -------
    tuple of Paper

    Examples
    --------
    >>> [paper.prefix for paper in papers()]
    ['hsbuf', 'ghstcp', 'nonhom', 'elastic', 'nr']
    """
    return tuple(Paper.read(name) for name in PAPERS)


def reproduce(
    *ids: str,
    quick: bool = False,
    store: Store | str | Path | None = None,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Reproduction:
    """Run the experiments of the papers and judge every claim.

    What is in the store is not run again, so a reproduction that was stopped goes on where it was.

    Parameters
    ----------
    *ids : str
        Claims, beginnings of their ids (``"ghstcp.T1"``), papers (``"nr-hstcp"``) or places in a paper
        (``"hsbuf:Figure 3"``); all by default.
    quick : bool
        Shorter runs with fewer seeds, and what they can tell: wider bands.
    store : Store or path, optional
        ``$ELEPHAN_STORE``, else ``.elephan`` in the working directory.
    workers : int, optional
        As many as there are cores.
    progress : callable, optional
        Called with an `elephan.sweep.Progress`, of all experiments together.

    Returns
    -------
    Reproduction

    Raises
    ------
    InputError
        If an id fits nothing, or the store cannot be written.
    KeyboardInterrupt
        The store has what was done.
    """
    begun = time.perf_counter()
    every = papers()
    asked = select(every, ids)
    ran: dict[str, dict[str, Ran]] = {}
    concerned = [paper for paper in every if any(claim.id in asked for claim in paper.claims.values())]
    needed = {paper.name: needs(paper, asked) for paper in concerned}
    with store if isinstance(store, Store) else Store(store) as kept:
        found = iter(
            running.run(
                [each for of in needed.values() for each in of], kept, quick=quick, workers=workers, progress=progress
            )
        )
        for name, of in needed.items():
            ran[name] = {each.name: next(found) for each in of}
    return Reproduction(tuple(concerned), tuple(asked), ran, quick, time.perf_counter() - begun)


def select(every: Sequence[Paper], ids: Iterable[str]) -> dict[str, Claim]:
    """Find the claims that are meant.

    Parameters
    ----------
    every : sequence of Paper
    ids : iterable of str
        As for `reproduce`.

    Returns
    -------
    dict of str to Claim
        In the papers' order.

    Raises
    ------
    InputError
        If one fits nothing.
    """
    claims = {claim.id: (paper, claim) for paper in every for claim in paper.claims.values()}
    wanted: set[str] = set()
    for text in ids:
        found = {key for key, (paper, claim) in claims.items() if _meant(text, paper, claim)}
        if not found:
            known = [*claims, *(name for paper in every for name in (paper.name, *paper.places))]
            hint = suggest(text, known, "elephan reproduce --list says which there are")
            message = f'reproduce: no claim, paper or figure "{text}"; {hint}'
            raise InputError(message)
        wanted |= found
    return {key: claim for key, (_, claim) in claims.items() if not ids or key in wanted}


def needs(paper: Paper, asked: Mapping[str, Claim]) -> list[Experiment]:
    """Name the experiments that claims are judged from, those that deviations rest on included.

    Whoever asks for all claims of a paper gets all of its experiments: figures and open points need them.

    Parameters
    ----------
    paper : Paper
    asked : mapping of str to Claim

    Returns
    -------
    list of Experiment
        In the paper's order.
    """
    if paper.claims.keys() <= asked.keys():
        return list(paper.experiments.values())
    mine = [claim for claim in paper.claims.values() if claim.id in asked]
    names = {name for claim in mine for name in claim.experiments}
    for deviation in paper.deviations:
        if any(claim.id in deviation.claims for claim in mine):
            names |= {name for shown in (*deviation.shown, *deviation.each) for name in shown.experiments}
    return [each for name, each in paper.experiments.items() if name in names]


def _meant(text: str, paper: Paper, claim: Claim) -> bool:
    """Whether a claim is the one, below it, of the paper, or stands at the place that a text names."""
    if text in (claim.id, paper.name, paper.prefix) or claim.id.startswith(f"{text}."):
        return True
    of, _, place = text.partition(":")
    return of in (paper.name, paper.prefix) and place.casefold() == claim.figure.casefold()
