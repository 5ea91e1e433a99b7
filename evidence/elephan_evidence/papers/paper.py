"""A paper as data: its claims, the experiments that judge them, its open details, and explanations of deviations.

Everything is in the paper's folder: ``paper.toml``, ``experiments/``, ``claims.csv``, ``open.toml``,
``deviations.toml`` (claims, open points and deviations may be spread over several files: ``web_claims.csv``),
``nulls.toml`` and ``nulls.py`` (families of claims and their nulls), ``verdicts.csv`` (the committed verdicts), and the
functions ``measures.py`` and ``figures.py`` that turn runs into numbers and pictures.
"""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from elephan.citations import CITATIONS
from elephan_evidence.papers.accept import AcceptedBand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from elephan_evidence.papers.exhibits import PaperExhibits
    from elephan_evidence.papers.measures import MeasureRegistry

HOME = Path(__file__).resolve().parent
COLUMNS = (
    "id",
    "kind",
    "origin",
    "statement",
    "value",
    "figure",
    "experiments",
    "measure",
    "accept",
    "quick",
    "reason",
)
"""Columns of ``claims.csv``."""

Origin = Literal["stated", "derived", "formula", "misprint"]
ORIGINS: tuple[Origin, ...] = ("stated", "derived", "formula", "misprint")
"""Origins of a claim: ``stated``, the paper's own words, numbers or figures, judged from packets; ``derived``, a number
that we derived from its equations or text; ``formula``, a statement that its formulas alone decide, without packets;
``misprint``, a number that it prints in error."""


@dataclass(frozen=True)
class Claim:
    """A statement of a paper that a measure can judge.

    Parameters
    ----------
    id : str
    paper : str
    kind : str
        ``"numeric"``, ``"ordering"`` or ``"shape"``.
    origin : str
        One of `ORIGINS`.
    statement : str
    value : str
        As in the paper; empty for shapes.
    figure : str
        Place in the paper: ``"Figure 3"``, ``"Table 1"``, ``"Section 2"``; ``"derived"`` is not a claim of the paper
        but a number computed elsewhere from its equations, as a check of ours.
    experiments : tuple of str
        Experiments whose runs decide it; empty if a formula decides.
    measure : str
    accept, quick : AcceptedBand
        Accepted band of full and of shortened runs.
    reason : str
        Justification of the band.
    """

    id: str
    paper: str
    kind: str
    origin: Origin
    statement: str
    value: str
    figure: str
    experiments: tuple[str, ...]
    measure: str
    accept: AcceptedBand
    quick: AcceptedBand
    reason: str


@dataclass(frozen=True)
class Experiment:
    """A sweep whose runs judge claims.

    Parameters
    ----------
    name, title, paper : str
    file : Path
        File of the sweep.
    names : dict of str to str
        Short names of labels, for measures.
    series : bool
        Whether to keep the sampled cwnd, srtt and backlog.
    replications : int or None
        Replications of shortened runs; None for those of the sweep.
    changes : dict
        Changes of shortened runs, by place.
    only : dict of str to list
        The labels, by short name, that shortened runs keep; all labels of names that are missing.
    """

    name: str
    title: str
    paper: str
    file: Path
    names: dict[str, str]
    series: bool
    replications: int | None
    changes: dict[str, Any]
    only: dict[str, list[Any]]


@dataclass(frozen=True)
class EvidenceSpec:
    """Specification of a run's result that supports an argument.

    Parameters
    ----------
    accept, quick : AcceptedBand or None
        Band that must hold for the argument to be valid; None if the number only informs.
    """

    says: str
    experiments: tuple[str, ...]
    measure: str
    accept: AcceptedBand | None
    quick: AcceptedBand | None


@dataclass(frozen=True)
class OtherAssumption:
    """A variant: the same measures in runs with one other value of a detail that a paper does not state.

    Parameters
    ----------
    says : str
        The difference, in a few words: one variant has one text.
    experiments : tuple of str
        ``{experiment}`` stands for each of the claim's.
    measure : str
        ``{claim}`` stands for its id.
    """

    says: str
    experiments: tuple[str, ...]
    measure: str

    def of(self, claim: Claim) -> tuple[str, tuple[str, ...]]:
        """Return the measure of a claim in the variant, and the necessary experiments."""
        every = [
            name.replace("{experiment}", each)
            for name in self.experiments
            for each in (claim.experiments if "{experiment}" in name else ("",))
        ]
        return self.measure.replace("{claim}", claim.id), tuple(dict.fromkeys(every))


