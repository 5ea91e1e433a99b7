"""Growth of laws that remember their last loss, between two of them: CUBIC, BIC, H-TCP, and Compound with a queue.

*Source*: RFC9438, Sections 4.2, 4.3 and 4.7; Xu2004, Section III; ShortenLeith2004; Tan2006, Section III. Defaults of
the catalogue.
*Differs from* the engine: a window that changes all the time instead of once per ACK or per round trip; no look-ahead
of CUBIC, no growth after a timeout; H-TCP's throughput is steady; Compound's delay window gives way just as fast as its
loss window grows once `gamma` segments wait, where the engine swings around that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.theory.response import Climb

if TYPE_CHECKING:
    from elephan.theory.response import Ascent, Curve, Floats

# Share by which a loss must come below the aim to count as below it: what rounding may do is no news of other flows.
_BELOW = 1e-6
# Round trips after which Compound knows of a queue: one until the ACKs come, one until their round trip is over.
_BLIND = 2.0


def cubic(c: float, beta: float) -> Climb:
    """C (t - K)^3 + aim, at least the window of a Reno flow with the same average.

    Parameters
    ----------
    c : float [segments/s^3]
    beta : float [1]
        Share kept on loss.

    Returns
    -------
    Climb

    References
    ----------
    RFC9438, Sections 4.2, 4.3, 4.7.

    Examples
    --------
    >>> from elephan.theory import response, synchronised
    >>> synchronised(response("cubic"), 10_000, 0, 0.1).utilisation.round(2).tolist()
    0.87
    """
    alpha = 3 * (1 - beta) / (1 + beta)

    def growth(s: Ascent) -> Floats:
        k = np.cbrt(np.maximum(s.aim - s.start, 0) / c)
        friendly = s.start + alpha * s.rounds > s.aim + c * (s.time - k) ** 3
        return np.where(friendly, alpha, 3 * c * (s.time - k) ** 2 * s.rtt)

    return Climb(growth, lambda w, _, __: np.full_like(w, 1 - beta), _lower((1 - beta) / 2))


def bic(largest: float, smallest: float, decrease: float, low: float) -> Climb:
    """Half the way to the aim per round trip, at most the largest step; beyond it 1, 2, 4 segments and so on.

    Parameters
    ----------
    largest, smallest : float [segments per RTT]
    decrease : float [1]
    low : float [segments]
        Reno below.

    Returns
    -------
    Climb

    References
    ----------
    Xu2004, Section III.

    Examples
    --------
    >>> from elephan.theory import response, synchronised
    >>> synchronised(response("bic"), 10_000, 0, 0.1).utilisation.round(2).tolist()
    0.95
    """

    def growth(s: Ascent) -> Floats:
        way = s.aim - s.window
        beyond = 2 ** np.floor(np.log2(np.maximum(-way, 0) + 1))
        step = np.where(way > 2 * smallest, way / 2, beyond)
        return np.where(s.window < low, 1.0, np.minimum(step, largest))

    def cut(w: Floats, _: Floats, __: Floats) -> Floats:
        return np.where(w < low, 0.5, decrease)

    return Climb(growth, cut, _lower(decrease / 2))


def htcp() -> Climb:
    """2 (1 - beta)(1 + 10 (t - 1) + ((t - 1) / 2)^2) from one second on; beta = RTT without over RTT with the queue.

    Returns
    -------
    Climb

    References
    ----------
    ShortenLeith2004.

    Examples
    --------
    >>> from elephan.theory import response, synchronised
    >>> synchronised(response("htcp"), 10_000, [0, 250], 0.1).utilisation.round(2).tolist()
    [0.86, 1.0]
    """

    def cut(_: Floats, full: Floats, base: Floats) -> Floats:
        return 1 - np.clip(base / full, 0.5, 0.8)

    def growth(s: Ascent) -> Floats:
        late = np.maximum(s.time - 1, 0)
        return 2 * (1 - s.start / s.aim) * (1 + 10 * late + late**2 / 4)

    return Climb(growth, cut)


def compound(alpha: float, decrease: float, k: float, gamma: float) -> Climb:
    """Grow by alpha w^k until `gamma` own segments wait; then rest until the loss window is there.

    Parameters
    ----------
    alpha : float
    decrease : float [1]
    k : float [1]
    gamma : float [segments]

    Returns
    -------
    Climb

    References
    ----------
    Tan2006, Section III.

    Examples
    --------
    >>> from elephan.theory import response, synchronised
    >>> synchronised(response("compound"), 10_000, [20, 100], 0.1).utilisation.round(2).tolist()
    [0.75, 0.99]
    """

    def unhindered(start: Floats, rounds: Floats) -> Floats:
        power = start ** (1 - k) + alpha * (1 - k) * rounds if k < 1 else np.log(start) + alpha * rounds
        return np.maximum(power ** (1 / (1 - k)) if k < 1 else np.exp(power), start + rounds)

    def growth(s: Ascent) -> Floats:
        path = s.window * s.base / s.rtt
        blind = unhindered(s.start, np.maximum(s.rounds - _BLIND, 0)) < path + gamma
        # Within the steps of whoever follows it.
        back = (path + gamma - s.window) / np.maximum(s.rounds / 20, 1)
        caught = s.start + s.rounds >= s.window
        return np.where(blind, np.maximum(alpha * s.window**k, 1.0), np.where(caught, 1.0, back))

    return Climb(growth, lambda w, _, __: np.full_like(w, decrease))


def _lower(share: float) -> Curve:
    """Fast convergence: a loss below the aim lowers the next one, so that others find room."""
    return lambda peak, aim: np.where(peak < aim * (1 - _BELOW), peak * (1 - share), peak)
