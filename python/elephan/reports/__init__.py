"""Results as pages: one self-contained HTML file that needs no network and no installation of elephan to read."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from elephan.runs.saved import ReplicatedRun

__all__ = ["report"]


class ReportSubject(Protocol):
    """A result that can write its files into a folder: of a run, a testbed, a sizing, a sweep or a comparison."""

    def write(self, folder: Path) -> object:
        """Write all files of the result into a folder."""


def report(
    source: str | Path | ReportSubject | Sequence[str | Path] | Mapping[str, ReplicatedRun], out: str | Path
) -> Path:
    """Write a page about a result, or about a folder that holds one.

    Parameters
    ----------
    source : path, RunResult, TestbedResult, SizeAnswer, SizeComparison, ScenarioComparison or SweepResult
        A folder that a command wrote with ``--out``, a store, or a result of `run`, `size`, `compare`, `sweep` or
        `elephan.testbed.run`. Several runs are drawn over each other: a list of folders (each with a run, a sweep or
        a store), or runs by name.
    out : path
        The HTML file. It is written completely or not at all.

    Returns
    -------
    Path
        Path of the file.

    Raises
    ------
    InputError
        If the folder holds no result, or one that cannot be read.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import elephan, tempfile
    >>> answer = elephan.size(elephan.Scenario.from_text(elephan.EXAMPLE), "utilization=0.8", model_only=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report(answer, Path(folder) / "answer.html").read_text().count("<h1>")
    1
    """
    from elephan.reports.folders import page_of, page_of_several  # noqa: PLC0415 (NumPy; the command line starts without)
    from elephan.reports.render import render  # noqa: PLC0415 (as above)
    from elephan.runs.files import write_text  # noqa: PLC0415 (as above)

    if isinstance(source, str | Path):
        html = render(page_of(Path(source)))
    elif isinstance(source, dict | list | tuple):
        html = render(page_of_several(source))
    else:
        whole = cast("ReportSubject", source)
        with tempfile.TemporaryDirectory(prefix="elephan-") as folder:
            whole.write(Path(folder))
            html = render(page_of(Path(folder)))
    return write_text(Path(out), html)
