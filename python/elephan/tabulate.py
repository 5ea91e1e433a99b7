"""Laws as tables: functions or arrays a(w) and b(w), converted for the law `tabulated`.

Source: RFC3649, Section 5: w + a(w)/w per ACK, (1 - b(w)) w on loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, SupportsFloat

import numpy as np

from elephan.errors import InputError
from elephan.units import count

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Function = Callable[[float], SupportsFloat]
    Given = Function | ArrayLike

MOST = 4096
"""Maximum number of knots of a tabulated law."""

# Windows between two knots at which a table is compared with its function.
_LOOKS = 31

# Relative distance of two knots that is near enough for a jump.
_NEAR = 1e-6


def law_table(a: Given, b: Given, windows: ArrayLike = (1.0, 1e5), *, tolerance: float = 1e-3) -> dict[str, Any]:
    """Return the ``control`` of a law given by two functions of the window, or by two arrays.

    A function gets as many knots, at suitable windows, as are needed to interpolate it within the tolerance.
    Below the first window and above the last the law stays as it is there.

    Parameters
    ----------
    a : callable, float or array_like [segments per RTT]
        Growth at a window: a function of it, the same for all, or its values at `windows`.
    b : callable, float or array_like [1]
        Share of the window given up on loss, likewise.
    windows : array_like [segments], shape (n,)
        Rising. Of functions: their range, and knots that must be there.
    tolerance : float [1]
        Relative.

    Returns
    -------
    dict
        Mapping with ``law``, ``increase`` and ``decrease``.

    Raises
    ------
    InputError
        If windows do not rise, values are none, or the function cannot be had from `MOST` knots.

    References
    ----------
    RFC3649, Section 5.

    Examples
    --------
    >>> from elephan import EXAMPLE, Scenario
    >>> control = law_table(lambda w: max(1.0, 0.02 * w), 0.125, (1, 50, 10_000))
    >>> control["increase"]
    [[1.0, 1.0], [50.0, 1.0], [10000.0, 200.0]]
    >>> scenario = Scenario.from_text(EXAMPLE).replace({"flows[0].control": control})
    >>> scenario.groups[0]["law"]
    'tabulated'
    """
    at = np.asarray(windows, dtype=float)
    if at.ndim != 1 or not at.size or not (np.isfinite(at).all() and at[0] >= 1 and (np.diff(at) > 0).all()):
        raise InputError("windows: must rise from 1 segment or more; give for example (1, 100_000)")
    if not tolerance > 0:
        raise InputError(f"tolerance: {tolerance:g} is not above 0; give for example 1e-3")
    return {
        "law": "tabulated",
        "increase": _table("a", a, at, power, tolerance),
        "decrease": _table("b", b, at, line, tolerance),
    }


def power(table: Sequence[Sequence[float]] | Floats, windows: ArrayLike) -> Floats:
    """Growth by a table: a power of the window between two knots, constant outside.

    Parameters
    ----------
    table : array_like, shape (n, 2)
        Windows [segments] and values above 0.
    windows : array_like [segments]

    Returns
    -------
    ndarray, shape of `windows`

    Examples
    --------
    >>> power([[1, 1], [100, 10]], [1, 25, 1000]).round(12).tolist()
    [1.0, 5.0, 10.0]
    """
    x, y = np.asarray(table, dtype=float).T
    return np.asarray(np.exp(np.interp(np.log(windows), np.log(x), np.log(y))))


def line(table: Sequence[Sequence[float]] | Floats, windows: ArrayLike) -> Floats:
    """Reduction by a table: linear in the logarithm of the window between two knots, constant outside.

    Parameters
    ----------
    table : array_like, shape (n, 2)
        Windows [segments] and values.
    windows : array_like [segments]

    Returns
    -------
    ndarray, shape of `windows`

    Examples
    --------
    >>> line([[1, 0.5], [100, 0.1]], [1, 10, 1000]).round(12).tolist()
    [0.5, 0.3, 0.1]
    """
    x, y = np.asarray(table, dtype=float).T
    return np.asarray(np.interp(np.log(windows), np.log(x), y))


def _table(
    name: str, given: Given, windows: Floats, between: Callable[[Floats, Floats], Floats], tolerance: float
) -> list[list[float]]:
    if callable(given):
        return _through(name, given, windows, between, tolerance)
    values = np.asarray(given, dtype=float)
    if values.ndim == 0:
        return [[float(windows[0]), _fine(name, float(windows[0]), float(values))]]
    if values.shape != windows.shape:
        has = f"{count(values.size, 'value')} for {count(windows.size, 'window')}"
        raise InputError(f"{name}: has {has}; give one for each, or a function")
    return [[w, _fine(name, w, y)] for w, y in zip(windows.tolist(), values.tolist(), strict=True)]


def _through(
    name: str,
    function: Function,
    windows: Floats,
    between: Callable[[Floats, Floats], Floats],
    tolerance: float,
) -> list[list[float]]:
    """Return knots of a function, adding one where the table's error is largest until it is small everywhere."""

    def knot(w: float) -> list[float]:
        return [w, _fine(name, w, float(function(w)))]

    table = [knot(w) for w in windows.tolist()]
    i = 0
    while i + 1 < len(table):
        ends = np.array(table[i : i + 2])
        looks = np.geomspace(ends[0, 0], ends[1, 0], _LOOKS + 2)[1:-1]
        true = np.array([knot(w)[1] for w in looks.tolist()])
        off = np.abs(between(ends, looks) / true - 1)
        worst = int(off.argmax())
        if off[worst] <= tolerance or ends[1, 0] <= ends[0, 0] * (1 + _NEAR):
            i += 1
            continue
        if len(table) == MOST:
            raise InputError(f"{name}: {MOST} knots are not enough; give a larger tolerance than {tolerance:g}")
        table.insert(i + 1, [float(looks[worst]), float(true[worst])])
    return table


def _fine(name: str, window: float, value: float) -> float:
    """Return the value; the law itself checks how large it may be."""
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"{name}: is {value:g} at a window of {window:g}; must be a number above 0")
    return value
