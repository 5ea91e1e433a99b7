"""The kind of result in a folder, found by the document in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from elephan.assignments import changed_title
from elephan.errors import InputError
from elephan.loading import KINDS, kind_of, load
from elephan.plugins import hook
from elephan.runs.saved import ReplicatedRun, read_document

if TYPE_CHECKING:
    from elephan.reports.page import ReportPage


def page_of(folder: Path) -> ReportPage:
    """Make the page of a folder.

    Raises
    ------
    InputError
        If it is not a folder, or holds no known document.
    """
    kind = kind_of(folder)
    name, document = (kind.name, kind.document) if kind is not None else ("", "the table")
    if kind is None:
        from elephan.reports.model import document_of  # noqa: PLC0415 (reads the files)

        name = "model" if document_of(folder) is not None else ""
    if not name:
        known = ", ".join(each.document for each in KINDS if each.name)
        message = (
            f"{folder}: holds no result; looked for {known} and a model's table; "
            "give a folder that elephan wrote with --out, or a store"
        )
        raise InputError(message)
    make = cast("Callable[[Path], ReportPage]", _page(name, folder))
    try:
        made = make(folder)
    except KeyError as error:
        raise InputError(f"{folder / document}: has no {error}; write the folder again with this version") from None
    changes = read_document(folder / document).get("set", {}) if document.endswith(".json") else {}
    return replace(made, title=changed_title(made.title, changes, most=len(changes)))


def _page(name: str, folder: Path) -> object:
    """Import the function that makes a page; that of a reproduction is in another distribution."""
    if name == "reproduction":
        return hook("report.reproduction", f"{folder}: the page of a reproduction")
    return import_module(f"elephan.reports.{name}").page


def page_of_several(given: Sequence[str | Path] | Mapping[str, ReplicatedRun]) -> ReportPage:
    """Make one page that compares several runs.

    Parameters
    ----------
    given : sequence of path, or mapping of str to run
        Folders with a run each, with a sweep or a store, of which all runs are taken; or runs by name.

    Raises
    ------
    InputError
        If a folder holds no run, or there are too few or too many runs.
    """
    from elephan.reports.side_by_side import page  # noqa: PLC0415 (NumPy; few pages are of several)

    if isinstance(given, dict):
        return page(given)
    return page(_runs([Path(each) for each in given]))


def _runs(folders: Sequence[Path]) -> dict[str, ReplicatedRun]:
    """Read the runs in folders, and name each by the settings that distinguish it."""
    from elephan.results.axes import run_names  # noqa: PLC0415 (as above)

    ends = [folder.resolve().name for folder in folders]
    found: dict[str, Any] = {}
    for folder, end in zip(folders, ends, strict=True):
        own, name = load(folder), end if ends.count(end) == 1 else str(folder)
        points = getattr(own, "points", None) if hasattr(own, "sweep") else own.runs() if hasattr(own, "runs") else None
        if points is not None:
            labels = [point.labels if isinstance(point.labels, dict) else (point.labels or [{}])[0] for point in points]
            named = zip(run_names(labels), points, strict=True)
            found |= {f"{name}: {each}": getattr(point, "stored", point) for each, point in named}
        elif hasattr(own, "outcomes"):
            found[name] = own
        else:
            message = (
                f"{folder}: holds no run; several folders are drawn over each other if each holds a run or a sweep"
            )
            raise InputError(message)
    return found
