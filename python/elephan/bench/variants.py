"""Costs of each law and each discipline: workload W1 under each, in one run, compared with the default one."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from elephan.bench.workloads import WORKLOADS, cpu_ns_per_packet
from elephan.catalog import catalog
from elephan.errors import InputError, suggest


@dataclass(frozen=True)
class VariantKind:
    """A kind of variant that W1 is run with.

    Parameters
    ----------
    catalog : str
        Catalogue that lists the variants.
    place : str
        Place of the variant's name in the scenario file.
    yardstick : str
        Variant with which the others are compared.
    """

    catalog: str
    place: str
    yardstick: str


KINDS = {
    "laws": VariantKind("laws", "flows[0].control.law", "highspeed"),
    "queues": VariantKind("queues", "links[0].queue.discipline", "drop-tail"),
}
"""Options of ``elephan bench`` that compare variants."""

MORE_NS = {"red": 8, "ared": 8, "drr": 12, "fq": 12, "codel": 12}
"""Largest accepted cost of disciplines above drop-tail, by the design [CPU ns per delivered data packet]."""


def select_variants(kind: str, names: str) -> list[str]:
    """Read a list of laws or disciplines.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    names : str
        ``"cubic,bbr"``, or ``"all"``.

    Returns
    -------
    list of str
        The names, with the yardstick first.

    Raises
    ------
    InputError
        If one does not exist.

    Examples
    --------
    >>> select_variants("laws", "reno")
    ['highspeed', 'reno']
    """
    cards = catalog(KINDS[kind].catalog)
    known = {name: card["name"] for card in cards for name in (card["name"], *card["aliases"])}
    wanted = [card["name"] for card in cards] if names == "all" else [n.strip() for n in names.split(",")]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        every = f"use all, or some of {', '.join(dict.fromkeys(known.values()))}"
        raise InputError(f'--{kind}: there is no "{unknown[0]}"; {suggest(unknown[0], [*known, "all"], every)}')
    return list(dict.fromkeys([KINDS[kind].yardstick, *(known[name] for name in wanted)]))


def bench_variants(
    kind: str,
    names: Sequence[str],
    *,
    runs: int = 3,
    quick: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Measure W1 under each of `names`.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    names : sequence of str
        Names of variants, the yardstick among them.
    runs : int
        Repetitions; the fastest counts. Variants alternate, so that all see the same state of the machine.
    quick : bool
        Short simulated times: for a rough impression, not for published figures.
    progress : callable, optional
        Called with (next step, steps done, total steps).

    Returns
    -------
    dict
        Under `kind`, per name: ``ns_per_packet`` and ``median_ns_per_packet`` [CPU ns per delivered data packet],
        ``delivered`` [packets], ``over_highspeed`` or ``over_drop_tail`` [1]; for disciplines
        ``more_ns_per_packet`` than drop-tail and ``must_more_ns_per_packet``, the design's limit (None if there is
        none).

    Examples
    --------
    >>> bench_variants("laws", ["highspeed"], runs=1, quick=True)["laws"]["highspeed"]["over_highspeed"]
    1.0
    """
    w1, what = WORKLOADS["W1"], KINDS[kind]
    base = w1.scenario(w1.quick_s if quick else None)
    costs: dict[str, list[float]] = {name: [] for name in names}
    delivered: dict[str, int] = {}
    for run in range(runs):
        for i, name in enumerate(names):
            if progress is not None:
                progress(f"W1 {name}", run * len(names) + i, runs * len(names))
            cost, delivered[name] = cpu_ns_per_packet(base.replace({what.place: name}), "window")
            costs[name].append(cost)
    yardstick = min(costs[what.yardstick])
    rows: dict[str, dict[str, Any]] = {}
    for name, times in costs.items():
        rows[name] = {
            "ns_per_packet": min(times),
            "median_ns_per_packet": statistics.median(times),
            "delivered": delivered[name],
            f"over_{what.yardstick.replace('-', '_')}": min(times) / yardstick,
        }
        if kind == "queues":
            more = {"more_ns_per_packet": min(times) - yardstick, "must_more_ns_per_packet": MORE_NS.get(name)}
            rows[name].update(more)
    return {kind: rows, "runs": runs, "quick": quick}
