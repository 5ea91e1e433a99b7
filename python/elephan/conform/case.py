"""Test cases as data: paths, runs, what must be seen of each, and what explains a case that the law contradicts."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.papers.accept import AcceptedBand

if TYPE_CHECKING:
    from collections.abc import Mapping

HOME = Path(__file__).parent
PACKET_BITS = 12_000
"""Of the packets of all cases."""

MSS = 1448
"""What a packet of 1500 bytes carries beside the headers of the Linux profile [bytes]."""


@dataclass(frozen=True)
class TestPath:
    """A path that cases are run over.

    Parameters
    ----------
    rate : float [bit/s]
    rtt : float [s]
        Of propagation, both ways.
    """

    name: str
    rate: float
    rtt: float

    @property
    def names(self) -> dict[str, float]:
        """What expressions of a case may use."""
        return {
            "rate": self.rate,
            "rtt": self.rtt,
            "tx": PACKET_BITS / self.rate,
            "segments": self.rate / PACKET_BITS,
            "bdp": self.rate * self.rtt / PACKET_BITS,
            "mss": MSS,
        }


@dataclass(frozen=True)
class CaseRun:
    """A run of a case.

    Parameters
    ----------
    says : str
        What is special about it.
    changes : mapping of str to object
        Of the common scenario, by place, with holes to be filled.
    after : str
        The run in which `finds` are measured; empty if nothing has to be found.
    finds : mapping of str to str
        Measures by the names that expressions use.
    lets : mapping of str to str
        Further names, as expressions, in order.
    scale : mapping of str to str
        What measures take instead of the path's own names, such as the rate after a step.
    """

    says: str
    changes: Mapping[str, Any]
    after: str = ""
    finds: Mapping[str, str] | None = None
    lets: Mapping[str, str] | None = None
    scale: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Observation:
    """What must be seen.

    Parameters
    ----------
    id, says, gauge, measure, reason : str
        `gauge` names what shows it; `reason` says why so much is accepted.
    run : str
        In which it must be seen.
    null : str
        The run that the same measure must not pass; the run itself where `null_measure` is another measure.
    """

    id: str
    says: str
    gauge: str
    measure: str
    accept: AcceptedBand
    reason: str
    run: str
    null: str
    null_measure: str

    @property
    def accepted(self) -> str:
        """What is accepted, in words."""
        low, high = self.accept.bounds
        return f"{low:g}" if low == high else str(self.accept)


@dataclass(frozen=True)
class CaseExplanation:
    """Why observations are not made (`short` in a few words), and the run that shows it: there they are."""

    seen: tuple[str, ...]
    run: str
    short: str
    why: str


@dataclass(frozen=True)
class TestCase:
    """One case of the appendix.

    Parameters
    ----------
    number : int
        Its place in the appendix, from 1.
    section : str
        Its heading there.
    impossible : str
        Why it cannot be run; empty if it can.
    picture : str
        ``"inflight"`` or ``"rate"``: what its picture shows.
    """

    number: int
    name: str
    title: str
    section: str
    stimulus: str
    length: str
    paths: tuple[str, ...]
    runs: Mapping[str, CaseRun]
    seen: tuple[Observation, ...]
    explained: tuple[CaseExplanation, ...]
    impossible: str
    picture: str

    def explanation(self, observation: str) -> CaseExplanation | None:
        """Return what is known of an observation that is not made."""
        return next((each for each in self.explained if observation in each.seen), None)


@dataclass(frozen=True)
class Suite:
    """The cases of one specification.

    Parameters
    ----------
    revision : str
        That the cases and the law are of.
    scenario : mapping
        What all runs have in common, with holes to be filled.
    """

    name: str
    title: str
    revision: str
    source: str
    scenario: Mapping[str, Any]
    paths: Mapping[str, TestPath]
    cases: tuple[TestCase, ...]

    @classmethod
    @cache
    def read(cls, name: str) -> Suite:
        """Read a suite's folder.

        Raises
        ------
        ValueError
            If something in it cannot be read.
        """
        folder = HOME / name
        about = _toml(folder / "cases.toml")
        cases = [
            *about["cases"],
            *(each for path in sorted(folder.glob("cases_*.toml")) for each in _toml(path)["cases"]),
        ]
        return cls(
            name=about["name"],
            title=about["title"],
            revision=about["revision"],
            source=about["source"],
            scenario=_toml(folder / "scenario.toml"),
            paths={each["name"]: TestPath(**each) for each in about["paths"]},
            cases=tuple(sorted((_case(**each) for each in cases), key=lambda case: case.number)),
        )


def _case(
    number: int,
    name: str,
    title: str,
    section: str,
    stimulus: str = "",
    length: str = "",
    paths: tuple[str, ...] = (),
    runs: Mapping[str, Mapping[str, Any]] | None = None,
    seen: tuple[Mapping[str, Any], ...] = (),
    explained: tuple[Mapping[str, Any], ...] = (),
    impossible: str = "",
    picture: str = "inflight",
    common: Mapping[str, Any] | None = None,
) -> TestCase:
    made = {
        key: CaseRun(
            says=run["says"],
            changes={**(common or {}), **run.get("set", {})},
            after=run.get("after", ""),
            finds=run.get("finds"),
            lets=run.get("lets"),
            scale=run.get("scale"),
        )
        for key, run in (runs or {}).items()
    }
    return TestCase(
        number=number,
        name=name,
        title=title,
        section=section,
        stimulus=stimulus,
        length=length,
        paths=tuple(paths),
        runs=made,
        seen=tuple(_observation(next(iter(made)), **each) for each in seen),
        explained=tuple(
            CaseExplanation(tuple(each["seen"]), each["run"], each["short"], " ".join(each["why"].split()))
            for each in explained
        ),
        impossible=impossible,
        picture=picture,
    )


def _observation(
    first: str,
    *,
    id: str,  # noqa: A002 (a key of the file)
    says: str,
    gauge: str,
    measure: str,
    accept: str,
    reason: str,
    run: str = "",
    null: str = "",
    null_measure: str = "",
) -> Observation:
    run = run or first
    return Observation(
        id=id,
        says=says,
        gauge=gauge,
        measure=measure,
        accept=AcceptedBand.read(accept),
        reason=reason,
        run=run,
        null=null or run,
        null_measure=null_measure or measure,
    )


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
