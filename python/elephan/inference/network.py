"""A small neural network that corrects the estimates of theory, with calibrated intervals.

The network has two hidden layers. Its outputs are five quantiles of each quantity, as logarithms of ratios to the
estimates of `statistics.base`, and the probabilities of disciplines and of kinds of competing traffic.
`tools/train_infer.py` trains it on simulations and writes `model.npz`.

*Source*: R. Koenker, Quantile Regression, 2005 (the loss); Y. Romano, E. Patterson and E. Candès, Conformalized
quantile regression, NeurIPS 2019 (intervals); V. Vovk, Conditional validity of inductive conformal predictors, 2012
(groups, sets).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elephan.inference.paths import BESIDE, DISCIPLINES, LAWS
from elephan.inference.simulated import Samples
from elephan.inference.statistics import LONGEST_S, Base, Facts, base, statistics

Floats = NDArray[np.float64]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Probabilities of the quantiles that the network returns; calibration widens the outer two to 90 % intervals."""

TARGETS = ("rate_bps", "rtt_s", "buffer_s", "buffer_packets", "burst_s")
"""Inferred quantities: the buffer is that of drop-tail, the burst that of a policer."""

LEVELS = {"fine": 0.1, "coarse": 1.0, "windows": 0.1}
"""Networks for different kinds of measurements, and their sampling intervals [s]. `windows` is for measurements with
round-trip times and windows, but without counts of bytes and retransmissions."""

MODEL = "model.npz"

OF_INTERVALS = len(TARGETS) * len(QUANTILES)


@dataclass(frozen=True)
class Interval:
    """A median with an interval of 90 %."""

    median: float
    low: float
    high: float

    def scaled(self, factor: float) -> Interval:
        """Return the interval in another unit."""
        return Interval(self.median * factor, self.low * factor, self.high * factor)

    def to_json(self) -> dict[str, float]:
        """Return the interval as plain data."""
        return {"median": self.median, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Estimate:
    """Estimate of the network from a measurement.

    Parameters
    ----------
    base : Base
        Estimates by theory.
    intervals : mapping of str to Interval
        Intervals by the names of `TARGETS`.
    disciplines, beside : mapping of str to float
        Probabilities of disciplines, and of kinds of competing traffic; each sums to 1.
    discipline_set, beside_set : tuple of str
        Sets that contain the true value in 90 % of the simulations of each kind, the most likely first.
    strange : float
        Share of the statistics that are outside of the range of the training.
    """

    base: Base
    intervals: Mapping[str, Interval]
    disciplines: Mapping[str, float]
    beside: Mapping[str, float]
    discipline_set: tuple[str, ...]
    beside_set: tuple[str, ...]
    strange: float


@dataclass(frozen=True)
class Level:
    """The network of one level, and its calibration.

    Parameters
    ----------
    mean, scale : ndarray, shape (statistics,)
    weights, biases : tuple of ndarray
    widening : ndarray, shape (groups, targets)
        Widening of each interval at both ends, as a share of its width.
    thresholds : ndarray, shape (disciplines + kinds,)
        Minimum probability with which a name is in its set.
    """

    mean: Floats
    scale: Floats
    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]
    widening: Floats
    thresholds: Floats

    def raw(self, values: Floats) -> Floats:
        """Return the outputs for statistics, shape (..., outputs); quantiles are sorted, probabilities sum to 1."""
        hidden = self.standard(values)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            hidden = np.maximum(hidden @ weight + bias, 0.0)
        out: Floats = hidden @ self.weights[-1] + self.biases[-1]
        quantiles = np.sort(out[..., :OF_INTERVALS].reshape(*out.shape[:-1], len(TARGETS), len(QUANTILES)), axis=-1)
        out[..., :OF_INTERVALS] = quantiles.reshape(*out.shape[:-1], OF_INTERVALS)
        for begin, end in (
            (OF_INTERVALS, OF_INTERVALS + len(DISCIPLINES)),
            (OF_INTERVALS + len(DISCIPLINES), out.shape[-1]),
        ):
            part = np.exp(out[..., begin:end] - out[..., begin:end].max(axis=-1, keepdims=True))
            out[..., begin:end] = part / part.sum(axis=-1, keepdims=True)
        return out

    def standard(self, values: Floats) -> Floats:
        """Return standardized statistics, limited to 6 standard deviations."""
        return np.clip((values - self.mean) / self.scale, -6.0, 6.0)


SMALL_BDP = 0.15
"""Predicted buffer below which paths have their own calibration group [BDP]."""


