"""The smallest buffer that meets a target in the worst case found.

A search attacks a buffer. If it finds a case that misses the target, the buffer is enlarged until all cases found so
far meet the target, and attacked again.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError
from elephan.formats import stamped
from elephan.own_laws import LawSource
from elephan.runs import ReplicationJob, simulate_all
from elephan.runs.warmup import settle_warmup
from elephan.scenario import Scenario
from elephan.sizing import LARGEST_BDP, SizeAnswer, size
from elephan.sizing.measuring import sample
from elephan.sizing.search import SearchProgress, finer
from elephan.sizing.targets import Target, parse_targets
from elephan.units import count
from elephan.worst.search import FEWEST_RUNS, Attack, FoundCase, Harm, SearchState, WorstSearch
from elephan.worst.unknowns import Unknowns, read_unknowns, usual_unknowns

if TYPE_CHECKING:
    from elephan.worst.documents import WorstDocument

RUNS = 400
"""Number of runs of one attack, including random cases."""

ROUNDS = 6
"""Maximum number of attacks; each also starts from the cases that earlier ones found."""


@dataclass(frozen=True)
class WorstRound:
    """An attack on one buffer [packets]."""

    buffer: int
    attack: Attack
    survived: bool


@dataclass(frozen=True)
class WorstSizing:
    """The smallest buffer found that survives (meets the target in) every case tried.

    Parameters
    ----------
    nominal : SizeAnswer
        The answer for the unchanged file; the first attack is on this buffer.
    unknowns : Unknowns
    target : Target
    rounds : tuple of WorstRound
        The attacks.
    note : str
        Reason why there is no answer; otherwise empty.
    matters : dict of str to float
        Value in the first worst case with one place reset to its value in the file, by place.
    wall_s : float [s]
    """

    nominal: SizeAnswer
    unknowns: Unknowns
    target: Target
    rounds: tuple[WorstRound, ...]
    note: str
    matters: dict[str, float]
    wall_s: float

    @property
    def buffer_packets(self) -> int | None:
        """The answer; None if no buffer survived."""
        last = self.rounds[-1] if self.rounds else None
        return last.buffer if last is not None and last.survived else None

    @property
    def is_met(self) -> bool:
        """Whether a buffer survived."""
        return self.buffer_packets is not None

    @property
    def counterexamples(self) -> dict[str, FoundCase]:
        """The worst case at the first buffer (that of `nominal`), and the worst case at the last one, by file name."""
        if not self.rounds:
            return {}
        found = {"worst-case": self.rounds[0].attack.worst}
        return found | ({"worst-at-answer": self.rounds[-1].attack.worst} if len(self.rounds) > 1 else {})

    def to_json(self) -> WorstDocument:
        """Return the document of ``elephan size --worst-case --json``."""
        link = self.nominal.facts
        return {
            "link": link["name"],
            "target": {self.target.key: self.target.level},
            "unknown": {unknown.place: unknown.written for unknown in self.unknowns.all},
            "buffer_packets": self.buffer_packets,
            "nominal_packets": self.nominal.buffer_packets,
            "bdp_packets": link["bdp_packets"],
            "rounds": [
                {"buffer_packets": each.buffer, "survived": each.survived, **each.attack.to_json()}
                for each in self.rounds
            ],
            "counterexamples": {
                name: {"changes": case.changes, "value": case.value, "hash": case.hash}
                for name, case in self.counterexamples.items()
            },
            "set_back": self.matters,
            "runs": sum(each.attack.runs for each in self.rounds),
            "note": self.note,
            "wall_s": self.wall_s,
        }

    def write(self, folder: Path) -> list[Path]:
        """Write the counterexamples as scenario files, and ``worst.json``."""
        return write_cases(folder, self.counterexamples, self.target.name, self.to_json(), "worst.json")


def write_cases(
    folder: Path, cases: Mapping[str, FoundCase], harm: str, document: Mapping[str, Any], name: str
) -> list[Path]:
    """Write cases as scenario files that `elephan run` replays, and a document.

    Parameters
    ----------
    cases : mapping of str to FoundCase
        Cases by the name of the file, without its suffix.
    harm : str
        Name of the harm, for the comment in each file.
    document : mapping
    name : str
        Name of the document's file.

    Returns
    -------
    list of Path
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for each, case in cases.items():
        path = folder / f"{each}.toml"
        head = f"# The worst case that a search found: {harm} {case.value:.6g}.\n# Hash of its run: {case.hash}.\n"
        path.write_text(f"{head}{case.scenario.text.rstrip()}\n", encoding="utf-8")
        written.append(path)
    path = folder / name
    path.write_text(json.dumps(stamped(dict(document)), indent=1) + "\n", encoding="utf-8")
    return [*written, path]


