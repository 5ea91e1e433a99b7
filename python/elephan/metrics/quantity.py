"""The registry of quantities: each number of a result is declared once, in `QUANTITIES`.

These declarations determine documents, tables, columns of files and of the index, attributes of arrays, columns of
sweeps, metrics with a precision, screens, pages and the reference. A quantity that is added appears in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

LINKS, GROUPS, TRANSFERS, FAIRNESS = "links", "groups", "transfers", "fairness"
"""Parts of a run's document with quantities; transfers are a part of their group."""

FLOWS, LINK_FACTS, LINK_SAMPLES, FLOW_SAMPLES, COMPARED = "flows", "facts", "link_samples", "flow_samples", "compared"
"""Further kinds of quantities: columns per flow, properties of links, samples over time, and comparisons."""

RUNS_ONLY, ALWAYS = "runs", "always"
"""Screens that show a share in percent: those of runs only, or also those of sweeps (for small shares)."""

SPELT = {"utilisation": "utilization"}
"""Other spellings of names that options accept."""

_UNITS = {"_s": "s", "_bps": "bit/s", "_bytes": "byte", "_packets": "packets", "_segments": "segments"}
_SHOWN_UNITS = {"s": ("ms", 1e3), "bit/s": ("Mbit/s", 1e-6), "1": ("", 1.0)}


def unit(name: str) -> str:
    """Return the unit of a column, which follows from the end of its name.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    str
        ``1`` for counts and ratios.

    Examples
    --------
    >>> unit("goodput_bps"), unit("queueing_delay_s"), unit("utilization")
    ('bit/s', 's', '1')
    """
    return next((found for end, found in _UNITS.items() if name.endswith(end)), "1")


TOGETHER = ", of all flows of the group together"
"""End of the meaning of a quantity that is a sum over the flows of a group."""


@dataclass(frozen=True)
class Shown:
    """Column of a quantity in the tables of screens, notebooks and pages.

    Parameters
    ----------
    position : int
        Position from the left.
    head : str
        Head on screens; empty if the column is only on pages.
    rank : int
        If a screen is too narrow, columns with a high rank are omitted first. Columns of rank 0 are never omitted.
    digits : int
        Number of digits on screens.
    page : str
        Head on pages and in notebooks; `head` if empty.
    unit : str
        Unit in which values are shown, if it differs from the usual one (Mbit/s, ms or percent).
    scale : float
        Factor that converts values to `unit`.
    unless_zero : bool
        Whether the column is omitted if all of its values are zero.
    """

    position: int
    head: str = ""
    rank: int = 0
    digits: int = 3
    page: str = ""
    unit: str = ""
    scale: float = 1.0
    unless_zero: bool = False

    def has_values(self, name: str, rows: Iterable[Mapping[str, Any] | None]) -> bool:
        """Whether the rows of a table have values for the column of a quantity.

        Examples
        --------
        >>> rows = [{"marks": {"mean": 0.0, "ci95": None}}, {}]
        >>> Shown(1).has_values("marks", rows), Shown(1, unless_zero=True).has_values("marks", rows)
        (True, False)
        """
        found = [row[name]["mean"] for row in rows if row and name in row]
        return any(found) if self.unless_zero else bool(found)


@dataclass(frozen=True)
class Quantity:
    """A number of a result.

    Parameters
    ----------
    of : str
        `LINKS`, `GROUPS`, `TRANSFERS` or `FAIRNESS`, or one of the further kinds.
    name : str
        Key in the document or name of the column; it ends with the unit. A dot separates the keys of nested mappings.
    meaning : str
        Meaning in a phrase, as in the reference of documents and tables, and in the attributes of arrays.
    only : str
        Condition under which the document contains the quantity; empty if it always does.
    applies : callable, optional
        Takes the values of a link, group or transfers; returns whether the document contains the quantity for it.
    derive : callable, optional
        Takes the counters of all links in one replication, by name; returns a column of the same shape. The column is
        kept per replication, in files and arrays, like a counter of the engine.
    compute : callable, optional
        Takes the values of a link, group, transfers or all flows (`elephan.metrics.values`); returns the values of the
        replications. By default, these are the column of the same name.
    needs : tuple of str
        Columns of flows that `compute` uses, if it uses no others.
    reported : bool
        Whether the document of a run contains the quantity; otherwise it is only a column.
    metric : str
        Metric of the catalogue to which it belongs.
    column : str
        Name as a column of a sweep's table.
    precision : str
        Name as a metric for which a precision can be requested.
    title : str
        Name in the figures of a sweep's page.
    percent : str
        `RUNS_ONLY` or `ALWAYS` for a share that is shown in percent; otherwise empty.
    shown : Shown, optional
        Column on screens and pages.
    listed : bool
        Whether tables show the quantity by default; they contain all reported quantities.
    after : str
        Quantity that it follows in tables, if not the previous one.
    compared : bool
        Whether comparisons of models, simulations and testbeds contain the quantity.

    Examples
    --------
    >>> QUANTITIES["links", "queueing_delay_s"].unit
    's'
    """

    of: str
    name: str
    meaning: str
    only: str = ""
    applies: Callable[[Any], bool] | None = None
    derive: Callable[[Mapping[str, NDArray[Any]]], NDArray[Any]] | None = None
    compute: Callable[[Any], Sequence[float]] | None = None
    needs: tuple[str, ...] = ()
    reported: bool = True
    metric: str = ""
    column: str = ""
    precision: str = ""
    title: str = ""
    percent: str = ""
    shown: Shown | None = None
    listed: bool = False
    after: str = ""
    compared: bool = False

    @property
    def unit(self) -> str:
        """Unit of the values; ``1`` for counts and ratios."""
        return unit(self.name)

    @property
    def key(self) -> str:
        """Name as a column of tables and of the index."""
        flat = self.name.replace(".", "_")
        return f"{TRANSFERS}_{flat}" if self.of == TRANSFERS else flat

    @property
    def shown_unit(self) -> tuple[str, float]:
        """Unit on screens and pages, and the factor that converts values to it."""
        if self.shown is not None and self.shown.unit:
            return self.shown.unit, self.shown.scale
        return ("%", 100.0) if self.percent else _SHOWN_UNITS.get(self.unit, (self.unit, 1.0))

    @property
    def sentence_unit(self) -> str:
        """Unit in sentences, which add a prefix; empty for counts and ratios."""
        return "%" if self.percent else self.unit.removesuffix("1")

    @property
    def page_head(self) -> str:
        """Head of its column on pages, with the unit."""
        assert self.shown is not None
        unit, _ = self.shown_unit
        return f"{self.shown.page or self.shown.head}{f' [{unit}]' if unit else ''}"

    def values(self, source: Any) -> Sequence[float]:
        """Return the values of the replications of a link, a group, its transfers or all flows."""
        if self.compute is not None:
            return self.compute(source)
        values: Sequence[float] = source.columns[self.key]
        return values


