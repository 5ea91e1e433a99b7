"""Shared memory (pools) in the document of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elephan.metrics import ratio
from elephan.runs.outcome import ReplicationOutcome
from elephan.scenario import Scenario

if TYPE_CHECKING:
    from elephan.results import PoolDocument, PoolFacts, PoolShareDocument, Quantity

Estimate = Callable[[Sequence[float]], "Quantity"]


def _size(pool: Mapping[str, Any]) -> float:
    return float(pool["size_packets"] if pool["size_bytes"] is None else pool["size_bytes"])


def pool_documents(
    scenario: Scenario, outcomes: Sequence[ReplicationOutcome], over: Estimate
) -> Iterator[PoolDocument]:
    """Summarize each pool over replications.

    Parameters
    ----------
    over : callable
        Takes the values of the replications, returns ``{"mean", "ci95"}``.

    Yields
    ------
    dict
        ``name``, ``size_bytes`` or ``size_packets`` (the other is None), ``sharing``, ``alpha`` (None without
        dynamic thresholds); ``occupancy`` and ``occupancy_max``, mean and maximum of the used memory over the size;
        ``drops``, packets dropped because the pool had no room although the buffer of their link had.
    """
    pools: Any = scenario.pools
    facts: Sequence[PoolFacts] = pools
    for i, pool in enumerate(facts):
        mine = [link for link, fact in enumerate(scenario.links) if fact["pool"] == i]
        yield {
            **pool,
            "occupancy": over([ratio(o.pools["used"][i], _size(pool)) for o in outcomes]),
            "occupancy_max": over([ratio(o.pools["used_max"][i], _size(pool)) for o in outcomes]),
            "drops": over([float(o.links["pool_drops"][mine].sum()) for o in outcomes]),
        }


def share_document(
    scenario: Scenario, link: int, outcomes: Sequence[ReplicationOutcome], over: Estimate
) -> PoolShareDocument:
    """Summarize a link's use of its pool.

    Parameters
    ----------
    link : int
        A link that draws on a pool.
    over : callable
        As in `pool_documents`.

    Returns
    -------
    dict
        ``name`` of the pool; ``occupancy`` and ``occupancy_max``, mean and maximum of the memory that the link held
        over the size (for an array: of all its links together, and of any single one); ``share`` of the used memory;
        ``drops``.
    """
    index = scenario.links[link]["pool"]
    pool = scenario.pools[index]
    held = [o.links["pool_held"][link] for o in outcomes]
    return {
        "name": pool["name"],
        "occupancy": over([ratio(x, _size(pool)) for x in held]),
        "occupancy_max": over([ratio(o.links["pool_held_max"][link], _size(pool)) for o in outcomes]),
        "share": over([ratio(x, o.pools["used"][index]) for x, o in zip(held, outcomes, strict=True)]),
        "drops": over([float(o.links["pool_drops"][link]) for o in outcomes]),
    }
