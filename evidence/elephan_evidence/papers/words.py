"""Verdicts and origins in words: the same on pages, in reports and on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.pictures.words import joined, number
from elephan.units import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

SAID = {
    "pass": "met",
    "deviation": "explained by one variant",
    "fail": "not met",
    "undecided": "undecided",
    "uninformative": "uninformative",
    "ran": "ran",
    "not_run": "not run",
}

MEANS = {
    "pass": "within what is accepted; an ordering or a shape with all of its 95 % interval.",
    "deviation": "not met, but runs of one variant, the same for the whole table or figure, with five seeds or more, "
    "close at least 70 % of the gap to the paper, by the lower end of the share's interval.",
    "fail": "and not explained by one variant; what is known of it is said.",
    "undecided": "an ordering or a shape whose 95 % interval holds the limit: the runs do not decide.",
    "uninformative": "met, in a band that a null passes as often: that says nothing of ours.",
    "ran": "shortened runs measured it, and say no more.",
}
"""Meaning of each verdict, for explanations."""

APART = {
    "derived": ("number derived here from its equations or text", "numbers derived here from their equations or text"),
    "formula": ("statement that a formula alone decides", "statements that formulas alone decide"),
    "misprint": ("misprint", "misprints"),
}
"""Claims that are not statements judged by packets: words for one and for several."""


WORTH = (
    "Bands can be so wide that anything passes: nulls, answers that are wrong on purpose, are held against the same "
    "claims, and where one meets as many as ours, it says nothing that ours are met."
)
"""Explanation of the lines on families of claims, shown before them."""


def missed(claims: Sequence[Mapping[str, Any]], most: int) -> list[str]:
    """Name the unmet claims, a line each; if there are more than `most`, only their number.

    Parameters
    ----------
    claims : sequence of mapping
        Claims of the document.
    most : int

    Examples
    --------
    >>> missed([{"id": "toy.bound", "verdict": "fail", "statement": "it is 5", "note": ""}], 8)
    ['not met: toy.bound (it is 5)']
    """
    failed = [claim for claim in claims if claim["verdict"] == "fail"]
    if len(failed) > most:
        return [f"not met: {number(len(failed))} claims, in the tables by their verdict"]
    return [f"not met: {claim['id']} ({claim['statement']})" for claim in failed]


def headline(origins: Mapping[str, Mapping[str, int]]) -> tuple[str, str]:
    """State the verdicts of the papers' own statements, and the number of other claims.

    Parameters
    ----------
    origins : mapping of str to mapping of str to int
        Numbers of claims by origin and verdict.

    Returns
    -------
    str
        The statement, without a full stop.
    str
        The other claims; empty if there are none.

    Examples
    --------
    >>> headline({"stated": {"pass": 3, "fail": 1}, "misprint": {"deviation": 1}})[0]
    '4 statements: 3 met and 1 not met'
    >>> headline({"stated": {"pass": 3, "fail": 1}, "misprint": {"deviation": 1}})[1]
    '1 misprint (1 explained by one variant)'
    """
    stated = origins.get("stated", {})
    first = f"{count(sum(stated.values()), 'statement')}: {tally(stated) or 'none'}"
    apart = [
        f"{number(n)} {words[n != 1]} ({tally(origins[origin])})"
        for origin, words in APART.items()
        if (n := sum(origins.get(origin, {}).values()))
    ]
    return first, joined(apart)


def tally(verdicts: Mapping[str, int]) -> str:
    """State the number of claims of each verdict."""
    return joined([f"{number(n)} {SAID.get(verdict, verdict)}" for verdict, n in verdicts.items() if n])


def bands(families: Sequence[Mapping[str, object]]) -> list[str]:
    """Describe the informative value of the bands of families, a line each.

    Parameters
    ----------
    families : sequence of mapping
        Part ``power`` of the document.
    """
    lines = [WORTH] if families else []
    for each in families:
        lines += [str(each["why"])] if each.get("why") and each["informative"] is False else []
        nulls = each["nulls"]
        assert isinstance(nulls, dict)
        passed = ", ".join(f"{name} {value:.4g}" for name, value in nulls.items())
        variant = "" if each["variant"] is None else f", its one variant {each['variant']}"
        mark = "" if each["informative"] is not False else "; uninformative"
        lines.append(f"{each['family']}: ours {each['ours']} of {each['claims']}{variant}; nulls: {passed}{mark}")
    return lines
