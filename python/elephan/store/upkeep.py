"""Maintenance of a store: check, clean up, and merge."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from elephan import _native
from elephan.store import failures, folders
from elephan.store.errors import StoreError
from elephan.store.index import FILE, Index
from elephan.store.labels import Labels
from elephan.store.locks import LOCK, discard, hold, leftovers, release
from elephan.store.opening import add_folders, make_again
from elephan.store.provenance import stamp
from elephan.store.tables import condition

if TYPE_CHECKING:
    from elephan.store.store import Store

SHARDS = "shards"


class DamageReport(NamedTuple):
    """A damaged file or row of a store."""

    run: str
    """Id of the run; empty for the index."""
    file: str
    what: str

    def __str__(self) -> str:
        return f"run {self.run}: {self.file}: {self.what}" if self.run else f"{self.file}: {self.what}"


@dataclass(frozen=True)
class Removed:
    """Result of removing runs and leftovers, or a preview of it.

    Parameters
    ----------
    runs : int
    leftovers : int
        Files and folders of processes that are dead.
    bytes : int
    failures : int
        Records of points that failed.
    """

    runs: int
    leftovers: int
    bytes: int
    failures: int = 0


@dataclass(frozen=True)
class MergeSummary:
    """Result of merging other stores.

    Parameters
    ----------
    added, known : int
        Runs.
    problems : tuple of DamageReport
        Runs that are damaged there, or that say otherwise than the run of the same id here; they were left out.
    """

    added: int = 0
    known: int = 0
    problems: tuple[DamageReport, ...] = field(default=())

    def __add__(self, other: MergeSummary) -> MergeSummary:
        return MergeSummary(self.added + other.added, self.known + other.known, self.problems + other.problems)


def verify(store: Store, *, repair: bool) -> list[DamageReport]:
    """Run the checks that `Store.verify` documents."""
    index, problems = store.index, []
    if store.is_index_repaired or not index.is_sound():
        problems.append(DamageReport("", FILE, "is damaged; the runs themselves are not concerned"))
        store.is_index_repaired = False
    sums = dict(index.rows("SELECT id, sha256 FROM runs"))
    bad: set[str] = set()
    there = list(folders.all_ids(store.folder))
    for run_id in there:
        found = list(folders.faults(folders.place(store.folder, run_id), run_id, sums.get(run_id)))
        problems += [DamageReport(run_id, file, what) for file, what in found]
        bad |= {run_id} if found else set()
    for run_id in sorted(sums.keys() - set(there)):
        problems.append(DamageReport(run_id, folders.DOCUMENT, "is missing with its whole folder"))
        bad.add(run_id)
    if not store.readonly:
        new = [run_id for run_id in there if run_id not in sums and run_id not in bad]
        refused = set(new) - set(add_folders(index, store.folder, new))
        problems += [DamageReport(run_id, folders.DOCUMENT, "is not the document of a run") for run_id in refused]
        bad |= refused
        _agree(store, index, [run_id for run_id in there if run_id not in bad])
        if repair:
            _drop(store, index, sorted(bad))
    return sorted(problems)


def repair_index(store: Store) -> None:
    """Rebuild the index from the runs, if it is damaged."""
    if not store.index.is_sound():
        store.index.connection.close()
        store.index = make_again(store.folder, store.writing())
        store.is_index_repaired = True


def _agree(store: Store, index: Index, ids: Iterable[str]) -> None:
    """Make the labels in journals and index equal; a process may have been killed between the two writes."""
    known: dict[str, list[str]] = {}
    for run_id, line in index.rows("SELECT r.id, p.labels FROM points AS p JOIN runs AS r USING (run)"):
        known.setdefault(run_id, []).append(line)
    for run_id in ids:
        folder = folders.place(store.folder, run_id)
        indexed = [json.loads(line) for line in known.get(run_id, []) if line != "{}"]
        noted = folders.read_labels(folder)
        lost = [labels for labels in indexed if labels not in noted]
        if lost:
            folders.append_labels(folder, *lost)
        number = index.number(run_id)
        if number is not None and (new := [labels for labels in noted if labels not in indexed]):
            with index.change():
                for labels in new:
                    index.label(number, labels)


def _drop(store: Store, index: Index, ids: list[str]) -> int:
    """Remove runs, first from the index so that none is listed without its folder; return the bytes freed."""
    _forget(index, ids)
    freed = 0
    for run_id in ids:
        folder = folders.place(store.folder, run_id)
        freed += size_of(folder)
        with store.writing().made() as trash:
            try:
                folder.rename(trash)
            except FileNotFoundError:
                continue
            except NotADirectoryError:
                folder.unlink()
    # A process that looked for a run before its folder was gone may have added it to the index again.
    _forget(index, [run_id for run_id in ids if not folders.place(store.folder, run_id).exists()])
    return freed


def _forget(index: Index, ids: Iterable[str]) -> None:
    with index.change():
        for run_id in ids:
            number = index.number(run_id)
            if number is not None:
                index.forget(number)


def chosen(
    index: Index, unlabelled: bool, other_versions: bool, older_than_s: float | None, labels: Labels | None
) -> list[str]:
    """List the runs that meet all given conditions; none if there is no condition.

    Parameters
    ----------
    older_than_s : float or None [s]
    """
    tests: list[str] = []
    values: list[object] = []
    if labels is not None:
        text, some = condition(index, labels)
        tests.append(f"run IN (SELECT p.run FROM points AS p WHERE {text})")
        values += some
    if unlabelled:
        tests.append("run IN (SELECT p.run FROM points AS p WHERE p.labels = '{}')")
    if other_versions:
        tests.append("engine_version <> ?")
        values.append(_native.version())
    if older_than_s is not None:
        tests.append("written < ?")
        values.append(stamp(datetime.now(UTC) - timedelta(seconds=older_than_s)))
    if not tests:
        return []
    rows = index.rows(f"SELECT id FROM runs WHERE {' AND '.join(tests)} ORDER BY id", values)
    return [run_id for (run_id,) in rows]


def gc(store: Store, runs: list[str], *, with_failures: bool, dry_run: bool) -> Removed:
    """Remove runs and leftovers.

    Parameters
    ----------
    with_failures : bool
        Also remove the records of failed points.
    """
    dead = leftovers(store.folder)
    freed = sum(size_of(path) for path in dead)
    failed = store.index.rows("SELECT count(*) FROM failures")[0][0] if with_failures else 0
    if dry_run:
        freed += sum(size_of(folders.place(store.folder, run_id)) for run_id in runs)
        return Removed(len(runs), len(dead), freed, failed)
    delete_leftovers(dead)
    if with_failures:
        failures.forget(store.index, store.folder)
    freed += _drop(store, store.index, runs)
    store.index.shrink()
    return Removed(len(runs), len(dead), freed, failed)


def index_leftovers(store: Store) -> None:
    """Index the runs that a killed process left unindexed, and those of a sweep's shards."""
    dead = leftovers(store.folder)
    if dead:
        known = {run_id for (run_id,) in store.index.rows("SELECT id FROM runs")}
        add_folders(store.index, store.folder, (each for each in folders.all_ids(store.folder) if each not in known))
        delete_leftovers(dead)
    merge_shards(store)


