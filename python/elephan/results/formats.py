"""Formats of the tables of results: one class each, by the suffix of its files.

What writes folders, exports stores and reads folders back uses `FORMATS`; a format that is defined later is one more.
"""

from __future__ import annotations

import csv
import io
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from elephan import _native
from elephan.errors import InputError
from elephan.extras import require

SMALL = 512
"""Number of values below which columns are not compressed: they fit into a disk block, and compression costs more."""


_KINDS = {np.dtype(kind).char for kind in (float, np.float32, np.uint64, np.uint32, bool, object)}
"""Type characters of columns that the extension can write in small tables."""


class TableFormat(ABC):
    r"""A format of tables; a derived class with a `suffix` is registered in `FORMATS`.

    Examples
    --------
    >>> class Lines(TableFormat):
    ...     suffix = "lines"
    ...
    ...     def encode(self, table):
    ...         return "".join(f"{row}\n" for row in table.to_pylist()).encode()
    ...
    ...     def decode(self, path, columns=None):
    ...         raise NotImplementedError
    >>> FORMATS.pop("lines").encode_columns({"x": [1]}, {})
    b"{'x': 1}\n"
    """

    suffix: ClassVar[str]
    """Ending of the names of files, without a dot."""

    def __init_subclass__(cls) -> None:
        FORMATS[cls.suffix] = cls()

    @abstractmethod
    def encode(self, table: Any) -> bytes:
        """Return a `pyarrow.Table` as the bytes of a file."""

    @abstractmethod
    def decode(self, path: Path, columns: list[str] | None = None) -> Any:
        """Read a file as a `pyarrow.Table`.

        Parameters
        ----------
        path : Path
        columns : list of str, optional
            Only these.
        """

    def encode_columns(self, columns: Mapping[str, Any], metadata: Mapping[str, str]) -> bytes:
        """Return columns as the bytes of a file; NaN becomes null.

        Parameters
        ----------
        columns : mapping of str to array_like, shape (rows,)
        metadata : mapping of str to str
            Kept if the format can.
        """
        return self.encode(_as_arrow(columns).replace_schema_metadata(dict(metadata)))


FORMATS: dict[str, TableFormat] = {}
"""Formats by their suffix."""


class CsvFormat(TableFormat):
    """Comma-separated values; texts that a spreadsheet would take for formulas begin with an apostrophe."""

    suffix = "csv"

    def encode(self, table: Any) -> bytes:
        """Return a table as text with a line of names."""
        import pyarrow as pa  # noqa: PLC0415 (slow to import)
        import pyarrow.csv  # noqa: PLC0415 (as above)

        sink, head = pa.BufferOutputStream(), io.StringIO()
        csv.writer(head, lineterminator="\n").writerow(_no_formula(name) for name in table.column_names)
        sink.write(head.getvalue().encode())
        options = pa.csv.WriteOptions(include_header=False, quoting_style="needed")
        pa.csv.write_csv(_without_formulas(table), sink, options)
        return bytes(sink.getvalue())

    def decode(self, path: Path, columns: list[str] | None = None) -> Any:
        """Read a file with a line of names."""
        import pyarrow.csv as pc  # noqa: PLC0415 (slow to import)

        options = pc.ConvertOptions(include_columns=columns or [], strings_can_be_null=True)
        return pc.read_csv(path, convert_options=options)


class ParquetFormat(TableFormat):
    """Parquet."""

    suffix = "parquet"

    def encode(self, table: Any) -> bytes:
        """Return a table with the statistics and dictionaries that queries of large exports use."""
        import pyarrow as pa  # noqa: PLC0415 (slow to import)
        import pyarrow.parquet  # noqa: PLC0415 (as above)

        sink = pa.BufferOutputStream()
        pa.parquet.write_table(table, sink, compression="zstd")
        return bytes(sink.getvalue())

    def encode_columns(self, columns: Mapping[str, Any], metadata: Mapping[str, str]) -> bytes:
        """Return columns as a small file; the extension writes few numbers and names in NumPy arrays."""
        simple = all(isinstance(each, np.ndarray) and each.dtype.char in _KINDS for each in columns.values())
        if simple and 0 < sum(map(len, columns.values())) < SMALL:
            made = [(name, _names(column)) for name, column in columns.items()]
            return _native.parquet_file(made, list(metadata.items()))
        import pyarrow as pa  # noqa: PLC0415 (slow to import; only long results need it)
        import pyarrow.parquet as pq  # noqa: PLC0415 (as above)

        table = _as_arrow(columns)
        sink = pa.BufferOutputStream()
        with pq.ParquetWriter(
            sink,
            table.schema,
            compression="zstd" if table.num_rows * table.num_columns >= SMALL else "none",
            # Dictionaries and statistics enlarge files of measured numbers; Arrow's own schema would repeat Parquet's.
            use_dictionary=False,
            write_statistics=False,
            store_schema=False,
        ) as writer:
            writer.add_key_value_metadata(dict(metadata))
            writer.write_table(table)
        return bytes(sink.getvalue())

    def decode(self, path: Path, columns: list[str] | None = None) -> Any:
        """Read a file."""
        import pyarrow.parquet as pq  # noqa: PLC0415 (slow to import)

        # Not `read_table`, which loads pandas where that is installed.
        return pq.ParquetFile(path).read(columns)


