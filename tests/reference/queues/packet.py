"""Packets that arrive at a link, and their fates; times in integer picoseconds, sizes in bytes."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

SECOND = 10**12  # picoseconds

Cause = Literal["overflow", "early", "forced", "sojourn"]
Fate = tuple[Literal["left"], int, bool] | tuple[Literal["dropped"], int, Cause]


def picoseconds(seconds: float) -> int:
    return round(seconds * SECOND)


@dataclass
class Header:
    """XCP's congestion header."""

    rtt: float  # the sender's round-trip time [s]
    cwnd: float  # its window [bytes]
    feedback: float  # change of the window [bytes] that is asked for, or left by the routers so far


class Arrival(NamedTuple):
    """One packet at its arrival; `l4s`: carries ECT(1), and `ect` with it."""

    time: int
    flow: int
    size: int
    ect: bool = False
    l4s: bool = False
    header: Header | None = None


@dataclass(eq=False)
class Packet:
    """One packet on its way through the queue."""

    index: int
    time: int  # of arrival
    flow: int
    size: int
    ect: bool
    l4s: bool
    header: Header | None
    marked: bool = False
    fate: Fate | None = None
