"""The speed of the engine: CPU time per delivered packet, beside the memory floor, the reference engine and ns-2.

All are measured in the same run, because machines differ and only ratios are compared.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from elephan import _native
from elephan.bench.memory import measure_peak_mb
from elephan.bench.ns2 import find_ns2, ns2_ns_per_packet
from elephan.bench.variants import bench_variants, select_variants
from elephan.bench.workloads import WORKLOADS, Workload, cpu_ns_per_packet, select

__all__ = ["WORKLOADS", "Workload", "bench", "bench_variants", "select", "select_variants"]

NS2_S = 20.0
"""Simulated time under ns-2 [s]."""

QUICK_NS2_S = 5.0
"""Simulated time under ns-2 in a quick bench [s]."""


def bench(
    workloads: Sequence[Workload],
    *,
    runs: int = 3,
    reference: bool = True,
    peers: bool = True,
    quick: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Measure workloads; return the document of ``elephan bench --json``.

    Parameters
    ----------
    workloads : sequence of Workload
    runs : int
        Repetitions of the engine and of the floor; the fastest counts.
    reference : bool
        Run the reference engine too, once.
    peers : bool
        Run ns-2 too, once, if it is installed and can express the workload.
    quick : bool
        Use short simulated times. The results are too noisy for publication.
    progress : callable, optional
        Called with (next step, steps done, total steps).

    Returns
    -------
    dict
        ``workloads``: per name, CPU nanoseconds per delivered data packet, their ratio to the memory floor of the same
        run, and the largest accepted ratio; ``peers``: the nanoseconds of other simulators.

    Examples
    --------
    >>> document = bench(select("W1"), runs=1, reference=False, peers=False, quick=True)
    >>> document["workloads"]["W1"]["delivered"] > 0
    True
    """
    ns2 = find_ns2() if peers else None
    steps = [(w, step) for w in workloads for step in ("engine", "memory", "reference", "ns-2")]
    steps = [s for s in steps if (s[1] != "reference" or reference) and (s[1] != "ns-2" or (ns2 and s[0].ns2))]
    rows: dict[str, dict[str, Any]] = {}
    others: dict[str, dict[str, Any]] = {}
    for done, (workload, step) in enumerate(steps):
        if progress is not None:
            progress(f"{workload.name} {step}", done, len(steps))
        if step == "engine":
            rows[workload.name] = _engine(workload, runs, quick=quick)
        elif step == "memory":
            canonical = workload.scenario(workload.quick_s if quick else None).canonical
            rows[workload.name]["peak_rss_mb"] = measure_peak_mb(canonical)
        elif step == "reference":
            _reference(workload, rows[workload.name], quick=quick)
        elif ns2 is not None:
            duration_s = QUICK_NS2_S if quick else NS2_S
            cost = ns2_ns_per_packet(ns2, workload, duration_s)
            ratio = cost / rows[workload.name]["ns_per_packet"]
            others[workload.name] = {"ns_per_packet": cost, "ratio": ratio, "duration_s": duration_s}
    return {"workloads": rows, "peers": {"ns2": others} if others else {}, "runs": runs, "quick": quick}


def _engine(workload: Workload, runs: int, *, quick: bool) -> dict[str, Any]:
    """Measure the engine and the floor, alternating so that both see the same state of the machine."""
    scenario = workload.scenario(workload.quick_s if quick else None)
    link = scenario.links[0]
    costs, floors, delivered = [], [], 0
    for _ in range(runs):
        cost, delivered = cpu_ns_per_packet(scenario, "window")
        costs.append(cost)
        begun = time.thread_time()
        _native.memory_floor(delivered, round(link["bdp_packets"]), link["flows"])
        floors.append((time.thread_time() - begun) * 1e9 / max(1, delivered))
    cost, floor = min(costs), min(floors)
    return {
        "ns_per_packet": cost,
        "median_ns_per_packet": statistics.median(costs),
        "delivered": delivered,
        "duration_s": scenario.facts["duration_s"],
        "floor_ns_per_packet": floor,
        "over_floor": cost / floor if floor > 0 else None,
        "must_over_floor": workload.must,
        "extreme_over_floor": workload.extreme,
        "title": scenario.resolved["title"],
        "reference_ns_per_packet": None,
        "speedup_over_reference": None,
        "reference_duration_s": None,
        "peak_rss_mb": None,
    }


def _reference(workload: Workload, row: dict[str, Any], *, quick: bool) -> None:
    """Measure the cost of the reference engine, on a shorter run if the full one would take long."""
    duration_s = min(workload.quick_s, workload.reference_s) if quick else workload.reference_s
    cost, _ = cpu_ns_per_packet(workload.scenario(duration_s), "reference")
    row["reference_ns_per_packet"] = cost
    row["speedup_over_reference"] = cost / row["ns_per_packet"]
    row["reference_duration_s"] = duration_s
