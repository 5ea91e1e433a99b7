"""Responses of the engine's laws: increase and decrease, response function, and sawtooth on a link.

These values do not come from published formulas: the engine's own law is evaluated, with all parameters of the
scenario's control. *Source*: that of the law; mean window and loss rate are those of a period with a single loss at its
end, as in Mathis1997. *Differs from* a sender: a fluid without packets, timeouts or slow start
(``crates/law/src/evaluator.rs``); the kernel's integers are replaced by real numbers; a law that remembers its last
loss is evaluated at a constant round-trip time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike

from elephan import _native
from elephan.errors import InputError
from elephan.theory import controls
from elephan.theory.response import Floats, Response

SOURCES: dict[str, str] = {
    card["name"]: card["response"]
    for card in sorted(json.loads(_native.catalog("laws")), key=lambda card: str(card["name"]))
    if card["response"]
}
"""Laws that respond only to loss, and therefore have a response function; the values are keys of `citations`."""

# Range of windows for which a period is evaluated [segments], and their number per octave (fewer for laws that remember
# their last loss, where each takes a millisecond). Between these windows the logarithms are interpolated linearly.
_LEAST, _MOST, _OCTAVE, _OCTAVE_REMEMBERING = 0.5, 4e6, 16, 3
# Ratio between the round-trip times at which a law is evaluated.
_RTT_STEP = 1.25
# Cuts of a single flow before and during the measurement. Even numbers are needed for laws with fast convergence, where
# every second cut can lower the target.
_BEFORE, _MEASURED = 6, 4


@dataclass(frozen=True)
class LawResponses(Response):
    """Responses of one control, created by `law_responses`.

    Parameters
    ----------
    name, source, uses_rtt
        As in `Response`.

    Examples
    --------
    >>> float(law_responses("reno(decrease=0.2)").decrease(100).round(9))
    0.2
    """

    law: _native.LawEvaluator = None  # type: ignore[assignment]  # `law_responses` gives one

    @property
    def remembers(self) -> bool:
        """Whether the growth of the law depends on more than the current window and round-trip times."""
        return self.law.remembers

    def increase(self, window: ArrayLike, rtt: ArrayLike | None = None, base: ArrayLike | None = None) -> Floats:
        """Increase a(w) of the engine's law.

        Parameters
        ----------
        window : array_like [segments]
        rtt : array_like [s], optional
            RTT with a queue.
        base : array_like [s], optional
            RTT without a queue; by default `rtt`.

        Returns
        -------
        ndarray [segments per RTT]

        Raises
        ------
        InputError
            If the law remembers its last loss.

        Examples
        --------
        >>> float(law_responses("hybla").increase(100, 0.2, 0.1))
        16.0
        """
        if self.remembers:
            raise InputError(f"{self.name}: its growth is not a function of the window; use window() and loss()")
        return self._each(self.law.growth, window, rtt, base)

    def decrease(self, window: ArrayLike, rtt: ArrayLike | None = None, base: ArrayLike | None = None) -> Floats:
        """Decrease b(w): the share of the window cut on loss; for a law that remembers, in a periodic sawtooth.

        Parameters
        ----------
        window : array_like [segments]
        rtt : array_like [s], optional
            RTT with a queue.
        base : array_like [s], optional
            RTT without a queue; by default `rtt`.

        Returns
        -------
        ndarray [1]

        Examples
        --------
        >>> law_responses("htcp").decrease([1000, 1000], [0.1, 0.16], 0.1).round(3).tolist()
        [0.2, 0.375]
        """
        return self._each(self.law.cut, window, rtt, base)

    def periods(self, window: ArrayLike, rtt: ArrayLike) -> tuple[Floats, Floats]:
        """Compute the period between two losses, both at the same window, with a constant round-trip time.

        Parameters
        ----------
        window : array_like [segments]
        rtt : array_like [s]

        Returns
        -------
        packets : ndarray [segments]
        rounds : ndarray [round trips]

        Examples
        --------
        >>> [float(x.round()) for x in law_responses("reno").periods(100, 0.1)]
        [3750.0, 50.0]
        """
        w, over = np.broadcast_arrays(np.asarray(window, dtype=float), np.asarray(rtt, dtype=float))
        flat = [np.ascontiguousarray(x).ravel() for x in (w, over, over)]
        packets, rounds = self.law.period(*flat).T
        return packets.reshape(w.shape), rounds.reshape(w.shape)

    def drop_tail_sawtooth(
        self, rate: float, buffers: Sequence[float], rtts: Sequence[float], cut: int, overflows: tuple[int, int]
    ) -> Floats:
        """Simulate flows on a drop-tail link as a fluid.

        Parameters
        ----------
        rate : float [segments/s]
        buffers : sequence of float [segments]
        rtts : sequence of float [s]
            RTTs without queueing, one per flow.
        cut : int
            Number of flows that lose packets at an overflow.
        overflows : tuple of int
            Overflows before the measurement, and during it.

        Returns
        -------
        ndarray, shape (buffers, 7 + flows)
            Utilisation, period [s], queue [segments], cuts per segment, share of segments lost, windows before and
            after a cut [segments], rates of the flows [segments/s].

        Examples
        --------
        >>> float(law_responses("cubic").drop_tail_sawtooth(10_000, [200], [0.1], 1, (6, 4))[0, 0].round(2))
        0.98
        """
        return self.law.sawteeth(rate, list(buffers), list(rtts), cut, overflows)

    def alone(self, rate: float, buffers: Sequence[float], rtt: float) -> Floats:
        """Simulate one flow, with the columns of `drop_tail_sawtooth`.

        Parameters
        ----------
        rate : float [segments/s]
        buffers : sequence of float [segments]
        rtt : float [s]

        Returns
        -------
        ndarray, shape (buffers, 8)
        """
        return self.drop_tail_sawtooth(rate, buffers, [rtt], 1, (_BEFORE, _MEASURED))

    def _each(self, ask: _Ask, window: ArrayLike, rtt: ArrayLike | None, base: ArrayLike | None) -> Floats:
        if rtt is None and self.uses_rtt:
            raise InputError(f"{self.name}: its response depends on the round-trip time; give rtt in seconds")
        over = 1.0 if rtt is None else rtt
        given = (np.asarray(x, dtype=float) for x in (window, over, over if base is None else base))
        w, full, least = np.broadcast_arrays(*given)
        if not ((w > 0).all() and (full > 0).all() and (least > 0).all()):
            raise InputError(f"{self.name}: window and rtt must be above 0")
        return ask(*(np.ascontiguousarray(x).ravel() for x in (w, full, least))).reshape(w.shape)


_Ask = Callable[[Floats, Floats, Floats], Floats]


class _Periods:
    """Packets and mean windows of a law's periods, over windows and round-trip times."""

    def __init__(self, law: _native.LawEvaluator, uses_rtt: bool) -> None:
        self.law, self.uses_rtt = law, uses_rtt
        self.lines: dict[int, tuple[Floats, Floats]] = {}

    @cached_property
    def windows(self) -> Floats:
        octave = _OCTAVE_REMEMBERING if self.law.remembers else _OCTAVE
        return np.geomspace(_LEAST, _MOST, round(np.log2(_MOST / _LEAST) * octave))

    def line(self, step: int) -> tuple[Floats, Floats]:
        """Return the logarithms of packets and of mean windows at one round-trip time."""
        if step not in self.lines:
            rtt = np.full_like(self.windows, _RTT_STEP**step)
            packets, rounds = self.law.period(self.windows, rtt, rtt).T
            rising = (np.maximum.accumulate(np.log(x)) for x in (packets, packets / rounds))
            # Both columns are inverted, so constant values must be made to rise slightly.
            ramp = 1e-9 * np.arange(self.windows.size)
            x, y = (column + ramp for column in rising)
            self.lines[step] = (x, y)
        return self.lines[step]

    def mean(self, p: Floats, rtt: Floats) -> Floats:
        return np.exp(self._between(-np.log(p), rtt, 0, 1))

    def loss(self, window: Floats, rtt: Floats) -> Floats:
        return np.exp(-self._between(np.log(window), rtt, 1, 0))

    def _between(self, at: Floats, rtt: Floats, x: int, y: int) -> Floats:
        if not self.uses_rtt:
            line = self.line(0)
            return _straight(at, line[x], line[y])
        steps = np.log(rtt) / np.log(_RTT_STEP)
        below = np.floor(steps)
        part, found = steps - below, np.zeros(at.shape)
        for step in np.unique(below).astype(int).tolist():
            here = below == step
            low, high = (self.line(one) for one in (step, step + 1))
            value = _straight(at[here], low[x], low[y]), _straight(at[here], high[x], high[y])
            found[here] = value[0] + part[here] * (value[1] - value[0])
        return found


