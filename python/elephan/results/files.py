"""Files of results. Each is written under a temporary name and renamed, so that no file is ever incomplete."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from json.encoder import encode_basestring_ascii as _string
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from elephan.formats import stamped
from elephan.results.formats import FORMATS, TableFormat, read_table, table_format

_SCALAR = json.JSONEncoder(allow_nan=False)


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` if the block succeeds, and is removed otherwise.

    Yields
    ------
    Path
        Path in the same folder, with the same suffix; no file exists there.

    Raises
    ------
    OSError
        If the folder cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic(Path(folder) / "a.txt") as temporary:
    ...         _ = temporary.write_text("whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Made by whoever writes it, so it has the permissions of any new file.
    temporary = _temporary(path, path.stem, path.suffix)
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that replaces `folder` if the block succeeds, and is removed otherwise.

    Parameters
    ----------
    folder : Path
        If it is there, it is given itself: what else is in it stays.

    Yields
    ------
    Path
        An empty one beside it, or `folder`.

    Raises
    ------
    OSError
        If it cannot be made.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with whole_folder(Path(parent) / "a") as folder:
    ...         _ = (folder / "b.txt").write_text("whole")
    ...     (Path(parent) / "a" / "b.txt").read_text()
    'whole'
    """
    if folder.exists():
        yield folder
        return
    temporary = _temporary(folder, folder.name)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        temporary.replace(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


_LEFT = re.compile(r"\..+-([0-9a-f]{8})([0-9a-f]{8})[0-9a-f]{8}(\.[^.]*)?")
"""Pattern of the names that `_temporary` returns: checksum of the host's name, process id, random digits."""

_cleared: set[Path] = set()
"""Folders that this process has already cleared of temporary files of killed processes."""


def _temporary(path: Path, stem: str, suffix: str = "") -> Path:
    """Return a temporary name beside `path`; remove the leftovers of killed processes of this host there first."""
    machine = f"{zlib.crc32(platform.node().encode()):08x}"
    if path.parent not in _cleared:
        _cleared.add(path.parent)
        for left in path.parent.iterdir() if path.parent.is_dir() else ():
            found = _LEFT.fullmatch(left.name)
            if found is None or found[1] != machine or _is_alive(int(found[2], 16)):
                continue
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                with suppress(OSError):
                    left.unlink()
    return path.with_name(f".{stem}-{machine}{os.getpid():08x}{os.urandom(4).hex()}{suffix}")


def _is_alive(process: int) -> bool:
    """Whether a process of this host is still alive."""
    if os.name != "posix":
        return True  # To ask would end it there.
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


_RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³])(\..*)?", re.IGNORECASE)
"""File names reserved for devices on Windows, with any extension."""

LONGEST_NAME = 120
"""Maximum length of a name used as part of a file name [bytes]: file systems allow 255 for the whole."""


def file_names(names: Sequence[str]) -> list[str]:
    """Turn names of links, flows, laws or points into parts of file names.

    Parameters
    ----------
    names : sequence of str
        Names within one folder; any text.

    Returns
    -------
    list of str
        Letters, digits, ``-``, ``_`` and ``.``, with ``~`` and a number where it would else be another's name on a
        file system that does not tell upper case from lower; never a path, hidden, or a device of Windows.

    Examples
    --------
    >>> file_names(["core", "client[3]", "../../core", "CON"])
    ['core', 'client-3', 'core~2', '_CON']
    """
    found: list[str] = []
    taken: set[str] = set()
    for i, name in enumerate(names):
        safe = re.sub(r"[^\w.-]+", "-", name).strip("-.").encode()[:LONGEST_NAME].decode(errors="ignore")
        safe = safe.strip("-.") or "_"
        safe = f"_{safe}" if _RESERVED.fullmatch(safe) else safe
        key = unicodedata.normalize("NFKC", safe).casefold()
        found.append(f"{safe}~{i}" if key in taken else safe)
        taken.add(key)
    return found


