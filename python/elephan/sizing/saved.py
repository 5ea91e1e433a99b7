"""Sizings read back from the folders that ``elephan size --out`` wrote."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from elephan.display import ColumnTable, page
from elephan.results import ResultPart, ResultTables
from elephan.results.formats import read_table, table_path
from elephan.runs.files import file_names
from elephan.runs.saved import read_document
from elephan.scenario import Scenario
from elephan.sizing.rows import row_document
from elephan.units import count

if TYPE_CHECKING:
    from elephan.pictures.figure import Figure
    from elephan.sizing.documents import BufferRow, LimitDocument, SizeDocument, ValueRow, VariantsDocument

Document = TypeVar("Document", "SizeDocument", "VariantsDocument", "LimitDocument")

SIZE, VARIANTS, LIMIT = "size.json", "comparison.json", "limit.json"
"""File names of the documents of a sizing, of a comparison, and of an inverse sizing."""


@dataclass(frozen=True, repr=False)
class SavedSizing(ResultTables, Generic[Document]):
    """Base class of sizings that are read from a folder.

    Parameters
    ----------
    folder : Path
    """

    folder: Path
    _file: ClassVar[str]
    _keys: ClassVar[tuple[str, ...]]
    """Keys that the document must have."""
    _table_name: ClassVar[str]
    """Name of the table with the measurements."""

    def to_json(self) -> Document:
        """Return the document as it was written."""
        document: Document = self._document.copy()
        return document

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario that was sized; for an inverse sizing, with the value found."""
        return Scenario.from_file(self.folder / "scenario.toml")

    def table(self) -> ColumnTable:
        """Return everything that was measured, a row for each buffer, variant or value.

        Raises
        ------
        InputError
            If its file is missing or damaged, or pyarrow is not installed.
        """
        columns = read_table(table_path(self.folder, self._table_name)).to_pydict()
        return ColumnTable(columns, f"{self._title}: what was measured")

    def pictures(self) -> tuple[Figure, ...]:
        """Return the figures of utilization, delay and loss against the quantity that was varied.

        Returns
        -------
        tuple of Figure
            None if nothing was simulated.
        """
        from elephan.sizing.pictures import measured_pictures  # noqa: PLC0415 (NumPy; --help does without)

        return measured_pictures(self.parts, self._document)

    @cached_property
    def _document(self) -> Document:
        """The document in the folder."""
        document: Document = read_document(self.folder / self._file, self._keys)
        return document

    def _repr_html_(self) -> str:
        return page(self)

    def _part(self, labels: dict[str, Any], link: str, buffer: float | None, row: BufferRow | ValueRow) -> ResultPart:
        index = self.scenario.link_index(link)
        # Means and intervals are kept, single replications are not.
        return ResultPart(labels, row_document(self.scenario, index, buffer, row), None)


@dataclass(frozen=True, repr=False)
class SavedSize(SavedSizing["SizeDocument"]):
    """An answer to "how large must this buffer be?" that `elephan.sizing.answer.SizeAnswer.write` wrote.

    Examples
    --------
    >>> import elephan, tempfile
    >>> from pathlib import Path
    >>> answer = elephan.size(elephan.Scenario.from_text(elephan.EXAMPLE), "utilization=0.8", replications=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = answer.write(folder)
    ...     saved = SavedSize(Path(folder))
    ...     (saved.buffer_packets, saved.links["utilization"]) == (answer.buffer_packets, answer.links["utilization"])
    True
    """

    _file, _table_name = SIZE, "curve"
    _keys = ("target", "met", "link", "buffer_packets", "curve", "models")

    @property
    def buffer_packets(self) -> int | None:
        """The smallest buffer that meets all targets [packets]; None if there is none."""
        return self._document["buffer_packets"]

    @property
    def is_met(self) -> bool:
        """Whether some buffer meets all targets."""
        return self._document["met"]

    @property
    def suggested_packets(self) -> int | None:
        """The buffer to deploy [packets]; None if there is none."""
        return self._document.get("suggested_packets")

    @property
    def tc(self) -> str | None:
        """The `tc` line that sets the suggested buffer on Linux; None while a warning forbids it."""
        return self._document["tc"]

    @property
    def parts(self) -> tuple[ResultPart, ...]:
        """One part for each measured buffer, in rising order."""
        link = self._document["link"]
        return tuple(
            self._part({"buffer": f"{row['buffer_packets']} packets"}, link, row["buffer_packets"], row)
            for row in self._document["curve"]
        )

    def pictures(self) -> tuple[Figure, ...]:
        """Return the figures of the answer, with the models' predictions."""
        from elephan.sizing.pictures import answer_pictures  # noqa: PLC0415 (as above)

        facts = self.scenario.links[self.scenario.link_index(self._document["link"])]
        return answer_pictures(self._document, facts, self.model_curves())

    def model_curves(self) -> dict[str, dict[str, Any]]:
        """Return the curves of the models: columns of the table by model."""
        return read_models(table_path(self.folder, "models"))

    def __repr__(self) -> str:
        return f"<Sizing of {self._document['link']!r} in {self.folder}: {self.buffer_packets} packets>"


