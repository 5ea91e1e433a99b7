"""Types of the JSON documents of searches for worst cases; the types for runs are in `elephan.results.documents`."""

from typing import Any, TypedDict


class RandomCases(TypedDict):
    """Random cases, and the largest share of cases that may be worse than the worst of them (95 % confidence)."""

    cases: int
    mean: float
    worst: float
    worse_share_at_most: float


class TailDocument(TypedDict):
    """Value that 1 in 10,000 random cases reaches, and the ends of its 95 % interval."""

    value: float
    ci95: list[float]


class AttackPart(TypedDict):
    """Results of random cases and of a search; the estimate is null for fewer than 100 cases."""

    harm: str
    random: RandomCases
    one_in_10000: TailDocument | None
    worst: float
    runs: int


class CaseDocument(TypedDict):
    """A case that was found: changes by place, the value of the harm, and the hash of its run."""

    changes: dict[str, Any]
    value: float
    hash: str


class AttackedGroup(TypedDict):
    """A group of flows in the worst case."""

    name: str
    flows: int
    rtt_s: float
    start_s: float
    goodput_per_flow_bps: float


class AttackDocument(AttackPart):
    """The document of ``elephan attack --json``."""

    law: str
    unknown: dict[str, str]
    usual: float
    counterexample: CaseDocument
    groups: list[AttackedGroup]
    set_back: dict[str, float]
    wall_s: float


class RoundDocument(AttackPart):
    """The attack on one buffer."""

    buffer_packets: int
    survived: bool


class WorstDocument(TypedDict):
    """The document of ``elephan size --worst-case --json``."""

    link: str
    target: dict[str, float]
    unknown: dict[str, str]
    buffer_packets: int | None
    nominal_packets: int | None
    bdp_packets: float
    rounds: list[RoundDocument]
    counterexamples: dict[str, CaseDocument]
    set_back: dict[str, float]
    runs: int
    note: str
    wall_s: float
