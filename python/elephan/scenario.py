"""Scenarios as immutable data: read from TOML, changed by path, and resolved by the parser in Rust."""

from __future__ import annotations

import copy
import dataclasses
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from elephan import _native, flow_files, object_files, own_laws, trace_files
from elephan.assignments import assign, parse_assignments, top_keys
from elephan.catalog.registries import plain
from elephan.display import joined, note, table
from elephan.errors import InputError, ScenarioError, nearest, suggest
from elephan.input_files import parse_toml, read_text, with_kind
from elephan.network import Network, ScenarioTables, read_network
from elephan.own_laws import AnyOwnLaw, LawSource
from elephan.units import count, format_bytes, format_packets, format_rate, format_time

OF_YOUR_OWN = (
    "; a law of your own: --law NAME=FILE.py:CLASS, in Python laws={NAME: CLASS} of Scenario.from_file or replace"
)
"""End of the message about an unknown law without a similar known one."""

_BUFFER = re.compile(r'"buffer":\{"(bytes|packets)":(\d+)\}')
"""Pattern of a link's buffer in a canonical form. It cannot match within a title, where quotes have a backslash."""

_UNKNOWN_LAW = re.compile(r'unknown law "([^"]*)"; available')

STATED, AUTO = "stated", "auto"
"""Values of `Scenario.warmup_rule`: the file states the warm-up, or it is still to be determined."""


