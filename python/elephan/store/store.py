"""Store of runs by key: a folder for each run, and an index for queries."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from elephan.own_laws import LawSource
from elephan.results import ResultPart, ResultTables
from elephan.results.formats import table_format
from elephan.runs import run
from elephan.runs.files import write_bytes
from elephan.scenario import Scenario
from elephan.store import failures, folders, query, tables, upkeep
from elephan.store.errors import DamageError, StoreError, reraise_as_store_error
from elephan.store.keys import WINDOW, key
from elephan.store.labels import Labels, as_labels, as_line
from elephan.store.locks import WriterLock
from elephan.store.opening import add_folders, make_again, open_to_read, open_to_write, usual
from elephan.store.provenance import now, of_process
from elephan.store.stored import StoredRun
from elephan.store.table import StoreTable
from elephan.store.upkeep import DamageReport, MergeSummary, Removed

if TYPE_CHECKING:
    from elephan.runs.result import RunResult

MOST, LONGEST_S = 100, 0.25
"""Maximum number of rows waiting for the index, and their maximum wait [s]. The folders are already there."""


class Store(ResultTables):
    """A folder of runs with an index.

    Several processes may use one store at the same time. In a process, one thread at a time.

    Parameters
    ----------
    folder : str or Path, optional
        ``$ELEPHAN_STORE``, else ``.elephan`` in the working directory. Made if missing.
    readonly : bool
        Never write; a folder that cannot be written can be read so.
    repair : bool
        Make the index again from the runs where it is damaged, before anything else is done with it.

    Raises
    ------
    InputError
        If the folder cannot be used, or was written by a newer elephan.

    Examples
    --------
    >>> import elephan, tempfile
    >>> scenario = elephan.Scenario.from_text(elephan.EXAMPLE)
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     first = store.run(scenario, labels={"buffer": "25 packets"})
    ...     again = store.run(scenario)
    ...     store.table(columns=["buffer", "replications"]).arrow.to_pylist()
    [{'buffer': '25 packets', 'replications': 1}]
    """

    key = staticmethod(key)

    def __init__(self, folder: str | Path | None = None, *, readonly: bool = False, repair: bool = False) -> None:
        self.folder, self.readonly, self.is_index_repaired = usual(folder), readonly, False
        self._writer_lock: WriterLock | None = None
        self._waiting: dict[str, tuple[folders.RunFolder, list[Labels]]] = {}
        self._flushed = -LONGEST_S
        with reraise_as_store_error(self.folder):
            if readonly:
                self.index = open_to_read(self.folder)
                return
            of_process()
            # First, so that no process that finds this one's folder takes it for a dead one's.
            self._writer_lock = WriterLock(self.folder)
            try:
                try:
                    self.index = open_to_write(self.folder, self._writer_lock)
                except DamageError:
                    if not repair:
                        raise
                    self.index = make_again(self.folder, self._writer_lock)
                    self.is_index_repaired = True
                if repair:
                    upkeep.repair_index(self)
                upkeep.index_leftovers(self)
            except BaseException:
                self._writer_lock.end()
                raise

    def __repr__(self) -> str:
        return f"<Store {str(self.folder)!r}{', to be read only' if self.readonly else ''}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write the waiting rows and release the store."""
        try:
            self.flush()
        finally:
            self.index.connection.close()
            if self._writer_lock is not None:
                # Rows that could not be written are recovered by the next process, as if this one had been killed.
                self._writer_lock.end(clean=not self._waiting)
                self._writer_lock = None

    def flush(self) -> None:
        """Write the waiting rows to the index, which makes them visible to other processes."""
        if not self._waiting:
            return
        with reraise_as_store_error(self.folder), self.index.change():
            for folder, sets in self._waiting.values():
                self.index.add(folder, sets)
            failures.forgive(self.index, self.folder, self._waiting)
        self._waiting.clear()
        self._flushed = time.monotonic()

    def find(self, key: str, *, series: bool = False) -> StoredRun | None:
        """Return the run with a key.

        Parameters
        ----------
        key : str
            Key of a request, see `elephan.store.keys.key`.
        series : bool
            It must have the sampled series.

        Returns
        -------
        StoredRun or None
            None also for one that has lost files or parts of them.
        """
        with reraise_as_store_error(self.folder):
            sizes = self._sizes(key)
            if sizes is None or (series and folders.SAMPLES not in sizes):
                return None
            return self._stored(key) if folders.has_all_files(folders.place(self.folder, key), sizes) else None

    def put(
        self,
        result: RunResult | folders.PackedRun,
        *,
        key: str | None = None,
        labels: Mapping[str, object] | None = None,
    ) -> StoredRun:
        """Store a run atomically; a run that is already there is not written again.

        Parameters
        ----------
        result : RunResult or PackedRun
            Result of `elephan.run`, or its encoding by `pack` in another process.
        key : str, optional
            Key of the request, see `elephan.store.keys.key`.
        labels : mapping, optional
            A set of labels for it.

        Returns
        -------
        StoredRun

        Raises
        ------
        InputError
            If the disk is full, or the store cannot be written.
        """
        writing = self.writing()
        sets = [made] if (made := as_labels(labels)) else []
        with reraise_as_store_error(self.folder):
            self.index.check(made)
        packed = result if isinstance(result, folders.PackedRun) else folders.pack(result)
        run_id = key or packed.key
        place = folders.place(self.folder, run_id)
        # Before the look at the index: what another process puts there in between is not replaced.
        is_there = os.path.exists(place)  # noqa: PTH110 (as below)
        known = self._known(run_id, packed, sets)
        if known is not None:
            return known
        with reraise_as_store_error(self.folder):
            sets = self._labels_of(run_id, place, is_there=is_there) + sets
            with writing.named() as temporary:
                written = folders.write(temporary, packed, run_id, *sets)
                if not writing.move_into_place(temporary, place, replace=is_there):
                    # Another process was quicker. What it wrote stays: the index must not say one thing of the folder
                    # of the other.
                    known = self._known(run_id, packed, sets)
                    if known is not None:
                        return known
                    writing.move_into_place(temporary, place)
        self._wait(run_id, written, sets)
        return self._stored(run_id, place)

    def label(self, run: StoredRun | str, labels: Mapping[str, object]) -> None:
        """Add a set of labels to a run.

        Parameters
        ----------
        run : StoredRun or str
            Or its id.
        labels : mapping of str to str, number or bool
            Tables become one line of TOML.

        Raises
        ------
        InputError
            If there is no such run, or the labels cannot be kept.
        """
        self.writing()
        made = as_labels(labels)
        stored = run if isinstance(run, StoredRun) else self.get(run)
        self.flush()
        with reraise_as_store_error(self.folder):
            number = self.index.number(stored.id)
            if number is None:
                raise StoreError(f"store {self.folder}: {stored.id[:12]}: no such run")
            if made and made not in self.index.sets(number):
                with self.index.change():
                    self.index.label(number, made)
                    folders.append_labels(stored.folder, made)

    def fail(self, key: str, scenario_text: str, labels: Mapping[str, object], error: str) -> None:
        """Record that a point failed; a later `put` under its key removes the record.

        Parameters
        ----------
        key : str
        scenario_text : str
        labels : mapping
        error : str
            One line.
        """
        self.writing()
        line = as_line(as_labels(labels))
        values = {"key": key, "labels": line, "scenario": scenario_text, "error": error, "written": now()}
        with reraise_as_store_error(self.folder):
            failures.keep(self.index, self.folder, values)

    def failures(self) -> list[dict[str, Any]]:
        """List the failed points.

        Returns
        -------
        list of dict
            ``key``, ``labels``, ``scenario``, ``error``, ``written``; sorted by labels.
        """
        self.flush()
        with reraise_as_store_error(self.folder):
            return failures.known(self.index)

    def run(
        self,
        scenario: Scenario | str | Path,
        replications: int | None = None,
        seed: int | None = None,
        workers: int | None = None,
        progress: Callable[[int, int], None] | None = None,
        *,
        series: bool = False,
        engine: str = WINDOW,
        precision: str | Sequence[str] | None = None,
        max_replications: int = 100,
        labels: Mapping[str, object] | None = None,
        laws: Mapping[str, LawSource] | None = None,
        again: bool = False,
        simulate: Callable[..., RunResult] | None = None,
    ) -> StoredRun:
        """Return the run of a scenario, computing and storing it if it is missing.

        Parameters
        ----------
        scenario, replications, seed, workers, progress, series, engine, precision, max_replications
            As `elephan.run` takes them.
        labels : mapping, optional
            A set of labels for it.
        laws : mapping of str to class or path, optional
            As `elephan.run` takes them.
        again : bool
            Simulate also a run that is there.
        simulate : callable, optional
            Called as `elephan.run`, and in its place.

        Returns
        -------
        StoredRun

        Raises
        ------
        InputError
            As `elephan.run`, and if the store cannot be written.
        """
        self.writing()
        read = Scenario.from_any(scenario, laws).replace(replications=replications, seed=seed)
        asked: dict[str, Any] = {"engine": engine, "precision": precision, "max_replications": max_replications}
        wanted = key(read, **asked)
        if (found := None if again else self.find(wanted, series=series)) is not None:
            if labels:
                self.label(found, labels)
            return found
        result = (simulate or run)(read, workers=workers, progress=progress, series=series, **asked)
        return self.put(result, key=wanted, labels=labels)

    def get(self, prefix: str) -> StoredRun:
        """Return the run whose id begins with a prefix.

        Parameters
        ----------
        prefix : str
            Prefix of an id in the store, or of the id that ``elephan run`` shows.

        Returns
        -------
        StoredRun

        Raises
        ------
        InputError
            If there is none, or several.
        """
        self.flush()
        with reraise_as_store_error(self.folder):
            found = self.index.begins(prefix)
        if len(found) != 1 or not prefix:
            several = ", ".join(run_id[:12] for run_id in found)
            what = f"several runs begin so ({several}); give more of it" if found else "no run begins so"
            raise StoreError(f"store {self.folder}: {prefix}: {what}; elephan store ls lists them")
        return self._stored(found[0])

    def runs(self, **labels: object) -> list[StoredRun]:
        """List runs.

        Parameters
        ----------
        **labels
            Only those with these; names with signs in them go in as ``**{"links[0].buffer": "1 bdp"}``.

        Returns
        -------
        list of StoredRun
            Runs sorted by id.

        Raises
        ------
        InputError
            If no run has a label of that name.
        """
        self.flush()
        with reraise_as_store_error(self.folder):
            return [self._stored(run_id) for run_id in tables.runs(self.index, as_labels(labels))]

    @property
    def parts(self) -> list[ResultPart]:
        """Runs of the store, one for each set of labels that they have."""
        found = [(one, labels) for one in self.runs() for labels in one.labels or [{}]]
        return [ResultPart(labels, one.document, one.arrays) for one, labels in found]

    @property
    def _title(self) -> str:
        return str(self.folder)

    def query(self, sql: str) -> StoreTable:
        """Query the index in SQL, read-only.

        Parameters
        ----------
        sql : str
            One statement. The view ``results`` has a row per run and label set with the columns of `table`; the
            tables are ``runs``, ``links``, ``groups``, ``points``, ``failures``.

        Returns
        -------
        StoreTable

        Raises
        ------
        InputError
            If it is wrong, with the nearest name.

        Examples
        --------
        >>> import elephan, tempfile
        >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
        ...     run = store.run(elephan.Scenario.from_text(elephan.EXAMPLE), labels={"buffer": "25 packets"})
        ...     store.query('SELECT buffer, avg("core.buffer_packets") AS mean FROM results').arrow.to_pylist()
        [{'buffer': '25 packets', 'mean': 25.0}]
        """
        self.flush()
        with reraise_as_store_error(self.folder):
            return StoreTable(query.ask(self.index, sql))

    def table(
        self, labels: Mapping[str, object] | None = None, columns: Sequence[str] = ("labels", "summary")
    ) -> StoreTable:
        """Return the runs as one table.

        Parameters
        ----------
        labels : mapping, optional
            Only points with these.
        columns : sequence of str
            Names of columns; ``"labels"`` and ``"summary"`` stand for all of theirs.

        Returns
        -------
        StoreTable
            A row per run and label set, sorted by labels and id: the same for the same results.

        Raises
        ------
        InputError
            If there is no such column or label.
        """
        self.flush()
        with reraise_as_store_error(self.folder):
            return StoreTable(tables.lay_out(self.index, as_labels(labels), columns))

    def export(
        self,
        path: str | Path | None = None,
        format: str = "csv",  # noqa: A002 (what users call it)
        columns: Sequence[str] = ("labels", "summary"),
        labels: Mapping[str, object] | None = None,
    ) -> bytes:
        """Write `table` to a file; equal results give equal bytes.

        Parameters
        ----------
        path : str or Path, optional
            Path of the file; by default none is written.
        format : str
            ``"csv"``, ``"parquet"``, ``"json"`` or one of your own (`elephan.results.formats.TableFormat`).
        columns, labels
            As `table` takes them.

        Returns
        -------
        bytes
            Content of the file.

        Raises
        ------
        InputError
            If there is no such format or column, or the file cannot be written.
        """
        if path is not None and Path(path).is_dir():
            raise StoreError(f"{path}: is a folder; give the name of a file, such as {Path(path) / f'all.{format}'}")
        content = table_format(format).encode(self.table(labels, columns).arrow)
        if path is not None:
            with reraise_as_store_error(Path(path)):
                write_bytes(Path(path), content)
        return content

    def verify(self, *, repair: bool = False) -> list[DamageReport]:
        """Check every run against its checksums, and the index against the runs.

        Parameters
        ----------
        repair : bool
            Remove damaged runs, so that the next sweep runs them again, and repair the index.

        Returns
        -------
        list of DamageReport
            Empty if all is as it was written.
        """
        self.flush()
        if repair:
            self.writing()
        with reraise_as_store_error(self.folder):
            if repair:
                upkeep.repair_index(self)
            return upkeep.verify(self, repair=repair)

    def gc(
        self,
        *,
        unlabelled: bool = False,
        other_versions: bool = False,
        older_than_s: float | None = None,
        labels: Mapping[str, object] | None = None,
        failures: bool = False,
        dry_run: bool = False,
    ) -> Removed:
        """Remove the leftovers of dead processes, and the runs that meet all given conditions; none without conditions.

        Parameters
        ----------
        unlabelled : bool
            Runs without labels.
        other_versions : bool
            Runs of other versions of the engine.
        older_than_s : float, optional
            Minimum time since the run was written [s].
        labels : mapping, optional
            Runs that carry these.
        failures : bool
            Also remove the records of all failed points; a sweep that asks for one tries it anyway.
        dry_run : bool
            Only show how much would be removed.

        Returns
        -------
        Removed
        """
        if not dry_run:
            self.writing()
        self.flush()
        with reraise_as_store_error(self.folder):
            named = None if labels is None else as_labels(labels)
            chosen = upkeep.chosen(self.index, unlabelled, other_versions, older_than_s, named)
            return upkeep.gc(self, chosen, with_failures=failures, dry_run=dry_run)

    def merge(self, *others: Store | str | Path) -> MergeSummary:
        """Copy the runs, labels and failures of other stores into this one.

        Parameters
        ----------
        *others : Store or path

        Returns
        -------
        MergeSummary

        Raises
        ------
        InputError
            If there is no such store, or this one cannot be written.
        """
        self.writing()
        total = upkeep.MergeSummary()
        for other in others:
            if isinstance(other, Store):
                other.flush()
            source = other.folder if isinstance(other, Store) else Path(other)
            with reraise_as_store_error(source), reraise_as_store_error(self.folder):
                total += upkeep.merge(self, source)
        return total

    def _sizes(self, run_id: str) -> dict[str, int] | None:
        """Return the sizes of a run's files, after indexing the run if only its folder is there."""
        if run_id in self._waiting:
            return self._waiting[run_id][0].sizes
        row = self.index.rows("SELECT sizes FROM runs WHERE id = ?", (run_id,))
        if row:
            return dict(json.loads(row[0][0]))
        document = f"{folders.where(self.folder, run_id)}/{folders.DOCUMENT}"
        if self.readonly or not os.path.exists(document):  # noqa: PTH110 (a third of the time, once for each run)
            return None
        return self._sizes(run_id) if add_folders(self.index, self.folder, [run_id]) else None

    def _known(self, run_id: str, packed: folders.PackedRun, sets: list[Labels]) -> StoredRun | None:
        """Return the run, with the labels added, if it is already there with everything to be kept; else None."""
        found = self.find(run_id, series=folders.SAMPLES in packed.files)
        if found is not None:
            for each in sets:
                self.label(found, each)
        return found

    def _labels_of(self, run_id: str, place: Path, *, is_there: bool) -> list[Labels]:
        """Return the labels of a run that is written again."""
        number = self.index.number(run_id)
        known = [] if number is None else self.index.sets(number)
        return known + [labels for labels in (folders.read_labels(place) if is_there else ()) if labels not in known]

    def _wait(self, run_id: str, folder: folders.RunFolder, sets: list[Labels]) -> None:
        """Queue a row for the index; write the queue when it is full, or when its first row is old."""
        self._waiting[run_id] = (folder, sets)
        if len(self._waiting) >= MOST or time.monotonic() - self._flushed >= LONGEST_S:
            self.flush()

    def _stored(self, run_id: str, place: Path | None = None) -> StoredRun:
        def sets() -> list[Labels]:
            self.flush()
            with reraise_as_store_error(self.folder):
                number = self.index.number(run_id)
                return [] if number is None else self.index.sets(number)

        return StoredRun(run_id, place or folders.place(self.folder, run_id), sets)

    def writing(self) -> WriterLock:
        """Lock of this process as a writer, with its temporary folder; raises StoreError if the store is read-only."""
        if self._writer_lock is None:
            raise StoreError(f"store {self.folder}: was opened to be read only, or is closed")
        return self._writer_lock
