"""Expected results of iperf3 over a path, with intervals, and where a measurement lies.

The path is simulated several times with other starts, and an interval is between two of these runs. A measurement
outside of the interval is compared with variants of the hosts and of the queue: which of them would give it?
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.runs.outcome import simulate
from elephan.scenario import Scenario

if TYPE_CHECKING:
    from elephan.measurements import MeasuredFlow

QUANTITIES: dict[str, str] = {
    "goodput_bps": "goodput",
    "retransmits": "retransmits",
    "rtt_s": "mean RTT",
    "rtt_max_s": "largest RTT",
    "cwnd_bytes": "mean cwnd",
}
"""Quantities that iperf3 shows, and their names."""

COVERAGE = 0.9
"""Share of further runs that an interval is meant to hold."""

REPLICATIONS = 19
"""Runs of the path: a further run is within the range of 19 with a probability of 18/20."""

OF_A_VARIANT = 4
"""Runs of each variant."""

CLOSER = 0.5
"""A variant explains a measurement if its distance is below this share of the path's own."""

NEAR = 0.02
"""Ratio by which a measurement may exceed an interval: iperf3's own clock and first interval make some percent."""


@dataclass(frozen=True)
class Expected:
    """A quantity of iperf3 over the path.

    Parameters
    ----------
    mean, low, high : float
        Mean of the runs, and the interval of `covered` between two of them.
    measured : float
        NaN without a measurement, or if it lacks the quantity.
    """

    mean: float
    low: float
    high: float
    measured: float = math.nan

    @property
    def place(self) -> str:
        """Position of the measured value, `NEAR` allowed for: "below", "inside", "above", or empty."""
        if not math.isfinite(self.measured):
            return ""
        low, high = self.low * (1 - NEAR), self.high * (1 + NEAR)
        return "below" if self.measured < low else "above" if self.measured > high else "inside"


@dataclass(frozen=True)
class Expectation:
    """Expected results of iperf3.

    Parameters
    ----------
    quantities : mapping of str to Expected
        By the names of `QUANTITIES`.
    runs : int
    duration_s : float [s]
    explanations : tuple of (str, float)
        Variants that would be nearer to the measurement, the nearest first, and their distances over the path's own.
    """

    quantities: Mapping[str, Expected]
    runs: int
    duration_s: float
    explanations: tuple[tuple[str, float], ...] = ()

    @property
    def coverage(self) -> float:
        """Probability that a further run is within the interval of a quantity."""
        return covered(self.runs)[1]

    @property
    def is_met(self) -> bool:
        """Whether no measured quantity is outside."""
        return all(one.place in ("", "inside") for one in self.quantities.values())

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "runs": self.runs,
            "coverage": self.coverage,
            "duration_s": self.duration_s,
            "expected": {
                name: {
                    **vars(one),
                    "measured": one.measured if math.isfinite(one.measured) else None,
                    "place": one.place or None,
                }
                for name, one in self.quantities.items()
            },
            "explanations": [{"variant": name, "distance_ratio": ratio} for name, ratio in self.explanations],
        }


def expect(scenario: Scenario, flow: MeasuredFlow | None = None, *, replications: int = REPLICATIONS) -> Expectation:
    """Return what iperf3 should show for the first group's flow.

    Parameters
    ----------
    scenario : Scenario
    flow : MeasuredFlow, optional
        Measurement to compare.
    replications : int

    Raises
    ------
    ScenarioError
        If the scenario cannot be run.
    """
    if flow is not None:
        # The same time from the start, as slow start counts.
        seconds = min(max(flow.duration_s, 2.0), 120.0)
        scenario = scenario.replace({"duration": f"{seconds + 0.5:.3f} s", "warmup": "0 s"})
    rows = [_shown(scenario, number) for number in range(replications)]
    measured = {} if flow is None else _measured(flow)
    found = {name: _interval([row[name] for row in rows], measured.get(name, math.nan)) for name in QUANTITIES}
    duration = float(scenario.facts["duration_s"])
    answer = Expectation(found, replications, duration)
    if flow is None or answer.is_met:
        return answer
    return Expectation(found, replications, duration, _explained(scenario, found, measured))


def _shown(scenario: Scenario, number: int) -> dict[str, float]:
    """Return what iperf3 would show of a run."""
    outcome = simulate(scenario, number, series=True)
    samples = outcome.samples
    start = float(outcome.flows["start_s"][0])
    group = scenario.groups[0]
    resolved = scenario.resolved["flows"][0]
    payload = float(group["packet_bytes"] - resolved["tcp"].get("header_bytes", 40))
    duration = max(float(scenario.facts["duration_s"]) - start, 1e-3)
    times, srtt, cwnd = samples["time_s"], samples["srtt_s"][0], samples["cwnd_segments"][0]
    running = (times > start) & (srtt > 0)
    rtt = srtt[running] if running.any() else np.array([float(outcome.flows["base_rtt_s"][0])])
    window = cwnd[running] if running.any() else np.array([1.0])
    delivered = float(samples["delivered_segments"][0, -1])
    return {
        "goodput_bps": delivered * payload * 8 / duration,
        "retransmits": float(samples["retrans_segments"][0, -1]),
        "rtt_s": float(rtt.mean()),
        "rtt_max_s": float(rtt.max()),
        "cwnd_bytes": float(window.mean()) * payload,
    }


