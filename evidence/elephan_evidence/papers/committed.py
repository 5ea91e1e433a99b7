"""Committed verdicts of full and of shortened runs, with which later runs are compared: a paper's ``verdicts.csv``.

A check reports verdicts that change, not a known *fail*. ``elephan reproduce --bless`` writes the file.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError
from elephan.runs.files import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from elephan_evidence.papers.paper import Paper
    from elephan_evidence.papers.verdicts import JudgedClaim

FILE = "verdicts.csv"
COLUMNS = ("id", "verdict", "quick")


@dataclass(frozen=True)
class CommittedVerdict:
    """Earlier verdicts on a claim, as committed to the repository.

    Parameters
    ----------
    full, quick : str
        Verdicts from full and from shortened runs; empty if there are none.
    """

    full: str = ""
    quick: str = ""


@dataclass(frozen=True)
class VerdictChange:
    """A verdict that differs from the committed one.

    Parameters
    ----------
    id, was, now : str
        Id of the claim, and its verdicts; ``was`` is empty for a claim without a committed verdict.
    """

    id: str
    was: str
    now: str

    def to_json(self) -> dict[str, Any]:
        """Return the change as an entry of a document."""
        return {"id": self.id, "was": self.was or None, "now": self.now}


def read(paper: Paper) -> dict[str, CommittedVerdict]:
    """Read the committed verdicts of a paper.

    Returns
    -------
    dict of str to CommittedVerdict
        Verdicts by claim; empty if there is no file.

    Raises
    ------
    ValueError
        If the file has other columns.
    """
    path = paper.folder / FILE
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            message = f"{path.name}: its columns must be {', '.join(COLUMNS)}"
            raise ValueError(message)
        return {row["id"]: CommittedVerdict(row["verdict"], row["quick"]) for row in reader}


def changes(
    known: Mapping[str, CommittedVerdict], judged: Iterable[JudgedClaim], *, quick: bool
) -> list[VerdictChange]:
    """Compare verdicts with the committed ones.

    Parameters
    ----------
    quick : bool
        Whether the runs are shortened.

    Returns
    -------
    list of VerdictChange
        One for each claim with a different or a new verdict.
    """
    found = []
    for one in judged:
        before = known.get(one.claim.id, CommittedVerdict())
        was = before.quick if quick else before.full
        if was != one.verdict:
            found.append(VerdictChange(one.claim.id, was, one.verdict))
    return found


def write(paper: Paper, judged: Mapping[str, JudgedClaim], *, quick: bool) -> Path:
    """Write the verdicts of a paper; those of other claims, and of the other kind of runs, are kept.

    Parameters
    ----------
    quick : bool
        Whether the runs are shortened.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    before = read(paper)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for key in paper.claims:
        known = before.get(key, CommittedVerdict())
        verdict = judged[key].verdict if key in judged else None
        full = known.full if quick or verdict is None else verdict
        short = verdict if quick and verdict is not None else known.quick
        rows.writerow((key, full, short))
    path = paper.folder / FILE
    try:
        return write_text(path, text.getvalue())
    except OSError as error:
        message = f"--bless: {path}: {error.strerror}"
        raise InputError(message) from None