def delete_leftovers(paths: Iterable[Path]) -> None:
    """Remove the paths that `leftovers` found."""
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name.endswith(f".{LOCK}"):
            # Not that of a process which has just begun: it has made the file, and locks it next.
            discard(path)
        else:
            path.unlink(missing_ok=True)


def size_of(path: Path) -> int:
    """Return the size of a file, or of all files in a folder [bytes]."""
    if path.is_dir():
        return sum(size_of(each) for each in path.iterdir())
    try:
        return path.lstat().st_size
    except FileNotFoundError:
        return 0


def merge(store: Store, source: Path) -> MergeSummary:
    """Copy the contents of another store.

    Raises
    ------
    StoreError
        If `source` is not a store.
    """
    if not (source / "runs").is_dir() and not (source / FILE).exists():
        raise StoreError(f"merge: {source}: there is no store; give the folder of one")
    total = MergeSummary()
    for shard in sorted((source / SHARDS).glob("*/runs")):
        total += merge(store, shard.parent)
    added, known, problems = [], 0, []
    for run_id in folders.all_ids(source):
        there = folders.place(source, run_id)
        found = [DamageReport(run_id, str(there / file), what) for file, what in folders.faults(there, run_id)]
        if not found and store.find(run_id) is not None:
            found = _contradictions(store, run_id, there)
        if found:
            problems += found
        elif _bring_labels(store, run_id, there):
            known += 1
        else:
            with store.writing().made() as temporary:
                for file in (*folders.read(there).sizes, folders.JOURNAL):
                    if (there / file).exists():
                        shutil.copyfile(there / file, temporary / file)
                _settle(store, run_id, temporary)
            added.append(run_id)
    add_folders(store.index, store.folder, added)
    _bring_failures(store, source)
    return total + MergeSummary(len(added), known, tuple(problems))