class JsonFormat(TableFormat):
    """JSON: a list of rows."""

    suffix = "json"

    def encode(self, table: Any) -> bytes:
        """Return a table as a list with a row on each line."""
        lines = ",\n".join(f" {json.dumps(row, ensure_ascii=False, allow_nan=False)}" for row in table.to_pylist())
        return f"[\n{lines}\n]\n".encode() if lines else b"[]\n"

    def decode(self, path: Path, columns: list[str] | None = None) -> Any:
        """Read a list of rows."""
        import pyarrow as pa  # noqa: PLC0415 (slow to import)

        table = pa.Table.from_pylist(json.loads(path.read_text(encoding="utf-8")))
        return table if columns is None else table.select(columns)


def table_format(suffix: str) -> TableFormat:
    """Return a format.

    Raises
    ------
    InputError
        If there is none with this suffix.
    """
    if suffix not in FORMATS:
        raise InputError(f'format: there is no "{suffix}"; use {", ".join(FORMATS)}')
    return FORMATS[suffix]


def table_path(folder: Path, name: str) -> Path:
    """Return the file of a table in a folder, in whatever format it was written; that of Parquet if there is none."""
    paths = [folder / f"{name}.{suffix}" for suffix in ("parquet", *FORMATS)]
    return next((path for path in paths if path.is_file()), paths[0])


def read_table(path: Path, columns: list[str] | None = None) -> Any:
    """Read a table.

    Parameters
    ----------
    path : Path
    columns : list of str, optional
        Only these.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    InputError
        If it cannot be read.
    """
    require(f"{path}: reading it", "pyarrow")
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    made = FORMATS.get(path.suffix.removeprefix("."), FORMATS["parquet"])
    try:
        return made.decode(path, columns)
    except (OSError, ValueError, pa.ArrowException) as error:
        kind = "Parquet" if made.suffix == "parquet" else made.suffix
        message = f"{path}: cannot be read as {kind}: {str(error).splitlines()[0]}; write the folder again"
        raise InputError(message) from None


def _as_arrow(columns: Mapping[str, Any]) -> Any:
    """Return columns as a `pyarrow.Table`."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    def made(column: Any) -> Any:
        # Columns of names stay text where all of them are absent.
        kind = pa.string() if isinstance(column, np.ndarray) and column.dtype == object else None
        return pa.array(column, type=kind, from_pandas=True) if isinstance(column, np.ndarray) else column

    return pa.table({name: made(column) for name, column in columns.items()})


def _names(column: Any) -> Any:
    """Return a column of names as a list, with None for absent ones, and any other column as it is."""
    return [name if isinstance(name, str) else None for name in column.tolist()] if column.dtype == object else column


_FORMULA = re.compile(r"[=+\-@\t\r]")
"""Pattern of texts that a spreadsheet takes for a formula, by their first character."""


def _no_formula(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would evaluate, but not before a number.

    Examples
    --------
    >>> _no_formula("=1+1"), _no_formula("-5 ms"), _no_formula("-5"), _no_formula("a=b")
    ("'=1+1", "'-5 ms", '-5', 'a=b')
    """
    if not _FORMULA.match(text):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def _without_formulas(table: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    for i, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            texts = [None if text is None else _no_formula(text) for text in table.column(i).to_pylist()]
            table = table.set_column(i, field.name, pa.array(texts, pa.string()))
    return table
