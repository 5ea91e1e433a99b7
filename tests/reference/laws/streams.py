"""Synthetic streams of events, to drive two implementations of a law with the same input.

A stream comes from a small model of a path, closed over the window of one law (`record`), and is then fixed: `replay`
feeds it to any other implementation, whose window no longer has a say in it. Streams are meant to be rich, not
realistic: each path has a queue with traffic of others in it, noise on each round-trip time, losses where the queue
runs over and at random, marks, timeouts, stretches in which the application limits the sender, and delayed
acknowledgements.

Choices: where windows are large, one acknowledgement stands for a share of the window (`acks`), so that fast paths fit
into a short stream too, but for no more than two segments in slow start below 8192 segments; recovery from a loss
takes one round trip of which the law gets nothing; the first acknowledgement after a loss starts a round. The windows
of "10G-full" are out of a short slow start's reach: record it with a law whose initial window is large.
"""

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from .event import Event

MOST_EVENTS = 20_000


class Law(Protocol):
    """Interface of a law for streams, in either implementation."""

    @property
    def cwnd(self) -> float: ...

    @property
    def ssthresh(self) -> float: ...

    def on_ack(self, e: Event, /) -> None: ...

    def on_congestion(self, e: Event, /) -> None: ...


@dataclass(frozen=True)
class Path:
    """Rates in segments per second, times in seconds; chances are per round trip unless it says otherwise."""

    rate: float
    base_rtt: float
    buffer: float  # segments
    acks: float = math.inf  # acknowledgements per round trip, at most
    delayed: float = 0.3  # chance that an acknowledgement stands for twice as many segments
    noise: float = 0.002  # mean of the noise on each round-trip time, in base round-trip times
    others: float = 0.05  # most that others add to the queue in one round, in windows that just fill the path
    loss: float = 0.01
    mark: float = 0.008
    timeout: float = 0.003
    idle: float = 0.01  # chance that the application becomes the limit, for 1 to 8 rounds
    resent: float = 0.002  # chance, per acknowledgement, that its segment had been sent again


def bits(per_second: float) -> float:
    """Segments of 1500 bytes per second."""
    return per_second / 12_000.0


PRESETS = {
    "10M": Path(bits(10e6), 0.05, 40.0),
    "100M-short": Path(bits(100e6), 0.01, 60.0, acks=60.0),
    "100M": Path(bits(100e6), 0.1, 300.0, acks=60.0),
    "1G": Path(bits(1e9), 0.05, 1000.0, acks=40.0),
    "1G-long": Path(bits(1e9), 0.1, 3000.0, acks=30.0, loss=0.005),
    "10G": Path(bits(10e9) / 6.0, 0.06, 2000.0, acks=30.0, loss=0.005),  # segments of 9000 bytes
    "10G-full": Path(bits(10e9), 0.1, 8000.0, acks=30.0, loss=0.005),
    "lossy": Path(bits(20e6), 0.04, 30.0, loss=0.08, mark=0.03, timeout=0.02),
    "noisy": Path(bits(50e6), 0.08, 200.0, acks=80.0, noise=0.05, others=0.3),
    "calm": Path(bits(50e6), 0.08, 150.0, acks=80.0, others=0.0, loss=0.0, mark=0.0, timeout=0.0, idle=0.0),
}


class Recorder:
    """One law on one path."""

    def __init__(self, law: Law, path: Path, seed: int) -> None:
        self.law, self.path = law, path
        self.random = random.Random(seed)
        self.events: list[Event] = []
        self.now = self.delivered = self.srtt = self.round_end = 0.0
        self.min_rtt = math.inf
        self.others = 0.0  # segments of others in the queue
        self.quiet = 0  # rounds for which the application will still be the limit
        self.resent = False

    def flight(self) -> float:
        return max(1.0, 0.6 * self.law.cwnd) if self.quiet else self.law.cwnd

    def queue(self) -> float:
        return max(0.0, self.flight() + self.others - self.path.rate * self.path.base_rtt)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def add(self, kind: str, acked: float = 0.0, rtt: float | None = None, round_start: bool = False) -> None:
        """Record an event; `acked` is already included in `delivered`."""
        marked = 1.0 if acked > 0.0 and self.chance(0.002) else 0.0
        flight, limited = self.flight(), kind != "ack" or not self.quiet
        event = Event(
            kind, self.now, acked, marked, rtt, self.srtt, self.min_rtt, flight, self.delivered, round_start, limited
        )
        self.events.append(event)
        if kind == "ack":
            self.law.on_ack(event)
        else:
            self.law.on_congestion(event)

    def acknowledge(self) -> bool:
        """Record one acknowledgement; return whether it started a round."""
        path, flight = self.path, self.flight()
        rtt = (
            path.base_rtt * (1.0 + self.random.expovariate(1.0 / path.noise))
            + min(self.queue(), path.buffer) / path.rate
        )
        most = 2.0 if self.law.cwnd < min(self.law.ssthresh, 8192.0) else math.inf
        acked = max(1.0, math.floor(flight / path.acks)) * (2.0 if self.chance(path.delayed) else 1.0)
        acked = min(acked, most, max(1.0, math.floor(flight)))
        self.now += acked * rtt / flight
        self.delivered += acked
        valid = not self.events or not (self.resent or self.chance(path.resent))
        self.resent = False
        if valid:
            self.min_rtt = min(self.min_rtt, rtt)
            self.srtt = rtt if not self.events else 0.875 * self.srtt + 0.125 * rtt
        round_start = self.delivered > self.round_end
        if round_start:
            self.round_end = self.delivered + flight
        self.add("ack", acked, rtt if valid else None, round_start)
        return round_start

    def new_round(self) -> str | None:
        """Begin a round, with other traffic and the application's pauses; return the kind of a cut, if it ends in
        one."""
        path = self.path
        self.others = 0.8 * self.others + self.random.uniform(0.0, path.others) * path.rate * path.base_rtt
        if self.quiet:
            self.quiet -= 1
        elif self.chance(path.idle):
            self.quiet = self.random.randint(1, 8)
        for kind, p in (("timeout", path.timeout), ("loss", path.loss), ("mark", path.mark)):
            if self.chance(p):
                return kind
        return None

    def cut(self, kind: str) -> None:
        self.now += max(0.2, 2.0 * self.srtt) if kind == "timeout" else 0.0
        self.add(kind)
        if kind == "loss":  # recovery
            self.now += self.srtt
            self.delivered += math.floor(self.law.cwnd)
        self.resent = kind != "mark"
        self.round_end = self.delivered

    def run(self, seconds: float) -> list[Event]:
        while self.now < seconds and len(self.events) < MOST_EVENTS - 1:
            sign = self.new_round() if self.acknowledge() else None
            if sign is None and self.queue() > self.path.buffer:
                sign = "loss"
            if sign is not None:
                self.cut(sign)
        return self.events


def record(law: Law, seed: int, seconds: float, preset: str = "100M", **path: float) -> list[Event]:
    """Record the events of `law` on a path: a preset, with the changes named in `path`."""
    return Recorder(law, replace(PRESETS[preset], **path), seed).run(seconds)


def replay(law: Law, events: Iterable[Event]) -> list[tuple[float, float]]:
    """Return window and ssthresh after each event."""
    states = []
    for event in events:
        if event.kind == "ack":
            law.on_ack(event)
        else:
            law.on_congestion(event)
        states.append((law.cwnd, law.ssthresh))
    return states