def _measured(flow: MeasuredFlow) -> dict[str, float]:
    """Return the same of a measurement."""
    found: dict[str, float] = {}
    if flow.has("bytes"):
        found["goodput_bps"] = float(np.nansum(flow.columns["bytes"])) * 8 / flow.duration_s
    if flow.has("retransmits"):
        found["retransmits"] = float(np.nansum(flow.columns["retransmits"]))
    if flow.has("srtt_s"):
        found["rtt_s"] = float(np.nanmean(flow.columns["srtt_s"]))
        found["rtt_max_s"] = float(np.nanmax(flow.columns["srtt_s"]))
    if flow.has("cwnd_bytes"):
        found["cwnd_bytes"] = float(np.nanmean(flow.columns["cwnd_bytes"]))
    return found


def covered(runs: int) -> tuple[int, float]:
    """Return which order statistics hold at least `COVERAGE` of further runs, and how much they hold.

    The interval between the k-th smallest and the k-th largest of n independent runs holds a further one with a
    probability of (n + 1 - 2 k)/(n + 1), or more if values repeat, whatever their distribution is.

    Parameters
    ----------
    runs : int

    Returns
    -------
    k : int
        At least 1: fewer than 19 runs hold less than `COVERAGE`.
    coverage : float

    Notes
    -----
    *Source*: S. S. Wilks, Determination of sample sizes for setting tolerance limits, Annals of Mathematical Statistics
    12 (1941) 91-96.

    Examples
    --------
    >>> covered(19), covered(39)
    ((1, 0.9), (2, 0.9))
    """
    k = max(int((1 - COVERAGE) / 2 * (runs + 1) + 1e-9), 1)
    return k, (runs + 1 - 2 * k) / (runs + 1)


def _interval(values: Sequence[float], measured: float) -> Expected:
    ordered = sorted(values)
    k, _ = covered(len(ordered))
    return Expected(float(np.mean(ordered)), ordered[k - 1], ordered[-k], measured)


def _distance(means: Mapping[str, float], measured: Mapping[str, float]) -> float:
    """Return the sum of absolute log ratios; a retransmission more or less of a few counts little."""
    total = 0.0
    for name in ("goodput_bps", "rtt_s", "cwnd_bytes"):
        if measured.get(name, 0.0) > 0 and means[name] > 0:
            total += abs(math.log(measured[name] / means[name]))
    if "retransmits" in measured:
        total += 0.25 * abs(math.log((measured["retransmits"] + 5) / (means["retransmits"] + 5)))
    return total


def variants(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Return what may differ from a scenario, each a change of it: hosts first, then the queue."""
    tcp = "flows[0].tcp"
    resolved = scenario.resolved["flows"][0]["tcp"]
    link = scenario.resolved["links"][0]
    packets = scenario.links[0]["buffer_limit_packets"]
    paced = resolved.get("pacing", "none") != "none"
    found: dict[str, dict[str, Any]] = {
        "a sender that does not pace" if paced else "a sender that paces (fq, or iperf3 --fq-rate)": {
            f"{tcp}.pacing": "none" if paced else "linux"
        },
        "no segmentation offload at the sender": {f"{tcp}.burst": "none"},
        "bursts of 64 KiB (offload) at the sender": {f"{tcp}.burst": {"max_segments": 44}},
        "a receiver that merges segments (GRO)": {f"{tcp}.receive_offload": {"segments": 44}},
        "a receive window of 3 MiB, Linux's default": {f"{tcp}.receive_window": "linux"},
        "BBR in place of CUBIC or Reno": {"flows[0].control": {"law": "bbr1"}},
        "CUBIC": {"flows[0].control": {"law": "cubic"}},
        "random loss of 0.1 % elsewhere": {"links[0].loss": {"random": 0.001}},
    }
    if packets is not None and packets >= 8:
        found["half of the buffer (a limit that is too small)"] = {"links[0].buffer": f"{packets // 2} packets"}
        found["twice the buffer"] = {"links[0].buffer": f"{2 * packets} packets"}
    if link.get("shaper") is not None:
        found["a bucket (burst) of a tenth"] = {"links[0].shaper.burst": "1600 B"}
    return found


def _explained(
    scenario: Scenario, found: Mapping[str, Expected], measured: Mapping[str, float]
) -> tuple[tuple[str, float], ...]:
    """Return the variants that are nearer to a measurement."""
    from elephan.errors import ElephanError  # noqa: PLC0415 (used once)

    own = _distance({name: one.mean for name, one in found.items()}, measured)
    nearer = []
    for name, change in variants(scenario).items():
        try:
            changed = scenario.replace(change)
            rows = [_shown(changed, number) for number in range(OF_A_VARIANT)]
        except ElephanError:
            continue
        means = {key: float(np.mean([row[key] for row in rows])) for key in QUANTITIES}
        ratio = _distance(means, measured) / max(own, 1e-9)
        if ratio < CLOSER:
            nearer.append((name, ratio))
    return tuple(sorted(nearer, key=lambda one: one[1])[:3])
