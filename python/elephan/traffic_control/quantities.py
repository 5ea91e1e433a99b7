"""Rates, sizes, times, counts and percentages in tc's notation.

*Source*: `tc_util.c` of iproute2: rates are in powers of 1000 (`kbps` is bytes), sizes in powers of 1024.
"""

from __future__ import annotations

import re

_RATE = re.compile(r"(\d+(?:\.\d+)?)([kmgt]?)(i?)(bit|bps|b)?", re.IGNORECASE)
# `burst 32Kb/8` shows the size of a cell behind a slash.
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(kbit|mbit|gbit|kb|mb|gb|k|m|g|b)?(?:/.*)?", re.IGNORECASE | re.DOTALL)
_COUNT, _SHARE = re.compile(r"(\d{1,12})p?"), re.compile(r"(\d+(?:\.\d+)?)%?")
TIME = re.compile(r"(\d+(?:\.\d+)?)(s|secs?|ms|msecs?|us|usecs?|ns|nsecs?)?", re.IGNORECASE)
LEAST_BPS = 1000.0
"""Smallest rate of a link [bit/s]."""

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SIZES = {"": 1, "b": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30, "gb": 2**30} | {
    "kbit": 2**10 / 8,
    "mbit": 2**20 / 8,
    "gbit": 2**30 / 8,
}


def rate(text: str) -> float:
    """Return a rate of tc [bit/s].

    Raises
    ------
    ValueError

    Examples
    --------
    >>> rate("100Mbit"), rate("1kbps"), rate("8000")
    (100000000.0, 8000.0, 8000.0)
    """
    found = _matched(_RATE, text, "a rate of tc, such as 100mbit")
    base = 1024 if found[3] else 1000
    unit = (found[4] or "bit").lower()
    factor: int = base ** _POWERS[found[2].lower()] * (8 if unit in ("bps", "b") else 1)
    bps = float(found[1]) * factor
    if bps < LEAST_BPS:
        message = f'rate "{short(text)}" is {bps:g} bit/s, as in tc, and too low; write {found[1]}mbit for Mbit/s'
        raise ValueError(message)
    return bps


def size(text: str) -> float:
    """Return a size of tc [bytes].

    Raises
    ------
    ValueError

    Examples
    --------
    >>> size("32Kb"), size("32kbit"), size("1540")
    (32768.0, 4096.0, 1540.0)
    """
    found = _matched(_SIZE, text, "a size of tc, such as 32kb")
    return float(found[1]) * _SIZES[(found[2] or "").lower()]


def time(text: str) -> float:
    """Return a time of tc [s]; a number alone is in microseconds.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> time("50ms"), time("100")
    (0.05, 0.0001)
    """
    found = _matched(TIME, text, "a time of tc, such as 50ms")
    unit = (found[2] or "us").lower()
    per_second = {"s": 1, "m": 10**3, "u": 10**6, "n": 10**9}[unit[0]]
    return float(found[1]) / per_second


def count(text: str) -> int:
    """Return a number of packets; tc may write a "p" after it.

    Raises
    ------
    ValueError
    """
    return int(_matched(_COUNT, text, "a number of packets")[1])


def share(text: str) -> float:
    """Return a percentage of tc as a ratio.

    Raises
    ------
    ValueError
    """
    return min(float(_matched(_SHARE, text, "a percentage")[1]) / 100, 1.0)


def _matched(pattern: re.Pattern[str], text: str, what: str) -> re.Match[str]:
    found = pattern.fullmatch(text)
    if found is None:
        raise ValueError(f'"{short(text)}" is not {what}')
    return found


def short(text: str) -> str:
    """Return the beginning of a text with unprintable characters escaped, for a message."""
    return text[:30].encode("unicode_escape").decode()
