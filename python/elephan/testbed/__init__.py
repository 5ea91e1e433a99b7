"""A scenario on real stacks: the kernel's TCP on two hosts of this machine, connected by the simulator's link."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from elephan import _native
from elephan.display import ColumnTable, page
from elephan.errors import InputError
from elephan.results import ResultPart, ResultTables, TestbedDocument
from elephan.runs.files import run_files
from elephan.runs.outcome import ReplicationOutcome
from elephan.runs.result import RunResult
from elephan.runs.saved import SavedRun, of_this_version
from elephan.scenario import Scenario
from elephan.testbed.hosts import lacking
from elephan.testbed.plan import PROGRAMS, TestbedPlan, plan
from elephan.testbed.replication import replicate

__all__ = ["TestbedPlan", "TestbedResult", "plan", "read_testbed", "run"]


ENGINE = "testbed"

DEVICES = Path("/dev/net/tun")
"""Device file through which TUN devices are created."""

ATTEMPTS = 3
"""Maximum number of attempts at a replication until it is valid."""

RECORDED = ("objections", "punctuality", "laws", "acks", "differences")
"""Fields of `TestbedResult` about the validity of a run; they are lists in the document."""


@dataclass(frozen=True)
class TestbedResult(ResultTables):
    """A run on real stacks.

    Parameters
    ----------
    result : RunResult or SavedRun
        The run in the form of a simulation; a SavedRun if read from a folder.
    valid : bool
        Whether every replication was punctual, and the kernel called every law.
    objections : tuple of str
        Reasons why a replication is invalid.
    punctuality : tuple of dict
        For each replication the relay's record of its punctuality: ``p50_us``, ``p99_us``, ``latest_s``, ``gap_s``,
        ``refused``, ``hurried``; ``limit_s`` and the share of packets that were ``later``; the number of ``drops``, and
        of ``suspect`` drops after a pause; the number of ``attempts``.
    laws : tuple of dict
        For each replication, the counters of the sockets of each of elephan's laws, as in
        `elephan.kernel.KernelCounters`.
    acks : tuple of dict
        For each replication, the segments that senders ``sent``, each counted once, the ACKs that they ``received``,
        and how many of these the kernel ``merged`` with others before a law saw them.
    differences : tuple of str
        Differences between the scenario and the behaviour of Linux.
    """

    result: RunResult | SavedRun
    valid: bool
    objections: tuple[str, ...]
    punctuality: tuple[dict[str, Any], ...]
    laws: tuple[dict[str, dict[str, int]], ...] = ()
    acks: tuple[dict[str, int], ...] = ()
    differences: tuple[str, ...] = ()

    @property
    def scenario(self) -> Scenario:
        """The scenario as it was run."""
        return self.result.scenario

    @property
    def outcomes(self) -> tuple[ReplicationOutcome, ...]:
        """Outcome of each replication."""
        return self.result.outcomes

    @property
    def parts(self) -> list[ResultPart]:
        """The run as the only part of the result."""
        return self.result.parts

    def measure(self, metrics: str | Sequence[str]) -> ColumnTable:
        """Measure metrics of the catalogue, see `elephan.runs.result.RunResult.measure`."""
        return self.result.measure(metrics)

    def to_json(self) -> TestbedDocument:
        """Return the document of ``elephan testbed run --json``: that of a run, and the facts about its validity."""
        document = self.result.to_json()
        record = {"valid": self.valid} | {name: list(getattr(self, name)) for name in RECORDED}
        return cast("TestbedDocument", document | {"origin": ENGINE, "testbed": record})

    def _repr_html_(self) -> str:
        return page(self)

    def files(self) -> Iterator[tuple[str, Any]]:
        """Yield the files of a run; its document includes the facts about its validity."""
        return run_files(self.result, self.to_json()) if isinstance(self.result, RunResult) else self.result.files()


def read_testbed(folder: Path | str) -> TestbedResult:
    """Read the files that ``elephan testbed run --out`` or `TestbedResult.write` wrote.

    Parameters
    ----------
    folder : Path or str

    Returns
    -------
    TestbedResult

    Raises
    ------
    InputError
        If a file cannot be read, or the run is not that of a testbed.
    """
    saved = SavedRun(Path(folder))
    with of_this_version(saved.folder / "run.json"):
        record = dict[str, Any](saved.document)["testbed"]
        found: dict[str, Any] = {name: tuple(record[name]) for name in RECORDED}
        return TestbedResult(saved, record["valid"], **found)


def run(
    scenario: Scenario | Path | str,
    replications: int | None = None,
    seed: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    *,
    attempts: int = ATTEMPTS,
) -> TestbedResult:
    """Run a scenario through the kernel's TCP, in real time.

    Parameters
    ----------
    scenario : Scenario or path
        Scenario with one link and bulk transfers; see `plan`.
    replications, seed : int, optional
        Replace the values of the file.
    progress : callable, optional
        Called with (replications done, total replications) after each.
    attempts : int
        Maximum number of attempts at a replication until it is valid.

    Returns
    -------
    TestbedResult

    Raises
    ------
    InputError
        If a testbed does not support the scenario, or this machine does not support a testbed; the message states a
        remedy.
    """
    read_one = Scenario.from_any(scenario).replace(replications=replications, seed=seed)
    plans = [plan(read_one, replication) for replication in range(read_one.replications)]
    _check(laws=any(one.laws for one in plans))
    begun = time.perf_counter()
    outcomes, punctuality, objections, laws, acks = [], [], [], [], []
    for number, one in enumerate(plans):
        attempt = 1
        found, recorded = replicate(one)
        while recorded["objection"] and attempt < attempts:
            attempt += 1
            found, recorded = replicate(one)
        outcomes.append(found)
        punctuality.append(recorded["punctuality"] | {"hurried": recorded["hurried"], "attempts": attempt})
        laws.append(recorded["laws"])
        acks.append(recorded["acks"])
        if recorded["objection"]:
            objections.append(f"replication {number}: {recorded['objection']}")
        if progress is not None:
            progress(number + 1, len(plans))
    result = RunResult(read_one, tuple(outcomes), ENGINE, time.perf_counter() - begun)
    details = tuple(objections), tuple(punctuality), tuple(laws), tuple(acks)
    return TestbedResult(result, not objections, *details, differences=plans[0].differences)


def _check(*, laws: bool) -> None:
    """Raise an error if this machine lacks something for a testbed or, if `laws`, for loading laws."""
    if os.name != "posix" or not Path("/proc/self/ns/net").exists():
        raise InputError("testbed: needs Linux with network namespaces")
    if missing := lacking(PROGRAMS):
        raise InputError(f"testbed: programs are missing: apt-get install {' '.join(missing)}")
    if os.geteuid() != 0:
        raise InputError("testbed: namespaces and devices need root: run it with sudo")
    if not DEVICES.exists():
        message = f"testbed: there is no {DEVICES}: modprobe tun; a container is given it with --device {DEVICES}"
        raise InputError(message)
    if laws:
        _native.kernel_check()