@dataclass(frozen=True, repr=False)
class Scenario:
    """A validated scenario.

    Made by `from_file`, `from_text` or `from_mapping`; `replace` gives a changed copy. Two scenarios are equal when
    they resolve to the same canonical form.

    Parameters
    ----------
    text : str
        The TOML text.
    canonical : str
        Its canonical form: JSON with every default filled, integers in base units, keys sorted.
    origin : str
        Source of the text, for messages.
    warmup_rule : str
        Rule for the warm-up: ``"stated"`` if the file states it, ``"auto"`` if a pilot must still determine it (then
        the canonical form has no warm-up yet; see `elephan.runs.warmup`), or the rule that has determined it.
    laws : mapping of str to OwnLaw or LibraryLaw
        The user's laws that the scenario may name.

    Examples
    --------
    >>> scenario = Scenario.from_text(EXAMPLE)
    >>> scenario.links[0]["bdp_packets"]
    100.0
    >>> scenario.replace({"links[0].buffer": "0.1 bdp"}).links[0]["buffer_limit_packets"]
    10
    """

    text: str = field(compare=False, repr=False)
    canonical: str = field(repr=False)
    origin: str = field(compare=False)
    warmup_rule: str = field(default=STATED, compare=False)
    laws: Mapping[str, AnyOwnLaw] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def from_text(
        cls,
        text: str,
        origin: str = "scenario",
        folder: str | Path = "",
        *,
        laws: Mapping[str, LawSource] | None = None,
    ) -> Scenario:
        """Read a scenario from TOML text.

        Parameters
        ----------
        text : str
        origin : str
            Put in front of messages.
        folder : str or Path
            Folder for relative names of files (of flows, traces, BPF objects); the working directory by default. The
            contents of these files replace their names.
        laws : mapping of str to class or path, optional
            Your own laws that the scenario and its changed copies may name, as in `elephan.run`.

        Returns
        -------
        Scenario

        Raises
        ------
        ScenarioError
            The first error, in one line that names the place.
        InputError
            If one of the laws cannot be declared.

        Examples
        --------
        >>> Scenario.from_text("duration = '1 s'", "empty.toml")
        Traceback (most recent call last):
        elephan.errors.ScenarioError: empty.toml: links: missing; write at least one [[links]] table
        """
        with own_laws.declared(laws):
            known = dict(own_laws.here())
        try:
            text = _with_files(text, Path(folder))
            text = _with_sources(text, known) if known else text
            settled = _without_auto(text)
            canonical, name, described = _native.resolve(settled or text)
        except ScenarioError as error:
            raise ScenarioError(f"{origin}: {_with_own(str(error), known)}") from None
        rule = AUTO if settled else STATED
        return cls(text, canonical, origin, rule, known)._with_cached_facts(name, described)

    @classmethod
    def from_file(cls, path: str | Path, *, laws: Mapping[str, LawSource] | None = None) -> Scenario:
        """Read a scenario file.

        Parameters
        ----------
        path : str or Path
        laws : mapping of str to class or path, optional
            As `from_text`.

        Returns
        -------
        Scenario

        Raises
        ------
        ScenarioError
            If the file cannot be opened or is invalid.
        """
        what = "scenario file (TOML)"
        with own_laws.declared(laws):
            try:
                return cls.from_text(read_text(path, what), str(path), Path(path).parent)
            except InputError as error:
                raise ScenarioError(with_kind(str(error), path, what)) from None

    @classmethod
    def from_mapping(
        cls, mapping: Mapping[str, Any], origin: str = "scenario", *, laws: Mapping[str, LawSource] | None = None
    ) -> Scenario:
        """Read a scenario from a mapping with the keys of the file.

        Parameters
        ----------
        mapping : mapping
        origin : str
            Put in front of messages.
        laws : mapping of str to class or path, optional
            As `from_text`.

        Returns
        -------
        Scenario

        Raises
        ------
        ScenarioError
            The first error, in one line that names the place.

        Examples
        --------
        >>> mapping = tomllib.loads(EXAMPLE)
        >>> Scenario.from_mapping(mapping) == Scenario.from_text(EXAMPLE)
        True
        """
        return cls.from_text(_to_toml(mapping, origin), origin, laws=laws)

    @classmethod
    def from_any(cls, source: Scenario | Path | str, laws: Mapping[str, LawSource] | None = None) -> Scenario:
        """Return a scenario: read it from its file, or return `source` if it is a `Scenario` already.

        Parameters
        ----------
        source : Scenario or path
        laws : mapping of str to class or path, optional
            Your own laws that the scenario uses, as in `elephan.run`.

        Returns
        -------
        Scenario

        Raises
        ------
        InputError
            For the reasons of `from_file`, or if the scenario does not use one of `laws`.

        Examples
        --------
        >>> Scenario.from_any(Scenario.from_text(EXAMPLE)).seed
        1
        """
        with own_laws.declared(laws):
            if not isinstance(source, Scenario):
                read = cls.from_file(source)
            elif own_laws.here().items() <= source.laws.items():
                read = source
            else:
                with own_laws.declared({**source.laws, **own_laws.here()}):
                    read = cls.from_text(source.text, source.origin)._with_rule(source.warmup_rule)
        own_laws.check_used(laws or (), [read.own_laws])
        return read

    def replace(
        self,
        changes: Mapping[str, object] | None = None,
        /,
        *,
        laws: Mapping[str, LawSource] | None = None,
        **top: object,
    ) -> Scenario:
        """Return a copy with changed values at some places of the file.

        Parameters
        ----------
        changes : mapping of str to value, optional
            Places as in messages (``links[0].buffer``; a link or group may be called by its name, ``links[core].rate``)
            and the new values: as in the file, or an entry of the catalogue. Missing tables on the way to a place are
            created.
        laws : mapping of str to class or path, optional
            Your own laws that the copy may name, besides those of this scenario.
        **top : value
            Keys at the top of the file: ``seed``, ``replications``, ``duration``, ``warmup``, ``title``… None leaves a
            key unchanged.

        Returns
        -------
        Scenario
            This one if nothing changes.

        Raises
        ------
        ScenarioError
            If a place does not exist, or the result is not a valid scenario.

        Examples
        --------
        >>> Scenario.from_text(EXAMPLE).replace({"flows[bulk].count": 2}, seed=7).links[0]["flows"]
        2
        >>> from elephan import laws
        >>> Scenario.from_text(EXAMPLE).replace({"flows[bulk].control": laws.bic}).groups[0]["law"]
        'bic'
        """
        new: dict[str, object] = {**(changes or {}), **parse_assignments(None, **top)}
        if not new and not laws:
            return self
        mapping = dict(self.source)
        # Copy only the top-level keys that change; the others are only read.
        for key in top_keys(new) & mapping.keys():
            mapping[key] = copy.deepcopy(mapping[key])
        for place, value in new.items():
            try:
                assign(mapping, place, plain(value))
            except ScenarioError as error:
                raise ScenarioError(f"{self.origin}: {error}") from None
        with own_laws.declared(self.laws):
            changed = Scenario.from_text(self._text_of(mapping), self.origin, laws=laws)
        if "warmup" in new or changed.warmup_rule in (AUTO, self.warmup_rule):
            return changed
        return changed._with_rule(self.warmup_rule)

    def with_buffer(self, link: int, packets: int) -> Scenario:
        """Return a copy with another buffer of a link [packets]; it is converted to bytes if the old one is in bytes.

        Parameters that the discipline derives from the buffer are adjusted.

        Examples
        --------
        >>> Scenario.from_text(EXAMPLE).with_buffer(0, 1250).links[0]["tc"]
        'tc qdisc replace dev eth0 root pfifo limit 1250'
        """
        facts, amount, unit = self.links[link], packets, "packets"
        if facts["buffer_limit_bytes"] is not None:
            amount, unit = round(packets * facts["packet_bytes"]), "bytes"
        place, value = f"links[{link}].buffer", f"{amount} {unit.replace('bytes', 'B')}"
        held = list(_BUFFER.finditer(self.canonical))
        # Drop-tail derives no parameters from the buffer, so only this number of the canonical form changes.
        if facts["discipline"] != "drop-tail" or len(held) != len(self.links) or held[link][1] != unit or amount < 1:
            return self.replace({place: value})
        assign(mapping := {**self.source, "links": copy.deepcopy(self.source["links"])}, place, value)
        first, end = held[link].span(2)
        canonical = f"{self.canonical[:first]}{amount}{self.canonical[end:]}"
        return dataclasses.replace(self, text=self._text_of(mapping), canonical=canonical)

    def _text_of(self, mapping: Mapping[str, Any]) -> str:
        """Return the file's text with some top-level keys changed, reusing the text of the others."""
        source, written = self.source, self._written
        chunks = []
        for key, value in mapping.items():
            chunk = written.get(key) if value is source.get(key) else None
            if chunk is None:
                chunk = _to_toml({key: value}, self.origin)
                if value is source.get(key):
                    written[key] = chunk
            chunks.append(chunk)
        # Keys without a table come before all tables.
        plain = "".join(chunk for chunk in chunks if not chunk.startswith("["))
        return "\n".join([*([plain] if plain else []), *(chunk for chunk in chunks if chunk.startswith("["))])

    @cached_property
    def _written(self) -> dict[str, str]:
        """Cached TOML texts of top-level keys."""
        return {}

    def _with_cached_facts(self, name: str, described: str) -> Scenario:
        """Set the cached `id` and `described`, which are computed together with the canonical form.

        Returns
        -------
        Scenario
            This scenario.
        """
        vars(self).update(id=name, described=described)
        return self

    def _with_rule(self, warmup_rule: str) -> Scenario:
        """Return a copy with another rule for the warm-up."""
        return dataclasses.replace(self, warmup_rule=warmup_rule)._with_cached_facts(self.id, self.described)

    @cached_property
    def source(self) -> dict[str, Any]:
        """The file as a mapping, without defaults.

        Raises
        ------
        ScenarioError
            If the text uses TOML newer than 1.0, which Python cannot parse.
        """
        try:
            return parse_toml(self.text)
        except tomllib.TOMLDecodeError as error:
            raise ScenarioError(f"{self.origin}: to be changed by path, the file must be TOML 1.0: {error}") from None

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """The canonical form as a mapping."""
        return dict(json.loads(self.canonical))

    @cached_property
    def own_laws(self) -> dict[str, AnyOwnLaw]:
        """Declared laws of users that the scenario's groups name."""
        names = {str(group["law"]) for group in self.groups}
        return {name: law for name, law in self.laws.items() if name in names}

    @cached_property
    def id(self) -> str:
        """Id of the result: a hexadecimal hash of the engine's version, the seed and the canonical form."""
        return _native.scenario_id(self.canonical)

    @cached_property
    def described(self) -> str:
        """The facts as JSON, in the form that is sent to other processes."""
        return _native.describe(self.canonical)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Derived facts of links (such as flows, mean RTT, BDP, buffer) and groups (such as law, packet size)."""
        return dict(json.loads(self.described))

    @cached_property
    def network(self) -> Network:
        """Links and groups of flows in numbers, as input of lint rules and models."""
        stated = self.warmup_rule == STATED
        return read_network(
            self.facts,
            self.resolved,
            self.origin,
            warmup_is_stated=stated,
            queue_with=self._queue_with,
            tables=self._tables,
        )

    def _tables(self) -> ScenarioTables:
        return self._known_tables

    @cached_property
    def _known_tables(self) -> ScenarioTables:
        """Keys as written, keys as resolved, and the met needs (requirements) of keys and parameters."""
        try:
            written = self.source
        except ScenarioError:
            written = {}  # Python cannot parse TOML newer than 1.0.
        return ScenarioTables(written, self.resolved, json.loads(_native.needs_met(self.canonical)))

    def _queue_with(self, link: int, packets: float) -> dict[str, Any]:
        """Return the parameters of a link's discipline, resolved with another buffer."""
        count, in_bytes = max(1, round(packets)), self.links[link]["buffer_limit_bytes"] is not None
        place = f"links[{link}].buffer"
        changed = self.replace({place: f"{count} packets"}) if in_bytes else self.with_buffer(link, count)
        return dict(changed.links[link]["queue"])

    @property
    def links(self) -> list[dict[str, Any]]:
        """Facts of the links, in the order of the file."""
        return list(self.facts["links"])

    @property
    def pools(self) -> list[dict[str, Any]]:
        """Facts of the pools (memory that links share), in the order of the file."""
        return list(self.facts["pools"])

    @property
    def groups(self) -> list[dict[str, Any]]:
        """Facts of the groups of flows, in the order of the file."""
        return list(self.facts["groups"])

    @property
    def title(self) -> str:
        """The title; the origin if the file has none."""
        return str(self.facts["title"]) or self.origin

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        return int(self.facts["seed"])

    @property
    def replications(self) -> int:
        """Number of independent replications."""
        return int(self.facts["replications"])

    def __repr__(self) -> str:
        flows = sum(group["flows"] for group in self.groups)
        return (
            f"<Scenario {self.title!r}: links {', '.join(link['name'] for link in self.links)}; {count(flows, 'flow')}>"
        )

    def _repr_html_(self) -> str:
        links, groups, facts = self.links, self.groups, self.facts
        of_links = {
            "link": [link["name"] for link in links],
            "rate": [format_rate(link["rate_bps"]) for link in links],
            "delay": [format_time(link["delay_s"]) for link in links],
            "buffer": [_buffer(link) for link in links],
            "queue": [link["discipline"] for link in links],
            "BDP [packets]": [link["bdp_packets"] for link in links],
            "flows": [link["flows"] for link in links],
        }
        of_groups = {
            "flows": [f"{group['name']}: {group['flows']}" for group in groups],
            "law": [group["law"] for group in groups],
            "recovery": [group["recovery"] for group in groups],
            "traffic": [group["traffic"] for group in groups],
            "packet": [format_bytes(group["packet_bytes"]) for group in groups],
            "path": [", ".join(links[i]["name"] for i in group["path"]) for group in groups],
        }
        warmup = "warm-up to be found" if self.warmup_rule == AUTO else f"{facts['warmup_s']:g} s of it warm-up"
        how = f"{count(self.replications, 'replication')} of {facts['duration_s']:g} s, {warmup}; seed {self.seed}"
        return joined(table(of_links, self.title), table(of_groups), note(how))

    def link_index(self, name: str | None) -> int:
        """Return the index of a link by its name.

        Parameters
        ----------
        name : str or None
            None means `Network.first_link`.

        Returns
        -------
        int

        Raises
        ------
        ScenarioError
            If the link does not exist.

        Examples
        --------
        >>> Scenario.from_text(EXAMPLE).link_index("core")
        0
        """
        if name is None:
            return self.network.first_link
        names = [str(link["name"]) for link in self.links]
        if name not in names:
            hint = suggest(name, names, f"links: {', '.join(names)}")
            raise ScenarioError(f'{self.origin}: there is no link "{name}"; {hint}')
        return names.index(name)


