"""The worst case of a law in a small family of networks, for a harm (a quantity, and which direction is worse)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from elephan.errors import InputError, suggest
from elephan.own_laws import LawSource, check_used, declared
from elephan.runs.outcome import ReplicationOutcome, simulate
from elephan.scenario import Scenario
from elephan.worst.search import Attack, Harm, SearchState, WorstSearch
from elephan.worst.sizing import RUNS, check_runs, write_cases
from elephan.worst.unknowns import Unknowns, read_unknowns

if TYPE_CHECKING:
    from elephan.worst.documents import AttackDocument, AttackedGroup

NETWORK = Template(files("elephan.worst").joinpath("attack.toml").read_text(encoding="utf-8"))
"""The family: one link, two groups of flows. All flows start well before the end of the warm-up."""

RANGES = {
    "links[0].buffer": "0.2..8 bdp",
    "links[0].loss.random": "0..0.001",
    "flows[0].rtt": "20..200 ms",
    "flows[1].rtt": "20..200 ms",
    "flows[1].start": "0..30 s",
}
"""Ranges of the family. The smallest buffer is 7 packets; with a range down to 2 or 3 packets, the worst case would
only be such a buffer."""


def _share(_: Scenario, outcome: ReplicationOutcome) -> float:
    """Return the smallest goodput of a flow over the mean."""
    goodput = outcome.flows["goodput_bps"]
    mean = float(goodput.mean())
    return float(goodput.min()) / mean if mean > 0 else 0.0


HARMS = {
    harm.name: harm
    for harm in (
        Harm("utilization", lambda _, out: float(out.links["utilization"][0]), "1", True, "utilization of the link"),
        Harm("starvation", _share, "1", True, "smallest goodput of a flow over the fair share"),
        Harm("delay", lambda _, out: float(out.links["queueing_delay_s"][0]), "s", False, "mean wait at the link"),
        Harm("loss", lambda _, out: out.loss_ratio(0), "1", False, "share of packets lost"),
    )
}
"""Harms by name; each is measured after the warm-up."""


@dataclass(frozen=True)
class LawAttack:
    """The worst case found of a law.

    Parameters
    ----------
    law : str
    unknowns : Unknowns
    attack : Attack
    groups : tuple of dict
        The groups in the worst case: ``name``, ``flows``, ``rtt_s``, ``start_s`` and ``goodput_per_flow_bps``.
    usual : float
        The harm in the family's unchanged network.
    matters : dict of str to float
        The harm in the worst case with one place reset to its value in that network, by place.
    wall_s : float [s]
    """

    law: str
    unknowns: Unknowns
    attack: Attack
    groups: tuple[AttackedGroup, ...]
    usual: float
    matters: dict[str, float]
    wall_s: float

    def to_json(self) -> AttackDocument:
        """Return the document of ``elephan attack --json``."""
        case = self.attack.worst
        return {
            "law": self.law,
            "unknown": {unknown.place: unknown.written for unknown in self.unknowns.all},
            **self.attack.to_json(),
            "usual": self.usual,
            "counterexample": {"changes": case.changes, "value": case.value, "hash": case.hash},
            "groups": list(self.groups),
            "set_back": self.matters,
            "wall_s": self.wall_s,
        }

    def write(self, folder: Path) -> list[Path]:
        """Write the counterexample as a scenario file, and ``attack.json``."""
        return write_cases(
            folder, {"worst-case": self.attack.worst}, self.attack.harm.name, self.to_json(), "attack.json"
        )


def attack(
    law: str,
    harm: str = "starvation",
    ranges: Iterable[str] | Mapping[str, str] = (),
    *,
    runs: int = RUNS,
    seed: int = 1,
    workers: int | None = None,
    progress: Callable[[SearchState], None] | None = None,
    laws: Mapping[str, LawSource] | None = None,
) -> LawAttack:
    """Search for the worst case of a law: one link, two groups of its flows.

    Parameters
    ----------
    law : str
    harm : str
        ``utilization``, ``starvation`` (the smallest goodput of a flow over the fair share), ``delay`` or ``loss``.
    ranges : iterable of str, or mapping of str to str
        Ranges that replace those of `RANGES`, or are added to them.
    runs : int
        Maximum number of runs.
    seed : int
        Seed of the search.
    workers : int, optional
        Number of threads; the result does not depend on it.
    progress : callable, optional
        Called with a `SearchState` after every run.
    laws : mapping of str to class or path, optional
        Your own laws, as in `elephan.run`; `law` is the name of one of them.

    Raises
    ------
    InputError
        If the law or the harm does not exist, or a range is invalid.

    Examples
    --------
    >>> found = attack("reno", "utilization", {"flows[0].rtt": "20..40 ms"}, runs=50)
    >>> found.attack.worst.value <= found.attack.worst_random.value
    True
    """
    begun = time.perf_counter()
    if harm not in HARMS:
        raise InputError(f'--harm: there is no "{harm}"; {suggest(harm, HARMS)}')
    check_runs(runs)
    try:
        with declared(laws):
            base = Scenario.from_text(NETWORK.substitute(law=law), "attack")
    except InputError as error:
        message = f"attack {law}: {str(error).removeprefix('attack: ').removeprefix('flows[0].control.law: ')}"
        raise InputError(message) from None
    check_used(laws or (), [base.own_laws])
    unknowns = read_unknowns(base, ranges, read_unknowns(base, RANGES).all)
    search = WorstSearch(base, unknowns, HARMS[harm], workers, seed, progress)
    found = search.attack(runs)
    case = found.worst.scenario
    flows = simulate(case, 0).flows
    groups: tuple[AttackedGroup, ...] = tuple(
        {
            "name": group.name,
            "flows": group.flows,
            "rtt_s": group.rtt_s,
            "start_s": group.start_s[0],
            "goodput_per_flow_bps": float(flows["goodput_bps"][flows["group"] == group.index].mean()),
        }
        for group in case.network.groups
    )
    usual = HARMS[harm].measure(base, simulate(base, 0))
    return LawAttack(law, unknowns, found, groups, usual, search.without(found.worst), time.perf_counter() - begun)
