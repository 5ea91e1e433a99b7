"""Time from a loss to the recovery of the former window, by adaptive quadrature.

*Source*: RFC 3649, Section 5 (a(w), b(w), and the response 0.078/w^1.2 that it rounds to); PhillipsHu2006, (5) to (9).
"""

import math
from collections.abc import Callable
from itertools import pairwise

from scipy.integrate import quad

Law = Callable[[float], tuple[float, float]]
"""Function of the window that returns a(w) and b(w)."""


def _scaled(w: float) -> tuple[float, float]:
    b = (0.1 - 0.5) * (math.log(w) - math.log(38)) / (math.log(83000) - math.log(38)) + 0.5
    return w**2 * (0.078 / w**1.2) * 2 * b / (2 - b), b


def highspeed(w: float) -> tuple[float, float]:
    """HSTCP: standard TCP up to 38 segments; above 83000 b is at least a tenth."""
    if w <= 38:
        return 1.0, 0.5
    a, b = _scaled(w)
    return a, max(b, 0.1)


def normalised(rtt_s: float, mss_bytes: float) -> Law:
    """NR-HSTCP: a and b of the flow with 100 ms and 1500 bytes that has the same rate."""

    def law(w: float) -> tuple[float, float]:
        a, b = _scaled(w * mss_bytes / rtt_s * 0.1 / 1500)
        return max(min(a * 1500 / mss_bytes * (rtt_s / 0.1) ** 2, w), 1.0), min(max(b, 0.1), 0.5)

    return law


def recovery_time(law: Law, window: float, rtt_s: float) -> float:
    """RTT times the integral of dw / a(w) from (1 - b(w)) w to w, in pieces so that no bend is missed."""
    low = (1 - law(window)[1]) * window
    ends = [low + (window - low) * i / 40 for i in range(41)]
    if low < 38 < window:
        ends = sorted([*ends, 38.0])
    pieces = (quad(lambda w: 1 / law(w)[0], *piece, epsabs=0, epsrel=1e-9)[0] for piece in pairwise(ends))
    return rtt_s * math.fsum(pieces)
