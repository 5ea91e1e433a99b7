"""Quantities as people write them: numbers in base units to short text, and text to numbers.

The parser of the scenario file lives in Rust; what is read here (shares, precision) has no unit of its own.
"""

import math
from collections.abc import Iterable

from elephan import _native
from elephan.errors import UnitError

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def seconds(text: str) -> float:
    """Read a time.

    Parameters
    ----------
    text : str
        A number and one of ``ps ns us ms s min h``.

    Returns
    -------
    float [s]

    Raises
    ------
    UnitError
        If there is no unit, or one that is not a time.

    Examples
    --------
    >>> seconds("10 ms")
    0.01
    """
    return _native.seconds(text)


def bits_per_second(text: str) -> float:
    """Read a rate.

    Parameters
    ----------
    text : str
        As in a scenario file: ``1 Gbit/s``, ``125 MB/s``.

    Returns
    -------
    float [bit/s]

    Raises
    ------
    UnitError
        If there is no unit, or one that is not a rate.

    Examples
    --------
    >>> bits_per_second("2.5 Gbit/s")
    2500000000.0
    """
    return float(_native.rate_bps(text))


def octets(text: str) -> float:
    """Read a size.

    Parameters
    ----------
    text : str
        As in a scenario file: ``1500 B``, ``1 MB``.

    Returns
    -------
    float [bytes]

    Raises
    ------
    UnitError
        If there is no unit, or one that is not a size.

    Examples
    --------
    >>> octets("1500 B")
    1500.0
    """
    return float(_native.size_bytes(text))


def share(text: str) -> float:
    """Read a share of one: ``0.05`` or ``5%``.

    Parameters
    ----------
    text : str

    Returns
    -------
    float [1]

    Raises
    ------
    UnitError
        If it is neither a number nor a percentage.

    Examples
    --------
    >>> share("5%"), share("0.95")
    (0.05, 0.95)
    """
    stripped = text.strip()
    try:
        value = float(stripped.removesuffix("%"))
    except ValueError:
        message = f'"{text}" is not a share; write for example 0.95 or 95%'
        raise UnitError(message) from None
    return value / 100 if stripped.endswith("%") else value


def format_rate(bit_per_s: float) -> str:
    """Write a rate with three digits.

    Parameters
    ----------
    bit_per_s : float [bit/s]

    Returns
    -------
    str

    Examples
    --------
    >>> format_rate(2.5e9)
    '2.5 Gbit/s'
    """
    scale, prefix = next((p for p in _PREFIXES if abs(bit_per_s) >= p[0]), _PREFIXES[-1])
    return f"{bit_per_s / scale:.3g} {prefix}bit/s" if abs(bit_per_s) < 999.5e12 else f"{bit_per_s:.3g} bit/s"


def format_time(s: float) -> str:
    """Write a time with three digits.

    Parameters
    ----------
    s : float [s]

    Returns
    -------
    str

    Examples
    --------
    >>> format_time(0.0123), format_time(200)
    ('12.3 ms', '200 s')
    """
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")):
        if abs(s) >= scale:
            return f"{s / scale:.3g} {unit}" if abs(s) < 999.5 else f"{s:.0f} s"
    return "0 s" if s == 0 else f"{s:.2g} s"


def format_bytes(n: float) -> str:
    """Write a size with three digits, decimal prefixes.

    Parameters
    ----------
    n : float [bytes]

    Returns
    -------
    str

    Examples
    --------
    >>> format_bytes(1_250_000)
    '1.25 MB'
    """
    scale, prefix = next((p for p in _PREFIXES if abs(n) >= p[0]), _PREFIXES[-1])
    return f"{n / scale:.3g} {prefix}B"


_SCALES = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")),
    "bit/s": ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")),
    "B": ((1e9, "GB"), (1e6, "MB"), (1.0, "B")),
}


def scaled(unit: str, values: Iterable[float]) -> tuple[float, str]:
    """Find the unit in which numbers of a base unit are read most easily.

    Parameters
    ----------
    unit : str
        ``s``, ``bit/s``, ``B``, or anything that stays as it is.
    values : iterable of float
        Only those that are finite and not zero count.

    Returns
    -------
    float, str
        What to divide by, and the unit of what is left.

    Examples
    --------
    >>> scaled("s", [0.0875, 0.125]), scaled("bit/s", [1e6, 1e10])
    ((0.001, 'ms'), (1000000.0, 'Mbit/s'))
    """
    sizes = [abs(value) for value in values if math.isfinite(value) and value != 0]
    scales = _SCALES.get(unit)
    if not scales:
        return 1.0, unit
    # That of the middle between the least and the largest, by ratio; a hair below, for what rounding takes.
    middle = math.sqrt(min(sizes)) * math.sqrt(max(sizes)) * (1 + 1e-9) if sizes else scales[0][0]
    return next((scale for scale in scales if middle >= scale[0]), scales[-1])


def format_number(x: float | None, digits: int = 4) -> str:
    """Write a number with some digits, but all of its whole part; below a thousandth as a power of ten.

    Parameters
    ----------
    x : float or None
    digits : int

    Returns
    -------
    str
        ``-`` for None and NaN.

    Examples
    --------
    >>> [format_number(x) for x in (656596.3, 0.123456, 2.16e-10, float("nan"))]
    ['656596', '0.1235', '2.16e-10', '-']
    """
    if x is None or math.isnan(x):
        return "-"
    if 10**digits <= abs(x) < 1e9:
        return f"{x:.0f}"
    if abs(x) >= 1e-3 or x == 0:
        return f"{x:.{digits}g}".replace("e+", "e")
    mantissa, _, power = f"{x:.{digits - 1}e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}"


def format_quantity(x: float, unit: str, digits: int = 6) -> str:
    """Write a number of a base unit with its unit.

    Parameters
    ----------
    x : float
    unit : str
        As for `scaled`; ``1`` is not written.
    digits : int

    Returns
    -------
    str

    Examples
    --------
    >>> format_quantity(0.1125, "s"), format_quantity(1000, "B"), format_quantity(0.5, "1")
    ('112.5 ms', '1000 B', '0.5')
    """
    factor, name = scaled(unit, [x])
    return f"{format_number(x / factor, digits)} {name}".removesuffix(" 1")
