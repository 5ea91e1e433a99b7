"""The tool that runs the notebooks keeps constant output, and detects changes."""

import json
from pathlib import Path
from typing import Any

import nbformat.v4
import pytest

from conftest import load_file

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
v4: Any = nbformat.v4
NOTEBOOKS = sorted((ROOT / "docs" / "guide").glob("*.ipynb"))


tool = load_file(ROOT / "tools" / "notebooks.py")


def notebook(*outputs: Any) -> Any:
    return v4.new_notebook(cells=[v4.new_code_cell("1", outputs=list(outputs))])


def shown(text: str, **data: str) -> Any:
    return v4.new_output("execute_result", data={"text/plain": text, **data})


def test_a_number_that_changed_is_named_with_its_cell() -> None:
    said = list(tool.changed(notebook(shown("0.92")), notebook(shown("0.93"))))
    assert said == ["cell 1: -0.92", "cell 1: +0.93"]


def test_a_picture_may_change_its_bytes_but_not_vanish() -> None:
    one, other = (notebook(shown("<Picture>", **{"image/png": data})) for data in ("aaaa", "bbbb"))
    assert list(tool.changed(one, other)) == []
    assert list(tool.changed(one, notebook(shown("<Picture>")))) == ["cell 1: -(picture)"]


def test_markup_is_not_compared_but_what_it_says_is() -> None:
    plain, styled, other = (
        notebook(shown("x", **{"text/html": page}))
        for page in ("<p>0.5</p>", '<p style="margin:0">0.5</p>', "<p>0.6</p>")
    )
    assert list(tool.changed(plain, styled)) == []
    assert list(tool.changed(plain, other))


def test_times_of_cells_and_messages_to_the_terminal_are_left_out() -> None:
    before = notebook(v4.new_output("stream", name="stderr", text="3 s"), shown("1"))
    before.cells[0].metadata = {"execution": {"iopub.status.busy": "2026"}}
    cleaned = tool.clean(before)
    assert [output.output_type for output in cleaned.cells[0].outputs] == ["execute_result"]
    assert cleaned.cells[0].metadata == {}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_is_committed_as_it_ran(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert path.stat().st_size < tool.LARGEST
    assert not [output for cell in cells for output in cell["outputs"] if output["output_type"] == "error"]


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["compare-laws", "size-a-buffer", "write-your-own-law"]
