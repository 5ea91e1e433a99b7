"""The catalogue as Python objects: a registry for each kind, an entry for each of its items.

An entry's representation is its card; calling an entry returns the value for a scenario file. Names with dashes are
written with underscores.
"""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill, indent
from typing import Any, Generic, TypeVar

from elephan import display
from elephan.catalog import Card, needed
from elephan.errors import InputError, UnknownNameError, unknown

E = TypeVar("E", bound="RegistryEntry")

WIDTH = 100
"""Line width of a generated docstring [characters]."""


def identifier(name: str) -> str:
    """Write a name of the catalogue as Python does.

    Examples
    --------
    >>> identifier("drop-tail"), identifier("hystart++")
    ('drop_tail', 'hystart')
    """
    plain = "".join(letter if letter.isalnum() else "_" for letter in name).strip("_")
    return f"{plain}_" if keyword.iskeyword(plain) else plain


@dataclass(frozen=True, repr=False)
class RegistryEntry:
    """One item of the catalogue.

    Parameters
    ----------
    kind : str
        Kind of the catalogue, such as ``"laws"``.
    card : mapping
        Name, title, source and parameters, as ``elephan list KIND --json`` prints them.
    also : mapping of str to str
        Further accepted parameters, with their meanings.

    Examples
    --------
    >>> from elephan import laws
    >>> laws.highspeed.title, laws.highspeed.source
    ('HighSpeed TCP', 'RFC 3649')
    """

    kind: str
    card: Card | Mapping[str, Any]
    also: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        # The attributes that `help`, tooltips and editors read.
        object.__setattr__(self, "__doc__", self._description())
        object.__setattr__(self, "__signature__", self._signature())
        object.__setattr__(self, "__name__", identifier(self.name))

    @property
    def name(self) -> str:
        """Name in scenario files."""
        return str(self.card["name"])

    @property
    def title(self) -> str:
        """Title, such as ``"HighSpeed TCP"``."""
        return str(self.card["title"])

    @property
    def source(self) -> str:
        """Publication in which it is defined."""
        return str(self.card["source"])

    @property
    def parameters(self) -> dict[str, Mapping[str, Any]]:
        """Default, unit and meaning of each parameter, by name."""
        return {row["name"]: row for row in self.card["parameters"]}

    def __str__(self) -> str:
        return f"{identifier(self.kind)}.{identifier(self.name)}"

    def __repr__(self) -> str:
        return f"<elephan.{self}: {self.title}>"

    def _repr_html_(self) -> str:
        parameters = list(self.parameters.values())
        columns = {key: [row[key] for row in parameters] for key in ("name", "default", "unit", "meaning")}
        head = f"{self.name}: {self.title}. Source: {self.source.rstrip('.')}."
        notes = [display.note(text) for text in self._texts() if text]
        return display.joined(display.table(columns, head) if parameters else display.note(head), *notes)

    def _says(self) -> str:
        return str(self.card.get("says", ""))

    def _texts(self) -> tuple[str, str, str]:
        # Only models have cards without keys.
        return self._says(), needed(self.card) if "needs" in self.card else "", self.card["differs"]

    def _signature(self) -> inspect.Signature:
        rows = [(row["name"], row["default"]) for row in self.parameters.values()]
        rows += [(name, None) for name in self.also]
        return inspect.Signature(
            [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, default in rows]
        )

    def _description(self) -> str:
        """Write the card as a docstring."""
        lines = [f"{self.title}.", ""]
        lines += [fill(text, WIDTH) + "\n" for text in self._texts() if text]
        rows = [
            (f"{row['name']} : {row['default']!r}" + (f" [{row['unit']}]" if row["unit"] else ""), row["meaning"])
            for row in self.parameters.values()
        ] + list(self.also.items())
        if rows:
            lines += ["Parameters", "----------"]
            for head, meaning in rows:
                lines += [head, indent(fill(meaning, WIDTH - 4), "    ")]
            lines.append("")
        return "\n".join([*lines, "References", "----------", f"{self.source.rstrip('.')}.", ""])


@dataclass(frozen=True, repr=False)
class ParameterizedEntry(RegistryEntry):
    """An entry that is called with its parameters; the stubs tell editors and type checkers their names.

    Parameters
    ----------
    make : callable
        Function of the entry and the given parameters that returns the result of the call.

    Examples
    --------
    >>> from elephan import laws
    >>> laws.highspeed(high_window=10_000)
    {'law': 'highspeed', 'high_window': 10000}
    >>> laws.highspeed(hi_window=10_000)
    Traceback (most recent call last):
    elephan.errors.InputError: laws.highspeed: unknown parameter "hi_window"; did you mean "high_window"?
    """

    make: Callable[[RegistryEntry, dict[str, Any]], Any] = field(default=lambda entry, _: entry.name, compare=False)

    def __call__(self, **parameters: Any) -> Any:
        """Return the value for a scenario file; for a model, its table."""
        known = [*self.parameters, *self.also]
        for name in parameters:
            if name not in known:
                raise InputError(f"{self}: {unknown('parameter', name, known)}")
        return self.make(self, parameters)


class Registry(Generic[E]):
    """All entries of a kind, as attributes with completion; also a mapping by the names of scenario files.

    Parameters
    ----------
    kind : str
        Kind of the catalogue, such as ``"slow-starts"``.
    load : callable
        Returns the entries in the catalogue's order; called at the first access.

    Examples
    --------
    >>> from elephan import queues
    >>> queues.drop_tail is queues["drop-tail"] is queues["pfifo"]
    True
    >>> from elephan import laws
    >>> laws.bbr is laws.bbr3, laws.bbr()
    (True, {'law': 'bbr3'})
    >>> queues.codle
    Traceback (most recent call last):
    elephan.errors.UnknownNameError: elephan.queues: unknown name "codle"; did you mean "codel"?
    """

    def __init__(self, kind: str, load: Callable[[], Iterable[E]]) -> None:
        self._kind = kind
        self._load = load
        self._loaded: dict[str, E] = {}

    @property
    def _entries(self) -> dict[str, E]:
        if not self._loaded:
            self._loaded = {entry.name: entry for entry in self._load()}
        return self._loaded

    def __getattr__(self, name: str) -> E:
        if name.startswith("_"):
            # Python looks up many special attributes, such as those for copying, also before an object is initialised;
            # none of them is an entry.
            raise AttributeError(name)
        for entry in self._entries.values():
            # Aliases are attributes too, but not listed: laws.bbr is laws.bbr3, whatever the profile of a host.
            if name in map(identifier, (entry.name, *entry.card["aliases"])):
                return entry
        raise UnknownNameError(self._no(name, [identifier(entry) for entry in self._entries]))

    def __getitem__(self, name: str) -> E:
        for entry in self._entries.values():
            if name in (entry.name, *entry.card["aliases"]):
                return entry
        raise InputError(self._no(name, list(self._entries)))

    def _no(self, name: str, known: Sequence[str]) -> str:
        return f"elephan.{identifier(self._kind)}: {unknown('name', name, known)}"

    def __iter__(self) -> Iterator[E]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return any(name in (entry.name, *entry.card["aliases"]) for entry in self)

    def __dir__(self) -> list[str]:
        return [identifier(name) for name in self._entries]

    def __repr__(self) -> str:
        return f"<elephan.{identifier(self._kind)}: {', '.join(dir(self))}>"

    def _repr_html_(self) -> str:
        rows = {
            "name": [identifier(entry.name) for entry in self],
            "title": [entry.title for entry in self],
            "source": [entry.source for entry in self],
        }
        return display.table(rows, f"elephan.{identifier(self._kind)}", most=len(self))