@dataclass(frozen=True)
class ClaimFamily:
    """Claims with common bands, whose informative value nulls test together.

    Parameters
    ----------
    claims : tuple of str
        Their ids.
    nulls : tuple of str
        ``"constant"``, or names of the paper's `alternatives`.
    why : str
        The reason if ours meets fewer than a null.
    """

    name: str
    claims: tuple[str, ...]
    nulls: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class Ambiguity:
    """A detail that a paper does not specify, the assumption made here, and its influence.

    Parameters
    ----------
    id, what, default, reason, matters : str
    shown : tuple of EvidenceSpec
        Results of runs with other values.
    """

    id: str
    what: str
    default: str
    reason: str
    matters: str
    shown: tuple[EvidenceSpec, ...]


@dataclass(frozen=True)
class Deviation:
    """Explanation of claims whose number is not met.

    A claim that is not met is a *deviation* if `variant` explains it (`elephan_evidence.papers.explained`) while
    everything in `shown` holds in the same reproduction; otherwise it fails, and this text states what is known.

    Parameters
    ----------
    claims : tuple of str
        Their ids; the file may have patterns.
    title, why : str
        The mechanism, or the unstated parameter.
    ns2 : str
        Result of ns-2; empty if it is not applicable, as for misprints.
    needs : str
        The change that would give the paper's number.
    shown : tuple of EvidenceSpec
    variant : OtherAssumption or None
        The variant whose runs may explain the claims; None if no such variant is known.
    """

    claims: tuple[str, ...]
    title: str
    why: str
    ns2: str
    needs: str
    shown: tuple[EvidenceSpec, ...]
    variant: OtherAssumption | None = None


