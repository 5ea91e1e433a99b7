"""Causes of a link's idle time: charges that add up to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.results.files import write_json
from elephan.scenario import Scenario
from elephan.units import count, format_time

if TYPE_CHECKING:
    from elephan.causes.documents import IdleDocument

PS = 10**12
"""Picoseconds in a second."""

DOCUMENT = "why.json"

LIMITS = {
    "timeout": "waiting for retransmission timers",
    "recovery": "recovery from losses at other links",
    "slow_start": "slow start",
    "window": "growing congestion windows",
    "receive_window": "receive windows",
    "application": "applications that offer no data",
}
"""Descriptions of the limits of senders in a fork without drops and marks at the link, by the engine's names."""

LEAST_NAMED = 0.1
"""Share of the idle time from which the sentence names a limit of the senders in addition to events."""

MOST_OF_EVENTS = 0.5
"""Share of the idle time charged to all events from which the sentence names only the largest event."""


@dataclass(frozen=True)
class Charge:
    """Idle time charged to one cause.

    Parameters
    ----------
    cause : str
        ``"event"``, or one of `LIMITS`.
    idle_ps : int
        Idle time [ps].
    timeout_ps : int
        The part of it in which senders waited for their retransmission timers [ps].
    from_s, to_s : float or None [s]
        Times of the event's first and last drop or mark.
    drops, marks : int
        Data packets dropped and marked.
    flows_hit, flows : int
        Flows with a packet dropped or marked, and all flows of the link that had started.
    """

    cause: str
    idle_ps: int
    timeout_ps: int = 0
    from_s: float | None = None
    to_s: float | None = None
    drops: int = 0
    marks: int = 0
    flows_hit: int = 0
    flows: int = 0

    @property
    def packets(self) -> str:
        """The event's packets in words."""
        parts = [count(n, word) for n, word in ((self.drops, "drop"), (self.marks, "mark")) if n]
        return " and ".join(parts)

    @property
    def words(self) -> str:
        """The cause in words."""
        if self.cause != "event" or self.from_s is None:
            return LIMITS[self.cause]
        return f"{self.packets} at {self.from_s:.4g} s"


@dataclass(frozen=True)
class Period:
    """Time from an event to the next, or before the first event.

    Parameters
    ----------
    from_s, to_s : float [s]
    idle_ps : int
        Idle time [ps].
    charged_ps : dict of int to int
        Idle time charged to events, by their index in `IdleCauses.events` [ps].
    rest_ps : dict of str to int
        Idle time charged to the limits of the senders, by the names of `LIMITS` [ps].
    is_cut : bool
        Whether earlier events, which may have had an effect, were not examined.
    """

    from_s: float
    to_s: float
    idle_ps: int
    charged_ps: dict[int, int]
    rest_ps: dict[str, int]
    is_cut: bool


