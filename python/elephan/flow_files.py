"""Lists of flows in files, as named by ``traffic = { kind = "replay", file = "flows.csv" }``.

The rows of the file replace its name in the scenario, so the scenario is complete without the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError, ScenarioError
from elephan.input_files import open_regular

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_START, _SIZE = "start_s", "size_bytes"
_MOST_ROWS = 10_000_000
_MOST_COLUMNS = 1000
_MOST_SECONDS = 1e6
_MOST_BYTES = 1e15

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
"""Pattern of numbers in a .csv file: no 0x1, no 1_000, no nan."""

_TORN = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
"""Pattern of Arrow's message about a row with too many or too few fields."""

_WHAT = "list of flows (.csv or .parquet)"

_PLAIN = re.compile(r"[\w. ;]+", re.ASCII)


KEY = "file"
"""Key that names a file."""


def fill(mapping: dict[str, Any], folder: Path) -> bool:
    """Insert the rows of the files that a scenario names, as ``flows`` instead of ``file``.

    Parameters
    ----------
    mapping : dict
        A scenario's file, which is changed.
    folder : Path
        Folder for relative names of files.

    Returns
    -------
    bool
        Whether anything changed.

    Raises
    ------
    ScenarioError
        If a file cannot be read or is not a list of flows; the message names the place, the file and the row.

    Examples
    --------
    >>> from pathlib import Path
    >>> fill({"title": "no profile"}, Path())
    False
    """
    named = [(i, group["traffic"]) for i, group in _replays(mapping) if KEY in group["traffic"]]
    for i, traffic in named:
        place = f"flows[{i}].traffic.file"
        if "flows" in traffic:
            raise ScenarioError(f"{place}: flows stand beside it; give one of them")
        name = traffic.pop(KEY)
        if not isinstance(name, str) or not name:
            raise ScenarioError(f'{place}: must be the name of a file such as "flows.csv"')
        try:
            traffic["flows"] = read(folder / name)
        except ScenarioError as error:
            raise ScenarioError(f"{place}: {error}") from None
    return bool(named)


def dumps(mapping: Mapping[str, Any]) -> str:
    """Return a scenario as TOML; fast for long lists of flows.

    Raises
    ------
    TypeError
        If it contains a value that TOML cannot represent.

    Examples
    --------
    >>> print(dumps({"flows": [{"traffic": {"kind": "replay", "flows": "0 s 1 kB"}}]}).strip())
    flows = [
        { traffic = { kind = "replay", flows = '0 s 1 kB' } },
    ]
    """
    import tomli_w  # noqa: PLC0415 (needed by few, and start-up time is counted)

    # tomli_w escapes texts letter by letter, and tomllib reads texts in double quotes letter by letter: a million flows
    # would take seconds. Lists of flows are therefore inserted afterwards, in single quotes.
    groups, lists = list(mapping.get("flows", ())) if _replays(mapping) else [], {}
    for i, group in _replays(mapping):
        flows = group["traffic"].get("flows")
        if isinstance(flows, str) and _PLAIN.fullmatch(flows):
            place = f"flows[{i}].traffic"
            lists[place] = flows
            groups[i] = group | {"traffic": group["traffic"] | {"flows": place}}
    text = tomli_w.dumps({**mapping, "flows": groups} if lists else mapping)
    for place, flows in lists.items():
        text = text.replace(f'flows = "{place}"', f"flows = '{flows}'", 1)
    return text


def read(path: Path) -> str:
    """Read a table of flows and return it in the notation of scenario files.

    Parameters
    ----------
    path : Path
        A ``.csv`` file with a header, or a ``.parquet`` file. It has the columns ``start_s`` [s], in ascending order,
        and ``size_bytes`` [B of payload]; other columns are ignored.

    Returns
    -------
    str
        Starts in nanoseconds and sizes in bytes: ``"0 ns 12000 B;1500000000 ns 300000 B"``.

    Raises
    ------
    ScenarioError
        If the table is invalid; the message names the row, counted from 1 without the header.
    """
    import numpy as np  # noqa: PLC0415 (slow to import; few scenarios need them)
    import pyarrow as pa  # noqa: PLC0415 (as above)
    import pyarrow.compute as pc  # noqa: PLC0415 (as above)

    table = _table(path)
    for name in (_START, _SIZE):
        if table.column_names.count(name) != 1:
            there = ", ".join(table.column_names) or "none"
            raise ScenarioError(f"{path}: must have one column {name}; its columns: {there}")
    if not 1 <= table.num_rows <= _MOST_ROWS:
        raise ScenarioError(f"{path}: must have 1 to {_MOST_ROWS} rows, has {table.num_rows}")
    starts, sizes = (_numbers(path, name, table[name]) for name in (_START, _SIZE))
    _check(path, (starts >= 0) & (starts <= _MOST_SECONDS), starts, f"{_START} must lie between 0 and 1000000 s")
    whole = (sizes == np.floor(sizes)) & (sizes >= 1) & (sizes <= _MOST_BYTES)
    _check(path, whole, sizes, f"{_SIZE} must be a whole number of bytes, 1 or more")
    _check(path, np.diff(starts, prepend=0.0) >= 0, starts, f"{_START} must be sorted, not before the row above")
    columns = [pa.array(x.astype(np.int64)).cast(pa.string()) for x in (np.rint(starts * 1e9), sizes)]
    return " B;".join(pc.binary_join_element_wise(*columns, " ns ").to_pylist()) + " B"


