"""The sender's rules that cause differences from a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

REPAIRS = {
    "tahoe": "Jacobson 1988",
    "reno": "RFC 5681, 3.2",
    "newreno": "RFC 6582",
    "sack": "RFC 6675, 5",
    "prr": "RFC 6675 and 9937",
    "rack": "RFC 8985 and 9937",
}


def rule(sender: Mapping[str, str | None], cause: str, phase: str) -> str:
    """Return the rule that the sender followed where it differs from the script.

    This is a section of an RFC, a function of Linux, or the sender's congestion control.

    Parameters
    ----------
    sender : mapping of str
        As in `JudgedScript`.
    cause : str
        Event that triggered a segment (`Sent`), ``"held"`` if no segment was sent. For an assertion, ``"timeout"`` if
        it is about ``tcpi_rto``, otherwise ``"state"``.
    phase : str
        Phase of the sender, such as ``"open"`` or ``"recovery"``.
    """
    if sender["recovery"] is None:
        return f"{sender['law']} {sender['variant']}"
    linux = sender["rto"] == "linux"
    if cause == "timeout":
        return (
            "Linux 6.12, tcp_set_rto: srtt + rttvar of at least 200 ms"
            if linux
            else "RFC 6298, 2: a second at first and at least"
        )
    if cause == "probe":
        return "RFC 8985, 7.2 (Linux: tcp_schedule_loss_probe): 2 srtt, and 200 ms more for a single segment"
    if cause == "reordering":
        return "RFC 8985, 6.2: a quarter of the smallest RTT after a later segment was SACKed"
    if cause == "pacing":
        return "Linux 6.12, tcp_update_pacing_rate"
    if phase == "reduction":
        return "RFC 3168, 6.1.2, spread by RFC 9937 (Linux: tcp_enter_cwr)"
    if phase in ("disorder", "recovery", "loss"):
        return f"{REPAIRS[str(sender['recovery'])]}, recovery {sender['recovery']}"
    parts = [sender["law"], sender["variant"] and f"variant {sender['variant']}"]
    parts.append(sender["slow_start"] and f"slow start {sender['slow_start']}")
    return f"the window of {', '.join(part for part in parts if part)}"
