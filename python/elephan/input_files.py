"""Reading of input files, and parsing of TOML.

Only regular files up to a maximum size are read, and pipes that the shell opened. Devices and named pipes are refused,
so that no read is endless. Each error becomes an `InputError` that names the file.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO

from elephan.errors import InputError
from elephan.units import format_bytes

_BARE = re.compile(r"[A-Za-z0-9_-]+")

_FORMS = (
    (b"PK\x03\x04", "a zip archive", "unpack it"),
    (b"\x1f\x8b", "a gzip file", "unpack it (gunzip)"),
    (b"\xfd7zXZ\0", "an xz file", "unpack it (unxz)"),
    (b"BZh", "a bzip2 file", "unpack it (bunzip2)"),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "unpack it (unzstd)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it"),
    (b"\xd4\xc3\xb2\xa1", "a packet capture (pcap)", ""),
    (b"\xa1\xb2\xc3\xd4", "a packet capture (pcap)", ""),
    (b"\x4d\x3c\xb2\xa1", "a packet capture (pcap)", ""),
    (b"\xa1\xb2\x3c\x4d", "a packet capture (pcap)", ""),
    (b"\x0a\x0d\x0d\x0a", "a packet capture (pcapng)", ""),
    (b"PAR1", "a Parquet file", ""),
    (b"SQLite format 3\0", "an SQLite database", ""),
    (b"\x89HDF", "an HDF5 file", ""),
    (b"\x93NUMPY", "an array of NumPy", ""),
    (b"%PDF", "a PDF document", ""),
    (b"\x7fELF", "a program or object (ELF)", ""),
    (b"\xff\xfe", "a text in UTF-16", "save it in UTF-8"),
    (b"\xfe\xff", "a text in UTF-16", "save it in UTF-8"),
    (b"version https://git-lfs", "a pointer of Git LFS", "fetch the file itself (git lfs pull)"),
)
"""Kinds of files that are not text: first bytes, name, and how to convert the file to text (empty if impossible)."""

_TEXTS = (
    (re.compile(rb"<[!?a-zA-Z]"), "a page of HTML or XML"),
    (re.compile(rb'\{|\[\s*[\[\]{"\d-]'), "a JSON document"),
)
"""For kinds of text that are neither a table nor TOML: pattern of the first characters after blanks, and name."""

_NOT_TOML = frozenset({".md", ".txt", ".rst", ".csv", ".py", ".json", ".yaml", ".yml", ".ini", ".log"})
"""Suffixes of files that are probably not TOML."""

MOST_BYTES = 64 * 2**20
"""Maximum size of a scenario or sweep file [bytes]; a longer list of flows must be in a separate file."""

OPEN_ALREADY = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Beginnings of the paths of pipes that the shell has opened for this process (``< file``, ``<(command)``)."""


def read_text(path: str | Path, what: str) -> str:
    """Read a text file that a user named.

    Parameters
    ----------
    path : str or Path
        A regular file, or a pipe that the shell has opened (`OPEN_ALREADY`).
    what : str
        Expected kind of file, for messages: "scenario file (TOML)".

    Returns
    -------
    str

    Raises
    ------
    InputError
        If it cannot be opened, is a device or a named pipe, is too large, or is not a text.

    Examples
    --------
    >>> read_text("/dev/zero", "scenario file (TOML)")
    Traceback (most recent call last):
    elephan.errors.InputError: /dev/zero: is a device; give the path of a scenario file (TOML)
    """
    with open_regular(path, what) as file:
        try:
            raw = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise InputError(_refused(path, error, what)) from None
    if len(raw) > MOST_BYTES:
        raise InputError(f"{path}: has more than {format_bytes(MOST_BYTES)}; give the path of a {what}")
    form = form_of(raw)
    # A TOML table header ([[links]]) looks like the beginning of a JSON list.
    if form and not raw.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
        raise InputError(f"{path}: is {form[0]}; give the path of a {what}")
    try:
        return decoded(raw)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def check_readable(path: str | Path, what: str, where: str) -> None:
    """Refuse a file that cannot be read, before another library or the import system loads it.

    Parameters
    ----------
    what : str
        Expected kind of file, as in `read_text`.
    where : str
        Option or place that names the file, put in front of the message.

    Raises
    ------
    InputError
        As `read_text`.
    """
    try:
        with open_regular(path, what):
            pass
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def with_kind(message: str, path: str | Path, what: str) -> str:
    """Return the message about a file; name the expected kind of file if the suffix is that of another kind.

    Examples
    --------
    >>> with_kind("README.md: line 3: no value", "README.md", "scenario file (TOML)")
    'README.md: line 3: no value; give the path of a scenario file (TOML)'
    """
    if what.startswith("scenario") and re.search(r": (base|over|zip|cases): unknown key", message):
        return f"{path}: is a sweep, not a scenario; elephan sweep runs it"
    expected = what in message or Path(path).suffix not in _NOT_TOML
    return message if expected else f"{message}; give the path of a {what}"


