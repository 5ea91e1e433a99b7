"""``elephan report``: one HTML page from a folder of results."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

from elephan.cli import options
from elephan.cli.common import print_json, say, writing
from elephan.cli.options import argument, option
from elephan.errors import InputError

EXAMPLE = """Example:  elephan report sized/ --out answer.html --open
          elephan report small/ large/ --out both.html"""

SEVERAL = "runs.html"
"""Default name of a page of several runs."""


def report(
    folders: Annotated[
        list[Path],
        argument(
            "DIR...",
            "Folder that --out of run, size, model, sweep, compare or reproduce has written, or a store; the runs of "
            "several folders share their figures.",
        ),
    ],
    out: Annotated[
        Path | None, option("--out FILE", "Page to write.", show_default=f"DIR/report.html; {SEVERAL} for several")
    ] = None,
    open_: Annotated[bool, option("--open", "Show the page in the browser.")] = False,
    json: options.Json = False,
) -> None:
    """Write one self-contained HTML page about a result: it needs no network and can be mailed."""
    page = out if out is not None else folders[0] / "report.html" if len(folders) == 1 else Path(SEVERAL)
    if page.is_dir():
        raise InputError(f"--out {page}: is a folder; give the name of a file, such as {page / 'report.html'}")
    from elephan.reports import report as write  # noqa: PLC0415 (--help does without NumPy)

    with writing(page):
        written = write(folders[0] if len(folders) == 1 else folders, page)
    if json:
        print_json({"page": str(written), "bytes": written.stat().st_size})
    else:
        say(f"wrote {written}")
    if open_:
        webbrowser.open(written.resolve().as_uri())
