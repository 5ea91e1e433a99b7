"""Simulations of paths near an answer: a local regression narrows its intervals, and similar runs (twins) check it.

*Source*: M. A. Beaumont, W. Zhang and D. J. Balding, Approximate Bayesian computation in population genetics,
Genetics 2002 (weights and regression); P. Fearnhead and D. Prangle, Constructing summary statistics for approximate
Bayesian computation, 2012 (outputs of a regression as summary statistics; here the outputs of the neural network).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elephan.errors import ElephanError
from elephan.inference.network import LEVELS, TARGETS, Estimate, Interval, bases_of, level
from elephan.inference.observed import Observation
from elephan.inference.paths import BUFFER_BDP, MOST_QUEUE_S, RATE_BPS, RTT_S, PathModel, draw_beside, draw_hosts
from elephan.inference.simulated import EVERY_S, Samples, measure
from elephan.inference.statistics import LONGEST_S, base, statistics

if TYPE_CHECKING:
    from numpy.random import Generator

    Floats = NDArray[np.float64]

RUNS = 440
"""Maximum number of runs of the local regression, in two rounds."""

PACKETS = 4e7
"""Maximum number of packets of all runs together; they take about ten seconds of processor time."""

OF_FAST = 150
"""Number of runs for which the packets must suffice; on fast paths each run is shortened accordingly."""

LEAST_RUNS = 40
"""Minimum number of runs for a regression."""

KEPT = 0.4
"""Share of the runs, those nearest to the measurement, that have a weight above 0 in the regression."""

ALIKE, DECISIVE = 0.03, 1.5
"""Largest distance of the nearest twin, and smallest ratio of the next discipline's distance to it, with which the
twins decide on a discipline."""

UNLIKE = 0.15
"""Distance above which not even the nearest twin is similar to the measurement, and no answer is given.

Twins of 13 simulated paths with unknown hosts had distances of 0.01 to 0.13; with an unknown competing flow, 0.15."""

WIDENING = 1.25
"""Factor that widens the local intervals in logarithms, because the regression is linear and has few runs."""

HOSTS = 0.12
"""Widening of local intervals at each end, in logarithms, for effects of real hosts and links that are not simulated.

