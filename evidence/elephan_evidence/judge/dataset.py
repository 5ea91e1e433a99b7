"""Data sets that others measured, as folders: what was measured, how the testbed is read, and what is accepted.

A folder holds ``set.toml``, the scenario file that it names, ``measured.csv`` (a row per cell, copied from the source
or computed from it), the licence of the data if they are copied, and ``table.csv``, the committed result. The
only code of a set is laws in Python for the runs of reasons. `elephan judge FOLDER` judges any folder of this form.
"""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from elephan.errors import InputError, suggest
from elephan.input_files import parse_toml, read_text
from elephan.own_laws import declared, load
from elephan.scenario import Scenario
from elephan_evidence.judge.cell import MeasuredCell, matches
from elephan_evidence.judge.readings import MEASURED, READINGS
from elephan_evidence.papers.measures import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HOME = Path(__file__).parent / "sets"
FILE, MEASUREMENTS = "set.toml", "measured.csv"

ErrorKind = Literal["difference", "relative", "factor"]
"""Error of a cell: simulated less measured, the same over the measured value, or the quotient of the two."""


@dataclass(frozen=True)
class Quantity:
    """A measured quantity of the cells, and what is accepted of its errors.

    Parameters
    ----------
    name, says, unit : str
        Short name, meaning, and what an error is a share of (``"of the buffer"``).
    measured, reading : str
        Its value in a row (`elephan_evidence.judge.readings.MEASURED`) and in a run (``READINGS``), as calls.
    error : str
        Kind of the error.
    per : str
        Column by which differences are divided; empty for none.
    by : tuple of str
        Columns whose values make families of cells that are scored together.
    cell, mean : float
        Largest accepted error of a cell, and mean absolute error of a family; factors for quotients.
    bias : float or None
        Largest accepted mean error of a family.
    reason : str
        Why these.
    resolution : float
        Smallest difference that the measurement resolves, in its unit: an error of that is accepted.
    stated : bool
        Whether the measured interval is what the source accepts: then errors up to its ends are.
    over : str
        Column of which the smallest value counts at which the quantity is above `above`; empty if each cell counts.
    where : dict of str to list of str
        Cells for which it was measured; empty for all.
    """

    name: str
    says: str
    unit: str
    measured: str
    reading: str
    error: ErrorKind
    by: tuple[str, ...]
    cell: float
    mean: float
    reason: str
    resolution: float = 0.0
    stated: bool = False
    per: str = ""
    bias: float | None = None
    over: str = ""
    above: float = 0.0
    where: Mapping[str, Sequence[str]] | None = None


@dataclass(frozen=True)
class Variant:
    """Another reading of the testbed: changes of the scenario, or of how a quantity is read from a run.

    Parameters
    ----------
    readings : dict of str to str
        Readings by quantity, instead of the set's.
    where : dict of str to list of str
        Cells for which it has a meaning; empty for all.
    laws : dict of str to str
        Laws in Python that the changes name, as ``file.py:Class`` in the set's folder.
    """

    name: str
    changes: Mapping[str, Any]
    readings: Mapping[str, str]
    where: Mapping[str, Sequence[str]]
    laws: Mapping[str, str]


@dataclass(frozen=True)
class Unknown:
    """A property of the testbed that its source does not state.

    Parameters
    ----------
    name, says : str
        Name, and what is known of it: the taken value, the range, and why.
    fitted : bool
        Whether a value was chosen by the errors of this set.
    """

    name: str
    says: str
    values: tuple[Variant, ...]
    fitted: bool


@dataclass(frozen=True)
class Null:
    """A wrong answer that is held against the same cells: our cell of another value of a column, or a variant."""

    name: str
    swap: str = ""
    near: tuple[str, ...] = ()
    variant: Variant | None = None


@dataclass(frozen=True)
class Reason:
    """A named reason for errors above the bound, with the variant that shows it.

    Parameters
    ----------
    where : dict of str to list of str
        Values of columns of the cells that it is about; empty for all.
    variant : Variant or None
        The run that shows it; without one, nothing is explained.
    """

    title: str
    why: str
    quantity: str
    where: Mapping[str, Sequence[str]]
    variant: Variant | None


@dataclass(frozen=True)
class Apart:
    """Cells that are not counted, and why; `fitted` if a parameter was read from them, `absent` if they are not run."""

    where: Mapping[str, Sequence[str]]
    why: str
    kind: Literal["fitted", "absent"]


