"""Reading results back: `load` accepts any folder that a command wrote with ``--out``, and any store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elephan.errors import InputError

if TYPE_CHECKING:
    from elephan.results import ResultTables

KINDS = (
    *("run.json", "sweep.json", "compare.json", "points.json"),
    *("size.json", "comparison.json", "limit.json", "index.sqlite"),
)
"""Files that identify the contents of a folder; the last is a store's."""

_OTHERS = {
    "reproduce.json": "a reproduction of papers, which is read as JSON; elephan report shows it",
    "conform.json": "test cases of a specification, which are read as JSON",
}
"""Files of folders that `load` cannot read, and their descriptions."""


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
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "there is no such folder"
        message = f"{folder}: {what}; give a folder that elephan wrote with --out, or a store"
        raise InputError(message)
    kind = next((name for name in KINDS if (folder / name).is_file()), None)
    # A store of which so far only the shards of a sweep were written has no index yet.
    if kind == "index.sqlite" or (kind is None and (folder / "shards").is_dir()):
        from elephan.store import Store  # noqa: PLC0415 (each kind loads only what it needs)

        return Store(folder, readonly=True)
    if kind == "run.json":
        return _run(folder)
    if kind == "sweep.json":
        from elephan.sweeps.saved import read_sweep  # noqa: PLC0415 (as above)

        return read_sweep(folder)
    if kind in ("size.json", "comparison.json", "limit.json"):
        return _sizing(kind, folder)
    if kind is not None:
        from elephan.comparisons.saved import read_comparison, read_comparisons  # noqa: PLC0415 (as above)

        return read_comparison(folder) if kind == "compare.json" else read_comparisons(folder)
    other = next((said for name, said in _OTHERS.items() if (folder / name).is_file()), None)
    message = (
        f"{folder}: holds {other}"
        if other
        else f"{folder}: holds no result; looked for {', '.join(KINDS)}; give a folder that elephan wrote with --out"
    )
    raise InputError(message)


def _sizing(kind: str, folder: Path) -> ResultTables:
    from elephan.sizing.saved import SavedLimit, SavedSize, SavedSizeComparison  # noqa: PLC0415 (as in `load`)

    if kind == "limit.json":
        return SavedLimit(folder)
    return SavedSize(folder) if kind == "size.json" else SavedSizeComparison(folder)


def _run(folder: Path) -> ResultTables:
    from elephan.runs.saved import SavedRun  # noqa: PLC0415 (as in `load`)

    found = SavedRun(folder)
    if "testbed" in found.document:
        from elephan.testbed import read_testbed  # noqa: PLC0415 (as in `load`)

        return read_testbed(folder)
    return found
