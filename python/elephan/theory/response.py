"""Response functions: the mean window of a law at a loss rate, the loss rate for a window, a(w) and b(w).

Units: windows in segments, p in loss events per segment, RTT in seconds. The model assumes one loss event per period, a
smooth window between two of them, and no timeouts. The error is a few per cent at p = 0.01; above 0.1 the model is
useless.
*Source*: see `laws` for each published response, `law_responses` for the engine's laws; Mathis1997 for periods with a
single loss at the end.
*Differs from* a simulation: laws that respond to delay (Vegas, FAST, Illinois, YeAH, Westwood) have no w(p).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elephan.errors import InputError

Floats = NDArray[np.float64]
# Function of window or loss rate, and of RTT, both of one shape.
Curve = Callable[[Floats, Floats], Floats]

# w^2 p of AIMD with a = 1 and b = 1/2, and an ACK for every segment. The RFCs round its square root to 1.2.
RENO = 1.5


@dataclass(frozen=True)
class Response:
    """Response of one law to loss.

    Parameters
    ----------
    name : str
        Name of the law in the catalogue.
    source : str
        Key of the citation.
    uses_rtt : bool
        Whether the functions depend on RTT, which must then be given.
    window_curve, loss_curve : callable
    increase_curve, decrease_curve : callable or None
        None if the curve is not a function of the window alone.

    Examples
    --------
    >>> from elephan.theory import highspeed
    >>> float(highspeed().window(1e-5).round(1))
    1776.0
    """

    name: str
    source: str
    uses_rtt: bool
    window_curve: Curve
    loss_curve: Curve
    increase_curve: Curve | None = None
    decrease_curve: Curve | None = None

    def window(self, p: ArrayLike, rtt: ArrayLike | None = None) -> Floats:
        """Mean window.

        Parameters
        ----------
        p : array_like
            Loss events per segment, above 0.
        rtt : array_like [s], optional
            Broadcast against p.

        Returns
        -------
        ndarray [segments]

        Raises
        ------
        InputError
            If p is not positive, or the law needs an RTT and none is given.

        Examples
        --------
        >>> from elephan.theory import reno
        >>> float(reno().window(1.5e-4))
        100.0
        """
        return self._at(self.window_curve, p, rtt, "p")

    def loss(self, window: ArrayLike, rtt: ArrayLike | None = None) -> Floats:
        """Loss rate for a given mean window; the inverse of `window`.

        Parameters
        ----------
        window : array_like [segments]
        rtt : array_like [s], optional

        Returns
        -------
        ndarray [loss events per segment]

        Raises
        ------
        InputError
            If the window is not positive, or the law needs an RTT and none is given.

        Examples
        --------
        >>> from elephan.theory import reno
        >>> float(reno().loss(100))
        0.00015
        """
        return self._at(self.loss_curve, window, rtt, "window")

    def throughput(self, p: ArrayLike, rtt: ArrayLike) -> Floats:
        """Mean window per RTT.

        Parameters
        ----------
        p : array_like
        rtt : array_like [s]

        Returns
        -------
        ndarray [segments/s]

        Raises
        ------
        InputError
            If p or rtt is not positive.

        Examples
        --------
        >>> from elephan.theory import reno
        >>> float(reno().throughput(1.5e-4, 0.1))
        1000.0
        """
        return np.asarray(self.window(p, rtt) / np.asarray(rtt, dtype=float))

    def increase(
        self,
        window: ArrayLike,
        rtt: ArrayLike | None = None,
        base: ArrayLike | None = None,  # noqa: ARG002  (laws that are asked know it)
    ) -> Floats:
        """Increase a(w).

        Parameters
        ----------
        window : array_like [segments]
        rtt : array_like [s], optional
        base : array_like [s], optional
            RTT without a queue; published curves do not depend on it.

        Returns
        -------
        ndarray [segments per RTT]

        Raises
        ------
        InputError
            If the law's growth is not a function of its window.

        Examples
        --------
        >>> from elephan.theory import highspeed
        >>> float(highspeed().increase(1058).round(4))
        8.1361
        """
        if self.increase_curve is None:
            raise InputError(f"{self.name}: its growth is not a function of the window; use window() and loss()")
        return self._at(self.increase_curve, window, rtt, "window")

    def decrease(
        self,
        window: ArrayLike,
        rtt: ArrayLike | None = None,
        base: ArrayLike | None = None,  # noqa: ARG002  (laws that are asked know it)
    ) -> Floats:
        """Decrease b(w), the share by which a loss reduces the window.

        Parameters
        ----------
        window : array_like [segments]
        rtt : array_like [s], optional
        base : array_like [s], optional
            As in `increase`.

        Returns
        -------
        ndarray [1]

        Raises
        ------
        InputError
            If the law's reduction is not a function of its window.

        Examples
        --------
        >>> from elephan.theory import highspeed
        >>> float(highspeed().decrease(83_000).round(6))
        0.1
        """
        if self.decrease_curve is None:
            raise InputError(f"{self.name}: its reduction is not a function of the window; use window() and loss()")
        return self._at(self.decrease_curve, window, rtt, "window")

    def _at(self, curve: Curve, x: ArrayLike, rtt: ArrayLike | None, what: str) -> Floats:
        if rtt is None and self.uses_rtt:
            raise InputError(f"{self.name}: its response depends on the round-trip time; give rtt in seconds")
        at, over = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(1.0 if rtt is None else rtt, dtype=float))
        if not ((at > 0).all() and (over > 0).all()):
            raise InputError(f"{self.name}: {what} and rtt must be above 0")
        return curve(at, over)


def reno_below(low: float, window: Curve, loss: Curve) -> tuple[Curve, Curve]:
    """Use Reno's curves up to a window and the law's above it; between the two loss rates there, it is constant."""
    step = RENO / low**2

    def joined_window(p: Floats, rtt: Floats) -> Floats:
        return np.where(p >= step, np.sqrt(RENO / p), np.maximum(window(np.minimum(p, step), rtt), low))

    def joined_loss(w: Floats, rtt: Floats) -> Floats:
        return np.where(w <= low, RENO / w**2, np.minimum(loss(np.maximum(w, low), rtt), step))

    return joined_window, joined_loss


def parametric(packets: Curve, mean: Curve, low: float, high: float) -> tuple[Curve, Curve]:
    """Return w(p) and p(w) of a period whose packets and mean window grow with one parameter, within two bounds."""

    def window(p: Floats, rtt: Floats) -> Floats:
        return mean(bisect(lambda x: packets(x, rtt), 1 / p, low, high), rtt)

    def loss(w: Floats, rtt: Floats) -> Floats:
        return 1 / packets(bisect(lambda x: mean(x, rtt), w, low, high), rtt)

    return window, loss


def bisect(rising: Callable[[Floats], Floats], target: Floats, low: float, high: float) -> Floats:
    """Find where a rising function reaches its target, element by element, by bisection of the logarithm."""
    below, above = np.full(target.shape, np.log(low)), np.full(target.shape, np.log(high))
    for _ in range(70):
        middle = (below + above) / 2
        short = rising(np.exp(middle)) < target
        below, above = np.where(short, middle, below), np.where(short, above, middle)
    return np.asarray(np.exp((below + above) / 2))