@dataclass(frozen=True)
class IdleCauses:
    """Causes of the idle time and of the waiting times of a link in one replication, see `elephan.why`.

    Parameters
    ----------
    scenario : Scenario
    link : str
        Name of the link.
    replication : int
        Number of the replication, from 1.
    found : dict
        Document of the engine: times are integers in picoseconds.
    """

    scenario: Scenario
    link: str
    replication: int
    found: dict[str, Any]

    @property
    def idle_ps(self) -> int:
        """Idle time after the warm-up [ps]."""
        return int(self.found["idle"])

    @property
    def measured_s(self) -> float:
        """Length of the measured time [s]."""
        return float((self.found["to"] - self.found["from"]) / PS)

    @property
    def idle_fraction(self) -> float:
        """Idle time as a share of the measured time."""
        return float(self.idle_ps / (self.found["to"] - self.found["from"]))

    @property
    def hash(self) -> str:
        """Rolling hash of the run, over every arrival and ACK, hexadecimal."""
        return str(self.found["hash"])

    @cached_property
    def events(self) -> tuple[Charge, ...]:
        """Loss events in the order of time, including those of the warm-up. Many have no idle time."""
        counts = ("dropped", "marked", "hit", "flows")
        return tuple(
            Charge(
                "event", one["idle"], one["timeout"], one["from"] / PS, one["to"] / PS, *(one[key] for key in counts)
            )
            for one in self.found["events"]
        )

    @cached_property
    def periods(self) -> tuple[Period, ...]:
        """Periods of the measured time."""
        return tuple(
            Period(
                period["from"] / PS,
                period["to"] / PS,
                period["idle"],
                {int(event): int(idle) for event, idle in period["charged"]},
                {name: int(idle) for name, idle in period["rest"].items()},
                bool(period["is_cut"]),
            )
            for period in self.found["periods"]
        )

    @cached_property
    def charges(self) -> tuple[Charge, ...]:
        """Charges above zero, the largest first; their idle times add up to `idle_ps`."""
        rest = [Charge(name, sum(period.rest_ps[name] for period in self.periods)) for name in LIMITS]
        return tuple(
            sorted(
                (charge for charge in (*self.events, *rest) if charge.idle_ps),
                key=lambda charge: (-charge.idle_ps, charge.from_s or 0.0, charge.cause),
            )
        )

    @property
    def cut_ps(self) -> int:
        """Idle time that more forks might charge to earlier events [ps]."""
        return sum(sum(period.rest_ps.values()) for period in self.periods if period.is_cut)

    @cached_property
    def waits(self) -> tuple[tuple[str, str, float], ...]:
        """Waiting times: group, limit of the sender (or ``"acks"``) and packet-seconds, the largest first.

        They add up to the integral of the backlog over the measured time.
        """
        names = [str(group["name"]) for group in self.scenario.groups]
        rows = [
            (name, limit, int(wait) / PS)
            for name, waits in zip(names, self.found["waits"], strict=True)
            for limit, wait in waits.items()
        ]
        rows.append(("", "acks", int(self.found["ack_waits"]) / PS))
        return tuple(sorted((row for row in rows if row[2] > 0), key=lambda row: (-row[2], row[0], row[1])))

    def share(self, idle_ps: int) -> float:
        """Return an idle time as a share of the whole; zero if there is none."""
        return idle_ps / self.idle_ps if self.idle_ps else 0.0

    def sentence(self) -> str:
        """Return the answer in one or two sentences.

        Examples
        --------
        >>> import elephan
        >>> scenario = elephan.Scenario.from_text(elephan.EXAMPLE)
        >>> elephan.why(scenario.replace({"flows[bulk].tcp.receive_window": 4})).sentence().split(", ")[0]
        'core was idle for 2.76 s of 3 s (92 %)'
        """
        measured = format_time(self.measured_s)
        if not self.charges:
            return f"{self.link} was never idle in the {measured} measured."
        head = (
            f"{self.link} was idle for {format_time(self.idle_ps / PS)} of {measured} ({_percent(self.idle_fraction)})"
        )
        events = [charge for charge in self.charges if charge.cause == "event"]
        of_events = sum(charge.idle_ps for charge in events)
        limit = next((charge for charge in self.charges if charge.cause != "event"), None)
        because = "" if limit is None else f"{_percent(self.share(limit.idle_ps))} of it because of {limit.words}"
        if limit is not None and of_events < limit.idle_ps:
            return f"{head}, {because}."
        if limit is not None and self.share(limit.idle_ps) >= LEAST_NAMED:
            head += f", {because}"
        first = events[0]
        if len(events) == 1 or first.idle_ps >= MOST_OF_EVENTS * of_events:
            those = first.words.removeprefix("1 ")
            return (
                f"{head}. {_percent(self.share(first.idle_ps))} of the idle time follows the {those}, which hit "
                f"{first.flows_hit} of {count(first.flows, 'flow')}{self._timeouts(first)}."
            )
        return (
            f"{head}. {_percent(self.share(of_events))} of the idle time follows {count(len(events), 'loss event')}; "
            f"the largest, {first.words}, hit {first.flows_hit} of {count(first.flows, 'flow')} and has "
            f"{_percent(self.share(first.idle_ps))}."
        )

    def _timeouts(self, charge: Charge) -> str:
        if not charge.timeout_ps:
            return ""
        share = charge.timeout_ps / charge.idle_ps
        return f"; in {_percent(share)} of that time senders waited for timeouts"

    def to_json(self) -> IdleDocument:
        """Return the document of ``elephan why --json``."""
        return {
            "scenario": self.scenario.title,
            "run_id": self.scenario.id,
            "link": self.link,
            "replication": self.replication,
            "hash": self.hash,
            "sentence": self.sentence(),
            "from_s": self.found["from"] / PS,
            "to_s": self.found["to"] / PS,
            "idle_ps": self.idle_ps,
            "idle_fraction": self.idle_fraction,
            "charges": [
                {
                    "cause": charge.cause,
                    "from_s": charge.from_s,
                    "to_s": charge.to_s,
                    "drops": charge.drops,
                    "marks": charge.marks,
                    "flows_hit": charge.flows_hit,
                    "flows": charge.flows,
                    "idle_ps": charge.idle_ps,
                    "timeout_ps": charge.timeout_ps,
                    "share": self.share(charge.idle_ps),
                }
                for charge in self.charges
            ],
            "cut_ps": self.cut_ps,
            "events": len(self.events),
            "waits": [{"group": group, "limit": limit, "packet_s": wait} for group, limit, wait in self.waits],
            "periods": [
                {
                    "from_s": period.from_s,
                    "to_s": period.to_s,
                    "idle_ps": period.idle_ps,
                    "charged_ps": {f"{self.events[event].from_s:.12g}": ps for event, ps in period.charged_ps.items()},
                    "rest_ps": period.rest_ps,
                }
                for period in self.periods
                if period.idle_ps
            ],
            "step_s": self.found["step"] / PS,
            "forks": self.found["forks"],
            "forked_s": self.found["forked"] / PS,
        }

    def write(self, folder: Path) -> list[Path]:
        """Write ``why.json``.

        Returns
        -------
        list of Path
            The file.
        """
        path = folder / DOCUMENT
        write_json(path, self.to_json())
        return [path]


def _percent(share: float) -> str:
    """Format a share: at least two digits below ten per cent.

    Examples
    --------
    >>> _percent(0.614), _percent(0.0421), _percent(1.0)
    ('61 %', '4.2 %', '100 %')
    """
    return f"{100 * share:.0f} %" if abs(share) >= 0.095 else f"{100 * share:.2g} %"
