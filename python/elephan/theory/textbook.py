"""Published response functions by the name of their law, with the parameters of the publications.

Source: for each law, see `laws`; for tables, RFC3649, Section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import signature

import numpy as np

from elephan.errors import InputError
from elephan.tabulate import line, power
from elephan.theory import controls
from elephan.theory.laws import (
    aimd,
    bic,
    compound,
    constant_rate,
    cubic,
    highspeed,
    htcp,
    hybla,
    nr_hstcp,
    scalable,
)
from elephan.theory.response import Floats, Response, bisect

Table = Sequence[Sequence[float]]


def tabulated(increase: Table = ((1.0, 1.0),), decrease: Table = ((1.0, 0.5),)) -> Response:
    """Response of a law given by tables; Reno's by default.

    Parameters
    ----------
    increase : sequence of pairs
        Windows [segments] and growth [segments per RTT]; between two pairs, the growth is a power of the window.
    decrease : sequence of pairs
        Windows [segments] and the reduction on loss [1]; between two pairs, it is linear in the log of the window.

    Returns
    -------
    Response
        If p(w) rises somewhere, several windows have the same loss rate; ``window`` returns one of them.

    References
    ----------
    RFC3649, Section 5: p = a (2 - b) / (2 b w^2), the balance from which HighSpeed's a(w) follows.

    Examples
    --------
    >>> float(tabulated().window(1.5e-4).round(6))
    100.0
    """
    grow, cut = np.asarray(increase, dtype=float), np.asarray(decrease, dtype=float)

    def loss(w: Floats, _: Floats) -> Floats:
        b = line(cut, w)
        return np.asarray(power(grow, w) * (2 - b) / (2 * b * w**2))

    return Response(
        "tabulated",
        "RFC3649",
        False,
        lambda p, rtt: bisect(lambda w: 1 / loss(w, rtt), 1 / p, 1e-3, 1e12),
        loss,
        lambda w, _: power(grow, w),
        lambda w, _: line(cut, w),
    )


def _reno(increase: float = 1.0, decrease: float = 0.5) -> Response:
    return replace(aimd(increase, decrease), name="reno", source="Mathis1997")


def _htcp(beta_min: float = 0.5) -> Response:
    return htcp(beta_min)


RESPONSES: dict[str, Callable[..., Response]] = {
    "bic": bic,
    "compound": compound,
    "constant-rate": constant_rate,
    "cubic": cubic,
    "highspeed": highspeed,
    "htcp": _htcp,
    "hybla": hybla,
    "nr-hstcp": nr_hstcp,
    "reno": _reno,
    "scalable": scalable,
    "tabulated": tabulated,
}
"""Functions that return the published response of a law; their arguments are parameters of the law."""


def published(law: str) -> Response:
    """Published response of a law with the given parameters.

    Parameters
    ----------
    law : str
        Name in the form of `controls.write`.

    Returns
    -------
    Response

    Raises
    ------
    InputError
        If no response is published for the law, or if the published one does not have one of the parameters.

    Examples
    --------
    >>> float(published("cubic(beta=0.5)").decrease(100, 0.1))
    0.5
    """
    given = controls.control(law)
    make = RESPONSES.get(given.pop("law"))
    if make is None:
        raise InputError(f'response: none is published for "{controls.kind(law)}"; there are {", ".join(RESPONSES)}')
    able = [name for name in signature(make).parameters if name != "variant"]
    if unable := sorted(set(given) - set(able)):
        known = f"it has {', '.join(able)}" if able else "it has none"
        raise InputError(f"{controls.kind(law)}: its published curve has no {unable[0]}; {known}")
    return replace(make(**given), name=law)
