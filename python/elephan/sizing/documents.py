"""Types of the JSON documents of sizings; those of runs are in `elephan.results.documents`."""

from typing import Any, NotRequired, TypedDict

from elephan.results.documents import NearDocument, PoolFacts, Quantity, WarningDocument


class LinkQuantities(TypedDict):
    """Measured quantities of the link with one buffer."""

    utilization: Quantity
    loss_ratio: Quantity
    queueing_delay_s: Quantity
    jain: Quantity
    queueing_delay_p95_s: Quantity


class GroupQuantities(TypedDict):
    """Measured quantities of a group of flows that crosses the link; one that was not measured has null as mean."""

    goodput_per_flow_bps: Quantity
    loss_ratio: Quantity
    queueing_delay_p95_s: Quantity
    rtt_p95_s: Quantity
    delay_p95_s: Quantity


class GroupRow(GroupQuantities):
    """A group of flows of an inverse sizing, which may vary their number."""

    name: str
    law: str | None


class CountedGroupRow(GroupRow):
    """A group of flows of a sizing."""

    flows: int


class BufferRow(LinkQuantities):
    """A buffer that was measured."""

    replications: int
    groups: list[CountedGroupRow]
    buffer_packets: int
    buffer_bytes: int
    buffer_bdp: float


_Roles = TypedDict("_Roles", {"is": list[str]})
"""Not a class, since ``is`` is a keyword of Python."""


class ChosenRow(BufferRow, _Roles):
    """A buffer of the short table, and why it is there."""


class Simulated(TypedDict):
    """Number of simulated runs and packets."""

    runs: int
    packets: int


class SizedRun(TypedDict):
    """The scenario that was sized."""

    id: str
    scenario: str
    seed: int


class SettledRun(SizedRun):
    """The scenario that was sized, and its warm-up."""

    warmup_s: float
    warmup_rule: str


class ModelErrors(TypedDict):
    """Errors of a model in comparison with the simulations of the link."""

    buffer_ratio: float | None
    utilization_points: float | None
    worst_points: float | None


class PredictionDocument(TypedDict):
    """A model's answer, and its quantities at the measured answer."""

    buffer_packets: int | None
    utilization: float | None
    loss_ratio: float | None
    queueing_delay_s: float | None
    off: ModelErrors
    near: NearDocument | None
    silent: str
    doubts: list[str]
    fails: list[str]


class AnswerQuantities(TypedDict):
    """Measured quantities of the link at the answer; null where no buffer meets the targets."""

    utilization: Quantity | None
    loss_ratio: Quantity | None
    queueing_delay_s: Quantity | None
    jain: Quantity | None
    queueing_delay_p95_s: Quantity | None


class SuggestionPart(TypedDict):
    """The buffer to deploy, and the reasons."""

    suggested_packets: int | None
    why_suggested: str
    dangers: list[str]
    advice: list[str]


class ShortSizeDocument(AnswerQuantities):
    """An answer without the data behind it; the second end of the interval is null where there is no upper end."""

    met: bool
    note: str
    buffer_packets: int | None
    buffer_bdp: float | None
    buffer_interval_packets: list[Any] | None
    suggested_packets: int | None
    simulated: Simulated


class PacedPart(TypedDict):
    """The answer for the same senders with Linux's pacing; only with ``--pacing both``."""

    paced: NotRequired[ShortSizeDocument]


class SizeDocument(ShortSizeDocument, SuggestionPart, PacedPart):
    """The document of ``elephan size --json``."""

    target: dict[str, float]
    link: str
    buffer_bytes: int | None
    limited_by: list[str] | None
    limited_to_bps: float | None
    limits: list[str] | None
    table: list[ChosenRow]
    rules: dict[str, float]
    rules_broken: dict[str, list[str]]
    models: dict[str, PredictionDocument]
    trusted_model: str | None
    models_range_packets: list[int] | None
    curve: list[BufferRow]
    tc: str | None
    run: SettledRun
    replications: int
    warnings: list[WarningDocument]
    wall_s: float


class NearestRow(LinkQuantities):
    """The buffer nearest to the targets."""

    buffer_packets: int


class VariantName(TypedDict):
    """Law and queue of a variant."""

    law: str
    queue: str


class VariantDocument(SizeDocument, VariantName):
    """The answer for one law with one queue."""

    nearest: NearestRow | None
    deployed: BufferRow | None
    refused: str
    ample: BufferRow | None


class RecommendationDocument(VariantName):
    """The variant to deploy, and the reason."""

    met: bool
    reason: str
    runner_up: VariantName | None
    otherwise: str
    caveats: list[str]


class VariantsDocument(TypedDict):
    """The document of ``elephan size --laws … --queues … --json``."""

    variants: list[VariantDocument]
    recommendation: RecommendationDocument
    wall_s: float


class ValueRow(LinkQuantities):
    """Measured quantities with one value of the searched quantity."""

    replications: int
    groups: list[GroupRow]


class LimitRow(ValueRow):
    """A value of the searched quantity that was measured."""

    amount: float


class PoolPart(TypedDict):
    """The pool that the link draws on; only of links with one."""

    pool: NotRequired[PoolFacts]


class LimitDocument(PoolPart):
    """The document of ``elephan size --find … --json``."""

    find: str
    unit: str
    target: dict[str, float]
    met: bool
    note: str
    link: str
    buffer_packets: float | None
    amount: float | None
    interval: list[float | None] | None
    rows: list[LimitRow]
    drop_tail: ValueRow | None
    tc: str | None
    simulated: Simulated
    run: SizedRun
    replications: int
    warnings: list[WarningDocument]
    wall_s: float
