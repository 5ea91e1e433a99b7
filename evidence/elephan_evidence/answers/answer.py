"""Answers as data: the question, the command that answers it, and the sentence that its numbers are filled into."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from elephan.errors import InputError, suggest
from elephan_evidence.answers.values import Bounds, Claim, Document, Values

HOME = Path(__file__).with_name("asked")
"""Folder of the answers, each a file of TOML named by its key, with its recorded results beside it."""


@dataclass(frozen=True)
class Picture:
    """Values drawn beside an answer, with their intervals.

    Parameters
    ----------
    says : str
        Name of the quantity, with its unit in brackets.
    rows : dict of str to str
        Expressions, by the name of each value.
    per : float
        Size of the unit in SI units.
    scale : str
        ``"linear"`` or ``"log"``.
    formula : dict of str to str
        What theory gives, by the name of each value; expressions that need no document.
    """

    says: str
    rows: dict[str, str]
    per: float = 1.0
    scale: str = "linear"
    formula: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Alike:
    """Settings with which both simulators are asked the same, for a point whose published settings the other lacks.

    Parameters
    ----------
    scenario : str
        Scenario file, from the root of a checkout.
    set : dict
        Changes of the scenario, by place.
    run : str
        Arguments of the other simulator's script; empty if they are those of the point.
    replications : int
        Runs here.
    """

    scenario: str
    set: dict[str, Any]
    run: str = ""
    replications: int = 5


@dataclass(frozen=True)
class Repeat:
    """A point of an answer's picture that another simulator repeats, see `elephan_evidence.answers.repeats`.

    Parameters
    ----------
    point : str
        Name of the point in the picture.
    run : str
        Arguments of the simulator's script.
    quantity : str
        A name that the script prints, or the ratio of two: ``"goodput/goodput2"``.
    by : str
        The simulator, ``"ns-2"`` or ``"ns-3"``, see `elephan_evidence.answers.simulators`.
    seeds : int
        Number of runs.
    why : str
        Reason of a difference.
    alike : Alike or None
        Settings without the difference.
    """

    point: str
    run: str
    quantity: str
    by: str = "ns-2"
    seeds: int = 5
    why: str = ""
    alike: Alike | None = None

    @classmethod
    def read(cls, found: dict[str, Any]) -> Repeat:
        """Read a table of an answer's file."""
        alike = Alike(**found["alike"]) if "alike" in found else None
        return cls(**{**found, "alike": alike})