With it the intervals contain the true values of 90 % of the recorded paths with odd numbers (`tests/data/paths`); the
paths with even numbers are used to evaluate the intervals."""

LONGEST_LOCAL_S = 15.0
"""Maximum part of a measurement that is simulated [s]; later data contribute little and cost the same time."""

SHORTEST_LOCAL_S = 6.0
"""Minimum part that is simulated, for fast paths [s]."""

SEED = 20261128


@dataclass(frozen=True)
class Region:
    """Start of a search by simulation.

    Parameters
    ----------
    observation : Observation
    estimate : Estimate
        Estimate of the network.
    middle : PathModel
        Path in the middle of the estimate.
    """

    observation: Observation
    estimate: Estimate
    middle: PathModel


@dataclass(frozen=True)
class Twin:
    """A simulated path whose samples are similar to the measurement.

    Parameters
    ----------
    path : PathModel
    samples : Samples
    distance : float
        Mean absolute log ratio of round-trip times, and half that of windows.
    """

    path: PathModel
    samples: Samples
    distance: float


@dataclass(frozen=True)
class Nearby:
    """Simulations near an answer.

    Parameters
    ----------
    runs : int
    intervals : mapping of str to Interval
        Intervals of the local regression; empty if there were too few runs.
    twins : mapping of str to Twin
        The path with the smallest distance for each discipline.
    """

    runs: int
    intervals: Mapping[str, Interval]
    twins: Mapping[str, Twin]

    @property
    def best(self) -> Twin | None:
        """The path with the smallest distance; None if no path could be simulated."""
        return min(self.twins.values(), key=lambda twin: twin.distance, default=None)

    @property
    def is_unlike(self) -> bool:
        """Whether no simulated path is similar to the measurement."""
        return self.best is None or self.best.distance > UNLIKE

    @property
    def decided(self) -> str:
        """The discipline whose twin is much nearer than the others; empty if none is."""
        ranked = sorted(self.twins.items(), key=lambda item: item[1].distance)
        # With a single flow, CoDel and FQ-CoDel cannot be distinguished.
        distances = [(("codel" if name == "fq-codel" else name), twin.distance) for name, twin in ranked]
        if not distances or distances[0][1] > ALIKE:
            return ""
        others = [distance for name, distance in distances if name != distances[0][0]]
        return ranked[0][0] if not others or others[0] > DECISIVE * distances[0][1] else ""

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "runs": self.runs,
            "intervals": {name: one.to_json() for name, one in self.intervals.items()},
            "twins": {
                name: {
                    "distance": twin.distance,
                    "rate_bps": twin.path.rate_bps,
                    "rtt_s": twin.path.rtt_s,
                    "buffer_s": twin.path.buffer_s,
                }
                for name, twin in self.twins.items()
            },
            "unlike": self.is_unlike,
            "decided": self.decided or None,
        }


def distance(measured: Samples, simulated: Samples) -> float:
    """Return the distance of a simulation from a measurement, see `Twin`."""
    count = min(measured.rtt_s.size, simulated.rtt_s.size)
    rtt = np.abs(np.log(simulated.rtt_s[:count] / measured.rtt_s[:count])).mean()
    windows = (np.maximum(one.cwnd_segments[:count], 1.0) for one in (simulated, measured))
    cwnd = np.abs(np.log(next(windows) / next(windows))).mean()
    return float(rtt + 0.5 * cwnd)


def search(region: Region, *, runs: int = RUNS) -> Nearby:
    """Simulate paths near an answer; the same region gives the same result on every machine.

    Parameters
    ----------
    region : Region
    runs : int
        Maximum number of runs of the regression, in two rounds; up to 40 further runs improve the twin of each
        discipline. Fast paths get fewer runs, because all runs together have at most about `PACKETS` packets.

    Returns
    -------
    Nearby
    """
    rng = np.random.default_rng(SEED)
    found = _Local(region)
    for number, (count, share) in enumerate(((runs // 2, 0.3), (runs - runs // 2, 0.65))):
        for _ in range(count):
            if found.packets > share * PACKETS:
                break
            found.run(found.draw(rng, number))
        if number == 0:
            found.narrow()
    room = math.exp(HOSTS)
    local = found.regression().items()
    intervals = {name: Interval(one.median, one.low / room, one.high * room) for name, one in local}
    for number, discipline in enumerate(region.estimate.discipline_set, 1):
        found.refine(rng, discipline, PACKETS * (0.65 + 0.35 * number / len(region.estimate.discipline_set)))
    return Nearby(len(found.paths), intervals, found.twins)


class _Local:
    """The runs of a search."""

    def __init__(self, region: Region) -> None:
        self.middle, self.estimate = region.middle, region.estimate
        self.level, self.law = region.observation.level, region.observation.law
        # iperf3 counts bytes when they are written to the socket.
        self.writes = region.observation.measurement.source.startswith("iperf3")
        rate = self.estimate.intervals["rate_bps"].median
        longest = float(np.clip(PACKETS / OF_FAST / (rate / 12_000), SHORTEST_LOCAL_S, LONGEST_LOCAL_S))
        self.measured = region.observation.samples.first(longest)
        self.packets = 0.0
        self.network = level(self.level)
        rtt = self.estimate.intervals["rtt_s"]
        self.rtt_s = rtt.median if rtt.low == rtt.high else None
        self.observed = self.summary(self.measured)
        self.paths: list[PathModel] = []
        self.summaries: list[Floats] = []
        self.distances: list[float] = []
        self.twins: dict[str, Twin] = {}
        self.ranges = {name: (one.low, one.high) for name, one in self.estimate.intervals.items()}
        shares = np.array([self.estimate.disciplines[name] for name in self.estimate.discipline_set])
        self.shares = (shares + 0.1) / (shares + 0.1).sum()

    def summary(self, samples: Samples) -> Floats:
        """Return the summary statistics of samples: logarithms of medians and probabilities, and statistics."""
        values = statistics(samples, self.law, (None, self.rtt_s, None))
        raw = self.network.raw(values)
        width = len(TARGETS) * 5
        medians = raw[2:width:5] + np.log(bases_of(base(samples.first(LONGEST_S), self.rtt_s)))
        return np.concatenate([medians, np.log(raw[width:] + 0.02) * 0.3, self.network.standard(values)[8:60] * 0.15])

    def draw(self, rng: Generator, number: int) -> PathModel:
        """Draw a path within the intervals of the answer, which are slightly widened in the first round."""
        names = self.estimate.discipline_set
        discipline = str(rng.choice(names, p=self.shares))
        room = 1.15 if number == 0 else 1.0

        def within(name: str, low: float, high: float) -> float:
            ends = self.ranges[name]
            bottom, top = max(ends[0] / room, low), min(ends[1] * room, high)
            return float(np.exp(rng.uniform(np.log(bottom), np.log(max(top, bottom * 1.0001)))))

        rate, rtt = within("rate_bps", *RATE_BPS), within("rtt_s", *RTT_S)
        least, most = 4 * 12_000 / rate, min(BUFFER_BDP[1] * rtt * 2, MOST_QUEUE_S)
        buffer = within("burst_s" if discipline == "policer" else "buffer_s", least, max(most, 2 * least))
        target = buffer / 12 if discipline == "red" else 0.015 if discipline == "pie" else 0.005
        if discipline == "red":
            target = buffer * float(rng.uniform(0.05, 0.3))
        if discipline in ("codel", "fq-codel", "pie"):
            buffer = max(buffer, 1000 * 12_000 / rate)
            target *= float(np.exp(rng.normal(0, 0.6))) if rng.random() < 0.5 else 1.0
        path = replace(
            self.middle, rate_bps=rate, rtt_s=rtt, buffer_s=buffer, discipline=discipline, target_s=target,
            hosts=replace(draw_hosts(rng), window='"none"'), beside=(), kind="none",
        )  # fmt: skip
        kinds = self.estimate.beside_set
        weights = np.array([self.estimate.beside[name] for name in kinds]) + 0.02
        kind = str(rng.choice(kinds, p=weights / weights.sum()))
        return replace(path, **draw_beside(rng, path, kind))

    def run(self, path: PathModel) -> float:
        """Simulate a path, store its summary and distance, and return the distance."""
        every = LEVELS[self.level]
        self.packets += path.rate_bps / 12_000 * (self.measured.duration_s + path.lead_s)
        try:
            samples = measure(path, self.measured.duration_s, seed=SEED + len(self.paths), every_s=EVERY_S)
        except ElephanError:
            return math.inf
        if self.writes:
            # The send buffer holds 1 to 2.5 windows; multiples of the golden ratio spread this number evenly.
            samples = samples.written(1.0 + 1.5 * (0.618034 * len(self.paths) % 1.0))
        if self.level == "windows":
            samples = samples.without_counts()
        elif every > EVERY_S:
            samples = samples.merged(round(every / EVERY_S))
        if samples.rtt_s.size < 5:
            return math.inf
        away = distance(self.measured, samples)
        self.paths.append(path)
        self.summaries.append(self.summary(samples))
        self.distances.append(away)
        known = self.twins.get(path.discipline)
        if known is None or away < known.distance:
            self.twins[path.discipline] = Twin(path, samples, away)
        return away

    def _weights(self) -> tuple[Floats, Floats]:
        """Return the differences of the summaries from the measurement, and Epanechnikov weights."""
        difference = np.array(self.summaries) - self.observed
        scale = np.median(np.abs(difference), axis=0) + 1e-3
        far = np.sqrt(((difference / scale) ** 2).clip(0, 25).mean(axis=1))
        edge = np.quantile(far, KEPT) + 1e-9
        return difference, np.clip(1 - (far / edge) ** 2, 0, None)

    def _values(self) -> Floats:
        found: Floats = np.log(
            np.array(
                [[p.rate_bps, p.rtt_s, p.buffer_s, p.buffer_s * p.rate_bps / 12_000, p.buffer_s] for p in self.paths]
            )
        )
        return found

    def _counted(self, target: str) -> NDArray[np.bool_]:
        if target in ("rate_bps", "rtt_s"):
            return np.ones(len(self.paths), dtype=bool)
        wanted = ("policer",) if target == "burst_s" else ("drop-tail",)
        return np.array([path.discipline in wanted for path in self.paths], dtype=bool)

    def narrow(self) -> None:
        """Restrict the ranges of the next round to the intervals of the regression, widened on both sides."""
        for name, one in self.regression().items():
            low, high = self.ranges[name]
            width = np.log(one.high / one.low) * 0.5 + 0.025
            self.ranges[name] = (max(low, one.low * math.exp(-width)), min(high, one.high * math.exp(width)))

    def regression(self) -> dict[str, Interval]:
        """Return the intervals of a local linear regression over the runs so far."""
        if len(self.paths) < LEAST_RUNS:
            return {}
        difference, weights = self._weights()
        values = self._values()
        found = {}
        for i, target in enumerate(TARGETS):
            mine = self._counted(target) & (weights > 0)
            if mine.sum() < 20:
                continue
            x, y, w = difference[mine], values[mine, i], weights[mine]
            center = (w[:, None] * x).sum(axis=0) / w.sum()
            mean = (w * y).sum() / w.sum()
            spread = np.sqrt((w[:, None] * (x - center) ** 2).sum(axis=0) / w.sum()) + 1e-9
            z = (x - center) / spread
            # Ridge regression: the penalty limits the effective number of directions to about half of the runs.
            square = (z * w[:, None]).T @ z / w.sum() + 0.1 * np.eye(z.shape[1])
            slope = np.linalg.solve(square, (z * w[:, None]).T @ (y - mean) / w.sum())
            adjusted = y - z @ slope + (-center / spread) @ slope
            order = np.argsort(adjusted)
            shares = np.cumsum(w[order]) / w.sum()
            low, middle, high = (
                float(adjusted[order][np.searchsorted(shares, s).clip(0, order.size - 1)]) for s in (0.05, 0.5, 0.95)
            )
            low, high = middle - WIDENING * (middle - low), middle + WIDENING * (high - middle)
            ends = self.estimate.intervals[target]
            low, middle, high = (
                float(np.clip(math.exp(v), ends.low / 1.15, ends.high * 1.15)) for v in (low, middle, high)
            )
            found[target] = Interval(middle, low, high)
        return found

    def refine(self, rng: Generator, discipline: str, most_packets: float) -> None:
        """Reduce the distance of a discipline's twin by small random changes of its parameters."""
        twin = self.twins.get(discipline)
        if twin is None:
            return
        step = 0.08
        for _ in range(40):
            if self.packets > most_packets:
                return
            path = self.twins[discipline].path
            moves = np.exp(rng.normal(0, step, 4))
            hosts = path.hosts if rng.random() < 0.6 else replace(draw_hosts(rng), window='"none"')
            tried = replace(
                path,
                rate_bps=float(np.clip(path.rate_bps * moves[0], *RATE_BPS)),
                rtt_s=float(np.clip(path.rtt_s * moves[1], *RTT_S)),
                buffer_s=path.buffer_s * moves[2],
                target_s=path.target_s * moves[3],
                hosts=hosts,
            )
            before = self.twins[discipline].distance
            away = self.run(tried)
            step = min(step * 1.3, 0.2) if away < before else max(step * 0.93, 0.005)
