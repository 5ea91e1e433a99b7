"""A model for its users: a card, a table for given parameters, and a prediction for a link.

A model is a module in this folder that ends in ``MODEL = read_model(...)``, its card, which is a TOML file of the same
name, and one line in `elephan.theory.models`.
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elephan.citations import cite, short
from elephan.display import ColumnTable, figure, page
from elephan.errors import InputError, UnitError, suggest, unknown
from elephan.network import Network
from elephan.ranges import read_range
from elephan.theory.controls import kind
from elephan.theory.models.bottleneck import Bottleneck
from elephan.theory.response import Floats
from elephan.units import bits_per_second, count, octets, seconds, share

if TYPE_CHECKING:
    from elephan.display import Figure
    from elephan.results import ModelDocument

Values = Mapping[str, Any]
"""Parameters by name: arrays of shape (rows,) of floats in base units, or of text."""

Columns = Mapping[str, Any]
"""Computed columns by name: arrays of shape (rows,) of floats, or of text."""

Compute = Callable[[Values], Columns]
"""Function of parameters that returns columns."""

CI95 = "_ci95"
"""Suffix of the column with half of the 95 % interval of another column."""

MOST = 1e15
"""Upper limit of a quantity of a link; its powers would overflow."""


class Prediction(NamedTuple):
    """Prediction of a model for a link with several buffers, shape (buffers,); NaN where the model does not apply."""

    utilization: Floats
    """[1]"""
    loss_ratio: Floats
    """Dropped over arrived packets [1]."""
    queueing_delay_s: Floats
    """Mean queueing delay [s]."""
    period_s: Floats | None = None
    """Time between two overflows [s]; None for a model without periods."""


@dataclass(frozen=True)
class ModelParameter:
    """A parameter of a model.

    Parameters
    ----------
    default : str
        Default as on a command line: a value, a list ``a,b,c`` or a range ``a..b`` (``a..b:21``).
    unit : str
        ``s``, ``bit/s``, ``B``, ``packets``, ``1`` (a number or a percentage), or empty for a word.
    meaning : str
    choices : tuple of str
        Accepted words.
    within : str
        Interval of numbers in base units, as ``(0, inf)`` or ``[0, 1)``; empty for any.
    bdp : float or None [packets]
        Bandwidth-delay product, where packets may be given as ``0.25 bdp``; None where it is not known.
    """

    default: str
    unit: str
    meaning: str
    choices: tuple[str, ...] = ()
    within: str = ""
    bdp: float | None = None

    def read(self, name: str, text: str) -> list[float] | list[str]:
        """Read a value, a list or a range.

        Parameters
        ----------
        name : str
            Name for the message.
        text : str

        Returns
        -------
        list of float in base units, or of str

        Raises
        ------
        InputError
            If the text has none of these forms; the message says what would be right.

        Examples
        --------
        >>> ModelParameter("100 ms", "s", "round-trip time").read("rtt", "10 ms..1 s:3")
        [0.01, 0.1, 1.0]
        """
        items = [item.strip() for item in text.split(",")]
        if not self.unit:
            unknown = [item for item in items if self.choices and kind(item) not in self.choices]
            if unknown:
                raise InputError(f'{name}: there is no "{unknown[0]}"; {suggest(unknown[0], self.choices)}')
            return items
        values = [value for item in items for value in self._numbers(name, item)]
        outside = [value for value in values if not self._allows(value)]
        if outside:
            unit = f" {self.unit}" if self.unit not in ("", "1") else ""
            raise InputError(f"{name}: {outside[0]:g}{unit} is not {self.range}; write for example {self.default}")
        return values

    @property
    def _counted(self) -> str:
        """Unit that a message about a number adds, where a scenario also accepts other units."""
        return "" if self.unit != "packets" else " of packets" if self.bdp is None else ' of packets or of "bdp"'

    @property
    def range(self) -> str:
        """The range of numbers, in words; empty if unlimited."""
        low, high = self.within[1:-1].split(", ") if self.within else ("", "")
        if high != "inf":
            return f"within {self.within}" if self.within else ""
        return f"above {low}" if self.within[0] == "(" else f"at least {low}"

    def _allows(self, value: float) -> bool:
        if not self.within:
            return True
        low, high = (float(end) for end in self.within[1:-1].split(","))
        above = value >= low if self.within[0] == "[" else value > low
        return above and (value <= high if self.within[-1] == "]" else value < high)

    def _numbers(self, name: str, text: str) -> list[float]:
        try:
            written = read_range(text)
            if written is None:
                return [self._number(text)]
            return written.values(self._number(written.low), self._number(written.high))
        except InputError as error:
            raise InputError(f"{name}: {error}") from None

    def _number(self, text: str) -> float:
        text = text.strip()
        try:
            if self.bdp is not None and text.endswith("bdp"):
                value = float(text.removesuffix("bdp") or 1) * self.bdp
            else:
                value = _READERS[self.unit](text)
        except UnitError:
            raise
        except ValueError:
            raise InputError(f'"{text}" is not a number{self._counted}; write for example {self.default}') from None
        if not math.isfinite(value):
            raise InputError(f'"{text}" is not finite; write for example {self.default}')
        if abs(value) > MOST:
            raise InputError(f'"{text}" is out of range; write for example {self.default}')
        return value


def _packets(text: str) -> float:
    return float(text.removesuffix("packets").removesuffix("segments").removesuffix("packet"))


_READERS: dict[str, Callable[[str], float]] = {
    "s": seconds,
    "bit/s": bits_per_second,
    "B": octets,
    "packets": _packets,
    "1": share,
}


@dataclass(frozen=True)
class ModelColumn:
    """One column of a model's table.

    Parameters
    ----------
    unit : str
    meaning : str
    """

    unit: str
    meaning: str


@dataclass(frozen=True)
class ModelPicture:
    """Description of the plot of a model's table.

    Parameters
    ----------
    x : str
        The parameter on the horizontal axis.
    lines : tuple of str
        Columns in one panel; of two, the first is the closed form, the second its check.
    logarithmic : str
        The logarithmic axes: ``""``, ``"x"``, ``"y"`` or ``"xy"``.
    y : str
        Label of the axis of several lines; the axis of a single line is labelled with the column's meaning.
    points : str
        Column that is drawn as points over the lines, with intervals from the column of its name and `CI95`; empty for
        none.
    """

    x: str
    lines: tuple[str, ...]
    logarithmic: str = "x"
    y: str = ""
    points: str = ""


@dataclass(frozen=True, repr=False)
class ModelTable:
    """Results of a model for given parameters.

    Parameters
    ----------
    model : Model
    values : dict of str to ndarray, shape (rows,)
        Values of every parameter.
    columns : dict of str to ndarray, shape (rows,)
        Computed columns; NaN where the model does not apply.
    """

    model: Model
    values: dict[str, Any]
    columns: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        """Return one column, of a parameter or a result."""
        columns = {**self.values, **self.columns}
        if name not in columns:
            raise InputError(f"{self.model.name}: {unknown('column', name, columns)}")
        return columns[name]

    def to_columns(self) -> ColumnTable:
        """Return the varied parameters and the results as a small table.

        Returns
        -------
        ColumnTable
            Table with `to_pandas` and `to_arrow`.
        """
        varied = {name: self.values[name].tolist() for name in self.varied}
        computed = {name: column.tolist() for name, column in self.columns.items()}
        return ColumnTable(varied | computed, self.model.title)

    def plot(self) -> Figure:
        """Draw the results against the varied parameter.

        Returns
        -------
        Figure

        Raises
        ------
        InputError
            If no parameter varies that can be on an axis.
        """
        return figure(self, None)

    def __repr__(self) -> str:
        rows = len(next(iter(self.values.values())))
        return f"<Table of {self.model.name}: {count(rows, 'row')} of {', '.join((*self.varied, *self.columns))}>"

    def _repr_html_(self) -> str:
        return page(self)

    @property
    def varied(self) -> list[str]:
        """Names of parameters with several values."""
        return [name for name, column in self.values.items() if len(set(column.tolist())) > 1]

    def to_json(self) -> ModelDocument:
        """Return the document of ``elephan model NAME --json``.

        Returns
        -------
        dict
        """
        names = [*self.values, *self.columns]
        columns = [*self.values.values(), *self.columns.values()]
        rows = zip(*([_plain(cell) for cell in column.tolist()] for column in columns), strict=True)
        return {
            "model": self.model.name,
            "title": self.model.title,
            "source": cite(self.model.source),
            "fails": list(self.model.fails),
            "units": {name: p.unit for name, p in self.model.parameters.items()}
            | {name: c.unit for name, c in self.model.columns.items()},
            "rows": [dict(zip(names, row, strict=True)) for row in rows],
        }


def _plain(cell: object) -> object:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


@dataclass(frozen=True)
class Model:
    """An analytic model.

    Parameters
    ----------
    name : str
        Name in lower case, with hyphens.
    title : str
    source : str
        Key of the citation.
    says : str
        Description of the computation, in a sentence or two.
    fails : tuple of str
        Known limits of the model, shown together with it.
    parameters : dict of str to ModelParameter
    columns : dict of str to ModelColumn
    compute : callable
        Function of `Values` that returns columns, arrays of shape (rows,).
    picture : ModelPicture or None
    predict : callable or None
        Function of a `Bottleneck` and buffers [packets], shape (buffers,), that returns a `Prediction`; None if it is
        not a model of links.
    from_link : callable or None
        Function of a network and the index of a link that returns values of parameters, as text; for a model whose own
        table applies to a link.
    unsuited : callable
        Function that returns why the model does not apply to a bottleneck; empty if it does.
    doubts : callable
        Function that returns the assumptions that a bottleneck violates, a line each.
    asks : callable
        Function that returns the quantities of a law, named as in `controls`, that the prediction for a bottleneck
        depends on: a parameter that changes none of them has no effect.
    takes_pacing : bool
        Whether its own `doubts` cover pacing; otherwise the model ignores pacing.

    Examples
    --------
    >>> from elephan.theory.models import MODELS
    >>> MODELS["hstcp"].title
    'One HighSpeed flow as a fluid: throughput at a loss rate'
    """

    name: str
    title: str
    source: str
    says: str
    parameters: dict[str, ModelParameter]
    columns: dict[str, ModelColumn]
    compute: Compute
    fails: tuple[str, ...] = ()
    picture: ModelPicture | None = None
    predict: Callable[[Bottleneck, Floats], Prediction] | None = None
    from_link: Callable[[Network, int], Mapping[str, str]] | None = None
    unsuited: Callable[[Bottleneck], str] = field(default=lambda _: "")
    doubts: Callable[[Bottleneck], list[str]] = field(default=lambda _: [])
    asks: Callable[[str, Bottleneck], Floats] = field(default=lambda _, __: np.empty(0))
    takes_pacing: bool = False

    def table(self, given: Mapping[str, str] | None = None) -> ModelTable:
        """Compute the table for given parameters; the others have their defaults.

        Parameters
        ----------
        given : mapping of str to str, optional
            Values, lists or ranges as text; every combination of several lists is a row.

        Returns
        -------
        ModelTable

        Raises
        ------
        InputError
            If a parameter is unknown or its value cannot be used.

        Examples
        --------
        >>> from elephan.theory.models import MODELS
        >>> table = MODELS["hstcp"].table({"p": "1e-5,1e-6", "rtt": "120 ms"})
        >>> table.columns["closed_packets_per_s"].round().tolist()
        [12474.0, 90756.0]
        """
        chosen = dict(given or {})
        unknown = [name for name in chosen if name not in self.parameters]
        if unknown:
            hint = suggest(unknown[0], self.parameters, f"it has {', '.join(self.parameters)}", "")
            raise InputError(f"{self.name}: there is no parameter {unknown[0]}; {hint}")
        lists: Sequence[Sequence[float | str]] = [
            row.read(name, chosen.get(name, row.default)) for name, row in self.parameters.items()
        ]
        rows = list(itertools.product(*lists))
        if len(rows) > MOST_ROWS:
            raise InputError(f"{self.name}: the lists multiply to {len(rows)} rows; give no more than {MOST_ROWS}")
        values = {name: np.array(column) for name, column in zip(self.parameters, zip(*rows, strict=True), strict=True)}
        return ModelTable(self, values, {name: np.asarray(column) for name, column in self.compute(values).items()})

    def to_json(self) -> dict[str, Any]:
        """Return the card as ``elephan list models --json`` has it.

        Returns
        -------
        dict
        """
        return {
            "name": self.name,
            "title": self.title,
            "source": short(self.source),
            "parameters": [
                {"name": name, "default": row.default, "unit": row.unit, "meaning": _meaning(row)}
                for name, row in self.parameters.items()
            ],
            "aliases": [],
            "differs": " ".join(self.fails),
            "spellings": {},
            "says": self.says,
            "fails": list(self.fails),
            "columns": [{"name": name, "unit": c.unit, "meaning": c.meaning} for name, c in self.columns.items()],
            "citation": cite(self.source),
            "predicts_links": self.predict is not None,
            "reads_links": self.predict is not None or self.from_link is not None,
        }


def read_model(module: str, *, choices: Mapping[str, Sequence[str]] | None = None, **given: Any) -> Model:
    """Make a model of its card, which lies beside its module, and of its functions.

    Parameters
    ----------
    module : str
        File of the module; the card has the same name and ends in ``.toml``.
    choices : mapping of str to sequence of str, optional
        Words that parameters may take, where code knows them; all are the default of a parameter without another.
    **given
        The fields of `Model` that the card leaves open.

    Returns
    -------
    Model
    """
    card = tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))
    for name, words in (choices or {}).items():
        card["parameters"][name] = {"default": ",".join(words), **card["parameters"][name], "choices": words}
    for row in card["parameters"].values():
        row["choices"] = tuple(row.get("choices", ()))
    card["picture"]["lines"] = tuple(card["picture"]["lines"])
    return Model(
        name=card["name"],
        title=card["title"],
        source=card["source"],
        says=card["says"],
        fails=tuple(card["fails"]),
        parameters={name: ModelParameter(**row) for name, row in card["parameters"].items()},
        columns={name: ModelColumn(**row) for name, row in card["columns"].items()},
        picture=ModelPicture(**card["picture"]),
        **given,
    )


MOST_ROWS = 100_000
"""Maximum number of rows of a table."""


def _meaning(row: ModelParameter) -> str:
    within = f", {row.range}" if row.range and row.within != "(0, inf)" else ""
    return f"{row.meaning}: {', '.join(row.choices)}" if row.choices else row.meaning + within