QUANTITIES: dict[tuple[str, str], Quantity] = {}
"""Every quantity by its kind and name, in the order of documents."""


def declare(*quantities: Quantity) -> None:
    """Register quantities; the order is that of documents.

    Raises
    ------
    ValueError
        If a quantity of this kind and name is declared already.
    """
    for quantity in quantities:
        if (quantity.of, quantity.name) in QUANTITIES:
            raise ValueError(f"quantity: {quantity.of}: {quantity.name}: is declared already")
        QUANTITIES[quantity.of, quantity.name] = quantity


def quantities(*kinds: str) -> list[Quantity]:
    """Return the quantities of some kinds, in the order of documents.

    Examples
    --------
    >>> [quantity.name for quantity in quantities("fairness") if quantity.reported]
    ['jain', 'jain_maxmin', 'rtt_ratio']
    """
    return [quantity for quantity in QUANTITIES.values() if quantity.of in kinds]


def tabled(*kinds: str) -> list[Quantity]:
    """Return the reported quantities of some kinds, in the order of tables.

    Examples
    --------
    >>> [quantity.name for quantity in tabled("links")][3:6]
    ['propagation_max_s', 'utilization', 'loss_ratio']
    """
    found = [quantity for quantity in quantities(*kinds) if quantity.reported]
    for quantity in [quantity for quantity in found if quantity.after]:
        found.remove(quantity)
        found.insert([each.name for each in found].index(quantity.after) + 1, quantity)
    return found


def shown(*kinds: str, on_screen: bool = True) -> list[Quantity]:
    """Return the quantities with columns on screens, or on pages, from left to right."""
    found = [each for each in quantities(*kinds) if each.shown is not None and (each.shown.head or not on_screen)]
    return sorted(found, key=lambda each: each.shown.position if each.shown else 0)


def long_names(*kinds: str) -> dict[str, str]:
    """Return the meanings of columns by name."""
    return {quantity.key: quantity.meaning for quantity in quantities(*kinds)}


def derived(links: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Compute the columns that are derived from the counters of all links in one replication.

    Parameters
    ----------
    links : mapping of str to ndarray, shape (links,)

    Returns
    -------
    dict of str to ndarray, shape (links,)
    """
    return {each.name: each.derive(links) for each in quantities(LINKS) if each.derive is not None}


def report(of: Iterable[Quantity], source: Any, over: Callable[[Sequence[float]], Any]) -> Any:
    """Estimate quantities for a document.

    Parameters
    ----------
    source : object
        Argument of `Quantity.values`.
    over : callable
        Takes the values of the replications; returns ``{"mean", "ci95"}``.

    Returns
    -------
    dict
        Estimates by name; names with dots are nested.
    """
    found: dict[str, Any] = {}
    for quantity in of:
        if not quantity.reported or (quantity.applies is not None and not quantity.applies(source)):
            continue
        outer, dot, inner = quantity.name.partition(".")
        place: MutableMapping[str, Any] = found.setdefault(outer, {}) if dot else found
        place[inner or outer] = over(quantity.values(source))
    return found


def places(metric: str) -> list[tuple[str, list[Quantity]]]:
    """Return where results contain a metric of the catalogue: parts of the document, and the quantities in each."""
    found: dict[str, list[Quantity]] = {}
    for quantity in QUANTITIES.values():
        if quantity.metric == metric and quantity.reported:
            found.setdefault(GROUPS if quantity.of == TRANSFERS else quantity.of, []).append(quantity)
    return list(found.items())


def path(quantity: Quantity) -> str:
    """Return the dotted key of a quantity in its part of a document."""
    return f"{TRANSFERS}.{quantity.name}" if quantity.of == TRANSFERS else quantity.name
