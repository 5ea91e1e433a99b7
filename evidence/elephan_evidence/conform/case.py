"""Test cases as data: paths, runs, required observations, and explanations of cases that the law contradicts."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan_evidence.papers.accept import AcceptedBand

if TYPE_CHECKING:
    from collections.abc import Mapping

HOME = Path(__file__).parent
PACKET_BITS = 12_000
"""Size of the packets of all cases [bits]."""

MSS = 1448
"""Payload of a packet of 1500 bytes with the headers of the Linux profile [bytes]."""


@dataclass(frozen=True)
class TestPath:
    """A path over which cases are run.

    Parameters
    ----------
    rate : float [bit/s]
    rtt : float [s]
        Propagation round-trip time.
    """

    name: str
    rate: float
    rtt: float

    @property
    def names(self) -> dict[str, float]:
        """Names that expressions of a case may use, with their values."""
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
        Difference from the other runs, in words.
    changes : mapping of str to object
        Changes of the common scenario, by place, with ``${…}`` expressions.
    after : str
        The run in which `finds` are measured; empty if nothing is measured first.
    finds : mapping of str to str
        Measures by the names that expressions use.
    lets : mapping of str to str
        Further names, as expressions, in order.
    scale : mapping of str to str
        Values that replace the path's own for measures, such as the rate after a step.
    """

    says: str
    changes: Mapping[str, Any]
    after: str = ""
    finds: Mapping[str, str] | None = None
    lets: Mapping[str, str] | None = None
    scale: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Observation:
    """A required observation.

    Parameters
    ----------
    id, says, gauge, measure, reason : str
        `gauge` is the observed quantity, `reason` the justification of the accepted band.
    run : str
        The run in which the observation is required.
    null : str
        The run in which the same measure must fail; the run itself if `null_measure` is another measure.
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
        """The accepted band, in words."""
        low, high = self.accept.bounds
        return f"{low:g}" if low == high else str(self.accept)


@dataclass(frozen=True)
class CaseExplanation:
    """The reason why observations are not met (`short`: a few words), and a run in which they are met."""

    seen: tuple[str, ...]
    run: str
    short: str
    why: str


@dataclass(frozen=True)
class TestCase:
    """One test case of the specification's appendix.

    Parameters
    ----------
    number : int
        Position in the appendix, from 1.
    section : str
        Heading in the appendix.
    picture : str
        Quantity in its picture: ``"inflight"`` or ``"rate"``.
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
    picture: str

    def explanation(self, observation: str) -> CaseExplanation | None:
        """Return the explanation of an observation that is not met, if there is one."""
        return next((each for each in self.explained if observation in each.seen), None)


@dataclass(frozen=True)
class Suite:
    """The cases of one specification.

    Parameters
    ----------
    revision : str
        Revision of the specification that the cases and the law follow.
    scenario : mapping
        The common scenario of all runs, with ``${…}`` expressions.
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
    stimulus: str,
    length: str,
    paths: tuple[str, ...],
    runs: Mapping[str, Mapping[str, Any]],
    seen: tuple[Mapping[str, Any], ...],
    explained: tuple[Mapping[str, Any], ...] = (),
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
        for key, run in runs.items()
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
