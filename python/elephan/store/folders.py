"""Folders of runs: atomic writing, and checks against checksums."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from elephan import _native
from elephan.errors import InputError
from elephan.formats import FORMAT, unstamped
from elephan.results.files import encode_files
from elephan.runs.files import run_tables
from elephan.runs.saved import BESIDE
from elephan.store.keys import key_of
from elephan.store.labels import Labels, as_line
from elephan.store.provenance import here

if TYPE_CHECKING:
    from elephan.results import RunFileDocument
    from elephan.runs.result import RunResult

DOCUMENT, JOURNAL, SAMPLES = "run.json", "labels.jsonl", "samples.parquet"


@dataclass(frozen=True)
class PackedRun:
    """A result encoded for the store. A worker process can send it to the process that writes.

    Parameters
    ----------
    key : str
        Key of the result, used if the key of its request is not given.
    document : dict
        Document of ``elephan run --json``.
    resolved : dict
        Canonical form of its scenario.
    files : dict of str to bytes
        Contents of all files except ``run.json``.
    """

    key: str
    document: Mapping[str, Any]
    resolved: dict[str, Any]
    files: dict[str, bytes]


@dataclass(frozen=True)
class RunFolder:
    """Contents of a run's folder.

    Parameters
    ----------
    full : dict
        Contents of ``run.json``.
    sha256 : str
        Checksum of ``run.json``.
    sizes : dict of str to int
        Sizes of all files except the journal [B].
    """

    full: RunFileDocument
    sha256: str
    sizes: dict[str, int]

    @property
    def id(self) -> str:
        """Id of the run in the store."""
        return str(self.full["store"]["id"])


def pack(result: RunResult) -> PackedRun:
    """Encode the files of a result.

    Parameters
    ----------
    result : RunResult

    Returns
    -------
    PackedRun

    Examples
    --------
    >>> import elephan
    >>> sorted(pack(elephan.run(elephan.Scenario.from_text(elephan.EXAMPLE))).files)
    ['flows.parquet', 'links.parquet', 'scenario.toml']
    """
    # Requested metrics are not part of a stored run: another request for the same run may have other metrics.
    document = {name: part for name, part in result.to_json().items() if name != "metrics"}
    return PackedRun(key_of(result), document, result.scenario.resolved, dict(encode_files(run_tables(result))))


def place(store: Path, run_id: str) -> Path:
    """Return the folder of a run."""
    return Path(where(store, run_id))


def where(store: Path, run_id: str) -> str:
    """Return the folder of a run as a string, ten times as fast as `place`, because sweeps call it often."""
    return f"{store}/runs/{run_id[:2]}/{run_id}"


def write(folder: Path, packed: PackedRun, run_id: str, *sets: Labels) -> RunFolder:
    """Write a run into a temporary folder.

    Parameters
    ----------
    folder : Path
        Path of the folder, which this function creates.
    *sets : dict
        Sets of labels of the run.
    """
    run = dict(packed.document["run"])
    wall_s = run.pop("wall_s")
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in packed.files.items()}
    full: Any = {
        **packed.document,
        "run": run,
        "resolved": packed.resolved,
        "files": sums,
        "store": {"format": FORMAT, "id": run_id},
        "provenance": {**here(), "wall_s": wall_s},
    }
    # Each part of the document gets its own line.
    content = _native.json_lines(full)
    journal = [(JOURNAL, _lines(sets))] if sets else []
    _native.write_folder(str(folder), [*packed.files.items(), *journal, (DOCUMENT, content)])
    sizes = {name: len(each) for name, each in packed.files.items()} | {DOCUMENT: len(content)}
    return RunFolder(full, hashlib.sha256(content).hexdigest(), sizes)


def read(folder: Path) -> RunFolder:
    """Read ``run.json``, and the sizes of the other files.

    Raises
    ------
    OSError
        If a file is missing.
    ValueError
        If ``run.json`` is not the document of a run.
    """
    content = (folder / DOCUMENT).read_bytes()
    full: Any = json.loads(content)
    if isinstance(full, dict):
        full = _unstamped(full)
    parts = {"run", "links", "groups", "fairness", *BESIDE}
    if not isinstance(full, dict) or not parts <= full.keys() or "id" not in full["store"]:
        raise ValueError("is not the document of a run")
    sizes = {name: (folder / name).stat().st_size for name in full["files"]} | {DOCUMENT: len(content)}
    return RunFolder(cast("RunFileDocument", full), hashlib.sha256(content).hexdigest(), sizes)


def _unstamped(document: dict[str, Any]) -> dict[str, Any]:
    try:
        return unstamped(document, DOCUMENT)
    except InputError as error:
        raise ValueError(str(error)) from None


def faults(folder: Path, run_id: str, sha256: str | None = None) -> Iterator[tuple[str, str]]:
    """Yield each damaged file of a run, and its fault.

    Parameters
    ----------
    run_id : str
        Expected id.
    sha256 : str, optional
        Checksum of ``run.json`` according to the index.
    """
    try:
        content = (folder / DOCUMENT).read_bytes()
        full = json.loads(content)
        sums, name = dict(full["files"]), full["store"]["id"]
    except (FileNotFoundError, NotADirectoryError):
        yield DOCUMENT, "is missing"
        return
    except (ValueError, KeyError, TypeError):
        yield DOCUMENT, "cannot be read"
        return
    if name != run_id:
        yield DOCUMENT, f"belongs to run {name[:12]}"
    if sha256 is not None and (found := hashlib.sha256(content).hexdigest()) != sha256:
        yield DOCUMENT, _changed(found, sha256)
    for file, expected in sums.items():
        try:
            with (folder / file).open("rb") as opened:
                found = hashlib.file_digest(opened, "sha256").hexdigest()
        except FileNotFoundError:
            yield file, "is missing"
            continue
        if found != expected:
            yield file, _changed(found, expected)


def _changed(found: str, expected: str) -> str:
    return f"has changed: its SHA-256 is {found[:12]}… and was {expected[:12]}…"


def append_labels(folder: Path, *sets: Labels) -> None:
    """Add sets of labels to a run's journal.

    Whole lines are appended in one call, so that processes do not overwrite each other's labels.
    """
    handle = os.open(f"{folder}/{JOURNAL}", os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        size = os.fstat(handle).st_size
        # If a killed process left an incomplete line, begin a new one after it.
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        os.write(handle, (b"\n" if torn else b"") + _lines(sets))
    finally:
        os.close(handle)


def _lines(sets: Iterable[Labels]) -> bytes:
    return "".join(f"{as_line(labels)}\n" for labels in sets).encode()


def read_labels(folder: Path) -> list[Labels]:
    """Read the sets of labels from a run's journal.

    Returns
    -------
    list of dict
        The distinct sets.
    """
    try:
        lines = (folder / JOURNAL).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    sets: dict[str, Labels] = {}
    for line in lines:
        try:
            labels = json.loads(line)
        except ValueError:
            continue  # The line is incomplete: its writer was killed.
        if isinstance(labels, dict):
            sets[as_line(labels)] = labels
    return list(sets.values())


def has_all_files(folder: Path, sizes: Mapping[str, int]) -> bool:
    """Return whether all files exist and have the recorded sizes; `faults` also checks their contents."""
    try:
        return all(os.stat(f"{folder}/{name}").st_size == size for name, size in sizes.items())  # noqa: PTH116 (fast)
    except OSError:
        return False


def all_ids(store: Path) -> Iterator[str]:
    """Yield the ids of all runs with a folder."""
    try:
        parents = sorted(os.scandir(store / "runs"), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for parent in parents:
        if parent.is_dir():
            yield from sorted(os.listdir(parent.path))  # noqa: PTH208 (names alone, of millions)