@dataclass(frozen=True)
class Answer:
    """A question, and how it is answered.

    Expressions are Python: `d` is the document of the command, and the methods of `Values` are functions. In sentences
    they stand in braces.

    Parameters
    ----------
    id : str
        Name of its file.
    topic : str
        Heading in the list.
    order : int
        Position in the list.
    question : str
        One line.
    command : str
        Command that answers it, from the root of a checkout.
    answer : str
        Sentence with expressions.
    senders : str
        Validity: senders and traffic.
    changes : str
        Conditions under which the answer differs.
    source : str
        Address of the people who asked, or the paper that left it open; empty for the project's own.
    claims : tuple of tuple of str
        The verdict: statement, left side, ``"<"`` or ``">"``, right side; and optionally the statement that is true if
        the opposite holds.
    stays : tuple of str
        Expressions whose intervals must overlap with those of a repetition.
    sure : str
        Further remark on the certainty.
    longer : str
        The key that a longer repetition multiplies: ``"duration"``, or ``"replications"`` if the question is about a
        time of the run.
    judged : str
        The judged data set that is nearest; empty if none is near.
    picture : Picture or None
        Values to draw.
    repeats : tuple of Repeat
        Points that another simulator repeats.
    not_repeated : str
        Reason that fewer than two points are repeated; empty if two are.
    """

    id: str
    topic: str
    order: int
    question: str
    command: str
    answer: str
    senders: str
    changes: str
    source: str = ""
    claims: tuple[tuple[str, ...], ...] = ()
    stays: tuple[str, ...] = ()
    sure: str = ""
    longer: str = "duration"
    judged: str = ""
    picture: Picture | None = None
    repeats: tuple[Repeat, ...] = ()
    not_repeated: str = ""

    @classmethod
    def read(cls, file: Path) -> Answer:
        """Read an answer from its file.

        Raises
        ------
        InputError
            If a key is unknown or missing.
        """
        found: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
        known = {each.name: each for each in fields(cls) if each.name != "id"}
        for key in found.keys() - known.keys():
            message = f'{file.name}: unknown key "{key}"; {suggest(key, known, "there are " + ", ".join(known))}'
            raise InputError(message)
        try:
            return cls(
                file.stem,
                **{
                    **found,
                    "claims": tuple(map(tuple, found.get("claims", ()))),
                    "stays": tuple(found.get("stays", ())),
                    "picture": Picture(**found["picture"]) if "picture" in found else None,
                    "repeats": tuple(Repeat.read(each) for each in found.get("repeats", ())),
                },
            )
        except TypeError as error:
            message = f"{file.name}: {str(error).rpartition('()')[2].strip()}"
            raise InputError(message) from None

    def evaluate(self, expression: str, document: Document) -> Any:
        """Evaluate an expression with the document of the command.

        Raises
        ------
        InputError
            If the document lacks what the expression names.
        """
        try:
            return eval(expression, {"__builtins__": {}, **Values(document).table()})
        except (KeyError, IndexError, StopIteration, NameError, AttributeError, TypeError, SyntaxError) as error:
            message = f"{self.id}: {expression}: {type(error).__name__}: {error}"
            raise InputError(message) from None

    def fill(self, template: str, document: Document) -> str:
        """Fill the expressions of a sentence; the result is one line."""
        return " ".join(str(self.evaluate(f"f'''{template}'''", document)).split())

    def verdict(self, document: Document) -> list[Claim]:
        """Return the claims, each compared by intervals."""
        return [
            Claim.of(
                self.fill(says, document),
                self.evaluate(left, document),
                sign,
                self.evaluate(right, document),
                self.fill(otherwise[0], document) if otherwise else "",
            )
            for says, left, sign, right, *otherwise in self.claims
        ]

    def sentence(self, document: Document) -> str:
        """Return the answer in Markdown, and then the claims that do not hold or are not decided."""
        unsure = [
            f"{_capital(claim.text())}." for claim in self.verdict(document) if not (claim.decided and claim.holds)
        ]
        return " ".join([self.fill(self.answer, document), *unsure])

    def certainty(self, document: Document) -> str:
        """Return how sure the answer is, in Markdown."""
        found = self.verdict(document)
        holding = [claim.says for claim in found if claim.decided and claim.holds]
        sure = [f"Decided by 95 % intervals: {'; '.join(holding)}"] if holding else []
        sure += [_capital(claim.text()) for claim in found if not (claim.decided and claim.holds)]
        if self.sure:
            sure.append(_capital(self.fill(self.sure, document)))
        return f"{'. '.join(sure)}."

    def kept(self, document: Document) -> list[Bounds]:
        """Return the intervals that must overlap with those of a repetition."""
        return [Bounds.of(self.evaluate(each, document)) for each in self.stays]

    def drawn(self, document: Document) -> list[tuple[str, Bounds]]:
        """Return the values of the picture."""
        rows = self.picture.rows.items() if self.picture else ()
        return [(name, self.drawable(Bounds.of(self.evaluate(expression, document)))) for name, expression in rows]

    def theory(self) -> list[tuple[str, float]]:
        """Return the values of the picture that a formula gives."""
        rows = self.picture.formula.items() if self.picture else ()
        return [(name, float(self.evaluate(expression, {}))) for name, expression in rows]

    def drawable(self, bounds: Bounds) -> Bounds:
        """Return the part of an interval that the quantity of the picture can reach: from zero, utilization to 1."""
        highest = 1.0 if self.picture is not None and self.picture.says.startswith("Utilization") else math.inf
        return Bounds(bounds.mid, max(bounds.low, min(bounds.mid, 0.0)), min(bounds.high, max(bounds.mid, highest)))


def _capital(text: str) -> str:
    """Capitalize a text as at the beginning of a sentence, also in bold."""
    bold = 2 * text.startswith("**")
    return text[:bold] + text[bold : bold + 1].upper() + text[bold + 1 :]


@cache
def answers() -> tuple[Answer, ...]:
    """Return all answers in the order of the list."""
    return tuple(sorted(map(Answer.read, HOME.glob("*.toml")), key=lambda each: (each.order, each.id)))


def find(name: str) -> Answer:
    """Return an answer by its key.

    Raises
    ------
    InputError
        If there is none.
    """
    known = {each.id: each for each in answers()}
    if name not in known:
        # The files of an answer are headed by its number.
        numbered = next((each.id for each in answers() if str(each.order) == name), None)
        near = suggest(name, known, "elephan answer lists all")
        message = f'there is no answer "{name}"; {f"question {name} is {numbered}" if numbered else near}'
        raise InputError(message)
    return known[name]
