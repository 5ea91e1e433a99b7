"""Verdict on a script, and the first difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from pathlib import Path

Verdict = Literal["agrees", "differs", "not expressible"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Difference:
    """The first place where a sender deviates from its script.

    Parameters
    ----------
    line : int
    expected, actual : str
    rule : str
        The rule that the sender followed there: a section of an RFC, a function of Linux, or the congestion control.
    """

    line: int
    expected: str
    actual: str
    rule: str


@dataclass(frozen=True)
class JudgedScript:
    """Verdict on a script, and the first difference.

    Parameters
    ----------
    path : Path
    verdict : {"agrees", "differs", "not expressible"}
    difference : Difference, optional
    stopped : tuple of (int, str), optional
        First line that cannot be expressed, and the reason.
    left_out : tuple of (int, str)
        Ignored lines, and the reasons.
    segments, assertions : int
        Number of segments and assertions that agree.
    sender : dict of str
        ``law``, ``variant``, ``slow_start``, ``recovery`` and ``rto`` of the sender, as in a scenario file. A value
        is None before the connection is open, and if the law has no such part.
    compared : dict of str to bool, optional
        For a recorded connection: whether ``segments``, ``snd_ssthresh``, ``snd_cwnd`` and ``ca_state`` agree.
    live : JudgedScript, optional
        Verdict on the running kernel under the same script.
    """

    path: Path
    verdict: Verdict
    difference: Difference | None
    stopped: tuple[int, str] | None
    left_out: tuple[tuple[int, str], ...]
    segments: int
    assertions: int
    sender: dict[str, str | None]
    compared: dict[str, bool] | None = None
    live: JudgedScript | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the entry of the document of ``elephan conform tcp --json``."""
        differs, stopped = self.difference, self.stopped
        return {
            "script": str(self.path),
            "verdict": self.verdict,
            "difference": differs and vars(differs),
            "stopped": stopped and {"line": stopped[0], "why": stopped[1]},
            "left_out": [{"line": line, "why": why} for line, why in self.left_out],
            "segments": self.segments,
            "assertions": self.assertions,
            "sender": self.sender,
            "compared": self.compared,
            "live": self.live and self.live.place(),
        }

    def place(self) -> dict[str, Any]:
        """Return the verdict, the line that decides it, the reason, and the number of segments that agree."""
        differs, (line, why) = self.difference, self.stopped or (None, None)
        if differs:
            line, why = differs.line, f"expected {differs.expected}; found {differs.actual}"
        return {"verdict": self.verdict, "line": line, "why": why, "segments": self.segments}