def decoded(raw: bytes) -> str:
    r"""Decode a text file, without its byte order mark, and with \n at the end of every line.

    Raises
    ------
    ValueError
        If it is not a text in UTF-8.

    Examples
    --------
    >>> decoded(b"\xef\xbb\xbftime_s,rate_bps\r\n0,1\r1,2")
    'time_s,rate_bps\n0,1\n1,2'
    """
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise ValueError("not a text file in UTF-8") from None


def form_of(raw: bytes) -> tuple[str, str] | None:
    r"""Identify the kind of a file that is neither a table nor TOML.

    Returns
    -------
    tuple of str, or None
        Name of the kind, and how to make the file readable (empty if impossible); None if it may be a table or TOML.

    Examples
    --------
    >>> form_of(b"PK\x03\x04..."), form_of(b"time_s,rate_bps"), form_of(b' {"a": 1}')
    (('a zip archive', 'unpack it'), None, ('a JSON document', ''))
    """
    begin = raw[:256].removeprefix(codecs.BOM_UTF8)
    packed = ((name, advice) for mark, name, advice in _FORMS if begin.startswith(mark))
    texts = ((name, "") for mark, name in _TEXTS if mark.match(begin.lstrip()))
    return next(packed, None) or next(texts, None)


def unpacked(raw: bytes, most: int = MOST_BYTES) -> bytes:
    r"""Decompress gzip data; return other bytes unchanged.

    Raises
    ------
    ValueError
        If the data are damaged, or have more than ``most`` bytes when decompressed; decompression stops there.

    Examples
    --------
    >>> import gzip
    >>> unpacked(gzip.compress(b"1\n3\n")), unpacked(b"1\n3\n")
    (b'1\n3\n', b'1\n3\n')
    """
    if not raw.startswith(b"\x1f\x8b"):
        return raw
    import gzip  # noqa: PLC0415 (few traces are packed)
    import zlib  # noqa: PLC0415 (as above)

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            text = file.read(most + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"is a damaged gzip file ({str(error).rstrip('.').lower()})") from None
    if len(text) > most:
        raise ValueError(f"holds more than {format_bytes(most)}")
    return text


