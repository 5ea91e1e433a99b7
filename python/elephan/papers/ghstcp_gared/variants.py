"""Tables 1 to 6 with another value of what the paper does not state: what a missed claim of theirs is held against.

Each experiment named here changes one thing (``open.toml`` has why it is open) in every cell that it can move, with one
seed. A claim is measured again with these cells in place of the tables'.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from elephan.papers.paper import Paper
from elephan.papers.runs import NotRunError, Points, Runs, same

if TYPE_CHECKING:
    from elephan.papers.paper import Claim
    from elephan.papers.runs import Point


@cache
def claims() -> dict[str, Claim]:
    """Return the paper's claims by id."""
    return Paper.read("ghstcp-gared").claims


def replaced(runs: Runs, variant: str) -> Runs:
    """Return the tables with the cells that a variant has.

    Parameters
    ----------
    runs : Runs
        Of tables, and of the variant.
    variant : str

    Returns
    -------
    Runs

    Raises
    ------
    NotRunError
        If it has none of them.
    """
    others = runs[variant]
    tables = [runs[name] for name in runs.experiments if name.startswith("table")]
    changed = {points.name: tuple(_in_place_of(point, others) for point in points) for points in tables}
    if not any(new is not old for points in tables for new, old in zip(changed[points.name], points, strict=True)):
        message = f"{variant}: has no cell of {', '.join(changed) or 'a table'}"
        raise NotRunError(message)
    return Runs({name: Points(name, points) for name, points in changed.items()}, runs.quick)


def _in_place_of(point: Point, others: Points) -> Point:
    """A variant's point of the same case and delay, if it has one."""
    case, delay = (point.labels[name] for name in ("case", "delay"))
    found = [other for other in others if same(other.labels["case"], case) and same(other.labels["delay"], delay)]
    return found[0] if found else point