def write_bytes(path: Path, content: bytes) -> Path:
    """Write a file atomically.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    with atomic(path) as temporary:
        temporary.write_bytes(content)
    return path


def write_text(path: Path, text: str) -> Path:
    """Write a text file atomically.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    return write_bytes(path, text.encode())


def write_json(path: Path, document: Mapping[str, Any]) -> Path:
    """Write a JSON document atomically.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    return write_bytes(path, encode_json(document))


def encode_json(document: Mapping[str, Any]) -> bytes:
    r"""Return a JSON document as it is written to files: its version, then one value per line, indented by one.

    Raises
    ------
    ValueError
        If a number is none that JSON has.

    Examples
    --------
    >>> encode_json({"links": [{"name": "core"}]})
    b'{\n "format": 1,\n "links": [\n  {\n   "name": "core"\n  }\n ]\n}\n'
    """
    return (_indented(stamped(document), "\n") + "\n").encode()


def _indented(value: Any, line: str) -> str:
    """Return the same text as `json.dumps` with ``indent=1``, which is pure Python and takes five times as long."""
    inner = line + " "
    if isinstance(value, dict) and value:
        parts = [f"{_string(key)}: {_indented(one, inner)}" for key, one in value.items()]
        return f"{{{inner}{f',{inner}'.join(parts)}{line}}}"
    if isinstance(value, list | tuple) and value:
        return f"[{inner}{f',{inner}'.join([_indented(one, inner) for one in value])}{line}]"
    # Fast path for the most frequent types.
    if type(value) is int or (type(value) is float and isfinite(value)):
        return repr(value)
    return _string(value) if type(value) is str else _SCALAR.encode(value)


class TableColumns(NamedTuple):
    """A table among the files of a result; its name gets the suffix of a format.

    Parameters
    ----------
    columns : mapping of str to array_like, shape (rows,)
    metadata : mapping of str to str
        Traces the file back to its run.
    """

    columns: Mapping[str, Any]
    metadata: Mapping[str, str]


def encode_files(files: Iterable[tuple[str, Any]], tables: str = "parquet") -> Iterator[tuple[str, bytes]]:
    """Encode the files of a result one by one, so that they need not all be in memory.

    Parameters
    ----------
    files : iterable of tuple of str and content
        A content is text, bytes, a document, `TableColumns`, or the path of a file to copy.
    tables : str
        Suffix of the format of tables, one of `elephan.results.formats.FORMATS`.

    Yields
    ------
    tuple of str and bytes
        Name and content.

    Raises
    ------
    InputError
        If there is no such format.
    """
    made = table_format(tables)
    for name, content in files:
        if isinstance(content, TableColumns):
            yield f"{name}.{made.suffix}", made.encode_columns(*content)
        elif isinstance(content, bytes):
            yield name, content
        elif isinstance(content, Path):
            yield _copied(content, made)
        else:
            yield name, content.encode() if isinstance(content, str) else encode_json(content)


def _copied(path: Path, made: TableFormat) -> tuple[str, bytes]:
    """Return a file; a table in another format is converted."""
    if path.suffix.removeprefix(".") not in FORMATS or path.suffix in (f".{made.suffix}", ".json"):
        return path.name, path.read_bytes()
    table = read_table(path)
    about = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    columns = {name: table[name] for name in table.column_names}
    return f"{path.stem}.{made.suffix}", made.encode_columns(columns, about)


def write_files(folder: Path, files: Iterable[tuple[str, Any]], tables: str = "parquet") -> list[Path]:
    """Write the files of a result, see `encode_files`; each appears whole or not at all.

    Returns
    -------
    list of Path
        In the order of the files.

    Raises
    ------
    InputError
        If there is no such format.
    OSError
        If the folder cannot be written.
    """
    return [write_bytes(folder / name, content) for name, content in encode_files(files, tables)]
