"""Types of the JSON documents of runs, sweeps, testbeds, models and comparisons; mypy checks their keys.

Source: `docs/reference/json.md`, which says what each key means; a test holds these types against real documents.
"""

from typing import Any, NotRequired, TypedDict


class Quantity(TypedDict):
    """A measured quantity: mean over replications, and half-width of its 95 % interval; None if undefined.

    Both are floats or None. The types do not say so, or every sum of two means would have to ask first.
    """

    mean: Any
    ci95: Any


class NearDocument(TypedDict):
    """Errors of a model in the survey's runs nearest to a link."""

    within_points: float | None
    mean_points: float | None
    largest_points: float | None
    cells: int
    sentence: str


class RunAbout(TypedDict):
    """Part ``run`` of a run's document: the scenario and its settings."""

    id: str
    scenario: str
    engine: str
    engine_version: str
    seed: int
    replications: int
    duration_s: float
    warmup_s: float
    warmup_rule: str
    wall_s: float
    packets_delivered: int


class PoolFacts(TypedDict):
    """Memory that links share; its size is in bytes or in packets."""

    name: str
    size_packets: int | None
    size_bytes: int | None
    sharing: str
    alpha: float | None


class PoolDocument(PoolFacts):
    """A pool of a run."""

    occupancy: Quantity
    occupancy_max: Quantity
    drops: Quantity


class PoolShareDocument(TypedDict):
    """A link's use of its pool."""

    name: str
    occupancy: Quantity
    occupancy_max: Quantity
    share: Quantity
    drops: Quantity


class PartLink(TypedDict):
    """A link of any result; a model and a sizing give some of the quantities."""

    name: str
    rate_bps: int
    queue: dict[str, Any]
    buffer_packets: float | None


class LinkDocument(PartLink):
    """A link of a run."""

    tc: str | None
    pool: NotRequired[PoolShareDocument]
    # Quantities, as they are declared in elephan.metrics; written by tools/stubs.py.
    capacity_bps: NotRequired[Quantity]
    propagation_s: NotRequired[Quantity]
    propagation_min_s: NotRequired[Quantity]
    propagation_max_s: NotRequired[Quantity]
    utilization: Quantity
    loss_ratio: Quantity
    backlog_packets: Quantity
    backlog_max_packets: Quantity
    backlog_p50_packets: Quantity
    backlog_p95_packets: Quantity
    backlog_p99_packets: Quantity
    occupancy: Quantity
    queueing_delay_s: Quantity
    queueing_delay_p50_s: Quantity
    queueing_delay_p95_s: Quantity
    queueing_delay_p99_s: Quantity
    idle_fraction: Quantity
    empty_fraction: Quantity
    drops: dict[str, Quantity]
    marks: Quantity
    loss_events: Quantity
    flows_hit_per_loss_event: Quantity


class TransfersDocument(TypedDict):
    """Transfers of a group that end."""

    # Quantities, as they are declared in elephan.metrics; written by tools/stubs.py.
    opened: Quantity
    completed: Quantity
    refused: Quantity
    open: Quantity
    completion_time_s: Quantity
    completion_time_p50_s: Quantity
    completion_time_p95_s: Quantity
    completion_time_p99_s: Quantity
    slowdown: Quantity
    slowdown_p50: Quantity
    slowdown_p95: Quantity
    slowdown_p99: Quantity
    pages: NotRequired[Quantity]
    page_time_s: NotRequired[Quantity]
    page_time_p50_s: NotRequired[Quantity]
    page_time_p95_s: NotRequired[Quantity]
    page_time_p99_s: NotRequired[Quantity]


class PartGroup(TypedDict):
    """A group of flows of any result, as for links."""

    name: str
    law: str | None
    recovery: str | None
    flows: int


class GroupDocument(PartGroup):
    """A group of flows of a run; ``delay_`` keys are for datagrams at equal gaps (one way), ``rtt_`` keys for pings."""

    transfers: TransfersDocument | None
    # Quantities, as they are declared in elephan.metrics; written by tools/stubs.py.
    goodput_bps: Quantity
    goodput_per_flow_bps: Quantity
    loss_ratio: Quantity
    cwnd_segments: Quantity
    srtt_s: Quantity
    delay_s: NotRequired[Quantity]
    delay_p50_s: NotRequired[Quantity]
    delay_p95_s: NotRequired[Quantity]
    delay_p99_s: NotRequired[Quantity]
    rtt_s: NotRequired[Quantity]
    rtt_p50_s: NotRequired[Quantity]
    rtt_p95_s: NotRequired[Quantity]
    rtt_p99_s: NotRequired[Quantity]
    timeouts: Quantity
    loss_events: Quantity
    dsack_dups: NotRequired[Quantity]
    spurious_recoveries: NotRequired[Quantity]
    spurious_timeouts: NotRequired[Quantity]


class FairnessDocument(TypedDict):
    """Fairness of a run."""

    # Quantities, as they are declared in elephan.metrics; written by tools/stubs.py.
    jain: Quantity
    jain_maxmin: Quantity
    rtt_ratio: Quantity


