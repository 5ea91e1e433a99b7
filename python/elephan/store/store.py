"""Runs by what identifies them: an index to ask, and a folder for each run."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from elephan.errors import InputError
from elephan.store import folders, tables
from elephan.store.errors import told
from elephan.store.index import Index, quoted
from elephan.store.keys import WINDOW, key, key_of
from elephan.store.labels import as_labels, as_line
from elephan.store.provenance import here
from elephan.store.stored import Stored
from elephan.store.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from elephan.run.result import Result
    from elephan.scenario import Scenario
    from elephan.store.labels import Labels

VARIABLE, USUAL = "ELEPHAN_STORE", ".elephan"


class Store:
    """A folder of runs with an index.

    Parameters
    ----------
    folder : str or Path, optional
        ``$ELEPHAN_STORE``, else ``.elephan`` in the working directory.
    readonly : bool
        Never write.

    Raises
    ------
    InputError
        If the folder cannot be used.

    Examples
    --------
    >>> import elephan
    >>> scenario = elephan.Scenario.from_text(elephan.EXAMPLE)
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     first = store.run(scenario, labels={"buffer": "25 packets"})
    ...     again = store.run(scenario)
    ...     store.table(columns=["buffer", "replications"]).arrow.to_pylist()
    [{'buffer': '25 packets', 'replications': 1}]
    """

    def __init__(self, folder: str | Path | None = None, *, readonly: bool = False) -> None:
        self.folder = Path(folder or os.environ.get(VARIABLE) or USUAL)
        self.readonly = readonly
        with told(self.folder):
            if not readonly:
                (self.folder / "tmp").mkdir(parents=True, exist_ok=True)
            self._index = Index(self.folder, readonly=readonly)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index; the store can be opened again."""
        self._index.close()

    key = staticmethod(key)

    def find(self, key: str, *, series: bool = False) -> Stored | None:
        """Look for a run.

        Parameters
        ----------
        key : str
            What `key` says of a request.
        series : bool
            It must have the sampled series.

        Returns
        -------
        Stored or None
            None also for one that has lost files.
        """
        with told(self.folder):
            row = self._index.rows("SELECT run, sizes FROM runs WHERE id = ?", (key,))
            folder = folders.place(self.folder, key)
            if not row:
                if not (folder / folders.DOCUMENT).exists() or self.readonly or not self._adopt(folder, key):
                    return None
                row = self._index.rows("SELECT run, sizes FROM runs WHERE id = ?", (key,))
            sizes = json.loads(row[0][1])
            if not folders.whole(folder, sizes) or (series and "samples.parquet" not in sizes):
                return None
        return self._stored(key)

    def put(self, result: Result, *, key: str | None = None, labels: Mapping[str, object] | None = None) -> Stored:
        """Keep a run, whole or not at all; one that is there already is not written again.

        Parameters
        ----------
        result : Result
        key : str, optional
            What `key` said of the request.
        labels : mapping, optional
            A set of labels for it.

        Returns
        -------
        Stored

        Raises
        ------
        InputError
            If there is no room, or the store cannot be written.
        """
        self._check_writable()
        made = as_labels(labels)
        run_id = key or key_of(result)
        has_series = any(outcome.has_series for outcome in result.outcomes)
        found = self.find(run_id, series=has_series)
        if found is not None:
            if made:
                self.label(found, made)
            return found
        with told(self.folder):
            target = folders.place(self.folder, run_id)
            temporary = Path(tempfile.mkdtemp(prefix=f"{run_id[:12]}-", dir=self.folder / "tmp"))
            try:
                temporary.chmod(0o755)
                full, sizes = folders.write(temporary, result, run_id, here())
                sets = folders.noted(target)
                for each in [*sets, made]:
                    if each:
                        folders.note(temporary, each)
                target.parent.mkdir(parents=True, exist_ok=True)
                if target.exists():
                    shutil.rmtree(target)
                temporary.replace(target)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
            sha256 = hashlib.sha256((target / folders.DOCUMENT).read_bytes()).hexdigest()
            self._index.add(full, sha256, sizes, [*sets, made])
        return self._stored(run_id)

    def label(self, run: Stored | str, labels: Mapping[str, object]) -> None:
        """Add a set of labels to a run.

        Parameters
        ----------
        run : Stored or str
            Or its id.
        labels : mapping of str to str, number or bool
            Tables become one line of TOML.

        Raises
        ------
        InputError
            If there is no such run, or the labels cannot be kept.
        """
        self._check_writable()
        made = as_labels(labels)
        stored = run if isinstance(run, Stored) else self.get(run)
        with told(self.folder):
            number = self._index.number(stored.id)
            if number is not None and made and made not in self._index.sets(number):
                folders.note(stored.folder, made)
                self._index.label(number, made)

    def fail(self, key: str, scenario_text: str, labels: Mapping[str, object], error: str) -> None:
        """Remember that a point failed; a later `put` under its key forgets it.

        Parameters
        ----------
        key : str
        scenario_text : str
        labels : mapping
        error : str
        """
        self._check_writable()
        with told(self.folder):
            row = (key, as_line(as_labels(labels)), scenario_text, error, here()["written"])
            self._index.rows("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?)", row)

    def failures(self) -> list[dict[str, Any]]:
        """List the points that failed.

        Returns
        -------
        list of dict
            ``key``, ``labels``, ``scenario``, ``error``; sorted.
        """
        with told(self.folder):
            return [
                {"key": key, "labels": json.loads(line), "scenario": text, "error": error}
                for key, line, text, error in self._index.failures()
            ]

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
    ) -> Stored:
        """Find a run, or run it and keep it.

        Parameters
        ----------
        scenario, replications, seed, workers, progress, series, engine, precision, max_replications
            As `elephan.run` takes them.
        labels : mapping, optional
            A set of labels for it.

        Returns
        -------
        Stored
        """
        from elephan.run import run  # noqa: PLC0415 (needs NumPy)
        from elephan.scenario import Scenario  # noqa: PLC0415

        read = scenario if isinstance(scenario, Scenario) else Scenario.from_file(scenario)
        changes = {name: value for name, value in (("replications", replications), ("seed", seed)) if value is not None}
        read = read.override(changes) if changes else read
        asked = key(read, precision=precision, max_replications=max_replications, engine=engine)
        found = self.find(asked, series=series)
        if found is not None:
            if labels:
                self.label(found, labels)
            return found
        result = run(
            read,
            workers=workers,
            progress=progress,
            series=series,
            engine=engine,
            precision=precision,
            max_replications=max_replications,
        )
        return self.put(result, key=asked, labels=labels)

    def get(self, prefix: str) -> Stored:
        """Return the run whose id begins so.

        Parameters
        ----------
        prefix : str

        Returns
        -------
        Stored

        Raises
        ------
        InputError
            If there is none, or several.
        """
        with told(self.folder):
            sql = "SELECT id FROM runs WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY id LIMIT 5"
            found = [run_id for (run_id,) in self._index.rows(sql, (prefix.lower(),))]
        if len(found) != 1:
            several = ", ".join(run_id[:12] for run_id in found)
            what = f"several runs begin so: {several}; give more of it" if found else "no run begins so"
            message = f"store {self.folder}: {prefix}: {what}"
            raise InputError(message)
        return self._stored(found[0])

    def runs(self, **labels: object) -> list[Stored]:
        """List runs.

        Parameters
        ----------
        **labels
            Only those with these; names with signs in them go in as ``**{"links[0].buffer": "1 bdp"}``.

        Returns
        -------
        list of Stored
            By id.
        """
        made = as_labels(labels)
        with told(self.folder):
            if set(made) - set(self._index.names("labels")):
                return []
            where = " AND ".join(f"p.{quoted(name)} = ?" for name in made) or "1"
            join = "JOIN points AS p ON p.run = r.run" if made else ""
            sql = f"SELECT DISTINCT r.id FROM runs AS r {join} WHERE {where} ORDER BY r.id"
            return [self._stored(run_id) for (run_id,) in self._index.rows(sql, tuple(made.values()))]

    def table(
        self, labels: Mapping[str, object] | None = None, columns: Sequence[str] = ("labels", "summary")
    ) -> Table:
        """Lay the runs out in one table.

        Parameters
        ----------
        labels : mapping, optional
            Only points with these.
        columns : sequence of str
            Names of columns; ``"labels"`` and ``"summary"`` stand for all of theirs.

        Returns
        -------
        Table
            A row per run and label set, sorted; the same bytes for the same results.
        """
        with told(self.folder):
            return Table(tables.rows_of(self._index, as_labels(labels), columns))

    def _stored(self, run_id: str) -> Stored:
        def sets() -> list[Labels]:
            with told(self.folder):
                number = self._index.number(run_id)
                return [] if number is None else self._index.sets(number)

        return Stored(run_id, folders.place(self.folder, run_id), sets)

    def _adopt(self, folder: Path, run_id: str) -> bool:
        """Take a folder that the index does not know into it, if it is whole."""
        try:
            full = folders.read(folder)
            sizes = {name: (folder / name).stat().st_size for name in (*full["files"], folders.DOCUMENT)}
        except (OSError, ValueError):
            return False
        if full["id"] != run_id:
            return False
        sha256 = hashlib.sha256((folder / folders.DOCUMENT).read_bytes()).hexdigest()
        self._index.add(full, sha256, sizes, folders.noted(folder))
        return True

    def _check_writable(self) -> None:
        if self.readonly:
            message = f"store {self.folder}: was opened to be read only"
            raise InputError(message)
