"""A sender in virtual time as a script sees it: byte sequence numbers, and the fields of ``tcp_info``."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elephan._native import TcpSender
    from elephan_evidence.conform.packetdrill.quic import QuicSender

INFINITE_SSTHRESH = 0x7FFF_FFFF
"""Value of Linux's ``tcpi_snd_ssthresh`` without a slow-start threshold."""

STATES = {"open": 0, "disorder": 1, "reduction": 2, "recovery": 3, "loss": 4}
"""Values of ``tcpi_ca_state`` by the sender's phase."""

UNKNOWN = "unknown"
"""Phase of a sender that has none of `STATES`."""

CONSTANTS = {
    **dict(
        zip(("TCP_CA_Open", "TCP_CA_Disorder", "TCP_CA_CWR", "TCP_CA_Recovery", "TCP_CA_Loss"), range(5), strict=True)
    ),
    "TCP_INFINITE_SSTHRESH": INFINITE_SSTHRESH,
}

MICROSECOND = 10**6
"""A microsecond in picoseconds."""


@dataclass(frozen=True)
class Sent:
    """A sent segment.

    Parameters
    ----------
    at : int [ps]
    start, end : int
        Sequence numbers of its payload, in bytes; the connection's first is 1.
    again : bool
        Whether it is a retransmission.
    marked : bool
        Whether it can be marked (ECT).
    cause : str
        Event that triggered it: ``"write"``, ``"ack"``, or the name of a timer.
    phase : str
        Phase of the sender.
    """

    at: int
    start: int
    end: int
    again: bool
    marked: bool
    cause: str
    phase: str


class PartialAckError(Exception):
    """Raised for an ACK or a SACK block that ends within a segment."""


