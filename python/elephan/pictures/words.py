"""Numbers in sentences: rounded according to their intervals, with a suitable unit prefix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from elephan.units import format_interval, format_measured, scaled

NARROW = "\N{NO-BREAK SPACE}"
"""Space between a number and its unit, which prevents a line break."""


def number(x: float, digits: int = 4) -> str:
    """Format a number, with thousands separators.

    Parameters
    ----------
    digits : int
        Number of significant digits; the integer part is always complete.

    Examples
    --------
    >>> number(1980), number(0.132), number(2.5e-7), number(4743.4)
    ('1,980', '0.132', '2.5e-7', '4,743')
    """
    return format_interval(x, None, digits, thousands=",")


def with_unit(quantity: Mapping[str, Any] | float | None, unit: str, digits: int = 3, *, of: str = "") -> str:
    """Format a measured quantity with a suitable unit.

    Parameters
    ----------
    quantity : mapping with ``mean`` and ``ci95``, float or None
    unit : str
        ``"s"``, ``"bit/s"``, ``"B"``, ``"%"`` (of a share of one), or another unit, written without a prefix.
    digits : int
        Significant digits of a mean without interval.
    of : str
        Key of the quantity, as in `elephan.units.format_measured`.

    Examples
    --------
    >>> with_unit({"mean": 0.004426, "ci95": 0.00028}, "s").replace(NARROW, " ")
    '4.4 ± 0.3 ms'
    >>> with_unit(0.000138, "%").replace(NARROW, " ")
    '0.0138 %'
    """
    mean, half = _parts(quantity)
    if mean is None:
        return "unknown"
    if unit == "%":
        factor, name = 0.01, "%"
    else:
        # The factor avoids 1000 of the smaller unit after rounding.
        factor, name = scaled(unit, [1.006 * mean])
    text = format_measured({"mean": mean, "ci95": half}, 1 / factor, digits, of=of, thousands=",")
    return f"{text}{NARROW}{name}" if name not in ("", "1") else text


def row_with_unit(row: Mapping[str, Any], key: str, unit: str, digits: int = 3) -> str:
    """Format a quantity of a row with a suitable unit, within the limits of its range; see `with_unit`.

    Parameters
    ----------
    key : str
        Key of the quantity in the row.

    Examples
    --------
    >>> row_with_unit({"utilization": {"mean": 0.999, "ci95": 0.006}}, "utilization", "%").replace(NARROW, " ")
    '99.9 (99.3 to 100) %'
    """
    return with_unit(row[key], unit, digits, of=key)


def plain(quantity: Mapping[str, Any] | float | None, unit: str, digits: int = 3) -> str:
    """Format a quantity with its unit, without its interval.

    Parameters
    ----------
    quantity, unit, digits
        As in `with_unit`.

    Examples
    --------
    >>> plain({"mean": 0.004426, "ci95": 0.00028}, "s").replace(NARROW, " ")
    '4.43 ms'
    """
    return with_unit(_parts(quantity)[0], unit, digits)


def _parts(quantity: Any) -> tuple[float | None, float | None]:
    if quantity is None or isinstance(quantity, int | float):
        return quantity, None
    return quantity["mean"], quantity["ci95"]


def capital(text: str) -> str:
    """Return a text that begins with a capital letter.

    Examples
    --------
    >>> capital("a link is busy"), capital("RED")
    ('A link is busy', 'RED')
    """
    return text[:1].upper() + text[1:]


def joined(parts: Iterable[str], last: str = "and") -> str:
    """Join words into an enumeration.

    Parameters
    ----------
    last : str
        Word before the last part.

    Examples
    --------
    >>> joined(["a", "b", "c"]), joined(["a"])
    ('a, b and c', 'a')
    """
    listed: Sequence[str] = list(parts)
    return f" {last} ".join(part for part in (", ".join(listed[:-1]), listed[-1]) if part) if listed else ""
