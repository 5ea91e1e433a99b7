"""All replications of a scenario, summed up with intervals: the document of ``elephan run --json``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan import _native
from elephan.lint import lint
from elephan.metrics import (
    flows_hit_per_loss_event,
    jain,
    jain_maxmin,
    maxmin_shares,
    occupancy,
    percentile,
    ratio,
    rtt_ratio,
)
from elephan.run.outcome import CAUSES, Outcome
from elephan.stats import estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from elephan.lint import Warned
    from elephan.run.precision import Precision
    from elephan.scenario import Scenario

PERCENTILES = (50, 95, 99)
"""Of backlog and queueing delay of each link, and of what transfers take."""

SORTS = ("transfer", "session", "datagrams")
"""Sorts of traffic, those first whose fairness is asked for."""


@dataclass(frozen=True)
class Result:
    """The result of `run`.

    Parameters
    ----------
    scenario : Scenario
        As it was run, replications and seed included.
    outcomes : tuple of Outcome
        One per replication.
    engine : str
    wall_s : float [s]
    precision : Precision or None
        If one was asked for.

    Examples
    --------
    >>> from elephan.run import run
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> result = run(Scenario.from_text(EXAMPLE), replications=2)
    >>> sorted(result.to_json())
    ['fairness', 'groups', 'links', 'run', 'warnings']
    """

    scenario: Scenario
    outcomes: tuple[Outcome, ...]
    engine: str
    wall_s: float
    precision: Precision | None = None

    @cached_property
    def warnings(self) -> list[Warned]:
        """What the lint rules say of the scenario and of its results."""
        return lint(self.scenario, self._document)

    def to_json(self) -> dict[str, Any]:
        """Return the document of ``elephan run --json``.

        Returns
        -------
        dict
            ``run``, ``links``, ``groups``, ``fairness``, ``warnings``; measured quantities as ``{"mean", "ci95"}``.
            ``precision`` if one was asked for.
        """
        document = self._document | {"warnings": [warned.to_json() for warned in self.warnings]}
        return document if self.precision is None else document | {"precision": self.precision.to_json()}

    @cached_property
    def _document(self) -> dict[str, Any]:
        """The document without its warnings."""
        facts = self.scenario.facts
        return {
            "run": {
                "id": self.scenario.id,
                "scenario": self.scenario.title,
                "engine": self.engine,
                "engine_version": _native.version(),
                "seed": self.scenario.seed,
                "replications": len(self.outcomes),
                "duration_s": facts["duration_s"],
                "warmup_s": facts["warmup_s"],
                "warmup_rule": self.scenario.warmup_rule,
                "wall_s": self.wall_s,
                "packets_delivered": sum(outcome.balance["delivered"] for outcome in self.outcomes),
            },
            "links": [self._link(i) for i in range(len(facts["links"]))],
            "groups": [self._group(i) for i in range(len(facts["groups"]))],
            "fairness": self._fairness(),
        }

    def write(self, folder: Path) -> list[Path]:
        """Write ``run.json``, ``flows.parquet``, ``links.parquet`` and, if kept, ``samples.parquet`` and more.

        Parameters
        ----------
        folder : Path
            Made if missing. Each file appears whole or not at all.

        Returns
        -------
        list of Path

        Raises
        ------
        OSError
            If the folder cannot be written.
        """
        from elephan.run.files import write_result  # noqa: PLC0415 (Arrow is slow to import)

        return write_result(self, folder)

    def _over(self, value: Callable[[Outcome], float]) -> dict[str, float | None]:
        """Estimate over replications."""
        return estimate([value(outcome) for outcome in self.outcomes]).to_json()

    def _link(self, i: int) -> dict[str, Any]:
        fact = self.scenario.links[i]

        def column(name: str) -> dict[str, float | None]:
            return self._over(lambda o: float(o.links[name][i]))

        def percentiles(key: str, of: Callable[..., float]) -> dict[str, dict[str, float | None]]:
            return {key.format(p): self._over(partial(of, share=p / 100)) for p in PERCENTILES}

        buffer = buffer_packets(fact)
        return {
            "name": fact["name"],
            "rate_bps": fact["rate_bps"],
            "queue": {"discipline": fact["discipline"]} | fact["queue"],
            "tc": fact["tc"],
            "buffer_packets": buffer,
            "utilization": column("utilization"),
            "loss_ratio": self._over(lambda o: o.loss_ratio(i)),
            "backlog_packets": column("backlog_packets"),
            "backlog_max_packets": column("backlog_max_packets"),
            **percentiles(
                "backlog_p{}_packets", lambda o, share: percentile(o.histograms["backlog_packets"][i], share)
            ),
            "occupancy": self._over(lambda o: occupancy(float(o.links["backlog_packets"][i]), buffer)),
            "queueing_delay_s": column("queueing_delay_s"),
            **percentiles("queueing_delay_p{}_s", lambda o, share: 1e-12 * percentile(o.delay_histogram(i), share)),
            "idle_fraction": self._over(lambda o: 1.0 - float(o.links["utilization"][i])),
            "empty_fraction": column("empty_fraction"),
            "drops": {cause: column(f"drops_{cause}") for cause in CAUSES},
            "marks": self._over(lambda o: sum(float(o.links[f"marks_{cause}"][i]) for cause in CAUSES)),
            "loss_events": column("loss_events"),
            "flows_hit_per_loss_event": self._over(
                lambda o: flows_hit_per_loss_event(float(o.links["flows_hit"][i]), float(o.links["loss_events"][i]))
            ),
        }

    def _group(self, g: int) -> dict[str, Any]:
        fact = self.scenario.groups[g]

        def over(name: str, reduce: Callable[[NDArray[Any]], float]) -> dict[str, float | None]:
            return self._over(lambda o: reduce(o.flows[name][o.flows["group"] == g]))

        # Datagrams cannot time out: that is not the same as none that did.
        events = _sum if fact["law"] is not None else _none

        return {
            "name": fact["name"],
            "law": fact["law"],
            "recovery": fact["recovery"],
            "flows": fact["flows"],
            "goodput_bps": over("goodput_bps", _sum),
            "goodput_per_flow_bps": over("goodput_bps", _mean),
            "loss_ratio": self._over(lambda o: _loss(o, g)),
            "cwnd_segments": over("cwnd_segments", _mean),
            "srtt_s": over("srtt_s", _mean),
            "timeouts": over("timeouts", events),
            "loss_events": over("loss_events", events),
            "transfers": self._transfers(g),
        }

    def _transfers(self, g: int) -> dict[str, Any] | None:
        """What became of the transfers of a group, and of its pages; None where none ends."""
        if any(outcome.transfers[g] is None for outcome in self.outcomes):
            return None

        def of(value: Callable[[dict[str, Any]], float]) -> dict[str, float | None]:
            return self._over(lambda o: value(o.transfers[g] or {}))

        def spread(name: str, counts: str, scale: float) -> dict[str, dict[str, float | None]]:
            def share(t: dict[str, Any], at: float) -> float:
                return scale * percentile(t[counts], at)

            return {name.format(p): of(partial(share, at=p / 100)) for p in PERCENTILES}

        document: dict[str, Any] = {
            "opened": of(lambda t: t["opened"]),
            "completed": of(lambda t: t["completed"]),
            "refused": of(lambda t: t["refused"]),
            "open": of(lambda t: t["open_mean"]),
            "completion_time_s": of(lambda t: _per(t["duration_sum_s"], t["completed"])),
            **spread("completion_time_p{}_s", "duration_ps", 1e-12),
            "slowdown": of(lambda t: _per(t["slowdown_sum"], t["completed"])),
            **spread("slowdown_p{}", "slowdown_1024", 1 / 1024),
        }
        if any((outcome.transfers[g] or {})["pages"] for outcome in self.outcomes):
            document |= {
                "pages": of(lambda t: t["pages"]),
                "page_time_s": of(lambda t: _per(t["page_sum_s"], t["pages"])),
                **spread("page_time_p{}_s", "page_ps", 1e-12),
            }
        return document

    def _fairness(self) -> dict[str, Any]:
        """Over the flows whose fairness is asked for."""
        shares = self._fair_shares
        counts = fair_groups(self.scenario.groups)

        def counted(outcome: Outcome) -> tuple[NDArray[Any], NDArray[Any]]:
            mine = counts[outcome.flows["group"]]
            return outcome.flows["goodput_bps"][mine], shares[outcome.flows["group"]][mine]

        return {
            "jain": self._over(lambda o: jain(counted(o)[0])),
            "jain_maxmin": self._over(lambda o: jain_maxmin(*counted(o))),
            "rtt_ratio": self._over(
                lambda o: rtt_ratio(counted(o)[0], o.flows["base_rtt_s"][counts[o.flows["group"]]])
            ),
        }

    @cached_property
    def _fair_shares(self) -> NDArray[np.float64]:
        """Max-min fair rate of a flow of each group [bit/s], shape (groups,); datagrams want what they offer."""
        fair = self.scenario.facts["fair"]
        counts = [group["flows"] for group in self.scenario.groups]
        caps = [np.inf if cap is None else cap for cap in fair["caps_bps"]]
        return maxmin_shares(fair["rates_bps"], fair["paths"], counts, caps)


def fair_groups(groups: Sequence[dict[str, Any]], link: int | None = None) -> NDArray[np.bool_]:
    """Tell which groups' flows count for fairness: those of TCP that stay, else sessions, or else all.

    Parameters
    ----------
    groups : sequence of dict
        Facts of the groups.
    link : int, optional
        Only groups that send data over this link count, of which there must be one.

    Returns
    -------
    ndarray of bool, shape (groups,)

    Examples
    --------
    >>> fair_groups([{"sort": "transfer", "path": [0]}, {"sort": "datagrams", "path": [0, 1]}])
    array([ True, False])
    >>> fair_groups([{"sort": "transfer", "path": [0]}, {"sort": "datagrams", "path": [0, 1]}], link=1)
    array([False,  True])
    """
    sorts = np.array([SORTS.index(group["sort"]) for group in groups])
    here = np.array([link is None or link in group["path"] for group in groups])
    counts: NDArray[np.bool_] = here & (sorts == sorts[here].min())
    return counts


def buffer_packets(link: dict[str, Any]) -> float | None:
    """Buffer of a link in packets of its flows' mean size.

    Parameters
    ----------
    link : dict
        Facts of the link.

    Returns
    -------
    float [packets] or None
        None for a buffer without limit, or one in bytes on a link without flows.

    Examples
    --------
    >>> buffer_packets({"buffer_limit_packets": None, "buffer_limit_bytes": 3000, "packet_bytes": 1500.0})
    2.0
    """
    if link["buffer_limit_packets"] is not None:
        return int(link["buffer_limit_packets"])
    if link["buffer_limit_bytes"] is not None and link["packet_bytes"]:
        return float(link["buffer_limit_bytes"] / link["packet_bytes"])
    return None


def _loss(outcome: Outcome, group: int) -> float:
    mine = outcome.flows["group"] == group
    return ratio(outcome.flows["dropped"][mine].sum(), outcome.flows["sent"][mine].sum())


def _per(total: float, count: float) -> float:
    """A mean, or NaN where there was nothing."""
    return total / count if count else float("nan")


def _sum(x: NDArray[Any]) -> float:
    return float(x.sum())


def _none(_: NDArray[Any]) -> float:
    return float("nan")


def _mean(x: NDArray[Any]) -> float:
    known = x[np.isfinite(x)]
    return float(known.mean()) if known.size else float("nan")
