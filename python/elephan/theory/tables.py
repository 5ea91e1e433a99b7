"""The law `tabulated`: its response, from tables of a(w) and b(w), and its name with the tables behind it.

Source: RFC3649, Section 5: p = a (2 - b) / (2 b w^2), the balance behind HighSpeed's own a(w).
Differs from the simulation: where p(w) rises somewhere, several windows hold at one loss rate; this finds one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from elephan import _native
from elephan.errors import InputError
from elephan.tabulate import line, power
from elephan.theory.response import Response, bisect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elephan.theory.response import Floats

    Table = Sequence[Sequence[float]]

NAME = "tabulated"

# Windows between which a loss rate's is looked for [segments].
_LEAST, _MOST = 1e-3, 1e12


def tabulated(increase: Table = ((1.0, 1.0),), decrease: Table = ((1.0, 0.5),)) -> Response:
    """Response of a law given by tables; Reno's by default.

    Parameters
    ----------
    increase : sequence of pairs
        Windows [segments] and growth [segments per RTT]; a power of the window between two.
    decrease : sequence of pairs
        Windows [segments] and the share given up on loss [1]; linear in the logarithm of the window between two.

    Returns
    -------
    Response

    References
    ----------
    RFC3649, Section 5.

    Examples
    --------
    >>> float(tabulated().window(1.5e-4).round(6))
    100.0
    >>> law = tabulated([(1, 1), (50, 1), (10_000, 200)], [(1, 0.125)])
    >>> float(law.increase(5000).round(9)), float(law.decrease(5000))
    (100.0, 0.125)
    """
    grow, cut = np.asarray(increase, dtype=float), np.asarray(decrease, dtype=float)

    def loss(w: Floats, _: Floats) -> Floats:
        b = line(cut, w)
        return np.asarray(power(grow, w) * (2 - b) / (2 * b * w**2))

    return Response(
        NAME,
        "RFC3649",
        False,
        lambda p, rtt: bisect(lambda w: 1 / loss(w, rtt), 1 / p, _LEAST, _MOST),
        loss,
        lambda w, _: power(grow, w),
        lambda w, _: line(cut, w),
    )


def write(control: Mapping[str, Any]) -> str:
    """Name a law with its tables behind it, so that models tell one table from the other.

    Parameters
    ----------
    control : mapping
        As in a scenario: ``law``, and ``increase`` and ``decrease`` of a tabulated one.

    Returns
    -------
    str
        The law's name alone for every other.

    Examples
    --------
    >>> write({"law": "tabulated", "increase": [[1, 1], [100, 2.5]], "decrease": [[1, 0.5]]})
    'tabulated(1:1 100:2.5; 1:0.5)'
    >>> write({"law": "reno"})
    'reno'
    """
    if control["law"] != NAME:
        return str(control["law"])
    texts = (" ".join(f"{_short(w)}:{_short(y)}" for w, y in control[key]) for key in ("increase", "decrease"))
    return f"{NAME}({'; '.join(texts)})"


def read(text: str) -> Response:
    """Response of a law whose tables stand behind its name.

    Parameters
    ----------
    text : str
        As `control` reads it.

    Returns
    -------
    Response

    Raises
    ------
    InputError
        If it is not of this form, or the law cannot use the tables.

    Examples
    --------
    >>> float(read("tabulated(1:1 100:2.5; 1:0.5)").increase(100))
    2.5
    """
    found = control(text)
    return tabulated(found["increase"], found["decrease"])


def control(text: str) -> dict[str, Any]:
    """Take a law and its tables apart again: what ``control`` is in a scenario.

    Parameters
    ----------
    text : str
        ``tabulated(WINDOW:A WINDOW:A …; WINDOW:B …)``, or the name of any law.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        If it is not of this form, or the law cannot use the tables.

    Examples
    --------
    >>> control("tabulated(1:1 100:2.5; 1:0.5)")
    {'law': 'tabulated', 'increase': [[1.0, 1.0], [100.0, 2.5]], 'decrease': [[1.0, 0.5]]}
    >>> control("tabulated(1:1 100:2.5; 1:2)")
    Traceback (most recent call last):
    elephan.errors.ScenarioError: control.decrease[0]: the value must lie strictly between 0 and 1
    >>> control("reno")
    {'law': 'reno'}
    """
    if text == NAME or kind(text) != NAME:
        return {"law": text}
    try:
        increase, decrease = ([_pair(item) for item in part.split()] for part in _inside(text).split(";"))
    except ValueError:
        message = f'law: "{text}" is not of the form tabulated(1:1 1000:8.2; 1:0.5): windows and a(w); windows and b(w)'
        raise InputError(message) from None
    # The engine's own reader says what is wrong with them.
    said = f"{{ law = '{NAME}', increase = {increase}, decrease = {decrease} }}"
    _native.law_rounds(said, base_rtt_s=1.0, bdp=1.0, losses=[], timeouts=[], count=0)
    return {"law": NAME, "increase": increase, "decrease": decrease}


def kind(law: str) -> str:
    """Name of a law without the tables behind it.

    Parameters
    ----------
    law : str

    Returns
    -------
    str

    Examples
    --------
    >>> kind("tabulated(1:1; 1:0.5)"), kind("reno")
    ('tabulated', 'reno')
    """
    return NAME if law.startswith(f"{NAME}(") else law


def _inside(text: str) -> str:
    if not text.endswith(")"):
        raise ValueError(text)
    return text.removeprefix(f"{NAME}(").removesuffix(")")


def _pair(item: str) -> list[float]:
    window, value = item.split(":")
    return [float(window), float(value)]


def _short(x: float) -> str:
    return repr(float(x)).removesuffix(".0")
