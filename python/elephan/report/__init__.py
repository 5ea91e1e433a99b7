"""Results as pages: one self-contained HTML file that needs no network, for whoever was not there when it ran."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Protocol

__all__ = ["report"]


class ReportSubject(Protocol):
    """What writes itself into a folder: a RunResult, TestbedResult, SizeAnswer, SweepResult or comparison."""

    def write(self, folder: Path) -> object:
        """Write everything."""


def report(source: str | Path | ReportSubject, out: str | Path) -> Path:
    """Write a page about a result, or about the folder of one.

    Parameters
    ----------
    source : path, RunResult, TestbedResult, SizeAnswer, SizeComparison, ScenarioComparison or SweepResult
        A folder that ``--out`` of a verb wrote, a store, or what `run`, `size`, `compare` or `sweep` gave; or
        `elephan.testbed.run` or `elephan.compare`.
    out : path
        The HTML file. It appears whole or not at all.

    Returns
    -------
    Path
        Of the file.

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
    from elephan.report.folders import page_of  # noqa: PLC0415 (NumPy; the command line starts without)
    from elephan.report.render import render  # noqa: PLC0415 (as above)
    from elephan.run.files import write_text  # noqa: PLC0415 (as above)

    if isinstance(source, str | Path):
        html = render(page_of(Path(source)))
    else:
        with tempfile.TemporaryDirectory(prefix="elephan-") as folder:
            source.write(Path(folder))
            html = render(page_of(Path(folder)))
    return write_text(Path(out), html)
