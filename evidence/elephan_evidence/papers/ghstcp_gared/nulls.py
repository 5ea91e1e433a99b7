"""Nulls of Tables 1 to 6: our own cells of another law, queue or delay, judged in a cell's band.

Cases 2 to 31 are five routers times two laws times three pairs of recoveries, in this order; case 1 is Reno alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan_evidence.papers.ghstcp_gared.cells import DELAYS
from elephan_evidence.papers.measures import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from elephan_evidence.papers.paper import Claim

FIRST, PAIRS, ROUTERS = 2, 3, 5
"""The first case with a compared law, pairs of recoveries of one law, and routers."""


def wrong_law(case: int) -> list[int]:
    """Return the case with gentle HighSpeed for HighSpeed, or the reverse; Reno's with HighSpeed.

    Examples
    --------
    >>> wrong_law(2), wrong_law(7), wrong_law(9), wrong_law(1)
    ([5], [4], [12], [2])
    """
    if case < FIRST:
        return [FIRST]
    return [case + PAIRS if (case - FIRST) // PAIRS % 2 == 0 else case - PAIRS]


def wrong_queue(case: int) -> list[int]:
    """Return the cases with the same senders at the other routers; empty for Reno alone, which has one router.

    Examples
    --------
    >>> wrong_queue(9), wrong_queue(1)
    ([3, 15, 21, 27], [])
    """
    if case < FIRST:
        return []
    senders = FIRST + (case - FIRST) % (2 * PAIRS)
    return [other for i in range(ROUTERS) if (other := senders + 2 * PAIRS * i) != case]


def _cell(claim: Claim) -> tuple[str, int, int] | None:
    """Return the quantity, case and delay of a claim about a cell; None for other claims."""
    name, given = parse(claim.measure)
    return (given["of"], given["case"], given["delay"]) if name == "cell" else None


def _cases(of: Callable[[int], Iterable[int]]) -> Callable[[Claim], Sequence[str]]:
    def measures(claim: Claim) -> list[str]:
        cell = _cell(claim)
        if cell is None:
            return []
        what, case, delay = cell
        return [f"cell of={what} case={other} delay={delay}" for other in of(case)]

    return measures


def _delays(claim: Claim) -> list[str]:
    cell = _cell(claim)
    if cell is None:
        return []
    what, case, delay = cell
    return [f"cell of={what} case={case} delay={other}" for other in DELAYS if other != delay]


ALTERNATIVES: Mapping[str, Callable[[Claim], Sequence[str]]] = {
    "wrong law": _cases(wrong_law),
    "wrong queue": _cases(wrong_queue),
    "wrong delay": _delays,
}


def column(claim: Claim) -> str:
    """Name the column that shares a constant: cells with SACK on the fast group, or cells without."""
    cell = _cell(claim)
    return "" if cell is None else "SACK" if has_sack(cell[1]) else "none"


def has_sack(case: int) -> bool:
    """Return whether the fast group of a case has SACK.

    Examples
    --------
    >>> [case for case in range(1, 8) if has_sack(case)]
    [3, 4, 6, 7]
    """
    return case >= FIRST and (case - FIRST) % PAIRS != 0