def size_worst(
    scenario: Scenario | str | Path,
    target: str | Iterable[str] | Mapping[str, float | str],
    ranges: Iterable[str] | Mapping[str, str] = (),
    *,
    link: str | None = None,
    precision: float = 0.05,
    runs: int = RUNS,
    workers: int | None = None,
    progress: Callable[[SearchState], None] | None = None,
    begin: Callable[[str], None] | None = None,
    nominal: SizeAnswer | None = None,
    laws: Mapping[str, LawSource] | None = None,
) -> WorstSizing:
    """Find the smallest buffer whose worst case found still meets a target.

    Parameters
    ----------
    scenario : Scenario or path
        The scenario; its seed is also that of the search.
    target : str, iterable of str, or mapping
        One target that large buffers meet: ``"utilization=0.95"`` or ``"loss=0.1%"``. Every case, which is a single
        run, must meet it.
    ranges : iterable of str, or mapping of str to str
        Unknown values, such as ``"flows[0].rtt=20..200 ms"``; by default `elephan.worst.unknowns.usual_unknowns`.
    link : str, optional
    precision : float [1]
        Relative precision of the buffer.
    runs : int
        Maximum number of runs of each attack.
    workers : int, optional
        Number of threads; the answer does not depend on it.
    progress : callable, optional
        Called with a `SearchState` after every run.
    begin : callable, optional
        Called with the name of each stage.
    nominal : SizeAnswer, optional
        The answer for the unchanged file, if it is known already.
    laws : mapping of str to class or path, optional
        Your own laws, as in `elephan.run`.

    Returns
    -------
    WorstSizing

    Raises
    ------
    InputError
        If an argument is invalid.

    Notes
    -----
    A search is not a proof: a case that was not tried may be worse.
    """
    begun = time.perf_counter()
    read = Scenario.from_any(scenario, laws)
    wanted = _single_target(target)
    check_runs(runs)
    index = read.link_index(link)
    unknowns = read_unknowns(read, ranges) if ranges else usual_unknowns(read, index)
    _check_not_searched(unknowns, read, index)
    say = begin or (lambda _: None)
    if nominal is None:
        say("the file as it is")

        def watch(state: SearchProgress) -> None:
            if progress is not None:
                progress(SearchState(state.done, state.expected, math.nan))

        nominal = size(read, target, link=link, precision=precision, workers=workers, progress=watch)
    base = settle_warmup(read, workers)
    if nominal.buffer_packets is None:
        return WorstSizing(nominal, unknowns, wanted, (), nominal.note, {}, time.perf_counter() - begun)

    harm = harm_of(wanted, index)
    rounds: list[WorstRound] = []
    cases: list[FoundCase] = []
    matters: dict[str, float] = {}
    buffer: int | None = nominal.buffer_packets
    while buffer is not None and len(rounds) < ROUNDS:
        here = buffer
        say(f"attack {len(rounds) + 1} on {count(here, 'packet')}")
        search = WorstSearch(base.with_buffer(index, here), unknowns, harm, workers, base.seed, progress)
        attack = search.attack(runs, [case.point for case in cases])
        rounds.append(WorstRound(here, attack, wanted.meets(attack.worst.value)))
        if not cases:
            matters = search.without(attack.worst)
        if rounds[-1].survived:
            break
        cases += [case for case in (attack.worst, attack.worst_random) if not wanted.meets(case.value)]
        say(f"the {len(cases)} worst cases with larger buffers")
        buffer = _smallest(cases, index, wanted, harm, here, precision, workers)
    note = ""
    if buffer is None:
        note = f"no buffer up to {LARGEST_BDP:g} BDP survives the cases found"
    elif not rounds[-1].survived:
        last = count(rounds[-1].buffer, "packet")
        note = f"after {ROUNDS} attacks the search still finds a case that {last} cannot survive"
    return WorstSizing(nominal, unknowns, wanted, tuple(rounds), note, matters, time.perf_counter() - begun)


def _check_not_searched(unknowns: Unknowns, scenario: Scenario, link: int) -> None:
    """Refuse a range for the buffer that is searched."""
    own = {f"links[{link}]", f"links[{scenario.network.links[link].name}]"}
    for unknown in unknowns.all:
        table, _, key = unknown.place.partition(".")
        if table in own and key == "buffer":
            raise InputError(f"--range {unknown.place}: is the buffer that is searched; leave it out")


def check_runs(runs: int) -> None:
    """Refuse fewer runs than an attack needs.

    Raises
    ------
    InputError
        If `runs` is below `FEWEST_RUNS`.
    """
    if runs < FEWEST_RUNS:
        raise InputError(f"--runs: {runs} is too few for a search; give {FEWEST_RUNS} or more")


def _single_target(given: str | Iterable[str] | Mapping[str, float | str]) -> Target:
    """Parse a target, and check that it is a single one that larger buffers meet."""
    targets = parse_targets(given)
    if len(targets) != 1 or not targets[0].is_floor:
        raise InputError(
            "--worst-case: takes one target that a larger buffer meets; write --target utilization=0.95 or "
            "--target loss=0.1%"
        )
    return targets[0]


def harm_of(target: Target, link: int) -> Harm:
    """Return the harm of a target: the target's quantity of a link, and its bad direction."""
    return Harm(
        target.key,
        lambda scenario, outcome: sample(scenario, link, outcome).value(target.metric),
        "s" if target.is_time else "1",
        target.at_least,
    )


def _smallest(
    cases: list[FoundCase], link: int, target: Target, harm: Harm, buffer: int, precision: float, workers: int | None
) -> int | None:
    """Return the smallest buffer with which all cases meet the target, by bisection; `buffer` is too small."""

    def meets(packets: int) -> bool:
        jobs = [ReplicationJob(case.scenario.with_buffer(link, packets), 0) for case in cases]
        outcomes = simulate_all(jobs, workers=workers)
        return all(target.meets(harm.measure(job.scenario, out)) for job, out in zip(jobs, outcomes, strict=True))

    largest = max(round(LARGEST_BDP * cases[0].scenario.network.links[link].bdp_packets), buffer + 1)
    below, above = buffer, min(2 * buffer, largest)
    while not meets(above):
        if above == largest:
            return None
        below, above = above, min(2 * above, largest)
    while inside := finer(below, above, precision)[1:-1]:
        middle = inside[len(inside) // 2]
        if meets(middle):
            above = middle
        else:
            below = middle
    return above
