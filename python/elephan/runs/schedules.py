"""Rates and delays of links over time, as given in a scenario, for figures.

Random parts, which differ between replications (two alternating rates, jitter), are not included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elephan.trace_files import OPPORTUNITY_BYTES

Held = tuple[NDArray[np.float64], NDArray[np.float64]]
Work = Callable[[NDArray[np.float64]], NDArray[np.float64]]

_BINS = 400
"""Maximum number of steps in a figure; schedules with more are averaged over this number of bins."""


def rate_over_time(link: Mapping[str, Any], duration_s: float) -> Held | None:
    """Return the rate of a link as a step function of time.

    Parameters
    ----------
    link : mapping
        Link of a resolved scenario.
    duration_s : float [s]

    Returns
    -------
    times, rates : ndarray [s], [bit/s]
        Each rate holds until the next; the last is repeated at the end. If there are too many changes to show, means
        over bins. None if the rate is constant, or random.

    Examples
    --------
    >>> times, rates = rate_over_time({"rate_bps": {"steps": [[0, 50], [2 * 10**12, 5]]}}, 3.0)
    >>> times.tolist(), rates.tolist()
    ([0.0, 2.0, 3.0], [50.0, 5.0, 5.0])
    """
    rate = link["rate_bps"]
    if not isinstance(rate, dict):
        return None
    if "steps" in rate:
        return _steps(rate, duration_s)
    if "sine" in rate:
        return _means(_of_sine(rate["sine"]), duration_s)
    if "opportunities" in rate:
        return _means(_of_opportunities(rate["opportunities"]), duration_s)
    return None


def delay_over_time(link: Mapping[str, Any], duration_s: float) -> Held | None:
    """Return the delay of a link as a step function of time, without jitter.

    Parameters
    ----------
    link : mapping
        Link of a resolved scenario.
    duration_s : float [s]

    Returns
    -------
    times, delays : ndarray [s]
        As in `rate_over_time`.
    """
    delay = link["delay_ps"]
    if not isinstance(delay, dict) or "steps" not in delay:
        return None
    found = _steps(delay, duration_s)
    return None if found is None else (found[0], 1e-12 * found[1])


def _steps(table: Mapping[str, Any], duration_s: float) -> Held | None:
    at, value = (np.array(column, dtype=float) for column in zip(*table["steps"], strict=True))
    at, period = 1e-12 * at, 1e-12 * table.get("period_ps", 0)
    if (value == value[0]).all():
        return None
    rounds = int(np.ceil(duration_s / period)) if period else 1
    if rounds * at.size > _BINS:
        return _means(_of_steps(at, value, period or duration_s), duration_s)
    times = (np.arange(rounds)[:, None] * period + at).ravel()
    values, before = np.tile(value, rounds), times < duration_s
    return _to_the_end(times[before], values[before], duration_s)


def _to_the_end(times: NDArray[np.float64], values: NDArray[np.float64], duration_s: float) -> Held:
    return np.append(times, duration_s), np.append(values, values[-1])


def _means(work: Work, duration_s: float) -> Held:
    """Average a function over bins, given its integral."""
    ends = np.linspace(0.0, duration_s, _BINS + 1)
    return _to_the_end(ends[:-1], np.diff(work(ends)) / np.diff(ends), duration_s)


def _of_steps(at: NDArray[np.float64], value: NDArray[np.float64], period: float) -> Work:
    ends = np.append(at, max(period, at[-1]))
    done = np.concatenate([[0.0], np.cumsum(np.diff(ends) * value)])
    return lambda t: np.floor(t / ends[-1]) * done[-1] + np.interp(t % ends[-1], ends, done)


def _of_sine(sine: Mapping[str, float]) -> Work:
    turn = 2e12 * np.pi / sine["period_ps"]
    return lambda t: sine["mean_bps"] * t + sine["amplitude_bps"] * (1 - np.cos(turn * t)) / turn


def _of_opportunities(words: str) -> Work:
    parts = [word.partition("x") for word in words.split()]
    times = np.array([int(ms) for ms, _, _ in parts]) / 1e3
    done = np.concatenate([[0], np.cumsum([int(count or 1) for _, _, count in parts])])
    span = times[-1]

    def work(t: NDArray[np.float64]) -> NDArray[np.float64]:
        rounds = np.floor(t / span)
        passed = rounds * done[-1] + done[np.searchsorted(times, t - rounds * span)]
        return np.asarray(8.0 * OPPORTUNITY_BYTES * passed)

    return work
