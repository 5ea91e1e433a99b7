"""The answer of `elephan infer`: checks, theory, intervals, sets, and a scenario of the path with the median values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.errors import InputError
from elephan.inference import network
from elephan.inference.nearby import Nearby, Region
from elephan.inference.network import Interval
from elephan.inference.observed import LAW_NAMES, Observation, observe
from elephan.inference.paths import BUFFER_BDP, PACKET_B, RATE_BPS, RTT_S, Hosts, PathModel, beside_group, poisson
from elephan.inference.statistics import Facts, base, episodes
from elephan.units import format_rate, format_time

if TYPE_CHECKING:
    from elephan.measurements import Measurement

NAMES = {
    "drop-tail": "drop-tail",
    "red": "RED",
    "codel": "CoDel",
    "fq-codel": "FQ-CoDel",
    "pie": "PIE",
    "policer": "a policer",
}

STRANGE = 0.08
"""Share of statistics outside of the range of the training above which the answer gets a doubt."""

COVERAGE = "coverage.json"

GIVEN = 1.0001
"""Ratio of the ends of an interval up to which the quantity counts as given, not inferred."""

SUM_ONLY = "the queue never drains: base RTT and buffer are told apart by their sum; --rtt (a ping before) would help"


LARGEST_PING = 1.05
"""Largest permitted ratio of a known base RTT to the smallest measured RTT. Pings may take longer than the base RTT,
because idle hosts must wake up."""


@dataclass(frozen=True)
class Known:
    """Facts about a path that are known in addition to measurements.

    Parameters
    ----------
    rate_bps : float [bit/s], optional
    rtt_s : float [s], optional
        Base round-trip time, for example from a ping before the test.
    alone : bool, optional
        Whether no other traffic uses the bottleneck.
    law : str, optional
        Congestion control of the sender.
    """

    rate_bps: float | None = None
    rtt_s: float | None = None
    alone: bool | None = None
    law: str | None = None


@dataclass(frozen=True)
class Answer(network.Estimate):
    """Conclusions about a path: the estimate of the neural network, known facts, estimates by theory, and doubts.

    Parameters
    ----------
    observations : tuple of Observation
    known : Known
    theory : mapping of str to float
        Estimates by theory.
    doubts : tuple of str
        Sentences about quantities that cannot be distinguished, and values outside of the training.
    nearby : Nearby, optional
        Simulations of similar paths.
    """

    observations: tuple[Observation, ...]
    known: Known
    theory: Mapping[str, float]
    doubts: tuple[str, ...]
    nearby: Nearby | None = field(default=None)

    @property
    def observation(self) -> Observation:
        """The first measurement."""
        return self.observations[0]

    @property
    def packets(self) -> Interval:
        """Buffer in packets of the measured size."""
        return self.intervals["buffer_packets"].scaled(1500 / self.observation.packet_bytes)

    @property
    def given(self) -> frozenset[str]:
        """Names of the quantities that were given, not inferred."""
        return frozenset(name for name, one in self.intervals.items() if one.high <= one.low * GIVEN)

    @property
    def found(self) -> dict[str, Interval]:
        """The intervals of the answer: those of `nearby` if it has them, except for quantities that were given."""
        near = {} if self.nearby is None else self.nearby.intervals
        return {**self.intervals, **{name: one for name, one in near.items() if name not in self.given}}

    @property
    def middle(self) -> PathModel:
        """The path with the medians of the intervals, and the most likely discipline and competing traffic."""
        value = {name: one.median for name, one in self.intervals.items()}
        first = self.discipline_set[0]
        rate, rtt = (float(np.clip(value[n], *r)) for n, r in (("rate_bps", RATE_BPS), ("rtt_s", RTT_S)))
        buffer = value["burst_s"] if first == "policer" else value["buffer_s"]
        if first not in ("drop-tail", "red", "policer"):
            buffer = max(buffer, 1000 * 12_000 / rate)
        target = buffer / 12 if first == "red" else 0.015 if first == "pie" else 0.005
        kind = self.beside_set[0]
        beside: tuple[str, ...] = ()
        if kind == "flows":
            beside = (beside_group("beside", rtt, 'tcp = "linux"', 'control = { law = "cubic" }'),)
        elif kind == "datagrams":
            beside = (beside_group("beside", rtt, poisson(0.2 * rate)),)
        hosts = Hosts(burst='"linux"', delayed_ack=2)
        return PathModel(
            rate, rtt, max(buffer, 4 * 12_000 / rate), first, self.observation.law, target, beside, kind, hosts
        )

    @property
    def region(self) -> Region:
        """Start of a search by simulation."""
        return Region(self.observation, self, self.middle)

    def scenario(self) -> str:
        """Return a scenario (TOML) of the best simulated path, or of `middle` without simulations."""
        return self._scenario_of(self._written)

    def scenarios_of_ends(self) -> list[str]:
        """Return scenarios in which rate, base RTT or buffer, one at a time, is at an end of its interval."""
        best = self._written
        found = self.intervals if self.nearby is None or not self.nearby.intervals else self.nearby.intervals
        buffer = "burst_s" if best.discipline == "policer" else "buffer_s"
        ends: list[dict[str, Any]] = [
            {field: end}
            for field, name in (("rate_bps", "rate_bps"), ("rtt_s", "rtt_s"), ("buffer_s", buffer))
            if (interval := found.get(name)) is not None and interval.low < interval.high
            for end in (interval.low, interval.high)
        ]
        return [self._scenario_of(replace(best, **end)) for end in ends]

    @property
    def _written(self) -> PathModel:
        """The path of `scenario`."""
        path = self.middle if self.nearby is None or self.nearby.best is None else self.nearby.best.path
        path = replace(path, hosts=replace(path.hosts, window='"none"'))
        if path.discipline != "drop-tail":
            return path
        # Use the median of the buffer in packets, which the screen shows; the product of the medians of rate and
        # buffer in time differs from it.
        rate, rtt, packets = (self.found[name].median for name in ("rate_bps", "rtt_s", "buffer_packets"))
        return replace(path, rate_bps=rate, rtt_s=rtt, buffer_s=packets * 8 * PACKET_B / rate)

    def _scenario_of(self, path: PathModel) -> str:
        lead = path.lead_s
        duration = max(self.observation.samples.duration_s, 30.0)
        title = "".join(c for c in self.observation.measurement.path.name if c.isprintable() and c not in '"\\')
        body = path.scenario(duration)
        settled = f'warmup = "{min(10.0, duration / 3) + lead:g} s"\nreplications = 3\n'
        return f'# The middle of what elephan infer says of a path.\ntitle = "{title}"\n{settled}{body}'

    def to_json(self) -> dict[str, Any]:
        """Return the answer as plain data."""
        found: dict[str, Any] = {
            "files": [one.measurement.to_json() for one in self.observations],
            "law": self.observation.law,
            "known": {"rate_bps": self.known.rate_bps, "rtt_s": self.known.rtt_s, "alone": self.known.alone},
            "theory": dict(self.theory),
            "intervals": {name: one.to_json() for name, one in self.intervals.items()},
            "disciplines": dict(self.disciplines),
            "discipline_set": list(self.discipline_set),
            "beside": dict(self.beside),
            "beside_set": list(self.beside_set),
            "doubts": list(self.doubts),
            "real_paths": coverage(),
        }
        found["intervals"]["buffer_packets"] = self.packets.to_json()
        found["simulated"] = None if self.nearby is None else self.nearby.to_json()
        return found


@cache
def coverage() -> dict[str, Any]:
    """Return how often answers about real paths were right (`tools/judge_paths.py`)."""
    text = resources.files("elephan.inference").joinpath(COVERAGE).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def infer(measurements: Sequence[Measurement], known: Known | None = None) -> Answer | Observation:
    """Infer a path from measurements of it.

    Parameters
    ----------
    measurements : sequence of Measurement
        Measurements of one path. The answers of several are averaged, which reduces only random errors.
    known : Known, optional

    Returns
    -------
    Answer, or Observation
        An observation if only a lower bound of the buffer can be given; its `why` states the reason.

    Raises
    ------
    InputError
        If nothing can be inferred.
    """
    known = known or Known()
    _check(known)
    seen = [observe(measurement, known.law) for measurement in measurements]
    telling = [one for one in seen if not one.is_bound]
    if not telling:
        return max(seen, key=lambda one: one.bound_s)
    said = [network.estimate(one.samples, one.law, one.level, facts_of(one, known)) for one in telling]
    disciplines, beside = _mean([one.disciplines for one in said]), _mean([one.beside for one in said])
    estimate = network.Estimate(
        said[0].base,
        {name: _averaged([one.intervals[name] for one in said]) for name in said[0].intervals},
        disciplines,
        beside,
        _common([one.discipline_set for one in said], disciplines),
        _common([one.beside_set for one in said], beside),
        max(one.strange for one in said),
    )
    first = telling[0]
    doubts = (*_contradicted(telling, known), *_doubts(first, estimate, known))
    return Answer(**vars(estimate), observations=tuple(telling), known=known, theory=_theory(first), doubts=doubts)


def _check(known: Known) -> None:
    for name, value, (low, high), shown in (
        ("--rate", known.rate_bps, RATE_BPS, format_rate),
        ("--rtt", known.rtt_s, RTT_S, format_time),
    ):
        if value is not None and not low / 2 <= value <= 2 * high:
            raise InputError(f"{name}: must be from {shown(low)} to {shown(high)}, for which the answer is calibrated")


def facts_of(one: Observation, known: Known) -> Facts:
    """Return the known facts about the path of a measurement."""
    before = one.measurement.base_rtt_s
    least = float(one.samples.rtt_s.min())
    if known.rtt_s is not None and known.rtt_s > LARGEST_PING * least:
        message = (
            f"--rtt {format_time(known.rtt_s)}: the smallest round-trip time in {one.measurement.path} is "
            f"{format_time(least)}; give that of a ping before the test, at most as large"
        )
        raise InputError(message)
    # The RTT of a handshake that waited in a queue is not the base RTT.
    rtt = known.rtt_s if known.rtt_s is not None else (before if 0 < before <= 1.02 * least else None)
    alone = known.alone if known.alone is not None else (False if one.streams > 1 else None)
    return known.rate_bps, rtt, alone


def _contradicted(telling: Sequence[Observation], known: Known) -> list[str]:
    """Return a doubt for each given fact that contradicts the measurement.

    A value contradicts it if it is outside of the interval that is inferred without the value, widened by its own width
    on both sides.
    """
    given = {
        "rate_bps": ("--rate", known.rate_bps, format_rate),
        "rtt_s": ("--rtt", known.rtt_s, format_time),
    }
    if all(value is None for _, value, _ in given.values()):
        return []
    free = Known(law=known.law, alone=known.alone)
    alone = [network.estimate(one.samples, one.law, one.level, facts_of(one, free)).intervals for one in telling]
    found = []
    for name, (option, value, shown) in given.items():
        own = _averaged([each[name] for each in alone])
        width = own.high / max(own.low, 1e-12)
        if value is not None and not own.low / width <= value <= own.high * width:
            found.append(
                f"{option} {shown(value)} contradicts the measurement, which alone says {shown(own.median)} "
                f"({shown(own.low)} to {shown(own.high)})"
            )
    return found


def _averaged(found: Sequence[Interval]) -> Interval:
    """Return the geometric means of medians and ends."""
    if len(found) == 1:
        return found[0]

    def mean(values: Sequence[float]) -> float:
        return float(np.exp(np.mean(np.log(np.maximum(values, 1e-12)))))

    return Interval(mean([i.median for i in found]), mean([i.low for i in found]), mean([i.high for i in found]))


def _mean(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


def _common(sets: Sequence[tuple[str, ...]], shares: Mapping[str, float]) -> tuple[str, ...]:
    """Return the names that are in all sets, or else those in any set, the most likely first."""
    held = [name for name in shares if all(name in one for one in sets)]
    held = held or [name for name in shares if any(name in one for one in sets)]
    return tuple(sorted(held, key=lambda name: -shares[name]))


def _theory(one: Observation) -> dict[str, float]:
    samples = one.samples
    found = base(samples)
    at = episodes(samples).at
    before = samples.cwnd_segments[np.maximum(at - 1, 0)] if at.size else np.empty(0)
    high = float(np.median(before)) * 1500 * 8 / found.rate_bps - found.rtt_s if before.size else math.nan
    return {
        "rate_bps": found.rate_bps,
        "rtt_s": found.rtt_s,
        "buffer_s": found.queue_s,
        "buffer_by_window_s": high if high > 0 else math.nan,
    }


def _doubts(one: Observation, estimate: network.Estimate, known: Known) -> list[str]:
    found = list(one.notes)
    samples, intervals = one.samples, estimate.intervals
    late = samples.rtt_s[int(3 / samples.interval_s) :]
    is_known = math.isfinite(one.measurement.base_rtt_s) or known.rtt_s is not None
    if not is_known and late.size and float(late.min()) - float(samples.rtt_s.min()) > 0.2 * base(samples).queue_s:
        found.append(SUM_ONLY)
    if estimate.strange > STRANGE:
        found.append("the measurement is unlike all simulations of the training: take no number of this as calibrated")
    bdp = intervals["buffer_s"].median / max(intervals["rtt_s"].median, 1e-6)
    if bdp > BUFFER_BDP[1]:
        found.append(f"{bdp:.0f} BDP of buffer are beyond what training had ({BUFFER_BDP[1]:g})")
    for name, (low, high), shown in (("rate_bps", RATE_BPS, format_rate), ("rtt_s", RTT_S, format_time)):
        value = intervals[name].median
        if not low <= value <= high:
            found.append(f"{shown(value)} is outside of the training ({shown(low)} to {shown(high)})")
    return found


def law_name(law: str) -> str:
    """Return a law's name as text.

    Examples
    --------
    >>> law_name("cubic")
    'CUBIC'
    """
    return LAW_NAMES.get(law, law)