class WarningDocument(TypedDict):
    """A lint warning."""

    rule: str
    severity: str
    where: str
    message: str
    remedy: str


class PointsWarningDocument(WarningDocument):
    """A lint warning of a sweep, and the number of points with it."""

    points: int


class PrecisionRow(TypedDict):
    """A metric with a requested precision."""

    metric: str
    wanted: float
    reached: Any
    met: bool


class PrecisionDocument(TypedDict):
    """Whether the requested precision was reached."""

    met: bool
    metrics: list[PrecisionRow]


class MetricDocument(TypedDict):
    """A metric requested by ``--metric``."""

    metric: str
    quantity: str
    unit: str
    of: str
    name: str
    value: Quantity
    replications: int


class PartDocument(TypedDict):
    """Parts of a result that tables show."""

    links: list[PartLink]
    groups: list[PartGroup]
    fairness: dict[str, Quantity]


class PoolsPart(TypedDict):
    """Pools of a run; only of scenarios with pools."""

    pools: NotRequired[list[PoolDocument]]


class MeasuredRun(PoolsPart):
    """The measurements of a run: its document without warnings, as lint rules read it."""

    run: RunAbout
    links: list[LinkDocument]
    groups: list[GroupDocument]
    fairness: FairnessDocument


class RunDocument(MeasuredRun):
    """The document of ``elephan run --json``."""

    warnings: list[WarningDocument]
    precision: NotRequired[PrecisionDocument]
    metrics: NotRequired[list[MetricDocument]]


class Punctuality(TypedDict):
    """Record of the relay in a replication: lateness of packets, its pauses, and drops."""

    late_us: list[int]
    p50_us: int
    p99_us: int
    latest_s: float
    gap_s: float
    limit_s: float
    later: float
    drops: int
    suspect: int
    refused: int
    hurried: bool
    attempts: int


class TestbedRecord(TypedDict):
    """Validity of a testbed's run."""

    valid: bool
    objections: list[str]
    punctuality: list[Punctuality]
    laws: list[dict[str, dict[str, int]]]
    acks: list[dict[str, int]]
    differences: list[str]


class TestbedDocument(RunDocument):
    """The document of ``elephan testbed run --json``."""

    origin: str
    testbed: TestbedRecord


class RunFileDocument(RunDocument):
    """The document ``run.json`` of a run or a testbed, in a folder or a store."""

    resolved: dict[str, Any]
    provenance: dict[str, Any]
    origin: NotRequired[str]
    testbed: NotRequired[TestbedRecord]
    files: NotRequired[dict[str, str]]
    store: NotRequired[dict[str, Any]]


class SweepPointDocument(PoolsPart):
    """A point of a sweep."""

    labels: dict[str, Any]
    run: str
    seed: int
    replications: int
    duration_s: float
    warmup_s: float
    warmup_rule: str
    links: list[LinkDocument]
    groups: list[GroupDocument]
    fairness: FairnessDocument
    precision: NotRequired[PrecisionDocument]
    metrics: NotRequired[list[MetricDocument]]


class SweepFailure(TypedDict):
    """A point that failed."""

    labels: dict[str, Any]
    run: str
    error: str | None


class AxisDocument(TypedDict, total=False):
    """An axis of a sweep: places with the values that they take, or cases with axes of their own."""

    places: list[str]
    values: list[list[Any]]
    cases: "list[CaseDocument]"


class CaseDocument(TypedDict):
    """A case of a sweep."""

    name: str
    set: dict[str, Any]
    axes: list[AxisDocument]


class SweepProvenance(TypedDict):
    """Machine, time and version with which a sweep was run."""

    written: str
    engine_version: str
    python: str
    numpy: str
    machine: str
    system: str
    host: str
    cores: int
    commit: str | None
    reused: int
    wall_s: float
    packets_simulated: int
    store: str


class SweepDocument(TypedDict):
    """The document of ``elephan sweep --json``."""

    title: str
    seed: int
    replications: int
    precision: list[str]
    max_replications: int
    engine_version: str
    base: str
    axes: list[AxisDocument]
    points: list[SweepPointDocument]
    failures: list[SweepFailure]
    warnings: list[PointsWarningDocument]
    provenance: SweepProvenance


class ModelDocument(TypedDict):
    """The document of ``elephan model NAME --json``: a row maps parameters and columns to their values."""

    model: str
    title: str
    source: str
    fails: list[str]
    units: dict[str, str]
    rows: list[dict[str, Any]]
    simulation: NotRequired[dict[str, Any]]


class ComparedQuantityDocument(TypedDict):
    """A quantity as given by a model, the simulator and a testbed."""

    name: str
    unit: str
    gap_is: str
    against: str
    model: float | None
    simulation: float | None
    testbed: float | None
    model_gap: float | None
    simulation_gap: float | None


class CompareDocument(TypedDict):
    """The document of ``elephan compare --json``."""

    scenario: str
    rows: list[ComparedQuantityDocument]
    simulation: RunDocument
    testbed: TestbedDocument | None
