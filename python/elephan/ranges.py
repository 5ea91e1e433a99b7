"""Ranges of values as text: ``10 ms..1 s:3``."""

import re
from dataclasses import dataclass

from elephan.errors import InputError
from elephan.units import NUMBER

POINTS = 9
"""Default number of values of a range."""

_COUNT = re.compile(r"\s*(?P<count>\d+)\s*(?P<spacing>log|lin|)\s*", re.ASCII)


@dataclass(frozen=True)
class ParsedRange:
    """A range as written: ``10 ms..1 s:3``, ``100..15000 packets:12log``, ``1..10:10lin``."""

    low: str
    """First value; without a unit of its own, it has that of the last one."""
    high: str
    """Last value."""
    count: int
    """Number of values."""
    spacing: str
    """Spacing: ``log``, ``lin``, or empty (logarithmic if both ends are positive)."""

    def values(self, first: float, last: float) -> list[float]:
        """Return the values from the first to the last with the range's spacing.

        Parameters
        ----------
        first, last : float
            The ends as numbers.

        Returns
        -------
        list of float
            Values with twelve digits, as a user would have written them.

        Raises
        ------
        InputError
            If a value of a logarithmic range is not above zero.

        Examples
        --------
        >>> ParsedRange("1", "100", 3, "").values(1, 100), ParsedRange("1", "100", 3, "lin").values(1, 100)
        ([1.0, 10.0, 100.0], [1.0, 50.5, 100.0])
        """
        positive = first > 0 and last > 0
        if self.spacing == "log" and not positive:
            raise InputError(
                f'"{self.low}..{self.high}" has no values spaced by ratio: its ends must be above 0; write lin'
            )
        shares = [i / (self.count - 1) for i in range(self.count)]
        if self.spacing != "lin" and positive:
            between = [first * (last / first) ** share for share in shares]
        else:
            between = [first + (last - first) * share for share in shares]
        return [float(f"{value:.12g}") for value in (first, *between[1:-1], last)]


def read_range(text: str) -> ParsedRange | None:
    """Parse a range ``LOW..HIGH`` or ``LOW..HIGH:COUNT``, COUNT optionally followed by ``log`` or ``lin``.

    Returns
    -------
    ParsedRange or None
        None if there is no ``..`` in it.

    Raises
    ------
    InputError
        If it has three dots, or if COUNT is not a whole number from 2 to 10000.

    Examples
    --------
    >>> read_range("100..15000 packets:12log")
    ParsedRange(low='100 packets', high='15000 packets', count=12, spacing='log')
    >>> read_range("10 ms") is None
    True
    """
    ends, colon, rest = text.partition(":")
    low, dots, high = (part.strip() for part in ends.partition(".."))
    if not dots:
        return None
    if "..." in ends:
        # "1...5" could also be read as 1 to .5, which is not what the user meant.
        raise InputError(f'"{text}" has three dots; a range has two: {low}..{high.lstrip(". ")}{colon}{rest}')
    count = _COUNT.fullmatch(rest)
    if colon and not (count and 2 <= int(count["count"]) <= 10_000):
        raise InputError(f'"{rest}" is not a valid number of values, 2 to 10000; write for example {ends}:21')
    first, last = NUMBER.fullmatch(low), NUMBER.fullmatch(high)
    if first and last and not first["unit"].strip():
        low = f"{low}{last['unit'].rstrip()}"
    return ParsedRange(low, high, int(count["count"]) if count else POINTS, count["spacing"] if count else "")
