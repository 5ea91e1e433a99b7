"""Folders of runs: written whole or not at all, and checked against their own checksums."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from elephan.run.files import write_text
from elephan.store.labels import as_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from elephan.run.result import Result
    from elephan.store.labels import Labels

DOCUMENT, JOURNAL = "run.json", "labels.jsonl"


def place(store: Path, run_id: str) -> Path:
    """Say where a run lies.

    Parameters
    ----------
    store : Path
    run_id : str

    Returns
    -------
    Path
    """
    return store / "runs" / run_id[:2] / run_id


def write(folder: Path, result: Result, run_id: str, where: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, int]]:
    """Write a run into a folder that nobody else looks at yet.

    Parameters
    ----------
    folder : Path
    result : Result
    run_id : str
    where : mapping
        Provenance.

    Returns
    -------
    dict
        What ``run.json`` holds.
    dict of str to int
        Sizes of all files.
    """
    written = result.write(folder)
    document = result.to_json()
    run = dict(document["run"])
    files, sizes = {}, {}
    for path in written:
        if path.name != DOCUMENT:
            with path.open("rb") as file:
                files[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
            sizes[path.name] = path.stat().st_size
    full = {
        "id": run_id,
        **document,
        "resolved": result.scenario.resolved,
        "files": files,
        "provenance": {**where, "wall_s": run.pop("wall_s")},
    }
    full["run"] = run
    text = json.dumps(full, indent=1, allow_nan=False) + "\n"
    (folder / DOCUMENT).write_text(text, encoding="utf-8")
    sizes[DOCUMENT] = len(text.encode())
    return full, sizes


def read(folder: Path) -> dict[str, Any]:
    """Read what ``run.json`` holds.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    dict

    Raises
    ------
    OSError
        If it is not there.
    ValueError
        If it is damaged.
    """
    full = json.loads((folder / DOCUMENT).read_bytes())
    if not isinstance(full, dict) or not {"id", "run", "links", "groups", "files", "provenance"} <= full.keys():
        message = "is not the document of a run"
        raise ValueError(message)
    return full


def as_document(full: Mapping[str, Any]) -> dict[str, Any]:
    """Give the document of ``elephan run --json`` back.

    Parameters
    ----------
    full : mapping
        What ``run.json`` holds.

    Returns
    -------
    dict
    """
    document = {name: value for name, value in full.items() if name not in {"id", "resolved", "files", "provenance"}}
    run = dict(document["run"])
    delivered = run.pop("packets_delivered")
    document["run"] = run | {"wall_s": full["provenance"]["wall_s"], "packets_delivered": delivered}
    return document


def note(folder: Path, labels: Labels) -> None:
    """Add a set of labels to a run's journal.

    One line is appended at once, so that two processes lose nothing of each other.

    Parameters
    ----------
    folder : Path
    labels : dict
    """
    handle = os.open(folder / JOURNAL, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        size = os.fstat(handle).st_size
        # A line that a killed process left unfinished stays alone.
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        os.write(handle, f"{chr(10) if torn else ''}{as_line(labels)}\n".encode())
    finally:
        os.close(handle)


def noted(folder: Path) -> list[Labels]:
    """Read the sets of labels from a run's journal.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of dict
        Each once.
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
            continue  # Its writer was killed, so nobody was told that it is there.
        if isinstance(labels, dict):
            sets[as_line(labels)] = labels
    return list(sets.values())


def whole(folder: Path, sizes: Mapping[str, int]) -> bool:
    """Tell whether all files are there in their sizes; what they hold `verify` checks.

    Parameters
    ----------
    folder : Path
    sizes : mapping of str to int

    Returns
    -------
    bool
    """
    try:
        return all(os.stat(f"{folder}/{name}").st_size == size for name, size in sizes.items())
    except OSError:
        return False


__all__ = ["DOCUMENT", "JOURNAL", "as_document", "note", "noted", "place", "read", "whole", "write", "write_text"]
