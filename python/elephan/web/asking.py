"""Contents of a request: the scenarios of a card, a lesson or a text, and equivalent commands and Python lines."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

from elephan.errors import InputError
from elephan.input_files import no_files
from elephan.scenario import Scenario
from elephan.sizing.targets import parse_targets
from elephan.web.cards import VIEWS, Variant, card, fill, lessons

MOST_TEXT = 100_000
"""Maximum length of a scenario in a request [characters]."""

FILE = "scenario.toml"


@dataclass(frozen=True)
class Ask:
    """A checked request.

    Parameters
    ----------
    kind : str
        One of `VIEWS`, or ``"options"`` for a comparison of more than two.
    variants : dict of str to Scenario
        Scenarios by name: two for a comparison, several for options, otherwise one.
    text : str
        Text of the base scenario.
    sets : tuple of Variant
        Keys in which the variants differ from `text`; empty if each variant has its own text.
    target : str
        Target of a sizing.
    """

    kind: str
    variants: Mapping[str, Scenario]
    text: str
    sets: tuple[Variant, ...] = ()
    target: str = ""

    @property
    def scenario(self) -> Scenario:
        """The first (or only) scenario."""
        return next(iter(self.variants.values()))

    @property
    def link(self) -> str:
        """Name of the link that is sized."""
        return str(self.scenario.links[self.scenario.link_index(None)]["name"])

    def lines(self) -> dict[str, Any]:
        """Return the scenario files, the commands and the Python lines that give the same result."""
        if len(self.variants) > 1 and not self.sets:
            files = {
                f"{letter}.toml": each.text
                for letter, each in zip(ascii_lowercase, self.variants.values(), strict=False)
            }
        else:
            files = {FILE: self.text}
        return {"files": files, "command": "\n".join(self._commands()), "python": "\n".join(self._python())}

    def _commands(self) -> list[str]:
        if how := {"curve": "--whole-curve", "limit": "--find rtt"}.get(self.kind):
            return [f"elephan size {FILE} --link {shlex.quote(self.link)} --target {self.target} {how}"]
        if self.kind == "run":
            return [f"elephan run {FILE} --out run/"]
        if self.kind == "options" and self.sets:
            over = (f"{place}={','.join(values)}" for place, values in self._over().items())
            return [f"elephan sweep {FILE} {' '.join(f'--over {shlex.quote(each)}' for each in over)}"]
        found = []
        for letter, name in zip(ascii_lowercase, self.variants, strict=False):
            changes = next((each.set for each in self.sets if each.name == name), {})
            options = "".join(f" --set {shlex.quote(f'{key}={value}')}" for key, value in changes.items())
            found.append(f"elephan run {FILE if self.sets else f'{letter}.toml'}{options} --out {letter}/")
        return [*found, *(["elephan report a/ b/ --out both.html"] if self.kind == "compare" else [])]

    def _over(self) -> dict[str, list[str]]:
        """Return the values of the key in which the options differ."""
        return {place: [str(each.set[place]) for each in self.sets] for place in self.sets[0].set}

    def _python(self) -> list[str]:
        head = ["import elephan", "", f'scenario = elephan.Scenario.from_file("{FILE}")']
        link = f"link={json.dumps(self.link)}"
        if self.kind == "curve":
            asked = f'scenario, "{self.target}", {link}, whole_curve=True'
            return [*head, f"answer = elephan.size({asked})", "print(answer)"]
        if self.kind == "limit":
            head[0] = "import elephan\nfrom elephan.sizing import size_limit"
            return [*head, f'answer = size_limit(scenario, "{self.target}", "rtt", {link})', "print(answer)"]
        if self.kind == "run":
            return [*head, "result = elephan.run(scenario)", "print(result)"]
        if self.kind == "options" and self.sets:
            return [*head, f"swept = elephan.sweep(scenario, over={self._over()!r})", "print(swept)"]
        if not self.sets:
            runs = [f'{x} = elephan.run("{x}.toml", series=True)' for x in ascii_lowercase[: len(self.variants)]]
            return [head[0], "", *runs, *([_REPORT] if self.kind == "compare" else [])]
        changed = (
            f"{x} = elephan.run(scenario.replace({dict(v.set)!r}), series=True)"
            for x, v in zip("ab", self.sets, strict=True)
        )
        return [*head, *changed, _REPORT]


_REPORT = 'elephan.report({"a": a, "b": b}, "both.html")'


def read_text(text: object, origin: str = FILE) -> Scenario:
    """Read a scenario of a request; files that it names are not opened.

    Raises
    ------
    InputError
        If it is not a text, is too long, or is not a valid scenario.
    """
    if not isinstance(text, str):
        raise InputError(f"{origin}: must be the text of a scenario")
    if len(text) > MOST_TEXT:
        raise InputError(f"{origin}: has more than {MOST_TEXT} characters; run it with the command line")
    with no_files():
        return Scenario.from_text(text, origin)


def read_mapping(mapping: object, origin: str = FILE) -> Scenario:
    """Read a scenario of the form: a mapping with the keys of the file. Raises the errors of `read_text`."""
    if not isinstance(mapping, dict):
        raise InputError(f"{origin}: must be a table with the keys of a scenario")
    with no_files():
        return Scenario.from_mapping(mapping, origin)


def read_ask(body: Mapping[str, Any]) -> Ask:
    """Read a request for a job.

    Parameters
    ----------
    body : mapping
        ``kind``, and one of: ``card`` with ``values`` and ``slider``; ``lesson``; ``text`` (with ``target`` for a
        sizing); ``texts``, two texts by name.

    Raises
    ------
    InputError
        If the request is invalid.

    Examples
    --------
    >>> read_ask({"kind": "run", "card": "bbr", "values": {"each": 1}}).lines()["command"]
    'elephan run scenario.toml --out run/'
    """
    kind = body.get("kind")
    if kind not in VIEWS:
        raise InputError(f"kind: use one of {', '.join(VIEWS)}")
    if "card" in body:
        return _of_card(str(kind), body)
    if "lesson" in body:
        name = body["lesson"]
        if not isinstance(name, str) or name not in lessons() or kind != "compare":
            raise InputError(f"lesson: compare one of {', '.join(lessons())}")
        lesson = lessons()[name]
        return _changed(lesson.text, lesson.variants)
    if kind == "compare":
        texts = body.get("texts")
        if not isinstance(texts, dict) or len(texts) != 2:
            raise InputError("texts: give two scenarios by name")
        read = {name[:60]: read_text(text, name[:60] or "scenario") for name, text in texts.items()}
        return Ask("compare", _checked_pair(read), next(iter(read.values())).text)
    scenario = read_text(body.get("text"))
    return Ask(str(kind), {scenario.title: scenario}, scenario.text, (), _target(str(kind), body.get("target", "")))


def _of_card(kind: str, body: Mapping[str, Any]) -> Ask:
    chosen, values = card(body["card"]), body.get("values", {})
    if not isinstance(values, dict):
        raise InputError("values: must be a table of controls")
    if kind not in (chosen.view, "run"):
        raise InputError(f"kind: {chosen.id} has {chosen.view}")
    filled = fill(chosen, values, body.get("slider"))
    if kind == "compare":
        return _changed(filled.text, filled.variants)
    return Ask(
        kind, {chosen.question: Scenario.from_text(filled.text, FILE)}, filled.text, (), _target(kind, filled.target)
    )


def _changed(text: str, variants: tuple[Variant, ...]) -> Ask:
    base = Scenario.from_text(text, FILE)
    names = [each.name for each in variants]
    if len(set(names)) < len(names) or len({json.dumps(dict(each.set)) for each in variants}) < len(variants):
        raise InputError("b: is the same as A; choose another")
    kind = "compare" if len(variants) == 2 else "options"
    return Ask(kind, {each.name: base.replace(dict(each.set)) for each in variants}, text, variants)


def _checked_pair(read: Mapping[str, Scenario]) -> dict[str, Scenario]:
    """Check that two scenarios differ, and that their replications can be paired; return them."""
    one, other = read.values()
    if one.id == other.id:
        raise InputError("texts: both scenarios are the same; change something in B")
    if (one.seed, one.replications) != (other.seed, other.replications):
        raise InputError("texts: A and B need the same seed and replications, so that they share their random numbers")
    return dict(read)


def _target(kind: str, target: object) -> str:
    if kind not in ("curve", "limit"):
        return ""
    if not isinstance(target, str) or not 0 < len(target) <= 200:
        raise InputError("target: none given; write for example utilization=0.95")
    parse_targets(target)
    return target.replace(" ", "")