def _buffer(link: Mapping[str, Any]) -> str:
    """Return a link's buffer in the unit of the scenario file."""
    if link["buffer_limit_packets"] is not None:
        return format_packets(link["buffer_limit_packets"]).replace(",", "")
    return "unlimited" if link["buffer_limit_bytes"] is None else format_bytes(link["buffer_limit_bytes"])


EXAMPLE = """
title    = "Two flows on 10 Mbit/s, 80 ms"
duration = "4 s"
warmup   = "1 s"

[[links]]
name   = "core"
rate   = "10 Mbit/s"
delay  = "20 ms"
buffer = "25 packets"

[[flows]]
name   = "bulk"
count  = 2
path   = ["core"]
rtt    = "80 ms"
packet = "1000 B"
start  = { from = "0 s", to = "0.1 s" }
"""
"""A small scenario for examples."""


def _with_own(message: str, laws: Mapping[str, AnyOwnLaw]) -> str:
    """Add to a message about an unknown law the most similar declared law, or how to declare one."""
    unknown = _UNKNOWN_LAW.search(message)
    if unknown is None:
        return message
    near = nearest(unknown[1], laws)
    return message + OF_YOUR_OWN if near is None else f'{message[: unknown.end(1)]}"; did you mean "{near}"?'


def _parsed(text: str) -> dict[str, Any] | None:
    """Return the file as a mapping; None if Python cannot parse it (the parser in Rust then reports any error)."""
    try:
        return parse_toml(text)
    except tomllib.TOMLDecodeError:
        return None


