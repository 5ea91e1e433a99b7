"""Types of the JSON document of the causes of idle time, as `elephan.results.documents` has those of runs."""

from typing import TypedDict


class ChargeDocument(TypedDict):
    """Idle time that is charged to one cause; times are null where that is a limit of the senders, and no event."""

    cause: str
    from_s: float | None
    to_s: float | None
    drops: int
    marks: int
    flows_hit: int
    flows: int
    idle_ps: int
    timeout_ps: int
    share: float


class WaitDocument(TypedDict):
    """Waiting time of packets by what limited their senders; the group of ACKs is empty."""

    group: str
    limit: str
    packet_s: float


class PeriodDocument(TypedDict):
    """A period with idle time: charged to events by their time, and the rest by limits of the senders."""

    from_s: float
    to_s: float
    idle_ps: int
    charged_ps: dict[str, int]
    rest_ps: dict[str, int]


class IdleDocument(TypedDict):
    """The document of ``elephan why --json``."""

    scenario: str
    run_id: str
    link: str
    replication: int
    hash: str
    sentence: str
    from_s: float
    to_s: float
    idle_ps: int
    idle_fraction: float
    charges: list[ChargeDocument]
    cut_ps: int
    events: int
    waits: list[WaitDocument]
    periods: list[PeriodDocument]
    step_s: float
    forks: int
    forked_s: float