def read_bytes(path: str | Path, what: str, most: int = MOST_BYTES, advice: str = "") -> bytes:
    """Read a file that a user named.

    Parameters
    ----------
    path : str or Path
    what : str
        Expected kind of file, for messages.
    most : int
        Maximum size of the file [bytes].
    advice : str
        Advice in the message about a larger file; by default, to give a smaller one.

    Returns
    -------
    bytes

    Raises
    ------
    InputError
        If it cannot be read, or is larger.
    """
    try:
        with open_regular(path, what) as file:
            raw = file.read(most + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    if len(raw) > most:
        raise InputError(f"{path}: has more than {format_bytes(most)}; {advice or f'give a shorter {what}'}")
    return raw


_are_files_refused: ContextVar[bool] = ContextVar("is_closed", default=False)


@contextmanager
def no_files() -> Iterator[None]:
    """Refuse to open any file while the block runs: the scenario comes from an untrusted source, such as a request.

    Examples
    --------
    >>> with no_files():
    ...     read_text("/etc/passwd", "scenario file (TOML)")
    Traceback (most recent call last):
    elephan.errors.InputError: /etc/passwd: names a file, and none is read here; run it with the command line
    """
    token = _are_files_refused.set(True)
    try:
        yield
    finally:
        _are_files_refused.reset(token)


def open_regular(path: str | Path, what: str) -> BinaryIO:
    """Open a file that a user named, for reading bytes.

    Parameters
    ----------
    path, what
        As for `read_text`.

    Returns
    -------
    file object

    Raises
    ------
    InputError
        If it cannot be opened, or is a device or a named pipe.
    """
    if _are_files_refused.get():
        raise InputError(f"{path!s}: names a file, and none is read here; run it with the command line")
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for a process at its other end.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(_refused(path, error, what)) from None
    except ValueError:
        raise InputError(f"{path!s}: no file has such a name; give the path of a {what}".replace("\0", "\\0")) from None
    mode = os.fstat(handle).st_mode
    if stat.S_ISFIFO(mode) and str(path).startswith(OPEN_ALREADY):
        os.set_blocking(handle, True)
    elif not stat.S_ISREG(mode):
        os.close(handle)
        kinds = ((stat.S_ISDIR, "directory"), (stat.S_ISFIFO, "pipe"), (stat.S_ISSOCK, "socket"))
        kind = next((name for test, name in kinds if test(mode)), "device")
        raise InputError(f"{path}: is a {kind}; give the path of a {what}")
    return open(handle, "rb")  # noqa: PTH123 (a handle has no path)


def _refused(path: str | Path, error: OSError, what: str) -> str:
    reason = f"{path}: {(error.strerror or 'cannot be read').lower()}"
    if isinstance(error, FileNotFoundError) and Path(path).parts[0:1] == ("scenarios",):
        return f"{reason}; elephan answer ID --out DIR writes the files of an answer, and elephan new a scenario"
    return f"{reason}; give the path of a {what}"


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML.

    Parameters
    ----------
    text : str

    Returns
    -------
    dict

    Raises
    ------
    tomllib.TOMLDecodeError
        If the text is not TOML, is nested too deeply, or has a number with too many digits for Python.

    Examples
    --------
    >>> parse_toml("x = [1, 2]")
    {'x': [1, 2]}
    >>> parse_toml(f"x = {'[' * 9999}")
    Traceback (most recent call last):
    tomllib.TOMLDecodeError: nested too deeply
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError("nested too deeply") from None
    except ValueError:
        # Raised for numbers with more digits than Python accepts (4300).
        raise tomllib.TOMLDecodeError("a number has too many digits") from None


def as_text(value: Any) -> str:
    """Format a parameter's value as in a scenario file.

    Examples
    --------
    >>> as_text(38.0), as_text(True), as_text("1 s"), as_text([[1.0, 0.5]])
    ('38', 'true', '1 s', '[[1, 0.5]]')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(as_text(item) for item in value)}]"
    if isinstance(value, dict):
        return inline_toml(value)
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def inline_toml(value: object) -> str:
    """Write a value as TOML on one line.

    Raises
    ------
    TypeError
        If TOML cannot represent the value; the message is the name of its type.

    Examples
    --------
    >>> inline_toml({"rate": "9.5 Mbit/s", "on": True, "steps": [1, 0.5]})
    '{ rate = "9.5 Mbit/s", on = true, steps = [1, 0.5] }'
    """
    if isinstance(value, Mapping):
        pairs = (f"{_key(str(key))} = {inline_toml(part)}" for key, part in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(inline_toml(part) for part in value)}]"
    if isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float):
        # This also converts numbers of NumPy.
        return repr(float(value) if isinstance(value, float) else int(value))
    raise TypeError(type(value).__name__)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)
