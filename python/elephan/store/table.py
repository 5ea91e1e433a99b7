"""Table of results as Arrow columns, with conversions to pandas, polars and xarray."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from elephan import display
from elephan.errors import InputError
from elephan.extras import require
from elephan.units import count


@dataclass(frozen=True, repr=False)
class StoreTable:
    """Rows of results.

    Parameters
    ----------
    arrow : pyarrow.Table
    """

    arrow: Any

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.arrow.column_names)

    def to_arrow(self) -> Any:
        """Return a `pyarrow.Table`."""
        return self.arrow

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`."""
        require("to_pandas", "pandas")
        return self.arrow.to_pandas()

    def to_polars(self) -> Any:
        """Return a `polars.DataFrame`."""
        require("to_polars", "polars")
        import polars as pl  # noqa: PLC0415 (optional)

        return pl.from_arrow(self.arrow)

    def to_xarray(self, axes: Sequence[str]) -> Any:
        """Return an `xarray.Dataset` with some columns as its axes.

        Parameters
        ----------
        axes : sequence of str
            Names of columns whose values together identify each row.
        """
        require("to_xarray", "xarray", "pandas")
        missing = [axis for axis in axes if axis not in self.columns]
        if missing or not axes:
            raise InputError(f'axes: there is no column "{", ".join(missing)}"; columns: {", ".join(self.columns)}')
        frame = self.to_pandas().set_index(list(axes))
        if not frame.index.is_unique:
            raise InputError(f"axes: {', '.join(axes)} do not identify each row; add the other columns that differ")
        return frame.to_xarray()

    def _repr_html_(self) -> str:
        return display.table({name: self.arrow[name] for name in self.columns})

    def __repr__(self) -> str:
        return f"<Table: {count(len(self), 'row')}, {count(len(self.columns), 'column')}>"