@dataclass(frozen=True, repr=False)
class DataSet:
    """Measurements of others, read from a folder.

    Parameters
    ----------
    testbed : str
        How the testbed was read: which statements of the source gave which value.
    columns : dict of str to mapping
        For each key column its ``words`` (changes of the scenario by value), or its ``place`` and ``form``, for the
        number ``times`` a factor and ``plus`` an offset.
    sample : int
        Every how many cells are run again for unknowns and null variants.
    """

    folder: Path
    title: str
    source: str
    licence: str
    testbed: str
    base: Scenario
    columns: Mapping[str, Mapping[str, Any]]
    cells: tuple[MeasuredCell, ...]
    quantities: tuple[Quantity, ...]
    unknowns: tuple[Unknown, ...]
    nulls: tuple[Null, ...]
    reasons: tuple[Reason, ...]
    apart: tuple[Apart, ...]
    sample: int
    quick: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name of its folder."""
        return self.folder.name

    @classmethod
    def read(cls, folder: Path, measured: Path | None = None) -> DataSet:
        """Read a folder.

        Parameters
        ----------
        measured : Path, optional
            Other measurements with the same columns, such as cells that were held out.

        Raises
        ------
        InputError
            If a file is missing or wrong; the message names file and key.
        """
        path = folder / FILE
        try:
            document = parse_toml(read_text(path, "data set (TOML)"))
        except tomllib.TOMLDecodeError as error:
            message = f"{path}: not TOML: {error}"
            raise InputError(message) from None
        try:
            base = Scenario.from_file(folder / str(document["scenario"]))
            made = cls(
                folder=folder,
                title=document["title"],
                source=document["source"],
                licence=document["licence"],
                testbed=document["testbed"],
                base=base,
                columns=document["columns"],
                cells=tuple(_cells(measured or folder / MEASUREMENTS, document["columns"])),
                quantities=tuple(_quantity(each) for each in document["quantities"]),
                unknowns=tuple(_unknown(each) for each in document.get("unknowns", ())),
                nulls=tuple(_null(each) for each in document.get("nulls", ())),
                reasons=tuple(_reason(each) for each in document.get("reasons", ())),
                apart=tuple(
                    Apart(each.get("where", {}), each["why"], each["kind"]) for each in document.get("apart", ())
                ),
                sample=int(document.get("sample", 4)),
                quick=document.get("quick", {}),
            )
        except KeyError as error:
            message = f"{path}: {error.args[0]}: missing"
            raise InputError(message) from None
        made._check()
        return made

    def scenario(self, cell: MeasuredCell, variant: Variant | None = None, *, quick: bool = False) -> Scenario:
        """Return the scenario of a cell.

        Parameters
        ----------
        variant : Variant, optional
            Another reading of the testbed.
        quick : bool
            Whether to apply the changes of shortened runs.

        Raises
        ------
        InputError
            If a value of the cell has no meaning in the set, or the result is not a scenario.
        """
        changes: dict[str, Any] = dict(self.quick.get("set", {})) if quick else {}
        for column, value in cell.keys.items():
            changes |= self._changes(column, value)
        if variant is None:
            return self.base.replace(changes)
        with declared({name: load(f"{name}={self.folder / path}") for name, path in variant.laws.items()}):
            return self.base.replace(changes | dict(variant.changes))

    def set_apart(self, cell: MeasuredCell) -> Apart | None:
        """Return why a cell is not counted; None if it is."""
        return next((each for each in self.apart if matches(cell, each.where)), None)

    @property
    def simulated(self) -> list[MeasuredCell]:
        """Cells that are run: all but those that elephan has no law or queue for."""
        return [cell for cell in self.cells if (found := self.set_apart(cell)) is None or found.kind != "absent"]

    @property
    def counted(self) -> list[MeasuredCell]:
        """Cells that count."""
        return [cell for cell in self.cells if self.set_apart(cell) is None]

    def _changes(self, column: str, value: str) -> dict[str, Any]:
        about = self.columns[column]
        if "words" in about:
            if value not in about["words"]:
                message = (
                    f'{self.folder / FILE}: columns.{column}.words: no "{value}"; {suggest(value, about["words"])}'
                )
                raise InputError(message)
            return dict(about["words"][value])
        if "place" not in about:
            return {}  # a column that only names the cell
        form = about.get("form")
        if form is not None and not isinstance(form, str):
            message = f'{self.folder / FILE}: columns.{column}.form: must be text such as "{{:.0f}} packets"'
            raise InputError(message)
        number = MeasuredCell({}, {column: value}).number(column) * about.get("times", 1) + about.get("plus", 0)
        text = int(number) if form is None else form.format(number)
        return dict.fromkeys([about["place"]] if isinstance(about["place"], str) else about["place"], text)

    def _check(self) -> None:
        """Refuse what would only be found in the middle of the runs."""
        seen: set[str] = set()
        for cell in self.cells:
            if cell.id in seen:
                message = f"{self.folder / MEASUREMENTS}: {cell.id}: stands there twice"
                raise InputError(message)
            seen.add(cell.id)
        for cell in self.simulated:
            for column, value in cell.keys.items():
                self._changes(column, value)
            for quantity in self.quantities:
                try:
                    if matches(cell, quantity.where or {}):
                        MEASURED(quantity.measured, cell)
                except InputError as error:
                    message = f"{self.folder / MEASUREMENTS}: {error}"
                    raise InputError(message) from None
                except (TypeError, ValueError) as error:
                    message = f"{self.folder / FILE}: quantities.{quantity.name}.measured: {error}"
                    raise InputError(message) from None
        variants = [value for unknown in self.unknowns for value in unknown.values]
        variants += [each.variant for each in self.nulls if each.variant is not None]
        variants += [each.variant for each in self.reasons if each.variant is not None]
        readings = [(quantity.name, quantity.reading) for quantity in self.quantities]
        readings += [reading for variant in variants for reading in variant.readings.items()]
        for name, text in readings:
            reading = parse(text)[0]
            if reading not in READINGS:
                message = (
                    f'{self.folder / FILE}: quantities.{name}: no reading "{reading}"; {suggest(reading, READINGS)}'
                )
                raise InputError(message)


def sets() -> list[str]:
    """Return the names of the sets that come with this package, in order."""
    return sorted(path.parent.name for path in HOME.glob(f"*/{FILE}"))


def find(name: str) -> Path:
    """Return the folder of a set by its name, or the folder itself.

    Raises
    ------
    InputError
        If there is no such set or folder.
    """
    if name in sets():
        return HOME / name
    folder = Path(name)
    if (folder / FILE).is_file():
        return folder
    if "/" in name:
        what = f"holds no {FILE}" if folder.is_dir() else "there is no such folder"
        message = f"{name}: {what}; give a folder with a data set, or one of {', '.join(sets())}"
        raise InputError(message)
    hint = suggest(name, sets(), f"sets are {', '.join(sets())}, or a folder with a {FILE}")
    message = f'judge: no data set "{name}"; {hint}'
    raise InputError(message)


def _cells(path: Path, columns: Mapping[str, Any]) -> Iterator[MeasuredCell]:
    rows = csv.DictReader(read_text(path, "measurements (CSV)").splitlines())
    missing = [column for column in columns if column not in (rows.fieldnames or ())]
    if missing:
        message = f"{path}: no column {missing[0]}, which {FILE} names"
        raise InputError(message)
    for row in rows:
        yield MeasuredCell({column: row[column] for column in columns}, dict(row))


def _quantity(table: Mapping[str, Any]) -> Quantity:
    known = {key: table[key] for key in Quantity.__dataclass_fields__ if key in table}
    if table["error"] not in get_args(ErrorKind):
        message = f"quantities.{table['name']}.error: must be {', '.join(get_args(ErrorKind))}"
        raise InputError(message)
    needed = ("name", "says", "unit", "measured", "reading", "error", "cell", "mean", "reason")
    for key in needed:
        table[key]
    return Quantity(**{**known, "by": tuple(table.get("by", ()))})


def _variant(name: str, table: Mapping[str, Any]) -> Variant:
    parts = (table.get(key, {}) for key in ("set", "readings", "where", "laws"))
    return Variant(name, *parts)


def _unknown(table: Mapping[str, Any]) -> Unknown:
    values = tuple(_variant(f"{table['name']}: {each['name']}", each) for each in table["values"])
    return Unknown(table["name"], table["says"], values, bool(table.get("fitted", False)))


def _null(table: Mapping[str, Any]) -> Null:
    swap = table.get("swap", "")
    return Null(table["name"], swap, tuple(table.get("near", ())), None if swap else _variant(table["name"], table))


def _reason(table: Mapping[str, Any]) -> Reason:
    shown = _variant(table["title"], table) if "set" in table or "readings" in table else None
    return Reason(table["title"], table["why"], table.get("quantity", ""), table.get("where", {}), shown)