class Connection:
    """A connection after its handshake, which counts as a segment of its own and gives the first RTT sample.

    Parameters
    ----------
    sender : TcpSender or QuicSender
        A sender that has sent nothing.
    mss : int [bytes]
        Payload of a full segment.
    times : tuple of int [ps]
        Times at which the handshake's segment was sent and acknowledged.
    window : int [bytes]
        The receiver's window.
    nodelay : bool
        Whether a last partial segment is sent without waiting (``TCP_NODELAY``).
    """

    def __init__(
        self, sender: TcpSender | QuicSender, mss: int, times: tuple[int, int], window: int, *, nodelay: bool
    ) -> None:
        self.mss, self.nodelay = mss, nodelay
        self.sent: deque[Sent] = deque()
        self._tcp = sender
        # End of each segment by its number, one past its last byte: the handshake is segment 0 and ends before byte 1.
        self._ends = [1]
        self._closed = True
        self._held = 0
        self._short = 0
        self._duplicates = 0
        self._timeouts_before = 0
        self._tcp.open(*times, receive_window=self._segments(window))
        self.window = window

    def _segments(self, window: int) -> int:
        return min(window // self.mss, 2**32 - 1)

    @property
    def written(self) -> int:
        """Sequence number one past the last byte that the application has written."""
        return self._ends[-1] + self._held

    @property
    def has_unsent(self) -> bool:
        """Whether data waits to be sent for the first time."""
        state = self._tcp.state()
        return self._held > 0 or state["una"] + state["outstanding"] < len(self._ends)

    def write(self, now: int, count: int, *, ends_record: bool = False) -> None:
        """Accept bytes from the application; ``MSG_EOR`` keeps later ones out of the last segment."""
        before = len(self._ends)
        count += self._held
        self._held = 0
        unsent = not self._closed and self._high() < len(self._ends)
        room = self.mss - (self._ends[-1] - self._ends[-2]) if unsent and len(self._ends) > 1 else 0
        taken = min(room, count)
        self._ends[-1] += taken
        count -= taken
        self._closed = taken == room
        if unsent and self._closed:
            self._short = 0
        for _ in range(count // self.mss):
            self._ends.append(self._ends[-1] + self.mss)
            self._closed = True
        rest = count % self.mss
        if rest and self._waits(ends_record=ends_record):
            self._held = rest
        elif rest:
            self._append_short(rest)
        self._closed = self._closed or ends_record
        self._tcp.write(now, len(self._ends) - before)
        self._collect("write")

    def _append_short(self, rest: int) -> None:
        self._ends.append(self._ends[-1] + rest)
        self._closed = False
        self._short = len(self._ends)

    def _waits(self, *, ends_record: bool) -> bool:
        """Apply Nagle's rule in Linux's version (RFC 896; Minshall): one unacknowledged short segment at a time."""
        return not (self.nodelay or ends_record) and self._tcp.state()["una"] < self._short

    def acknowledge(
        self,
        now: int,
        ack: int,
        blocks: Sequence[tuple[int, int]],
        *,
        window: int,
        ece: bool = False,
        echoes_resent: bool = False,
        has_data: bool = False,
        duplicate: tuple[int, int] | None = None,
    ) -> None:
        """Process an ACK; one with data or another window does not count as a duplicate (RFC 5681, 2).

        `duplicate` are bytes that the receiver reports as a duplicate (RFC 2883).

        Raises
        ------
        PartialAckError
            If it acknowledges a part of a segment.
        ValueError
            If it acknowledges data that was not sent.
        """
        before = self._tcp.state()
        cum = self._number(ack)
        runs = [(self._number(start), self._number(end)) for start, end in blocks]
        twice = duplicate and (self._number(duplicate[0]), self._number(duplicate[1]))
        is_old, is_update = cum < before["una"], window != self.window
        if not is_old:
            self.window = window
        repeats = cum == before["una"] and before["outstanding"] > 0
        if repeats and not runs and not twice and (has_data or is_update):
            self._tcp.update_window(now, self._segments(window))
            self._collect("ack")
            return
        self._duplicates = self._duplicates + (twice is None) if repeats else 0
        if cum > before["una"]:
            self._timeouts_before = before["timeouts"]
        self._tcp.on_ack(
            now,
            cum,
            [(start, end) for start, end in runs if start >= cum],
            ece=ece,
            echoes_resent=echoes_resent,
            receive_window=None if is_old else self._segments(window),
            duplicate=twice,
        )
        self._collect("ack")
        if self._held and not self._waits(ends_record=False):
            held, self._held = self._held, 0
            self._append_short(held)
            self._tcp.write(now, 1)
            self._collect("write")

    def _number(self, byte: int) -> int:
        """Return the number of the segment that begins at a byte."""
        if byte > self._ends[-1]:
            message = "there is no such byte"
            raise ValueError(message)
        number = bisect_right(self._ends, byte)
        if number == 0 or self._ends[number - 1] != byte:
            raise PartialAckError
        return number

    def _high(self) -> int:
        state = self._tcp.state()
        return int(state["una"] + state["outstanding"])

    def deadline(self) -> int | None:
        """Return the expiry time of the next timer [ps]; None if no timer runs."""
        return self._tcp.deadline()

    def expire(self) -> None:
        """Expire the next timer."""
        self._collect(self._tcp.on_timer())

    def advance(self, to: int) -> None:
        """Expire every timer that is due before a time [ps]."""
        while (at := self.deadline()) is not None and at < to:
            self.expire()

    def _collect(self, cause: str) -> None:
        phase = self._tcp.state()["phase"] or UNKNOWN
        for at, number, again, marked in self._tcp.take_sent():
            start, end = self._ends[number - 1], self._ends[number]
            self.sent.append(Sent(at, start, end, again, marked, cause, phase))

    def phase(self) -> str:
        """Return the sender's phase."""
        phase: str = self._tcp.state()["phase"] or UNKNOWN
        return "disorder" if phase == "open" and self._duplicates else phase

    def info(self) -> dict[str, Any]:
        """Return the available fields of ``tcp_info``; None for those that the sender does not keep."""
        state = self._tcp.state()
        timeouts = None if state["timeouts"] is None else state["timeouts"] - self._timeouts_before
        return {
            **CONSTANTS,
            "tcpi_ca_state": STATES.get(self.phase()),
            "tcpi_snd_cwnd": int(state["cwnd"]),
            "tcpi_snd_ssthresh": INFINITE_SSTHRESH if state["ssthresh"] is None else int(state["ssthresh"]),
            "tcpi_snd_mss": self.mss,
            "tcpi_unacked": state["outstanding"],
            "tcpi_sacked": state["sacked"],
            "tcpi_lost": state["lost"],
            "tcpi_retrans": state["resent"],
            "tcpi_retransmits": timeouts,
            "tcpi_backoff": timeouts,
            "tcpi_total_retrans": state["retransmitted"],
            "tcpi_delivered": state["delivered"],
            **{
                f"tcpi_{name}": None if state[key] is None else state[key] // MICROSECOND
                for name, key in (
                    ("rto", "rto_ps"),
                    ("rtt", "srtt_ps"),
                    ("rttvar", "rttvar_ps"),
                    ("min_rtt", "min_rtt_ps"),
                )
            },
        }