def group_of(raw: Floats, is_bbr: Any, bases: Floats, rtt_known: Any = False) -> NDArray[np.int64]:
    """Return the calibration group of a measurement.

    It depends on the predicted competing traffic, on whether the law is BBR, on whether the predicted buffer is small,
    and on whether the base round-trip time is known.

    Parameters
    ----------
    raw : ndarray, shape (..., outputs)
    is_bbr, rtt_known : bool or ndarray of bool
    bases : ndarray, shape (..., targets)
        Result of `bases_of`.
    """
    beside = raw[..., OF_INTERVALS + len(DISCIPLINES) :].argmax(axis=-1)
    middle = [i * len(QUANTILES) + 2 for i in (TARGETS.index("buffer_s"), TARGETS.index("rtt_s"))]
    ratio = np.log(bases[..., 2] / bases[..., 1]) + raw[..., middle[0]] - raw[..., middle[1]]
    small = np.asarray(ratio < np.log(SMALL_BDP), dtype=int)
    half = np.asarray(rtt_known, dtype=int) * 2 + small
    found: NDArray[np.int64] = (half * len(BESIDE) + beside) * 2 + np.asarray(is_bbr, dtype=int)
    return found


GROUPS = 8 * len(BESIDE)
"""Number of groups with their own calibration."""


@cache
def level(name: str) -> Level:
    """Return the network of a level, which is a part of elephan."""
    with resources.files("elephan.inference").joinpath(MODEL).open("rb") as file, np.load(file) as arrays:
        layers = sorted(key for key in arrays.files if key.startswith(f"{name}_w") and key[-1].isdigit())
        return Level(
            arrays[f"{name}_mean"].astype(float),
            arrays[f"{name}_scale"].astype(float),
            tuple(arrays[key].astype(float) for key in layers),
            tuple(arrays[f"{name}_b{key[-1]}"].astype(float) for key in layers),
            arrays[f"{name}_widening"].astype(float),
            arrays[f"{name}_thresholds"].astype(float),
        )


def estimate(samples: Samples, law: str, name: str, known: Facts = (None, None, None)) -> Estimate:
    """Estimate a path from a measurement.

    Parameters
    ----------
    samples : Samples
        Samples at the interval of the level.
    law : str
        One of `LAWS`.
    name : str
        Level, one of `LEVELS`.
    known : Facts
    """
    values = statistics(samples, law, known)
    network, theory = level(name), base(samples.first(LONGEST_S), known[1])
    raw = network.raw(values)
    bases = bases_of(theory)
    group = int(group_of(raw, law == LAWS[2], bases, known[1] is not None))
    intervals = {}
    for i, target in enumerate(TARGETS):
        quantiles = raw[i * len(QUANTILES) : (i + 1) * len(QUANTILES)]
        room = network.widening[group, i] * (quantiles[-1] - quantiles[0])
        low, middle, high = quantiles[0] - room, quantiles[2], quantiles[-1] + room
        if low > high:
            low = high = middle
        ends = (float(bases[i] * np.exp(np.clip(value, -12, 12))) for value in (middle, low, high))
        intervals[target] = Interval(*ends)
    for target, value in zip(TARGETS, known[:2], strict=False):
        if value is not None:
            intervals[target] = Interval(value, value, value)
    if known[0] is not None:
        # With a known rate, the buffer in packets follows from the buffer in time.
        intervals["buffer_packets"] = intervals["buffer_s"].scaled(known[0] / 8 / 1500)
    at, told = OF_INTERVALS + len(DISCIPLINES), BESIDE[:1] if known[2] else BESIDE[1:]
    return Estimate(
        theory,
        intervals,
        dict(zip(DISCIPLINES, raw[OF_INTERVALS:at].tolist(), strict=True)),
        dict(zip(BESIDE, raw[at:].tolist(), strict=True)),
        _set(DISCIPLINES, raw[OF_INTERVALS:at], network.thresholds[: len(DISCIPLINES)]),
        _set(BESIDE, raw[at:], network.thresholds[len(DISCIPLINES) :]) if known[2] is None else told,
        float((np.abs(network.standard(values)) > 5.0).mean()),
    )


def bases_of(theory: Base) -> Floats:
    """Return the estimates by theory that the outputs correct, in the order of `TARGETS`."""
    return np.array([theory.rate_bps, theory.rtt_s, theory.queue_s, theory.queue_packets, theory.queue_s])


def _set(names: tuple[str, ...], shares: Floats, thresholds: Floats) -> tuple[str, ...]:
    order = np.argsort(-shares)
    return tuple(names[i] for i in order if shares[i] >= thresholds[i]) or (names[int(order[0])],)
