"""Rows of measurements: a cell of a data set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elephan.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class MeasuredCell:
    """A row of ``measured.csv``.

    Parameters
    ----------
    keys : dict of str to str
        Columns that say what was run, as written.
    row : dict of str to str
        All columns.
    """

    keys: dict[str, str]
    row: dict[str, str]

    @property
    def id(self) -> str:
        """The keys in one text, unique in the set."""
        return "/".join(self.keys.values())

    def number(self, column: str) -> float:
        """Return a column as a number; NaN for an empty one.

        Raises
        ------
        InputError
            If there is no such column, or it holds no number.
        """
        text = self.row.get(column)
        if text is None:
            message = f"{self.id}: no column {column}"
            raise InputError(message)
        try:
            return float(text) if text else math.nan
        except ValueError:
            message = f'{self.id}: {column}: not a number: "{text}"'
            raise InputError(message) from None


def matches(cell: MeasuredCell, where: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a cell has one of the listed values in each column."""
    return all(cell.row[column] in values for column, values in where.items())