@dataclass(frozen=True, repr=False)
class SavedSizeComparison(SavedSizing["VariantsDocument"]):
    """Laws and queues sized beside each other, as `elephan.sizing.comparison.SizeComparison.write` wrote them."""

    _file, _table_name = VARIANTS, "comparison"
    _keys = ("variants", "recommendation")

    @cached_property
    def variants(self) -> dict[tuple[str, str], SavedSize]:
        """Answer of each variant, by law and queue."""
        rows = [(row["law"], row["queue"]) for row in self._document["variants"]]
        return {of: SavedSize(self.folder / file_names(["-".join(of)])[0]) for of in rows}

    @property
    def is_met(self) -> bool:
        """Whether the recommended variant meets all targets."""
        return self._document["recommendation"]["met"]

    @property
    def recommended(self) -> tuple[str, str]:
        """Law and queue of the recommended variant, or of the nearest to the targets."""
        found = self._document["recommendation"]
        return found["law"], found["queue"]

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario of the first variant."""
        return next(iter(self.variants.values())).scenario

    @property
    def parts(self) -> tuple[ResultPart, ...]:
        """One part for each variant and measured buffer."""
        return tuple(
            ResultPart({"law": law, "queue": queue, **part.labels}, part.document, part.arrays)
            for (law, queue), saved in self.variants.items()
            for part in saved.parts
        )

    def __repr__(self) -> str:
        law, queue = self.recommended
        return f"<Comparison of {count(len(self.variants), 'variant')} in {self.folder}: {law} with {queue}>"


@dataclass(frozen=True, repr=False)
class SavedLimit(SavedSizing["LimitDocument"]):
    """Inverse sizing, as `elephan.sizing.inverse.LimitAnswer.write` wrote it."""

    _file, _table_name = LIMIT, "limit"
    _keys = ("find", "unit", "target", "met", "link", "amount", "rows")

    @property
    def amount(self) -> float | None:
        """The value found, in `unit`; None if there is none."""
        return self._document["amount"]

    @property
    def is_met(self) -> bool:
        """Whether a value meets all targets."""
        return self._document["met"]

    @property
    def find(self) -> str:
        """Name of the searched quantity: ``"rtt"``, ``"rate"``, ``"flows"`` or ``"red"``."""
        return self._document["find"]

    @property
    def unit(self) -> str:
        """Unit of `amount`."""
        return self._document["unit"]

    @property
    def parts(self) -> tuple[ResultPart, ...]:
        """One part for each measured value."""
        document = self._document
        return tuple(
            self._part({document["find"]: row["amount"]}, document["link"], document["buffer_packets"], row)
            for row in document["rows"]
        )

    def __repr__(self) -> str:
        found = "none" if self.amount is None else f"{self.amount:.6g} {self.unit}"
        return f"<Limit in {self.folder}: {self.find}: {found}>"


def read_models(path: Path) -> dict[str, dict[str, Any]]:
    """Read the curves of the models.

    Parameters
    ----------
    path : Path
        ``models.parquet``.

    Returns
    -------
    dict
        Columns by model, in the file's order.
    """
    if not path.exists():
        return {}
    table = read_table(path)
    names = np.array(table["model"].to_pylist(), dtype=object)
    columns = {name: table[name].to_numpy(zero_copy_only=False).astype(float) for name in table.column_names[1:]}
    return {str(name): {key: column[names == name] for key, column in columns.items()} for name in dict.fromkeys(names)}
