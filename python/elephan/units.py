"""Quantities as people write them: numbers in base units to short text, and text to numbers.

The parser of the scenario file lives in Rust; what is read here (shares, precision) has no unit of its own.
"""

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
