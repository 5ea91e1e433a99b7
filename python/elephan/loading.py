"""Reading results back: `load` accepts any folder that a command wrote with ``--out``, and any store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elephan.errors import InputError

if TYPE_CHECKING:
    from elephan.results import ResultTables


@dataclass(frozen=True)
class ResultKind:
    """A kind of result in a folder.

    Parameters
    ----------
    document : str
        File that identifies the folder.
    name : str
        Name of the kind, and of the module in `elephan.reports` that makes its page; empty if there is no page.
    read : callable, optional
        Reads the folder; imports what it needs.
    about : str
        Description of a kind that only pages and other programs read.
    """

    document: str
    name: str
    read: Callable[[Path], ResultTables] | None = None
    about: str = ""


def _run(folder: Path) -> ResultTables:
    from elephan.runs.saved import SavedRun  # noqa: PLC0415 (each kind loads only what it needs)

    found = SavedRun(folder)
    if "testbed" in found.document:
        from elephan.testbed import read_testbed  # noqa: PLC0415 (as above)

        return read_testbed(folder)
    return found


def _sweep(folder: Path) -> ResultTables:
    from elephan.sweeps.saved import read_sweep  # noqa: PLC0415 (as above)

    return read_sweep(folder)


def _comparison(folder: Path) -> ResultTables:
    from elephan.comparisons.saved import read_comparison  # noqa: PLC0415 (as above)

    return read_comparison(folder)


def _comparisons(folder: Path) -> ResultTables:
    from elephan.comparisons.saved import read_comparisons  # noqa: PLC0415 (as above)

    return read_comparisons(folder)


def _sizing(name: str) -> Callable[[Path], ResultTables]:
    def read(folder: Path) -> ResultTables:
        from elephan.sizing import saved  # noqa: PLC0415 (as above)

        found: ResultTables = getattr(saved, name)(folder)
        return found

    return read


def _store(folder: Path) -> ResultTables:
    from elephan.store import Store  # noqa: PLC0415 (as above)

    return Store(folder, readonly=True)


STORE = ResultKind("index.sqlite", "store", _store)

KINDS = (
    ResultKind("run.json", "run", _run),
    ResultKind("sweep.json", "sweep", _sweep),
    ResultKind("compare.json", "model_sim_testbed", _comparison),
    ResultKind("points.json", "", _comparisons),
    ResultKind("size.json", "size", _sizing("SavedSize")),
    ResultKind("comparison.json", "comparison", _sizing("SavedSizeComparison")),
    ResultKind("limit.json", "limit", _sizing("SavedLimit")),
    STORE,
    ResultKind(
        "reproduce.json",
        "reproduction",
        about="a reproduction of papers, which is read as JSON; elephan report shows it",
    ),
    ResultKind("why.json", "", about="causes of a link's idle time, which are read as JSON"),
    ResultKind("conform.json", "", about="test cases of a specification, which are read as JSON"),
)
"""Kinds of results in folders, in the order in which their documents are looked for."""


def kind_of(folder: Path) -> ResultKind | None:
    """Return the kind of result in a folder; None if it has no document of any.

    Raises
    ------
    InputError
        If there is no such folder.
    """
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "there is no such folder"
        raise InputError(f"{folder}: {what}; give a folder that elephan wrote with --out, or a store")
    found = next((kind for kind in KINDS if (folder / kind.document).is_file()), None)
    # A store of which so far only the shards of a sweep were written has no index yet.
    return STORE if found is None and (folder / "shards").is_dir() else found


def load(path: Path | str) -> ResultTables:
    """Read the results that a command wrote.

    Parameters
    ----------
    path : Path or str
        A folder of ``elephan run --out``, ``sweep --out``, ``testbed run --out``, ``compare --out`` (of a scenario or
        of a sweep) or ``size --out`` (of a buffer, of laws and queues, of ``--find``), or a store.

    Returns
    -------
    ResultTables
        `elephan.runs.saved.SavedRun`, `elephan.sweeps.SweepResult`, `elephan.testbed.TestbedResult`,
        `elephan.comparisons.ScenarioComparison`, `elephan.comparisons.SweepComparison`,
        `elephan.sizing.saved.SavedSize`, `SavedSizeComparison` or `SavedLimit`, or an `elephan.Store` to be read only.

    Raises
    ------
    InputError
        If there is no such folder, it holds nothing that can be read back, or what it holds is damaged.

    Examples
    --------
    >>> import elephan, tempfile
    >>> result = elephan.run(elephan.Scenario.from_text(elephan.EXAMPLE), replications=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = result.write(folder)
    ...     elephan.load(folder).groups["goodput_bps"] == result.groups["goodput_bps"]
    True
    """
    folder = Path(path)
    kind = kind_of(folder)
    if kind is not None and kind.read is not None:
        return kind.read(folder)
    known = ", ".join(each.document for each in KINDS if each.read is not None)
    raise InputError(
        f"{folder}: "
        + (
            f"holds {kind.about}"
            if kind is not None
            else f"holds no result; looked for {known}; give a folder that elephan wrote with --out"
        )
    )
