"""Window reduction b of a law on loss, for the buffer rule for one flow: b at the window that fills the rule's buffer.

Source: Spang2021, (1 - b)(BDP + B) = BDP; b is computed by the engine's law.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from elephan.theory.law_responses import law_responses

# Iterations until the window and its reduction agree, and the variation up to which a reduction is constant.
_ITERATIONS, _CONSTANT = 20, 1e-3


@cache
def least_cut(law: str, share: float, rtt_s: float) -> float:
    """Return the b that agrees with the rule: b at the window BDP / (1 - b), with the queue of this window.

    Parameters
    ----------
    law : str
        Name in the form of `controls.write`.
    share : float [segments]
        BDP of the flow's share of the link.
    rtt_s : float [s]
        Round-trip time without a queue.

    Returns
    -------
    float [1]

    Examples
    --------
    >>> [round(least_cut(law, 1500.0, 0.12), 2) for law in ("reno(decrease=0.2)", "highspeed")]
    [0.2, 0.29]
    """
    b = 0.0
    for _ in range(_ITERATIONS):
        b = float(law_responses(law).decrease(max(share / (1 - b), 1.0), rtt_s / (1 - b), rtt_s))
    return b


@cache
def is_constant(law: str, share: float, rtt_s: float) -> bool:
    """Whether b of a law is the same at half the window, at the window, at twice the window, and at twice the RTT.

    Parameters
    ----------
    law : str
        Name in the form of `controls.write`.
    share : float [segments]
        The window.
    rtt_s : float [s]

    Examples
    --------
    >>> is_constant("cubic(beta=0.3)", 1000.0, 0.1), is_constant("highspeed", 1000.0, 0.1)
    (True, False)
    """
    windows, rtts = np.array([0.5, 1.0, 2.0, 1.0]), np.array([1.0, 1.0, 1.0, 2.0])
    cuts = law_responses(law).decrease(windows * max(share, 1.0), rtts * rtt_s, rtt_s)
    return bool(np.ptp(cuts) < _CONSTANT)
