"""Finished results by hash: runs in the store, and sizings in a folder of the store; their files for download."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from elephan import _native
from elephan.formats import stamped
from elephan.reports.folders import page_of
from elephan.reports.page import ReportPage
from elephan.reports.render import render
from elephan.runs.result import RunResult
from elephan.scenario import Scenario
from elephan.sizing import LimitAnswer, SizeAnswer
from elephan.store import Store
from elephan.store.keys import key
from elephan.store.stored import StoredRun

HASH = re.compile(r"[0-9a-f]{64}")
"""Form of an id: 64 hexadecimal digits."""

SIZES = "sizes"
"""Folder in the store with sizings; each has the files of ``elephan size --out``."""

DOCUMENTS = ("size.json", "limit.json")
"""Names of the documents of sizings."""

TYPES = {
    "report.html": "text/html; charset=utf-8",
    "result.json": "application/json",
    "scenario.toml": "application/toml",
    **dict.fromkeys(
        ("flows.parquet", "links.parquet", "samples.parquet", "transfers.parquet", "curve.parquet", "limit.parquet"),
        "application/vnd.apache.parquet",
    ),
}
"""Files of a result that can be downloaded, and their media types."""


LABELS = {"result.json": "JSON"} | {n: f"Parquet: {n.partition('.')[0]}" for n in TYPES if n.endswith(".parquet")}
"""Files of a result that can be downloaded in addition to the report, and their names on the page."""


class Results:
    """Results by hash. The store requires that only one thread uses it; files are read in any thread."""

    def __init__(self, folder: Path | None) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="elephan-store")
        self._store: Store = self._thread.submit(Store, folder).result()
        self.folder = self._store.folder

    def close(self) -> None:
        """Write the waiting rows, and release the store."""
        self._thread.submit(self._store.close).result()
        self._thread.shutdown()

    def find(self, scenario: Scenario) -> StoredRun | None:
        """Return the run of a scenario with its samples; None if the store does not have it."""
        return self._thread.submit(self._store.find, key(scenario), series=True).result()

    def keep(self, result: RunResult, asked: Scenario) -> StoredRun:
        """Put a run into the store; when this returns, the run is in the index, even if the process is killed."""

        def put() -> StoredRun:
            stored = self._store.put(result, key=key(asked))
            self._store.flush()
            return stored

        return self._thread.submit(put).result()

    def run(self, run_id: str) -> StoredRun | None:
        """Return the run with an id; None if it does not exist."""
        return self._thread.submit(self._store.find, run_id).result() if HASH.fullmatch(run_id) else None

    def size_folder(self, size_id: str) -> Path | None:
        """Return the folder of a sizing; None if it does not exist."""
        if not HASH.fullmatch(size_id):
            return None
        folder = self._place(size_id)
        return folder if any((folder / name).is_file() for name in DOCUMENTS) else None

    def keep_size(self, size_id: str, answer: SizeAnswer | LimitAnswer) -> Path:
        """Write a sizing into its folder atomically."""
        place = self._place(size_id)

        def put() -> None:
            lock = self._store.writing()
            with lock.named() as temporary:
                answer.write(temporary)
                lock.move_into_place(temporary, place)

        self._thread.submit(put).result()
        return place

    def _place(self, size_id: str) -> Path:
        return self.folder / SIZES / size_id[:2] / size_id

    def _folder(self, result_id: str) -> tuple[Path | None, StoredRun | None]:
        """Return the folder of a sizing and None, or the folder of a run and the run; None twice if neither exists."""
        if (folder := self.size_folder(result_id)) is not None:
            return folder, None
        stored = self.run(result_id)
        return (None if stored is None else stored.folder), stored

    def page(self, result_id: str) -> ReportPage | None:
        """Return the page of a run or a sizing; None if it does not exist."""
        if (folder := self.size_folder(result_id)) is not None:
            return page_of(folder)
        if (stored := self.run(result_id)) is None:
            return None
        with tempfile.TemporaryDirectory(prefix="elephan-") as copy:
            stored.write(copy)
            return page_of(Path(copy))

    def downloads(self, ids: Sequence[str], names: Sequence[str]) -> list[tuple[str, str]]:
        """Return addresses and names of the downloadable files of one or several results."""
        found = [(f"files/{'/'.join(ids)}/report.html", "Report")]
        for own, result_id in zip(names, ids, strict=True):
            folder, _ = self._folder(result_id)
            for name, shown in LABELS.items():
                is_there = folder is not None and (folder / name).is_file() and len(ids) <= 2
                if name == "result.json" or is_there:
                    found.append((f"files/{result_id}/{name}", f"{own}: {shown}" if own else shown))
        return found

    def file(self, result_id: str, name: str) -> bytes | None:
        """Return a file of a result, one of `TYPES`; None if it does not exist."""
        if name not in TYPES:
            return None
        if name == "report.html":
            page = self.page(result_id)
            return None if page is None else render(page).encode()
        folder, stored = self._folder(result_id)
        if folder is None:
            return None
        if name == "result.json":
            if stored is not None:
                return document_bytes(stored.to_json())
            name = next(each for each in DOCUMENTS if (folder / each).is_file())
        path = folder / name
        return path.read_bytes() if path.is_file() else None


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """Return a document in the format of ``elephan run --json``."""
    return (json.dumps(stamped(document), indent=1, allow_nan=False) + "\n").encode()


def size_key(scenario: Scenario, kind: str, target: str, link: str) -> str:
    """Return the id of a sizing: a hash of everything that determines its result.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> len(size_key(Scenario.from_text(EXAMPLE), "size", "utilization=0.9", "core"))
    64
    """
    asked = {"scenario": key(scenario), "kind": kind, "target": target, "link": link}
    return _native.digest(json.dumps(asked, sort_keys=True))
