"""Measures beside the tables: Scalable TCP, XCP and Vegas, other thresholds of Z, and unequal round-trip times.

*Source*: Zhang2005 names the three laws, calls its delays homogeneous and takes 3.09 for Z. The quantities are measured
as in its tables; an ordering "at every delay" is judged by the delay at which it is closest to failing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan_evidence.papers.ghstcp_gared import cells
from elephan_evidence.papers.ghstcp_gared.cells import DELAYS, OF, difference, measured
from elephan_evidence.papers.measured import MeasuredQuantity, largest, least
from elephan_evidence.papers.measures import MeasureRegistry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

MEASURES = MeasureRegistry()

LAWS = {"scalable": "Scalable TCP", "xcp": "XCP"}
"""Experiments with another law instead of HighSpeed TCP, and the law's name."""

PAPERS = 3.09
"""Threshold of the paper."""

AT = 50
"""Delay of ``z-threshold`` [ms]."""


def other_law(runs: ExperimentRuns, law: str, delay: int) -> ExperimentPoint:
    """Return the runs of a law of `LAWS`."""
    return runs[law].at(delay=delay)


def threshold(runs: ExperimentRuns, z: float) -> ExperimentPoint:
    """Return the runs of case 7 at 50 ms with a threshold; for the paper's threshold those of Table 2."""
    return cells.cell(runs, 7, AT) if z == PAPERS else runs["z-threshold"].at(z=z)


def unequal(runs: ExperimentRuns, of: str, case: int) -> MeasuredQuantity:
    """Return a quantity of a case with unequal round-trip times."""
    return OF[of](runs["unequal-delays"].at(case=case))


# Other laws.


def _beside(runs: ExperimentRuns, law: str, of: str, case: int) -> Iterator[MeasuredQuantity]:
    for delay in delays(runs, law):
        gap = difference(OF[of](other_law(runs, law, delay)), measured(runs, of, case, delay))
        yield gap.noted(f"at {delay} ms")


def delays(runs: ExperimentRuns, law: str) -> Sequence[int]:
    """Return the delays that were run; shortened runs have one."""
    return [delay for delay in DELAYS if runs[law].where(delay=delay).points]


@MEASURES
def law_below(runs: ExperimentRuns, law: str, of: str, case: int) -> MeasuredQuantity:
    """Return another law's excess over a case of the tables, at the delay where it is largest."""
    return largest(_beside(runs, law, of, case))


@MEASURES
def law_above(runs: ExperimentRuns, law: str, of: str, case: int) -> MeasuredQuantity:
    """Return another law's excess over a case of the tables, at the delay where it is smallest."""
    return least(_beside(runs, law, of, case))


@MEASURES
def law_loses(runs: ExperimentRuns, law: str) -> MeasuredQuantity:
    """Return the largest share of packets lost at the bottleneck with a law [%]."""
    return largest(
        MeasuredQuantity(100 * other_law(runs, law, delay).link("loss_ratio"), f"at {delay} ms")
        for delay in delays(runs, law)
    )


@MEASURES
def vegas_behind(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the throughput of a Vegas flow minus that of a Reno flow beside it [Mbit/s]."""
    point = runs["vegas"].at(case="Reno, Vegas")
    vegas, reno = cells.s2(point), cells.s1(point)
    return (vegas - reno).noted(f"{vegas.mean:.0f} and {reno.mean:.0f} Mbit/s")


@MEASURES
def vegas_gains_from_reno(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the throughput of Reno beside Vegas minus that of Reno beside Reno [Mbit/s]."""
    beside, alone = (cells.s1(runs["vegas"].at(case=case)) for case in ("Reno, Vegas", "Reno, Reno"))
    return (beside - alone).noted(f"{beside.mean:.0f} and {alone.mean:.0f} Mbit/s")


# The threshold of Z.


@MEASURES
def z_step(runs: ExperimentRuns, of: str, low: float, high: float) -> MeasuredQuantity:
    """Return the excess of case 7 with a high threshold over case 7 with a low one."""
    return difference(OF[of](threshold(runs, high)), OF[of](threshold(runs, low)))


@MEASURES
def z_share(runs: ExperimentRuns, of: str, low: float, high: float) -> MeasuredQuantity:
    """Return the loss of case 7 from one threshold to a higher one, as a share of the difference between the two laws.

    Only the two ends are compared: the range of several means would grow with their noise even without an effect.
    """
    loss = difference(OF[of](threshold(runs, low)), OF[of](threshold(runs, high)))
    return (loss / _between_laws(runs, of)).noted(
        ", ".join(f"{OF[of](threshold(runs, z)).mean:.3g} at {z:.3g}" for z in (low, high))
    )


@MEASURES
def z_left(runs: ExperimentRuns, of: str, z: float) -> MeasuredQuantity:
    """Return the share of the difference between gentle HighSpeed TCP and HighSpeed TCP that a threshold keeps."""
    return difference(OF[of](threshold(runs, z)), measured(runs, of, 4, AT)) / _between_laws(runs, of)


def _between_laws(runs: ExperimentRuns, of: str) -> MeasuredQuantity:
    return difference(measured(runs, of, 7, AT), measured(runs, of, 4, AT))


# Unequal round-trip times.


@MEASURES
def unequal_gap(runs: ExperimentRuns, of: str, case: int, other: int) -> MeasuredQuantity:
    """Return the excess of a case over another, with unequal round-trip times."""
    return (unequal(runs, of, case) - unequal(runs, of, other)).noted(
        f"{unequal(runs, of, case).mean:.4g} and {unequal(runs, of, other).mean:.4g}"
    )
