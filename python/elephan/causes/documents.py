"""Types of the JSON document of the causes of idle time; the types for runs are in `elephan.results.documents`."""

from typing import TypedDict


class ChargeDocument(TypedDict):
    """Idle time that is charged to one cause; times are null if the cause is a limit of the senders, not an event."""

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
    """Waiting time of packets of a group, by the limit of their senders; for ACKs the group is empty."""

    group: str
    limit: str
    packet_s: float


class PeriodDocument(TypedDict):
    """A period with idle time: the time charged to events, by the events' times, and the rest, by limits of senders."""

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
