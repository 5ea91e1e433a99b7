"""Lists of values in a sweep: TOML values, and ranges of quantities, written as in a scenario."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import NamedTuple

from elephan.catalog.registries import plain
from elephan.errors import InputError, UnitError
from elephan.input_files import parse_toml
from elephan.ranges import ParsedRange, read_range
from elephan.units import bits_per_second, number_and_unit, octets, seconds

Value = object
"""A value of a scenario file."""

WHOLE = ("packets", "packet", "B")
"""Units of quantities that must be whole numbers."""

DIGITS = 4
"""Significant digits of the inner values of a range, as a compromise between precision and readability."""

_READERS: tuple[Callable[[str], float], ...] = (seconds, bits_per_second, octets)


def read_list(place: str, given: object) -> list[Value]:
    """Read the list of values for a place of the scenario.

    Parameters
    ----------
    place : str
        Place of the scenario, for messages.
    given : list, tuple, range, NumPy array or str
        Values, or a range; a list may contain ranges, too.

    Raises
    ------
    InputError
        If `given` is neither a list nor a range, or has no values.

    Examples
    --------
    >>> read_list("links[0].buffer", "100..15000 packets:3log")
    ['100 packets', '1225 packets', '15000 packets']
    >>> read_list("flows[0].count", [1, "2..4:3lin"])
    [1, 2, 3, 4]
    """
    given = _of_numpy(given)
    if isinstance(given, list | tuple | range):
        values = [value for item in given for value in _expanded(place, plain(_of_numpy(item)))]
    elif isinstance(given, str) and ".." in given:
        values = _expanded(place, given)
    else:
        written = f'["{given}"]' if isinstance(given, str) else f"[{given}]"
        raise InputError(f"{place}: must be a list or a range; write {written}, or for example 100..1500 packets:5log")
    if not values:
        raise InputError(f"{place}: the list is empty; give one value or more")
    return values


def read_words(place: str, text: str) -> list[Value]:
    """Read a list from the command line: TOML, or ``a,b,c`` of values and ranges.

    If only the last number has a unit, it applies to all numbers.

    Raises
    ------
    InputError
        If a range cannot be read or there are no values.

    Examples
    --------
    >>> read_words("links[0].buffer", '["0.1 bdp", "1 bdp"]')
    ['0.1 bdp', '1 bdp']
    >>> read_words("flows[0].count", "1,2,5..15:3lin"), read_words("law", "reno,cubic")
    ([1, 2, 5, 10, 15], ['reno', 'cubic'])
    >>> read_words("links[0].buffer", "200,400,800 packets")
    ['200 packets', '400 packets', '800 packets']
    >>> read_words("links[0].queue", '{ discipline = "red", min_th = "9 packets" }, { discipline = "codel" }')
    [{'discipline': 'red', 'min_th': '9 packets'}, {'discipline': 'codel'}]
    >>> read_words("links[0].queue", 'drop-tail, { discipline = "codel" }')
    ['drop-tail', {'discipline': 'codel'}]
    """
    whole = _toml(text)
    if isinstance(whole, list):
        return read_list(place, whole)
    if text.strip().startswith("["):
        message = f'{place}: {text.strip()} is not a list in TOML; texts stand in quotes, as in ["0.1 bdp", "1 bdp"]'
        raise InputError(message)
    if whole is not None:
        return read_list(place, [whole])
    # As TOML, so that commas within quotes or braces do not separate values.
    listed = _toml(f"[{text}]")
    if isinstance(listed, list):
        return read_list(place, listed)
    items = [item.strip() for item in _BETWEEN_TABLES.split(text) if item.strip()]
    wrong = next((item for item in items if "{" in item and not isinstance(_toml(item), dict)), None)
    if wrong is not None:
        raise InputError(f'{place}: {wrong} is not a table in TOML; write for example {{ discipline = "red" }}')
    return read_list(place, [item if (value := _toml(item)) is None else value for item in _with_unit(items)])


_BETWEEN_TABLES = re.compile(r",(?![^{]*\})")
"""A comma that is not within the braces of a table."""


def _with_unit(items: list[str]) -> list[str]:
    """Append the unit of the last item to all items, if only that one has a unit: 200,400,800 packets."""
    *bare, last = items or [""]
    unit = _unit(last)
    if not unit or any(_unit(item) != "" for item in bare):
        return items
    space = "" if unit == "%" else " "
    parts = (item.partition(":") for item in bare)
    return [*(f"{number}{space}{unit}{colon}{count}" for number, colon, count in parts), last]


def _unit(item: str) -> str | None:
    """Return the unit of a number, or of the end of a range; None if the text is neither."""
    split = number_and_unit(item.partition(":")[0].rpartition("..")[2])
    return None if split is None else split[1]


def _of_numpy(given: object) -> object:
    """Convert NumPy values to Python's own, which a scenario file can hold; return anything else unchanged."""
    return given.tolist() if hasattr(given, "tolist") else given