def _straight(at: Floats, x: Floats, y: Floats) -> Floats:
    """Interpolate linearly, with extrapolation beyond the ends."""
    inside = np.interp(at, x, y)
    below = y[0] + (at - x[0]) * (y[1] - y[0]) / (x[1] - x[0])
    above = y[-1] + (at - x[-1]) * (y[-1] - y[-2]) / (x[-1] - x[-2])
    return np.where(at < x[0], below, np.where(at > x[-1], above, inside))


@cache
def law_responses(text: str) -> LawResponses:
    """Return the responses of a control.

    Parameters
    ----------
    text : str
        Name in the form of `controls.write`.

    Raises
    ------
    InputError
        If the law does not exist, if it does not accept the parameters, or if it does not respond only to loss.

    Examples
    --------
    >>> law = law_responses("highspeed")
    >>> float(law.increase(83_000).round(2)), float(law.decrease(83_000).round(6))
    (72.52, 0.1)
    >>> float(law_responses("reno").window(1.5e-4).round(1))
    100.0
    """
    name = controls.kind(text)
    if name not in SOURCES:
        raise InputError(f'response: there is none to loss alone for "{name}"; there are {", ".join(SOURCES)}')
    law = _native.LawEvaluator(controls.inline(controls.control(text)))
    uses_rtt = _moves(law)
    periods = _Periods(law, uses_rtt)
    return LawResponses(text, SOURCES[name], uses_rtt, periods.mean, periods.loss, law=law)


def _moves(law: _native.LawEvaluator) -> bool:
    """Whether the law's growth or cut depends on the round-trip time."""
    windows = np.geomspace(1.0, 1e4 if law.remembers else 1e6, 13)
    short, long = np.full_like(windows, 1e-2), np.full_like(windows, 1.0)
    if law.remembers:
        # The tolerance is larger than the integration errors.
        return not np.allclose(law.period(windows, short, short), law.period(windows, long, long), rtol=1e-6)
    return not all(
        np.array_equal(ask(windows, short, short), ask(windows, long, long)) for ask in (law.growth, law.cut)
    )