def _with_files(text: str, folder: Path) -> str:
    """Return the text with the contents of the files that it names; if it names any, comments are lost."""
    kinds = [kind for kind in (flow_files, trace_files, object_files) if kind.KEY in text]
    mapping = _parsed(text) if kinds else None
    if mapping is None:
        return text
    changed = [kind.fill(mapping, folder) for kind in kinds]
    return flow_files.dumps(mapping) if any(changed) else text


def _without_auto(text: str) -> str | None:
    """Return the text without ``warmup = "auto"``; None if the warm-up is not ``"auto"``."""
    mapping = _parsed(text) if AUTO in text else None
    if mapping is None or mapping.get("warmup") != AUTO:
        return None
    return _to_toml({key: value for key, value in mapping.items() if key != "warmup"}, "warmup")


def _with_sources(text: str, laws: Mapping[str, AnyOwnLaw]) -> str:
    """Return the text with the source hash of each declared law that it names."""
    if not any(name in text for name in laws):
        return text
    try:
        mapping = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        try:
            _native.resolve(text)
        except ScenarioError as refused:
            if any(f'unknown law "{name}"' in str(refused) for name in laws):
                raise ScenarioError(f"to name a law of your own, the file must be TOML 1.0: {error}") from None
        return text  # The parser in Rust reports the error, if any.
    try:
        return _to_toml(mapping, "control") if own_laws.fill(mapping, laws) else text
    except ScenarioError:
        raise
    except InputError as error:
        raise ScenarioError(str(error)) from None


def _to_toml(mapping: Mapping[str, Any], origin: str) -> str:
    try:
        return flow_files.dumps(mapping)
    except RecursionError:
        raise ScenarioError(f"{origin}: nested too deeply") from None
    except (TypeError, ValueError) as error:
        raise ScenarioError(f"{origin}: cannot be written as TOML: {error}") from None
