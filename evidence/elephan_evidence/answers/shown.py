"""The numbers of an answer's sentence: which are on the screen of its command, and which only in its document."""

from __future__ import annotations

import re
from string import Formatter
from typing import TYPE_CHECKING

from elephan.pictures.words import joined

if TYPE_CHECKING:
    from elephan_evidence.answers.answer import Answer
    from elephan_evidence.answers.record import Record

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w.]*\d)")

_UNITS = (1.0, 1e3, 1e-3, 1e6, 1e-6)
"""Ratios of the units of a screen to those of a sentence: ms and us, Mbit/s and kbit/s."""

_FORMULA = re.compile(r"(?:window|held)\(.*\)")
"""Expressions that are formulas of a rate and a round-trip time, which the question or the screen have."""


def filled(each: Answer, sentence: str) -> list[tuple[str, str]]:
    """Return the expressions of an answer's sentence, and the text that each was filled with.

    Parameters
    ----------
    sentence : str
        As `Answer.fill` or `Answer.sentence` returns it.

    Returns
    -------
    list of (str, str)
        In the order of the sentence; empty if the sentence is of another template.
    """
    pattern, expressions = "", []
    # A backslash at the end of a line joins lines, as in Python.
    for literal, expression, spec, _ in Formatter().parse(each.answer.replace("\\\n", "")):
        pattern += re.sub(r"(?:\\?\s)+", r"\\s+", re.escape(literal))
        if expression is not None:
            expressions.append(expression + (f":{spec}" if spec else ""))
            pattern += "(.*?)"
    # Claims that are not decided follow the sentence.
    found = re.match(pattern.strip(), sentence)
    return [] if found is None else list(zip(expressions, found.groups(), strict=True))


def is_on_screen(text: str, screen: str) -> bool:
    """Return whether all numbers of a text are on a screen, in any unit and with at least two digits.

    Examples
    --------
    >>> is_on_screen("89.6 %", "bbr1 drop-tail 89.61±0.10 %"), is_on_screen("1.2 s", "took 1204 ms")
    (True, True)
    >>> is_on_screen("126 ms", "bbr3 drop-tail 16±6 ms")
    False
    """
    numbers = [_NUMBER.sub(lambda m: m[0].replace(",", ""), one) for one in (text, screen)]
    there = [(float(one), _half_digit(one)) for one in re.findall(r"\d+(?:\.\d+)?", numbers[1])]
    return all(
        any(
            abs(value * unit - float(one)) <= (1 + 1e-9) * max(_half_digit(one), half * unit)
            for value, half in there
            for unit in _UNITS
            # A rounded number stands for another only where it has two digits or more.
            if half * unit <= 0.05 * float(one) or value * unit == float(one)
        )
        for one in re.findall(r"\d+(?:\.\d+)?", numbers[0])
    )


def _half_digit(number: str) -> float:
    return 0.5 * 10.0 ** -len(number.partition(".")[2])


def known(each: Answer, record: Record) -> str:
    """Return what a reader has beside the sentence: the question, and the screen without the line on its making."""
    screen = record.screen if "\n(" not in record.screen else record.screen.rpartition("\n(")[0]
    return f"{screen}\n{each.question}\n{each.command}"


def not_on_screen(each: Answer, record: Record) -> list[str]:
    """Return the measured values of an answer's sentence that the screen of its command does not have in full.

    Returns
    -------
    list of str
        As the sentence has them, each once.
    """
    screen = known(each, record)
    return list(
        dict.fromkeys(
            text.strip()
            for expression, text in filled(each, record.sentence)
            if not _FORMULA.fullmatch(expression.strip()) and not is_on_screen(text, screen)
        )
    )


def said_of_others(each: Answer, record: Record) -> str:
    """Say where the values are that the screen does not have; empty if it has all."""
    values = not_on_screen(each, record)
    return (
        f"The command's table rounds or lacks these values; its --json has what they follow from: {joined(values)}"
        if values
        else ""
    )