@dataclass(frozen=True)
class Paper:
    """One paper.

    Parameters
    ----------
    folder : Path
        Folder of its data.
    about : mapping
        ``paper.toml``.
    """

    folder: Path
    about: Mapping[str, Any]

    @classmethod
    def read(cls, name: str) -> Paper:
        """Read a paper's folder.

        Parameters
        ----------
        name : str
            ``"nr-hstcp"``.

        Returns
        -------
        Paper
        """
        folder = HOME / name.replace("-", "_")
        return cls(folder, _toml(folder / "paper.toml"))

    @property
    def name(self) -> str:
        """Name in documents."""
        return str(self.about["name"])

    @property
    def prefix(self) -> str:
        """Prefix of the ids of its claims."""
        return str(self.about["prefix"])

    @property
    def title(self) -> str:
        """Title of the publication."""
        return str(self.about["title"])

    @cached_property
    def experiments(self) -> dict[str, Experiment]:
        """Its experiments by name."""
        return {each["name"]: self._experiment(**each) for each in self.about.get("experiments", ())}

    @cached_property
    def claims(self) -> dict[str, Claim]:
        """Its claims by id, in the order of the files."""
        return {row["id"]: self._claim(row) for path in self._files("claims.csv") for row in _rows(path)}

    @property
    def places(self) -> list[str]:
        """Places of its claims, as they are requested: ``"hsbuf:Figure 3"``."""
        return list(dict.fromkeys(f"{self.prefix}:{claim.figure}" for claim in self.claims.values()))

    @cached_property
    def open(self) -> tuple[Ambiguity, ...]:
        """Details that the paper leaves open."""
        every = (each for path in self._files("open.toml") for each in _toml(path)["open"])
        return tuple(Ambiguity(**{**each, "shown": _shown(each.get("shown", ()))}) for each in every)

    @cached_property
    def deviations(self) -> tuple[Deviation, ...]:
        """Explanations of its unmet numbers."""
        every = (each for path in self._files("deviations.toml") for each in _toml(path)["deviations"])
        return tuple(
            Deviation(
                **{
                    **each,
                    "claims": self._meant(each["claims"]),
                    "shown": _shown(each.get("shown", ())),
                    "variant": _variant(each.get("variant")),
                }
            )
            for each in every
        )

    @cached_property
    def families(self) -> tuple[ClaimFamily, ...]:
        """Claims that nulls test together; the others are tested alone."""
        every = (each for path in self._files("nulls.toml") for each in _toml(path)["families"])
        return tuple(
            ClaimFamily(each["name"], self._meant(each["claims"]), tuple(each["nulls"]), each.get("why", ""))
            for each in every
        )

    @cached_property
    def alternatives(self) -> Mapping[str, Callable[[Claim], Sequence[str]]]:
        """Measures of a claim under each alternative null, by the null's name; empty for most claims."""
        return self._module("nulls").ALTERNATIVES if (self.folder / "nulls.py").exists() else {}

    def column(self, claim: Claim) -> str:
        """Name the column of a claim's number, if a constant is tried for each of several columns."""
        return self._module("nulls").column(claim) if (self.folder / "nulls.py").exists() else ""

    def cards(self) -> list[dict[str, Any]]:
        """Return a card of each experiment, as ``elephan list experiments --json`` has it."""
        source = CITATIONS[self.about["cite"]]
        return [
            {
                "name": name,
                "title": each.title,
                "source": source,
                "paper": self.name,
                "parameters": [
                    {"name": short, "default": "", "unit": "", "meaning": place} for short, place in each.names.items()
                ],
                "claims": [claim.id for claim in self.claims.values() if name in claim.experiments],
            }
            for name, each in self.experiments.items()
        ]

    @property
    def counts(self) -> tuple[EvidenceSpec, ...]:
        """Quantities that are counted over many claims, for the summary."""
        return _shown(self.about.get("counts", ()))

    @cached_property
    def measures(self) -> MeasureRegistry:
        """Its measures."""
        measures: MeasureRegistry = self._module("measures").MEASURES
        return measures

    @cached_property
    def figures(self) -> PaperExhibits:
        """Its figures and tables."""
        figures: PaperExhibits = self._module("figures").FIGURES
        return figures

    def _module(self, name: str) -> Any:
        return import_module(f"elephan_evidence.papers.{self.folder.name}.{name}")

    def _files(self, ending: str) -> list[Path]:
        """Return the file of that name, then those of its parts."""
        return sorted(self.folder.glob(f"*{ending}"), key=lambda path: (len(path.name), path.name))

    def _meant(self, patterns: Iterable[str]) -> tuple[str, ...]:
        """Return the claims that patterns match; an unmatched pattern is kept, so that tests find it."""
        found = [[key for key in self.claims if fnmatchcase(key, text)] or [text] for text in patterns]
        return tuple(dict.fromkeys(key for every in found for key in every))

    def _experiment(
        self,
        name: str,
        title: str,
        names: dict[str, str] | None = None,
        quick: Mapping[str, Any] | None = None,
        *,
        series: bool = False,
    ) -> Experiment:
        short = {"replications": None, "set": {}, "only": {}, **(quick or {})}
        return Experiment(
            name=name,
            title=title,
            paper=self.name,
            file=self.folder / "experiments" / f"{name}.toml",
            names=names or {},
            series=series,
            replications=short["replications"],
            changes=short["set"],
            only=short["only"],
        )

    def _claim(self, row: Mapping[str, str]) -> Claim:
        if row["origin"] not in ORIGINS:
            message = f"{self.name}: {row['id']}: origin {row['origin']!r}; must be {', '.join(ORIGINS)}"
            raise ValueError(message)
        try:
            accept = AcceptedBand.read(row["accept"], row["value"])
            quick = AcceptedBand.read(row["quick"] or row["accept"], row["value"])
        except ValueError as error:
            message = f"{self.name}: {row['id']}: {error}"
            raise ValueError(message) from None
        return Claim(
            id=row["id"],
            paper=self.name,
            kind=row["kind"],
            origin=row["origin"],
            statement=row["statement"],
            value=row["value"],
            figure=row["figure"],
            experiments=tuple(row["experiments"].split()),
            measure=row["measure"],
            accept=accept,
            quick=quick,
            reason=row["reason"],
        )


def _variant(each: Mapping[str, Any] | None) -> OtherAssumption | None:
    return None if each is None else OtherAssumption(each["says"], tuple(each.get("experiments", ())), each["measure"])


def _shown(every: Any) -> tuple[EvidenceSpec, ...]:
    def accepted(text: str) -> AcceptedBand | None:
        return AcceptedBand.read(text) if text else None

    return tuple(
        EvidenceSpec(
            says=each["says"],
            experiments=tuple(each.get("experiments", ())),
            measure=each["measure"],
            accept=accepted(each.get("accept", "")),
            quick=accepted(each.get("quick") or each.get("accept", "")),
        )
        for each in every
    )


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            message = f"{path.name}: its columns must be {', '.join(COLUMNS)}"
            raise ValueError(message)
        yield from reader
