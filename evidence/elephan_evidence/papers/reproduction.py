"""Every claim of the papers judged from its experiments: the document of ``elephan reproduce --json``."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError, suggest
from elephan.runs.files import provenance, write_json
from elephan.store import Store
from elephan_evidence.papers import committed, nulls
from elephan_evidence.papers import experiments as running
from elephan_evidence.papers.committed import CommittedVerdict
from elephan_evidence.papers.paper import ORIGINS, Paper
from elephan_evidence.papers.runs import ExperimentRuns
from elephan_evidence.papers.verdicts import VERDICTS, Argument, Evidence, JudgedClaim, judge, see

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from elephan.sweeps import SweepProgress
    from elephan_evidence.papers.committed import VerdictChange
    from elephan_evidence.papers.exhibits import Exhibit
    from elephan_evidence.papers.experiments import ExperimentRun
    from elephan_evidence.papers.nulls import NullPower
    from elephan_evidence.papers.paper import Ambiguity, Claim, Experiment

PAPERS = ("hstcp-buffer-model", "ghstcp-gared", "nonhomogeneous-buffers", "elastic-regime-fq", "nr-hstcp")
"""Names of the papers, in the recommended order of reading."""

DOCUMENT = "reproduce.json"


@dataclass(frozen=True, repr=False)
class Reproduction:
    """The result of `reproduce`.

    Parameters
    ----------
    papers : tuple of Paper
        Papers of the requested claims.
    asked : tuple of str
        Ids of the requested claims, in order.
    ran : dict of str to dict of str to ExperimentRun
        Experiments by paper and name.
    quick : bool
    wall_s : float [s]
    """

    papers: tuple[Paper, ...]
    asked: tuple[str, ...]
    ran: Mapping[str, Mapping[str, ExperimentRun]]
    quick: bool
    wall_s: float

    @cached_property
    def judged(self) -> dict[str, JudgedClaim]:
        """Verdicts by claim."""
        return {key: one for paper in self.papers for key, one in self._powered[paper.name][0].items()}

    @cached_property
    def power(self) -> dict[str, list[NullPower]]:
        """Informative value of the bands of each family of claims, by paper."""
        return {name: power for name, (_, power) in self._powered.items()}

    @cached_property
    def _powered(self) -> dict[str, tuple[dict[str, JudgedClaim], list[NullPower]]]:
        return {paper.name: self._weighed(paper) for paper in self.papers}

    def _weighed(self, paper: Paper) -> tuple[dict[str, JudgedClaim], list[NullPower]]:
        """Return the verdicts of a paper after its claims were compared with nulls."""
        runs, argued, known = self.runs[paper.name], self.argued[paper.name], self.known[paper.name]
        judged = {}
        for claim in paper.claims.values():
            if claim.id in self._wanted:
                one = judge(paper, claim, runs, argued, known.get(claim.id, CommittedVerdict()).full)
                judged[claim.id] = replace(one, nulls=nulls.tried(paper, one, runs))
        power, constants = nulls.families(paper, judged)
        judged = {key: replace(one, nulls=(*constants.get(key, ()), *one.nulls)) for key, one in judged.items()}
        of = {key: each for each in power for key in each.claims}
        return {
            key: self._sized(one, of.get(key), known.get(key, CommittedVerdict())) for key, one in judged.items()
        }, power

    def _sized(self, one: JudgedClaim, power: NullPower | None, known: CommittedVerdict) -> JudgedClaim:
        """Replace the verdict *pass* if nulls pass as often."""
        if one.verdict != "pass":
            return one
        if power is None:
            name = nulls.empty(one)
            note = f"passes as well: {name}" if name else ""
        elif power.whole:
            best = max(power.nulls, key=lambda name: power.nulls[name], default="")
            note = "" if power.informative else f"{best} passes as many of {power.family}"
        else:
            # A part of a family cannot be judged; the verdict from full runs of all of it is kept.
            note = "by full runs of all of its family" if known.full == "uninformative" else ""
        if not note:
            return one
        text = "; ".join(part for part in (one.note, note) if part)
        return replace(one, verdict="ran" if self.quick else "uninformative", note=text)

    @cached_property
    def known(self) -> dict[str, dict[str, CommittedVerdict]]:
        """Committed verdicts with which these are compared, by paper."""
        return {paper.name: committed.read(paper) for paper in self.papers}

    @cached_property
    def changed(self) -> list[VerdictChange]:
        """Verdicts that differ from the committed ones."""
        known = {key: one for of in self.known.values() for key, one in of.items()}
        return committed.changes(known, self.judged.values(), quick=self.quick)

    def bless(self) -> list[Path]:
        """Commit the verdicts for later runs to be compared with.

        Returns
        -------
        list of Path
        """
        return [committed.write(paper, self.judged, quick=self.quick) for paper in self.papers]

    @cached_property
    def argued(self) -> dict[str, tuple[Argument, ...]]:
        """Deviations that concern the requested claims, by paper."""
        return {
            paper.name: tuple(
                Argument(each, tuple(see(paper, shown, self.runs[paper.name]) for shown in each.shown))
                for each in paper.deviations
                if not self._wanted.isdisjoint(each.claims)
            )
            for paper in self.papers
        }

    @cached_property
    def _wanted(self) -> frozenset[str]:
        return frozenset(self.asked)

    @cached_property
    def runs(self) -> dict[str, ExperimentRuns]:
        """Runs of the experiments, by paper."""
        return {
            name: ExperimentRuns({each: ran.points for each, ran in of.items()}, self.quick)
            for name, of in self.ran.items()
        }

    def exhibits(self, paper: Paper) -> list[Exhibit]:
        """Return the figures and tables of a paper whose experiments were all run."""
        return [each for each in paper.figures if set(each.experiments) <= self.ran[paper.name].keys()]

    @cached_property
    def open(self) -> dict[str, list[tuple[Ambiguity, tuple[Evidence, ...]]]]:
        """Details left open by each paper, with the evidence from runs that were made."""
        return {paper.name: [(each, self._shown(paper, each)) for each in paper.open] for paper in self.papers}

    def _shown(self, paper: Paper, left: Ambiguity) -> tuple[Evidence, ...]:
        runs = self.runs[paper.name]
        made = (shown for shown in left.shown if set(shown.experiments) <= runs.experiments.keys())
        return tuple(see(paper, shown, runs) for shown in made)

    @cached_property
    def counts(self) -> dict[str, list[Evidence]]:
        """Quantities counted over many claims, by paper, as far as their runs were made."""
        every = {
            paper.name: [see(paper, each, self.runs[paper.name]) for each in paper.counts] for paper in self.papers
        }
        return {name: [seen for seen in of if seen.found is not None] for name, of in every.items()}

    @property
    def summary(self) -> dict[str, dict[str, int]]:
        """Number of claims of each paper by verdict."""
        verdicts = Counter((judged.claim.paper, judged.verdict) for judged in self.judged.values())
        return {paper.name: {v: verdicts[paper.name, v] for v in VERDICTS} for paper in self.papers}

    @property
    def origins(self) -> dict[str, dict[str, int]]:
        """Number of claims of each origin by verdict: only the paper's own words count as its statements."""
        verdicts = Counter((judged.claim.origin, judged.verdict) for judged in self.judged.values())
        return {origin: {v: verdicts[origin, v] for v in VERDICTS} for origin in ORIGINS}

    @property
    def holds(self) -> bool:
        """Whether every verdict equals the committed one, a known fail included, and no claim was omitted."""
        return not self.changed and all(judged.verdict != "not_run" for judged in self.judged.values())

    def to_json(self) -> dict[str, Any]:
        """Return the document of ``elephan reproduce --json``.

        Returns
        -------
        dict
        """
        return {
            "claims": [judged.to_json() for judged in self.judged.values()],
            "summary": self.summary,
            "origins": self.origins,
            "power": [{"paper": name, **each.to_json()} for name, every in self.power.items() for each in every],
            "changed": [change.to_json() for change in self.changed],
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
        """Write ``reproduce.json``, from which `elephan.report` makes a page.

        Parameters
        ----------
        folder : Path
            Created if missing.

        Returns
        -------
        Path
        """
        return write_json(folder / DOCUMENT, self.to_json())

    def __repr__(self) -> str:
        text = (f"{n} {v}" for v, n in self._totals().items() if n)
        return f"<Reproduction of {len(self.asked)} claims: {', '.join(text)}>"

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


def cards() -> list[dict[str, Any]]:
    """Return a card for each experiment of the papers, for ``elephan list experiments``.

    Examples
    --------
    >>> cards()[0]["name"]
    'droptail-1g'
    """
    return [card for paper in papers() for card in paper.cards()]


def reproduce(
    *ids: str,
    quick: bool = False,
    store: Store | str | Path | None = None,
    workers: int | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
) -> Reproduction:
    """Run the experiments of the papers and judge every claim.

    Stored runs are not repeated, so an interrupted reproduction continues where it stopped.

    Parameters
    ----------
    *ids : str
        Claims, prefixes of their ids (``"ghstcp.T1"``), papers (``"nr-hstcp"``) or places in a paper (``"hsbuf:Figure
        3"``); all by default.
    quick : bool
        Whether to make shorter runs with fewer seeds, which show little more than that every measure ran.
    store : Store or path, optional
        By default ``$ELEPHAN_STORE``, otherwise ``.elephan`` in the working directory.
    workers : int, optional
        Number of threads; by default the number of cores.
    progress : callable, optional
        Called with an `elephan.sweeps.SweepProgress`, of all experiments together.

    Returns
    -------
    Reproduction

    Raises
    ------
    InputError
        If an id matches no claim, or the store cannot be written.
    KeyboardInterrupt
        If interrupted; completed runs are in the store.
    """
    begun = time.perf_counter()
    every = papers()
    asked = select(every, ids)
    ran: dict[str, dict[str, ExperimentRun]] = {}
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
    """Select the claims that ids match.

    Parameters
    ----------
    every : sequence of Paper
    ids : iterable of str
        Ids as for `reproduce`.

    Returns
    -------
    dict of str to Claim
        Claims in the papers' order.

    Raises
    ------
    InputError
        If an id matches no claim.
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
    """Return the experiments that claims are judged from, including those of deviations.

    A request for all claims of a paper returns all of its experiments, which figures and open points need.

    Returns
    -------
    list of Experiment
        Experiments in the paper's order.
    """
    if paper.claims.keys() <= asked.keys():
        return list(paper.experiments.values())
    mine = [claim for claim in paper.claims.values() if claim.id in asked]
    names = {name for claim in mine for name in claim.experiments}
    for deviation in paper.deviations:
        if any(claim.id in deviation.claims for claim in mine):
            names |= {name for shown in deviation.shown for name in shown.experiments}
        if deviation.variant is not None:
            every = (deviation.variant.of(claim)[1] for claim in mine if claim.id in deviation.claims)
            names |= {name for of in every for name in of}
    return [each for name, each in paper.experiments.items() if name in names]


def _meant(text: str, paper: Paper, claim: Claim) -> bool:
    """Whether a text names the claim itself, a prefix of its id, its paper, or its place."""
    if text in (claim.id, paper.name, paper.prefix) or claim.id.startswith(f"{text}."):
        return True
    of, _, place = text.partition(":")
    return of in (paper.name, paper.prefix) and place.casefold() == claim.figure.casefold()
