"""What each law costs: workload W1 under it, all in the same run and compared with HighSpeed TCP."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from elephan.bench.clock import cpu_ns_per_packet
from elephan.bench.workloads import WORKLOADS
from elephan.catalog import catalog
from elephan.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

YARDSTICK = "highspeed"
"""The law that the others are compared with."""


def select_laws(names: str) -> list[str]:
    """Read a list of laws.

    Parameters
    ----------
    names : str
        ``"cubic,bbr"``, or ``"all"``.

    Returns
    -------
    list of str
        With `YARDSTICK` first.

    Raises
    ------
    InputError
        If one does not exist.

    Examples
    --------
    >>> select_laws("reno")
    ['highspeed', 'reno']
    """
    known = {name: card["name"] for card in catalog("laws") for name in (card["name"], *card["aliases"])}
    wanted = [card["name"] for card in catalog("laws")] if names == "all" else [n.strip() for n in names.split(",")]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        message = f'--laws: there is no "{unknown[0]}"; use all, or of {", ".join(dict.fromkeys(known.values()))}'
        raise InputError(message)
    return list(dict.fromkeys([YARDSTICK, *(known[name] for name in wanted)]))


def bench_laws(
    laws: Sequence[str],
    *,
    runs: int = 3,
    quick: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Measure W1 under each of `laws`.

    Parameters
    ----------
    laws : sequence of str
        `YARDSTICK` among them.
    runs : int
        Repetitions; the fastest counts. Laws alternate, so that all see the same state of the machine.
    quick : bool
        Short simulated times: for a look, not for figures.
    progress : callable, optional
        Called with (what comes next, steps done, steps in all).

    Returns
    -------
    dict
        ``laws``: per name ``ns_per_packet`` and ``median_ns_per_packet`` [CPU ns per delivered data packet],
        ``delivered`` [packets], ``over_highspeed`` [1].

    Examples
    --------
    >>> bench_laws(["highspeed"], runs=1, quick=True)["laws"]["highspeed"]["over_highspeed"]
    1.0
    """
    w1 = WORKLOADS["W1"]
    base = w1.scenario(w1.quick_s if quick else None)
    costs: dict[str, list[float]] = {law: [] for law in laws}
    delivered: dict[str, int] = {}
    for run in range(runs):
        for i, law in enumerate(laws):
            if progress is not None:
                progress(f"W1 {law}", run * len(laws) + i, runs * len(laws))
            cost, delivered[law] = cpu_ns_per_packet(base.override({"flows[0].control.law": law}), "window")
            costs[law].append(cost)
    yardstick = min(costs[YARDSTICK])
    rows = {
        law: {
            "ns_per_packet": min(times),
            "median_ns_per_packet": statistics.median(times),
            "delivered": delivered[law],
            "over_highspeed": min(times) / yardstick,
        }
        for law, times in costs.items()
    }
    return {"laws": rows, "runs": runs, "quick": quick}
