"""Conversion of a tabulated policy to a law: factors for each window in a round trip without loss, and after a loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from elephan.errors import InputError
from elephan.tabulate import law_table

# A row ends just below the beginning of the next one, so that the law jumps there.
_BEFORE = 1.0 - 1e-6

# The last row ends at this multiple of its beginning; above it growth is constant.
_LAST = 64.0


def policy_law(windows: ArrayLike, grow: ArrayLike, keep: ArrayLike, *, least: float = 0.0) -> dict[str, Any]:
    """Make the law `tabulated` from decisions once per round trip (``interval="1 rtt"``, ``action="window"``).

    A window w that is multiplied by m in a round trip without loss grows by a(w) = (m - 1) w segments, over all ACKs of
    this round trip. A window that is multiplied by k after a loss is reduced by the share b(w) = 1 - k.

    Parameters
    ----------
    windows : array_like [segments], shape (n,)
        Beginnings of the table's rows. Each row applies up to the next one, and the last row to all larger windows.
    grow : array_like [1], shape (n,)
        Factor of the window in a round trip without loss; above 1, because the law cannot reduce it without a loss.
    keep : array_like [1], shape (n,)
        Factor after a loss: between 0 and 1.
    least : float [segments]
        Minimum growth in a round trip.

    Returns
    -------
    dict
        Value of ``control`` in a scenario.

    Raises
    ------
    InputError
        If windows or factors are invalid.

    Examples
    --------
    >>> law = policy_law([1, 100], [1.1, 1.02], [0.5, 0.75], least=1.0)
    >>> [[round(w), round(a, 3)] for w, a in law["increase"]]
    [[1, 1.0], [10, 1.0], [100, 10.0], [100, 2.0], [6400, 128.0]]
    >>> [[round(w), b] for w, b in law["decrease"]]
    [[1, 0.5], [10, 0.5], [100, 0.5], [100, 0.25], [6400, 0.25]]
    """
    at, grows, keeps = (np.asarray(each, dtype=float) for each in (windows, grow, keep))
    if at.ndim != 1 or not at.size or not (np.isfinite(at).all() and at[0] >= 1 and (np.diff(at) > 0).all()):
        raise InputError("windows: must rise from 1 segment or more; give for example (1, 100, 1000)")
    for name, factors, fits, right in (
        ("grow", grows, grows > 1.0, "above 1; a policy that shrinks without loss is no table of the window"),
        ("keep", keeps, (keeps > 0.0) & (keeps < 1.0), "between 0 and 1"),
    ):
        if factors.shape != at.shape:
            raise InputError(f"{name}: has {factors.size} factors for {at.size} windows; give one for each")
        if not fits.all():
            i = int(np.flatnonzero(~fits)[0])
            raise InputError(f"{name}: is {factors[i]:g} at a window of {at[i]:g}; must be {right}")
    knots, growth, cuts = [], [], []
    for begin, end, m, k in zip(at, [*at[1:] * _BEFORE, at[-1] * _LAST], grows, keeps, strict=True):
        # Between two knots the law is a power of the window, which includes (m - 1) w; a further knot is needed where
        # this reaches `least`.
        corner = least / (m - 1.0)
        for w in sorted({begin, end, min(max(corner, begin), end)}):
            knots.append(w)
            growth.append(max((m - 1.0) * w, least))
            cuts.append(1.0 - k)
    return law_table(growth, cuts, knots)
