"""Runs the notebooks in docs/guide and stores their output, without times, versions and other changing text.

With --check nothing is written: each notebook is run, and one line names each cell that fails or whose text differs
from the committed one; exit 1 if any. Only the number of pictures is compared, since their bytes depend on Matplotlib's
version.
"""

import difflib
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "guide"
LIMIT_S = 300
"""Time limit for one cell, sufficient on a busy machine [s]."""

LARGEST = 300_000
"""Maximum size of a notebook [bytes]: a page is read over a network, and a repository keeps every version of it."""

NB: Any = nbformat
"""The nbformat library, which has no types."""

KEPT = ("text/plain", "text/html", "image/png")
"""Media types of outputs that are kept."""


def run(path: Path) -> Any:
    """Execute a notebook from its first cell, in its folder, with a store of its own."""
    notebook = NB.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as store:
        os.environ["ELEPHAN_STORE"] = store
        resources = {"metadata": {"path": str(path.parent)}}
        NotebookClient(
            notebook, timeout=LIMIT_S, kernel_name="python3", resources=resources, coalesce_streams=True
        ).execute()
    return clean(notebook)


def clean(notebook: Any) -> Any:
    """Remove text that differs from run to run."""
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = {}
        if cell.cell_type != "code":
            continue
        # Progress and warnings of the machine's own libraries go to stderr.
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        for output in cell.outputs:
            if "data" in output:
                output.metadata = {}
                output.data = {kind: output.data[kind] for kind in KEPT if kind in output.data}
    return notebook


def texts(cell: Any) -> list[str]:
    """Return the texts of a cell's output, as lines; a picture is represented by one line."""
    lines: list[str] = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        lines += output.get("text", "").splitlines()
        lines += _visible(data.get("text/html", "")) or data.get("text/plain", "").splitlines()
        lines += ["(picture)"] * ("image/png" in data)
    return lines


def _visible(html: str) -> list[str]:
    """Return the texts of a page without its tags."""
    return [text for text in re.sub(r"<[^>]*>", "\n", html).splitlines() if text.strip()]


def changed(before: Any, after: Any) -> Iterator[str]:
    """Name the cells with a different output."""
    for number, (old, new) in enumerate(zip(before.cells, after.cells, strict=True), start=1):
        for line in difflib.unified_diff(texts(old), texts(new), "committed", "now", lineterm="", n=0):
            if line[0] in "+-" and not line.startswith(("+++", "---")):
                yield f"cell {number}: {line}"


def check(paths: Iterable[Path]) -> Iterator[str]:
    """Run notebooks and list the differences from the committed ones."""
    for path in paths:
        name = path.relative_to(ROOT)
        try:
            yield from (f"{name}: {line}" for line in changed(NB.read(path, as_version=4), run(path)))
        except CellExecutionError as error:
            yield f"{name}: {error.ename}: {error.evalue}"
        if path.stat().st_size > LARGEST:
            yield f"{name}: {path.stat().st_size} bytes, more than {LARGEST}"


def main() -> None:
    """Run the named notebooks, or all, and write or compare them."""
    names = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    paths = [Path(name).resolve() for name in names] or sorted(FOLDER.glob("*.ipynb"))
    # The kernel uses the same package as this program.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    if "--check" in sys.argv[1:]:
        sys.exit("\n".join(check(paths)) or 0)
    for path in paths:
        NB.write(run(path), path)


if __name__ == "__main__":
    main()
