"""A policy in a table, put back as a law: what each window is multiplied by in a round trip, or after a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.errors import InputError
from elephan.tabulate import law_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def policy_law(windows: ArrayLike, grow: ArrayLike, keep: ArrayLike) -> dict[str, Any]:
    """Make the law `tabulated` of what an agent does once in a round trip (``interval="1 rtt"``, ``action="window"``).

    A window w that is multiplied by m in a round trip without loss grows by a(w) = (m - 1) w segments in it, over all
    its ACKs; one that is multiplied by k after a loss gives up b(w) = 1 - k. Between the windows of the table the law
    goes on as `law_table` says.

    Parameters
    ----------
    windows : array_like [segments], shape (n,)
        Rising.
    grow : array_like [1], shape (n,)
        What each is multiplied by in a round trip without loss: above 1, as the law `tabulated` only grows.
    keep : array_like [1], shape (n,)
        What each is multiplied by after a loss: between 0 and 1.

    Returns
    -------
    dict
        What ``control`` is in a scenario.

    Raises
    ------
    InputError
        If a factor is none that the law can have.

    Examples
    --------
    >>> policy_law([10, 100], [1.1, 1.02], [0.5, 0.7])["increase"]
    [[10.0, 1.0...], [100.0, 2.0...]]
    """
    at, grows, keeps = (np.asarray(each, dtype=float) for each in (windows, grow, keep))
    for name, factors, fits, right in (
        ("grow", grows, grows > 1.0, "above 1; a policy that shrinks without loss is no table of the window"),
        ("keep", keeps, (keeps > 0.0) & (keeps < 1.0), "between 0 and 1"),
    ):
        if factors.shape != at.shape:
            message = f"{name}: has {factors.size} factors for {at.size} windows; give one for each"
            raise InputError(message)
        if not fits.all():
            i = int(np.flatnonzero(~fits)[0])
            message = f"{name}: is {factors[i]:g} at a window of {at[i]:g}; must be {right}"
            raise InputError(message)
    return law_table((grows - 1.0) * at, 1.0 - keeps, at)
