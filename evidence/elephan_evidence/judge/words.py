"""Errors in words: the same on pages and on a terminal."""

from __future__ import annotations

import math


def error(kind: str, value: float | None, *, signed: bool = False) -> str:
    """Format an error: in per cent, or of a quotient, which is a logarithm, as a factor.

    Examples
    --------
    >>> error("difference", -0.051, signed=True), error("factor", 0.0953), error("relative", None)
    ('-5.1 %', 'x 1.10', '-')
    """
    if value is None or math.isnan(value):
        return "-"
    if kind == "factor":
        return f"x {math.exp(value):.2f}"
    return f"{100 * value:{'+' if signed else ''}.1f} %"


def percent(share: float) -> str:
    """Format a share; a dash for none.

    Examples
    --------
    >>> percent(0.718)
    '72 %'
    """
    return "-" if math.isnan(share) else f"{100 * share:.0f} %"
