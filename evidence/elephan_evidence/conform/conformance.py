"""Results of a suite of test cases: the document of ``elephan conform --json``."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError, suggest
from elephan.runs import default_workers
from elephan.runs.files import provenance, write_json
from elephan.runs.threads import SimulationThreads
from elephan_evidence.conform.case import Suite
from elephan_evidence.conform.judge import WORST, JudgedCase, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from elephan_evidence.conform.case import TestCase
    from elephan_evidence.conform.judge import JudgedObservation, JudgedPath, Verdict

SUITES = ("bbr",)
"""Names of the available suites."""

DOCUMENT = "conform.json"


@dataclass(frozen=True, repr=False)
class Conformance:
    """The result of `conform`.

    Parameters
    ----------
    suite : Suite
    cases : tuple of JudgedCase
        The requested cases, in the order of the specification.
    wall_s : float [s]
    """

    suite: Suite
    cases: tuple[JudgedCase, ...]
    wall_s: float

    @property
    def holds(self) -> bool:
        """Whether every observation that could be judged is met or explained."""
        return all(case.holds for case in self.cases)

    @property
    def summary(self) -> dict[Verdict, int]:
        """Number of cases by verdict."""
        counts = Counter(case.verdict for case in self.cases)
        return {verdict: counts[verdict] for verdict in reversed(WORST)}

    def to_json(self) -> dict[str, Any]:
        """Return the document of ``elephan conform --json``.

        Returns
        -------
        dict
        """
        return {
            "suite": self.suite.name,
            "title": self.suite.title,
            "revision": self.suite.revision,
            "source": self.suite.source,
            "holds": self.holds,
            "summary": {verdict.replace(" ", "_"): n for verdict, n in self.summary.items()},
            "cases": [_case(case) for case in self.cases],
            "wall_s": self.wall_s,
            "provenance": provenance(),
        }

    def write(self, folder: Path) -> Path:
        """Write ``conform.json``.

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
        text = ", ".join(f"{n} {verdict}" for verdict, n in self.summary.items() if n)
        return f"<Conformance to {self.suite.revision}: {len(self.cases)} cases, {text}>"


def conform(
    suite: str,
    *cases: str | int,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Conformance:
    """Run the test cases of a specification over their paths and judge the observations.

    Parameters
    ----------
    suite : str
        ``"bbr"``: the example test cases of BBR's draft.
    *cases : str or int
        Names (``"drain-time"``) or numbers; all by default.
    workers : int, optional
        Number of threads; by default the number of cores. The result does not depend on it.
    progress : callable, optional
        Called with (cases done, total cases) after each.

    Returns
    -------
    Conformance

    Raises
    ------
    InputError
        If there is no such suite or case.
    KeyboardInterrupt
        If interrupted; there is no partial result.

    Examples
    --------
    >>> conform("bbr", 18).summary["met"]
    1
    """
    begun = time.perf_counter()
    read = find(suite)
    asked = select(read, cases)
    done: list[JudgedCase] = []
    with SimulationThreads(workers or default_workers()) as threads:
        for one in [threads.submit(judge, read, case) for case in asked]:
            done.append(one.result())
            if progress is not None:
                progress(len(done), len(asked))
    return Conformance(read, tuple(done), time.perf_counter() - begun)


def find(suite: str) -> Suite:
    """Read a suite.

    Raises
    ------
    InputError
        If there is no suite of that name.
    """
    if suite not in SUITES:
        message = f'conform: no suite "{suite}"; {suggest(suite, (*SUITES, "tcp"))}'
        raise InputError(message)
    return Suite.read(suite)


def select(suite: Suite, cases: Sequence[str | int]) -> list[TestCase]:
    """Select cases by name or number.

    Raises
    ------
    InputError
        If a name or number matches no case.
    """
    known = {key: case for case in suite.cases for key in (case.name, str(case.number))}
    for text in map(str, cases):
        if text not in known:
            names = [case.name for case in suite.cases]
            hint = suggest(text, names, f"elephan conform {suite.name} --list says which there are")
            message = f'conform: no case "{text}"; {hint}'
            raise InputError(message)
    wanted = {known[str(text)].number for text in cases}
    return [case for case in suite.cases if not wanted or case.number in wanted]


def _case(judged: JudgedCase) -> dict[str, Any]:
    case = judged.case
    return {
        "number": case.number,
        "name": case.name,
        "title": case.title,
        "section": case.section,
        "stimulus": case.stimulus,
        "verdict": judged.verdict,
        "holds": judged.holds,
        "paths": [_path(each) for each in judged.paths],
    }


def _path(judged: JudgedPath) -> dict[str, Any]:
    return {
        "name": judged.path.name,
        "rate_bps": judged.path.rate,
        "rtt_s": judged.path.rtt,
        "verdict": judged.verdict,
        "seen": [_seen(judged, each) for each in judged.seen],
    }


def _seen(on: JudgedPath, judged: JudgedObservation) -> dict[str, Any]:
    of = judged.observation
    explained = judged.explanation
    contradicted = judged.verdict == "contradicted" and explained is not None
    return {
        "id": of.id,
        "says": of.says,
        "gauge": of.gauge,
        "measure": of.measure,
        "run": on.runs[of.run].says,
        "accepted": of.accepted,
        "reason": of.reason,
        "measured": judged.found,
        "verdict": judged.verdict,
        "null": {"run": on.runs[of.null].says, "measure": of.null_measure, "measured": judged.null},
        "explained": {
            "short": explained.short,
            "why": explained.why,
            "run": on.runs[explained.run].says,
            "measured": judged.shown,
            "holds": judged.explained,
        }
        if contradicted and explained is not None
        else None,
    }
