"""Ctrl-C and SIGTERM: both end a command in the same way, with the shell's exit code. No signal is lost."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType

from elephan import _native

AGAIN_S = 0.1
"""Interval after which an unhandled interrupt is raised again [s]."""

_received: list[int] = []


def heed_signals() -> None:
    """Let SIGTERM end a command as Ctrl-C does, so that incomplete files are removed."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt)
    sys.unraisablehook = _dropped
    if hasattr(_native, "say_where_memory_ends"):
        _native.say_where_memory_ends()


def _dropped(lost: sys.UnraisableHookArgs) -> None:
    """Ignore Python's report of a dropped interrupt, because the interrupt is raised again."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    if not _received:
        # Python drops exceptions that are raised in some of its own callbacks, such as those of imports and of garbage
        # collection.
        signal.signal(signal.SIGALRM, _interrupt_again)
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S, AGAIN_S)
    _received.append(number)
    raise KeyboardInterrupt


def _interrupt_again(_number: int, _frame: FrameType | None) -> None:
    # Do not interrupt the handling of an exception.
    if sys.exc_info()[1] is None:
        raise KeyboardInterrupt


def exit_code() -> int | None:
    """Return the shell's exit code for the first signal; None if there was no signal. Stop repeating the interrupt.

    Returns
    -------
    int or None
        130 for Ctrl-C, 143 for SIGTERM.
    """
    if not _received:
        return None
    # Python removes its handlers before it exits, and an unhandled alarm would change the exit code.
    signal.setitimer(signal.ITIMER_REAL, 0)
    return 128 + _received[0]
