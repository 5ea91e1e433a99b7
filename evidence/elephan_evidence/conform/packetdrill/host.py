"""The host that a script sets up: the scenario keys for its commands, and the resulting sender.

*Source*: ip-sysctl of Linux for the names; the profile ``tcp = "linux"`` for everything that is not set.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from elephan.input_files import read_text
from elephan.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WITHOUT_EFFECT = frozenset(
    {
        "core.netdev_max_backlog", "core.rmem_max", "core.wmem_max",
        "ipv4.tcp_ecn_option", "ipv4.tcp_fack", "ipv4.tcp_fastopen", "ipv4.tcp_fastopen_key",
        "ipv4.tcp_frto", "ipv4.tcp_min_tso_segs", "ipv4.tcp_notsent_lowat", "ipv4.tcp_rmem", "ipv4.tcp_syn_retries",
        "ipv4.tcp_synack_retries", "ipv4.tcp_syncookies", "ipv4.tcp_wmem",
    }
)  # fmt: skip
"""Settings that affect no segment of a sender here: handshake, receiver, segmentation of bursts."""

USUAL = {"ipv4.tcp_early_retrans": ("3", "4"), "ipv4.tcp_reordering": ("3",)}
"""Settings without a key, and their values that match the sender's behaviour."""

DECISIVE = frozenset({"ipv4.tcp_mtu_probing", "ipv4.tcp_base_mss", "ipv4.tcp_thin_linear_timeouts"})
"""Settings without a key that change which segments are sent."""

SLOW_TSO = 50
"""Smallest tcp_tso_win_divisor for which no segment waits for a longer burst."""

ECN_OFF = "0"


@dataclass
class Host:
    """Settings made by the commands so far, and the commands that were ignored.

    Parameters
    ----------
    law : str or None
        ``tcp_congestion_control``.
    paced : bool
        Whether the queue of its interface is ``fq``.
    left_out : list of (int, str)
        Line, and the reason.
    stops : str or None
        Reason why no sender can represent this host.
    """

    folder: Path
    law: str | None = None
    sysctls: dict[str, str] = field(default_factory=dict)
    paced: bool = False
    left_out: list[tuple[int, str]] = field(default_factory=list)
    stops: str | None = None

    def run(self, text: str, line: int) -> None:
        """Process commands."""
        for words in _commands(text):
            self._command(words, line)

    def _command(self, words: list[str], line: int) -> None:
        name = words[0].rsplit("/", 1)[-1]
        if name == "sysctl":
            for word in words[1:]:
                if "=" in word:
                    self._set(word, line)
        elif name == "set_sysctls.py":
            for word in words[1:]:
                self._set(word.removeprefix("/proc/sys/"), line)
        elif words[:2] == ["tc", "qdisc"] and "root" in words and words[2:3] != ["del"]:
            self._queue(words[words.index("root") + 1 :])
        elif name.endswith(".sh"):
            self._file(words[0], line)
        elif name in ("ip", "ethtool", "sleep", "true"):
            self._leave_out(line, f"{name}: interfaces and routes are not modelled")
        else:
            self._leave_out(line, f"{' '.join(words)[:60]}: no such setting here")

    def _file(self, name: str, line: int) -> None:
        """Process a file of commands beside the script; a file that the test itself writes restores its settings."""
        if "$" in name or name.startswith("/"):
            return
        path = self.folder / name
        if path.is_file():
            self.run(read_text(path, "shell script"), line)
        else:
            self._leave_out(line, f"{name}: is not beside the script; what it sets is unknown")

    def _queue(self, words: list[str]) -> None:
        self.paced = words[:1] == ["fq"]
        if words[-1:] == ["0"]:
            self.stops = f"tc: a queue of the host that drops ({' '.join(words)}) is not modelled"

    def _set(self, assignment: str, line: int) -> None:
        name, _, value = (part.strip() for part in assignment.partition("="))
        key = name.replace("/", ".").removeprefix("net.")
        self.sysctls[key] = value
        if key == "ipv4.tcp_congestion_control":
            self.law = value
        elif key in DECISIVE and value != "0":
            self.stops = f"{key}={value}: no such key here"
        elif key not in WITHOUT_EFFECT and key not in READ and value not in USUAL.get(key, ()):
            self._leave_out(line, f"{key}={value}: no such key here")

    def _leave_out(self, line: int, why: str) -> None:
        self.left_out.append((line, why))

    def sysctl(self, name: str, default: str) -> str:
        """Return the value of ``net.ipv4.NAME``."""
        return self.sysctls.get(f"ipv4.{name}", default)

    def tcp(self) -> dict[str, Any]:
        """Return the keys of ``tcp`` that follow from the settings."""
        keys: dict[str, Any] = {"profile": next(iter(PROFILES))}
        if self.sysctl("tcp_slow_start_after_idle", "1") == "0":
            keys["window_validation"] = "linux-kept"
        # RFC 2883: what reductions are undone by, and what RACK's window adapts to.
        if self.sysctl("tcp_dsack", "1") != "0":
            keys["undo"] = "always"
        if self._number("tcp_tso_win_divisor", 3) >= SLOW_TSO:
            keys["burst"] = "none"
        if self.paced:
            slow_start, avoidance = self._number("tcp_pacing_ss_ratio", 200), self._number("tcp_pacing_ca_ratio", 120)
            keys["pacing"] = {"slow_start": slow_start / 100, "avoidance": avoidance / 100}
        return keys

    def _number(self, name: str, default: int) -> int:
        """Return the value of ``net.ipv4.NAME`` if it is an integer."""
        text = self.sysctl(name, "")
        return int(text) if re.fullmatch(r"\d{1,9}", text) else default


READ = frozenset(
    f"ipv4.{name}"
    for name in (
        "tcp_dsack", "tcp_ecn", "tcp_pacing_ca_ratio", "tcp_pacing_ss_ratio", "tcp_recovery", "tcp_sack",
        "tcp_slow_start_after_idle", "tcp_timestamps", "tcp_tso_win_divisor",
    )
)  # fmt: skip
"""Settings that have a key here, or that take effect in the handshake."""


def _commands(text: str) -> Iterator[list[str]]:
    """Split commands into words, without comments, redirections and shell substitutions."""
    for line in re.sub(r"\\\n", " ", text).split("\n"):
        plain = re.sub(r"(^|\s)#.*", "", line)
        for command in re.split(r";|&&", re.sub(r"\d?>[>&]?\s*\S+", "", plain)):
            try:
                words = shlex.split(command)
            except ValueError:
                words = command.split()
            if words:
                yield words
