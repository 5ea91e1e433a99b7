"""Congestion controls of QUIC stacks as the sender of a script: ``elephan-quic script`` (`adapters/quic`).

A segment of the script is a full datagram of the stack. What a script says about the window can be compared: what
leaves when, ``tcpi_snd_cwnd``, ``tcpi_snd_ssthresh`` and ``tcpi_rtt``. States, counters and timers of TCP do not exist.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from elephan.catalog.elsewhere import HOW_TO_GET, PROGRAM, laws_elsewhere, program_elsewhere
from elephan.errors import InputError
from elephan_evidence.conform.packetdrill.script import NotExpressibleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OPTION = "--law "

MISSING = ("resent", "lost", "timeouts", "rto_ps", "rttvar_ps", "min_rtt_ps", "in_flight", "delivered", "sacked")
"""Fields of the state of a TCP sender that QUIC does not have."""


def is_quic(law: object) -> bool:
    """Whether a law is the name of a stack and a controller, such as ``quinn/cubic``."""
    return isinstance(law, str) and "/" in law


def check_law(law: str) -> str:
    """Return the version of the stack.

    Raises
    ------
    InputError
        If the program is not installed, or has no such law.
    """
    found = laws_elsewhere()
    if not found.cards:
        message = f"{OPTION}{law}: {found.problem or f'needs {PROGRAM}. {HOW_TO_GET}'}"
        raise InputError(message)
    versions = {card["name"]: card["version"] for card in found.cards if card["name"] != "noq/elephan"}
    if law not in versions:
        message = f"{OPTION}{law}: there is no such law; it is one of {', '.join(versions)}"
        raise InputError(message)
    return versions[law]


class QuicSender:
    """A controller behind a pipe, with the methods of ``_native.TcpSender`` that a script needs.

    Parameters
    ----------
    law : str
        As `check_law` takes it.
    """

    def __init__(self, law: str) -> None:
        program = program_elsewhere()
        if program is None:
            message = f"{OPTION}{law}: needs {PROGRAM}"
            raise InputError(message)
        self._law = law
        self._una = self._high = self._written = self._resent = 0
        self._arrived: set[int] = set()
        self._sent: list[tuple[int, int, bool, bool]] = []
        self._said: dict[str, Any] = {}
        self._process = subprocess.Popen(
            [program, "script", "--law", law], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def _tell(self, *words: object) -> None:
        """Send a line, and take the answer."""
        to, back = self._process.stdin, self._process.stdout
        try:
            assert to is not None
            assert back is not None
            to.write(" ".join(map(str, words)) + "\n")
            to.flush()
            self._said = json.loads(back.readline())
        except (OSError, ValueError):
            self.close()
            message = f"{OPTION}{self._law}: {PROGRAM} ended; make quic builds it again"
            raise InputError(message) from None
        for at, segment, again in self._said["sent"]:
            # Segment 0 of a connection is the handshake.
            self._sent.append((at, segment + 1, again, False))
            self._high = max(self._high, segment + 2)
            self._resent += again

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.communicate()

    def open(self, opened_ps: int, now_ps: int, *, receive_window: int) -> None:
        """Open the connection, with a handshake that is over now."""
        del receive_window
        self._una = self._high = self._written = 1
        self._tell("open", now_ps, now_ps - opened_ps)

    def write(self, now_ps: int, segments: int) -> None:
        """Accept segments from the application."""
        self._written += segments
        self._tell("write", now_ps, segments)

    def on_ack(
        self,
        now_ps: int,
        cum: int,
        blocks: Sequence[tuple[int, int]] = (),
        *,
        ece: bool = False,
        echoes_resent: bool = False,
        receive_window: int | None = None,
        duplicate: tuple[int, int] | None = None,
    ) -> None:
        """Process an ACK as an ACK frame of QUIC for the packets that carried these segments.

        Raises
        ------
        NotExpressibleError
            For what QUIC does not have in this form: a congestion echo, a receive window that limits.
        ValueError
            If it acknowledges what was not sent.
        """
        del echoes_resent
        if ece:
            message = "a congestion echo of TCP; QUIC counts marks in its ACK frames"
            raise NotExpressibleError(message)
        if max([cum, *(end for _, end in blocks)]) > self._high:
            message = "acknowledges what was not sent"
            raise ValueError(message)
        if receive_window is not None:
            self.update_window(now_ps, receive_window)
        self._una = max(self._una, cum)
        self._arrived = {n for n in self._arrived if n >= self._una}
        self._arrived.update(n for start, end in blocks for n in range(max(start, self._una), end))
        twice = [] if duplicate is None else ["twice", *_runs([duplicate])]
        self._tell("ack", now_ps, self._una - 1, *_runs(blocks), *twice)

    def update_window(self, now_ps: int, receive_window: int) -> None:
        """Check that the receive window does not limit: in QUIC, flow control is not part of an ACK.

        Raises
        ------
        NotExpressibleError
            If it would limit.
        """
        del now_ps
        if receive_window < min(self._said["cwnd"], self._written - self._una):
            message = "a receive window that limits; QUIC has other flow control"
            raise NotExpressibleError(message)

    def deadline(self) -> int | None:
        """Return the expiry time of the next timer [ps]."""
        at: int | None = self._said.get("next")
        return at

    def on_timer(self) -> str:
        """Expire the next timer."""
        self._tell("timer", self.deadline())
        return "timer"

    def take_sent(self) -> list[tuple[int, int, bool, bool]]:
        """Return the segments that left since the last call."""
        sent, self._sent = self._sent, []
        return sent

    def state(self) -> dict[str, Any]:
        """Return the state; None for what QUIC does not have."""
        missing = (
            "resent",
            "lost",
            "timeouts",
            "rto_ps",
            "rttvar_ps",
            "min_rtt_ps",
            "in_flight",
            "delivered",
            "sacked",
        )
        return dict.fromkeys(missing) | {
            "cwnd": self._said["cwnd"],
            "ssthresh": self._said["ssthresh"],
            "srtt_ps": self._said["srtt_ps"],
            "phase": None,
            "una": self._una,
            "outstanding": self._high - self._una,
            "retransmitted": self._resent,
        }


def _runs(blocks: Iterable[tuple[int, int]]) -> list[str]:
    """Return ranges of segments as the program counts them: without the handshake."""
    return [f"{start - 1}:{end - 1}" for start, end in blocks if start >= 1]