def _replays(mapping: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """Return the indices and tables of the groups with replayed traffic.

    Groups of a wrong type are skipped; the parser refuses them.
    """
    groups = mapping.get("flows")
    found = []
    for i, group in enumerate(groups if isinstance(groups, list) else []):
        traffic = group.get("traffic") if isinstance(group, dict) else None
        if isinstance(traffic, dict) and traffic.get("kind") == "replay":
            found.append((i, group))
    return found


def _table(path: Path) -> pa.Table:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    kind = path.suffix.lower()
    if kind not in {".csv", ".parquet"}:
        raise ScenarioError(f"{path}: must be a .csv or .parquet file with the columns {_START} and {_SIZE}")
    try:
        with open_regular(path, _WHAT) as file:
            return _csv(path, file) if kind == ".csv" else _parquet(path, file)
    except ScenarioError:
        raise
    except InputError as error:
        raise ScenarioError(str(error)) from None
    except OSError as error:
        reason = f"cannot be read: {(error.strerror or str(error)).splitlines()[0].lower()}"
    except UnicodeDecodeError:
        reason = "not a text file in UTF-8"
    except pa.ArrowException as error:
        reason = f"cannot be read: {str(error).splitlines()[0]}"
        if (torn := _TORN.search(str(error))) is not None:
            # Arrow counts the header as row 1.
            reason = f"row {int(torn[1]) - 1}: has {torn[3]} fields, not {torn[2]}"
    raise ScenarioError(f"{path}: {reason}")


def _csv(path: Path, file: Any) -> pa.Table:
    """Read the relevant columns as text; stops at the maximum number of rows."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)
    from pyarrow import csv  # noqa: PLC0415 (as above)

    # The header is read as a row, so that blanks around the names can be removed. With several threads Arrow's messages
    # have no row numbers.
    how = csv.ReadOptions(use_threads=False, autogenerate_column_names=True)
    kinds = {f"f{i}": pa.string() for i in range(_MOST_COLUMNS)}
    texts = csv.ConvertOptions(column_types=kinds, strings_can_be_null=True)
    batches, rows = [], -1
    with csv.open_csv(file, how, convert_options=texts) as reader:
        for batch in reader:
            rows += batch.num_rows
            if rows > _MOST_ROWS:
                raise ScenarioError(f"{path}: must have 1 to {_MOST_ROWS} rows, has more")
            batches.append(batch)
    table = pa.Table.from_batches(batches)
    names = [str(column[0]).strip() for column in table.columns[:_MOST_COLUMNS]]
    return table.select(range(len(names))).slice(1).rename_columns(names)


def _parquet(path: Path, file: Any) -> pa.Table:
    """Read the relevant columns, after checking the number of rows stated in the file."""
    from pyarrow import parquet  # noqa: PLC0415 (slow to import)

    opened = parquet.ParquetFile(file)
    names = opened.schema_arrow.names
    rows = opened.metadata.num_rows
    if rows > _MOST_ROWS:
        raise ScenarioError(f"{path}: must have 1 to {_MOST_ROWS} rows, has {rows}")
    if any(names.count(name) != 1 for name in (_START, _SIZE)):
        # The caller refuses the columns, so the rows are not read.
        return opened.schema_arrow.empty_table()
    return opened.read(columns=[_START, _SIZE])


def _numbers(path: Path, name: str, column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return the column as floating-point numbers, exact up to 2^53."""
    import numpy as np  # noqa: PLC0415 (slow to import)
    import pyarrow as pa  # noqa: PLC0415 (as above)
    import pyarrow.compute as pc  # noqa: PLC0415 (as above)

    if column.null_count:
        row = column.is_null().to_pylist().index(True) + 1
        raise ScenarioError(f"{path}: row {row}: {name} is missing")
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.utf8_trim_whitespace(column)
        good = pc.match_substring_regex(column, _NUMBER).to_numpy()
        if not good.all():
            row = int(good.argmin())
            raise ScenarioError(f'{path}: row {row + 1}: {name} must be a number, not "{column[row].as_py()}"')
        # Arrow does not accept a plus sign before a number.
        column = pc.cast(pc.utf8_ltrim(column, "+"), pa.float64())
    elif not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise ScenarioError(f"{path}: {name} must be numbers, not {column.type}")
    numbers: NDArray[np.float64] = np.asarray(column, float)
    return numbers


def _check(path: Path, good: NDArray[np.bool_], values: NDArray[np.float64], rule: str) -> None:
    if not good.all():
        i = int(good.argmin())
        raise ScenarioError(f"{path}: row {i + 1}: {rule}, not {values[i]:.15g}")
