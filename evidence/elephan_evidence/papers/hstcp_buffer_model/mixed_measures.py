"""Measures of the claims about several bottlenecks, other traffic and FAST.

*Source*: Barman2004, which names them and gives no numbers: the measures are those of its Figure 3, on links with more
than ten HighSpeed flows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan_evidence.papers.hstcp_buffer_model.links import LINKS
from elephan_evidence.papers.measured import MeasuredQuantity, largest, least
from elephan_evidence.papers.measures import MeasureRegistry

if TYPE_CHECKING:
    from elephan_evidence.papers.measured import Found
    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

MEASURES = MeasureRegistry()
HOPS = ("hop1", "hop2", "hop3")
TRAFFIC = ("datagrams", "short flows", "both")
FULL = LINKS["1g"].full


def at_share(runs: ExperimentRuns, experiment: str, share: float, case: str | None = None) -> ExperimentPoint:
    """Return the point of an experiment on the first link whose buffer is a share of 12,500 packets."""
    labels: dict[str, object] = {"buffer": LINKS["1g"].packets(share)}
    return runs[experiment].at(**labels | ({} if case is None else {"case": case}))


# Several bottlenecks.


def hop_used(runs: ExperimentRuns, hop: str, share: float) -> MeasuredQuantity:
    """Return the utilization of one of three bottlenecks."""
    return MeasuredQuantity(at_share(runs, "three-hops", share).link("utilization", hop), hop)


@MEASURES
def hops_used(runs: ExperimentRuns, *, share: float) -> Found:
    """Return the utilization of the bottleneck that is used least."""
    return least(hop_used(runs, hop, share) for hop in HOPS)


@MEASURES
def hops_gain(runs: ExperimentRuns, *, share: float, over: float) -> Found:
    """Return the utilization at one share minus that at another, for the bottleneck with the smallest difference."""
    return least((hop_used(runs, hop, share) - hop_used(runs, hop, over)).noted(hop) for hop in HOPS)


@MEASURES
def long_path_gets(runs: ExperimentRuns, *, share: float) -> Found:
    """Return the rate of a flow over all bottlenecks over that of a flow over one, the largest of three [1]."""
    point = at_share(runs, "three-hops", share)
    long, *cross = (
        MeasuredQuantity(point.flows("goodput_bps", group).mean(axis=1))
        for group in ("long", "cross1", "cross2", "cross3")
    )
    return largest((long / one).noted(hop) for one, hop in zip(cross, HOPS, strict=True))


@MEASURES
def more_behind_with_more(runs: ExperimentRuns) -> Found:
    """Return the ratio at a tenth minus the ratio at a fiftieth."""

    def ratio(share: float) -> MeasuredQuantity:
        point = at_share(runs, "three-hops", share)
        long, cross = (MeasuredQuantity(point.flows("goodput_bps", group).mean(axis=1)) for group in ("long", "cross1"))
        return cross / long

    tenth, fiftieth = ratio(0.1), ratio(0.02)
    return (tenth - fiftieth).noted(f"{tenth.mean:.1f} and {fiftieth.mean:.1f}")


# Datagrams and short flows.


def mixed_used(runs: ExperimentRuns, case: str, share: float) -> MeasuredQuantity:
    """Return the utilization of the first link beside other traffic."""
    return MeasuredQuantity(at_share(runs, "mixed-1g", share, case).link("utilization"), case)


def _cases(runs: ExperimentRuns) -> list[str]:
    """List the kinds of traffic that were run; shortened runs keep one case."""
    return [case for case in TRAFFIC if case in runs["mixed-1g"].labels("case")]


@MEASURES
def mixed_least_used(runs: ExperimentRuns, *, share: float) -> Found:
    """Return the smallest utilization of the first link over the kinds of traffic."""
    return least(mixed_used(runs, case, share) for case in _cases(runs))


@MEASURES
def mixed_gain(runs: ExperimentRuns, *, share: float, over: float) -> Found:
    """Return the smallest difference in utilization between two shares over the kinds of traffic."""
    return least((mixed_used(runs, case, share) - mixed_used(runs, case, over)).noted(case) for case in _cases(runs))


@MEASURES
def mixed_beside(runs: ExperimentRuns, *, share: float) -> Found:
    """Return the largest difference in utilization between mixed traffic and HighSpeed flows alone."""
    alone = MeasuredQuantity(at_share(runs, "fast-1g", share, "highspeed").link("utilization"))
    return largest(abs(mixed_used(runs, case, share) - alone).noted(case) for case in _cases(runs))


# FAST.


def fast_used(runs: ExperimentRuns, case: str, share: float) -> MeasuredQuantity:
    """Return the utilization of the first link under a law."""
    return MeasuredQuantity(at_share(runs, "fast-1g", share, case).link("utilization"))


@MEASURES
def fast_gain(runs: ExperimentRuns, *, alpha: int, share: float) -> Found:
    """Return the utilization under FAST minus that under HighSpeed with the same buffer."""
    fast, highspeed = (fast_used(runs, case, share) for case in (f"fast, alpha {alpha}", "highspeed"))
    return (fast - highspeed).noted(f"{fast.mean:.3f} and {highspeed.mean:.3f}")


@MEASURES
def fast_lost(runs: ExperimentRuns, *, alpha: int, share: float) -> Found:
    """Return FAST's lost packets per million."""
    return MeasuredQuantity(1e6 * at_share(runs, "fast-1g", share, f"fast, alpha {alpha}").link("loss_ratio"))


@MEASURES
def fast_queue(runs: ExperimentRuns, *, alpha: int, share: float) -> Found:
    """Return the mean backlog over the target of ten FAST flows, alpha each."""
    backlog = MeasuredQuantity(at_share(runs, "fast-1g", share, f"fast, alpha {alpha}").link("backlog_packets"))
    return backlog / (10.0 * alpha)
