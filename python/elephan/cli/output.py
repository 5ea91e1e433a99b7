"""Robust standard output: closed stream, broken pipe, full disk, unencodable characters."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO


class OutputError(Exception):
    """Error while writing to standard output.

    Parameters
    ----------
    reason : OSError
    """

    def __init__(self, reason: OSError) -> None:
        super().__init__(f"standard output: {(reason.strerror or str(reason)).lower()}; what follows was not printed")
        # The shell's exit code for a process that is ended by SIGPIPE (128 + 13).
        self.code = 141 if isinstance(reason, BrokenPipeError) else 2


class StandardOutput:
    """Stream that raises `OutputError`, so that its errors differ from those of result files.

    Parameters
    ----------
    stream : file object
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @property
    def buffer(self) -> StandardOutput:
        """The stream for bytes."""
        return StandardOutput(self._stream.buffer)

    def write(self, content: Any) -> int:
        """Write a text, or raise `OutputError`."""
        return int(_tried(self._stream.write, content))

    def writelines(self, lines: Iterable[Any]) -> None:
        """Write several texts, or raise `OutputError`."""
        _tried(self._stream.writelines, lines)

    def flush(self) -> None:
        """Flush the stream, or raise `OutputError`."""
        _tried(self._stream.flush)


def _tried(do: Callable[..., Any], *given: Any) -> Any:
    try:
        return do(*given)
    except OSError as error:
        raise OutputError(error) from None


def prepare_streams() -> None:
    """Prepare standard input, output and error for the rest of the command line.

    A closed stream becomes the null device. Otherwise a file of results could get its number, and printed text would be
    written to this file. A character that the encoding lacks is printed as an escape sequence.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            # `open` returns the lowest free number, which is this one.
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 (open until the process ends)
    if not isinstance(sys.stdout, StandardOutput):
        _escape_what_is_lacking(sys.stdout)
        sys.stdout = StandardOutput(sys.stdout)


def _escape_what_is_lacking(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None and getattr(stream, "errors", "") == "strict":
        reconfigure(errors="backslashreplace")
