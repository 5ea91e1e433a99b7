"""Traces of the runs of test cases, in qlog, for comparison with those of other implementations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.runs.files import write_bytes, write_text
from elephan.runs.qlog import encode_qlog

if TYPE_CHECKING:
    from pathlib import Path

    from elephan_evidence.conform.conformance import Conformance

FOLDER = "traces"


def write_traces(found: Conformance, folder: Path) -> Path:
    """Write ``traces/NN-CASE-RUN.sqlog`` of every run on the first path of each case, and its scenario beside it.

    Returns
    -------
    Path
        The folder of traces.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    for judged in found.cases:
        for path in judged.paths[:1]:
            for name, made in path.runs.items():
                stem = f"{judged.case.number:02}-{judged.case.name}-{name}"
                write_bytes(folder / FOLDER / f"{stem}.sqlog", encode_qlog(made.result))
                write_text(folder / FOLDER / f"{stem}.toml", made.result.scenario.text)
    return folder / FOLDER
