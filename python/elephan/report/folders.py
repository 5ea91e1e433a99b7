"""What a folder holds, by the document in it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from elephan.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from elephan.report.page import ReportPage

KINDS = {
    "run.json": "run",
    "size.json": "size",
    "comparison.json": "comparison",
    "sweep.json": "sweep",
    "compare.json": "model_sim_testbed",
    "reproduce.json": "reproduction",
    "index.sqlite": "store",
}
"""The document that identifies a folder, and the module that makes its page."""


def page_of(folder: Path) -> ReportPage:
    """Make the page of a folder.

    Raises
    ------
    InputError
        If it is no folder, or what is in it is not known.
    """
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "there is no such folder"
        message = f"{folder}: {what}; give a folder that elephan wrote with --out, or a store"
        raise InputError(message)
    name = next((KINDS[document] for document in KINDS if (folder / document).is_file()), None)
    if name is None and (folder / "shards").is_dir():
        name = "store"  # Of which so far only the shards of a sweep were written.
    if name is None:
        from elephan.report.model import document_of  # noqa: PLC0415 (reads the files)

        name = "model" if document_of(folder) is not None else None
    if name is None:
        message = (
            f"{folder}: holds no result; looked for {', '.join(KINDS)} and a model's table; "
            "give a folder that elephan wrote with --out, or a store"
        )
        raise InputError(message)
    make = cast("Callable[[Path], ReportPage]", import_module(f"elephan.report.{name}").page)
    try:
        return make(folder)
    except KeyError as error:
        document = next((known for known in KINDS if KINDS[known] == name), "the table")
        message = f"{folder / document}: has no {error}; write the folder again with this version"
        raise InputError(message) from None