def _toml(text: str) -> Value | None:
    """Parse a text as a TOML value; None if it is not one."""
    try:
        value: Value = parse_toml(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return None
    return value


class RangeEnds(NamedTuple):
    """A range of quantities of one unit; `whole` if its values must be whole numbers."""

    first: float
    last: float
    unit: str
    whole: bool
    written: ParsedRange


def read_ends(place: str, item: str) -> RangeEnds | None:
    """Read a range such as ``100..1500 packets``.

    Parameters
    ----------
    place : str
        Place of the scenario, for messages.
    item : str

    Returns
    -------
    RangeEnds or None
        None if there is no ``..`` in `item`.

    Raises
    ------
    InputError
        If its ends are not quantities of one kind.

    Examples
    --------
    >>> read_ends("flows[0].rtt", "500 us..2 ms")[:4]
    (0.5, 2.0, 'ms', False)
    """
    try:
        written = read_range(item)
        if written is None:
            return None
        low, high = number_and_unit(written.low), number_and_unit(written.high)
        if low is None or high is None:
            raise InputError(f'"{item}" is not a range; write for example 100..1500 packets:5log')
        (first, other), (last, unit) = low, high
        if other != unit:
            first = _converted(item, written.low, unit)
        whole = unit in WHOLE or (not unit and written.low.isdecimal() and written.high.isdecimal())
        if unit in WHOLE and not (first.is_integer() and last.is_integer()):
            message = f'"{item}" is not a range: {unit} must be whole numbers; write for example 1..100 {unit}:5log'
            raise InputError(message)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    return RangeEnds(first, last, unit, whole, written)


def _expanded(place: str, item: Value) -> list[Value]:
    """Return the values of a range; anything else as a list of itself."""
    ends = read_ends(place, item) if isinstance(item, str) else None
    if ends is None:
        return [item]
    try:
        numbers = ends.written.values(ends.first, ends.last)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    outer = (numbers[0], numbers[-1])
    made = (write_number(x, ends.unit, 12 if x in outer else DIGITS, whole=ends.whole) for x in numbers)
    return list(dict.fromkeys(made))


def _converted(item: str, quantity: str, unit: str) -> float:
    """Convert a quantity to another unit of its kind."""
    for reader in _READERS:
        try:
            return reader(quantity) / reader(f"1 {unit}")
        except UnitError:
            continue
    raise InputError(f'"{item}" is not a range: its ends have units of different kinds')


def write_number(number: float, unit: str, digits: int, *, whole: bool) -> Value:
    """Write a quantity as a scenario file has it.

    Examples
    --------
    >>> write_number(12.3456, "ms", 3, whole=False), write_number(12.3456, "", 3, whole=True)
    ('12.3 ms', 12)
    """
    short: float = round(number) if whole else float(f"{number:.{digits}g}")
    if not unit:
        return short
    text = f"{short:.12g}"
    return f"{text}{unit}" if unit == "%" else f"{text} {unit}"