def _contradictions(store: Store, run_id: str, there: Path) -> list[DamageReport]:
    """Report a run whose results differ from those of the run with the same id in the store."""
    if _measured_content(folders.place(store.folder, run_id)) == _measured_content(there):
        return []
    return [DamageReport(run_id, str(there / folders.DOCUMENT), "says otherwise than the run of the same id here")]


def _bring_labels(store: Store, run_id: str, there: Path) -> bool:
    """Add the labels of a run elsewhere to the store's run; return whether the store has it, with all its files."""
    found = store.find(run_id, series=(there / folders.SAMPLES).exists())
    if found is None:
        return False
    for labels in folders.read_labels(there):
        store.label(found, labels)
    return True


def _settle(store: Store, run_id: str, folder: Path) -> None:
    """Move a run's folder into the store, keeping the labels of one there that lacks samples or is damaged."""
    place = folders.place(store.folder, run_id)
    known = folders.read_labels(folder)
    if lost := [labels for labels in folders.read_labels(place) if labels not in known]:
        folders.append_labels(folder, *lost)
    store.writing().move_into_place(folder, place)


def _measured_content(folder: Path) -> dict[str, Any]:
    """Return the results in a run's document, without provenance and the scenario's name."""
    full = folders.read(folder).full
    run = {name: value for name, value in full["run"].items() if name != "scenario"}
    return {name: full[name] for name in ("links", "groups", "fairness", "resolved")} | {"run": run}


def merge_shards(store: Store) -> None:
    """Merge the stores of a sweep's shards that have no writer any more."""
    try:
        shards = sorted(path for path in (store.folder / SHARDS).iterdir() if path.is_dir())
    except FileNotFoundError:
        return
    for shard in shards:
        lock = hold(shard / LOCK, alone=True, wait=False)
        if lock is None:
            continue
        try:
            _merge_shard(store, shard)
            # The next process of this shard may be waiting already: it finds its lock gone and makes a new one.
            shutil.rmtree(shard, ignore_errors=True)
        finally:
            release(lock)
    with suppress(OSError):
        (store.folder / SHARDS).rmdir()


def _merge_shard(store: Store, shard: Path) -> None:
    moved = []
    for run_id in folders.all_ids(shard):
        there = folders.place(shard, run_id)
        if not _bring_labels(store, run_id, there):
            _settle(store, run_id, there)
            moved.append(run_id)
    add_folders(store.index, store.folder, moved)
    _bring_failures(store, shard)


def _bring_failures(store: Store, source: Path) -> None:
    for values in failures.read(source):
        if store.find(values["key"]) is None:
            store.fail(values["key"], values["scenario"], json.loads(values["labels"]), values["error"])
