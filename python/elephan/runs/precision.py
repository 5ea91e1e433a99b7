"""``--precision``: replications until the intervals of chosen metrics are short enough.

Source: `elephan.stats.sample_until`; see there for its coverage. Replications are added in batches of five, whatever
the number of workers, so the result is that of a run with this number of replications from the start.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from elephan.errors import InputError, UnitError, percent_advice, suggest
from elephan.metrics.quantity import GROUPS, LINKS, SPELT, tabled
from elephan.metrics.values import GroupValues
from elephan.network import Network
from elephan.runs.outcome import ReplicationOutcome
from elephan.scenario import Scenario
from elephan.stats import estimate, finite, is_precise
from elephan.units import share

if TYPE_CHECKING:
    from elephan.results import PrecisionDocument, PrecisionRow

FIRST, STEP = 5, 5
"""Number of replications to begin with, unless the file has more, and in each further batch."""

MOST = 100
"""Default maximum number of replications."""

OF_LINKS, OF_GROUPS = ({each.precision: each for each in tabled(kind) if each.precision} for kind in (LINKS, GROUPS))
"""Quantities for which a precision can be requested, by the name that requests it."""

_FORM = re.compile(r"(?:(?P<metric>[a-z]\w*)(?:\[(?P<name>[^\[\]]+)\])?=)?(?P<share>[^=]+)")


@dataclass(frozen=True)
class PrecisionTarget:
    """A metric and its required precision.

    Parameters
    ----------
    metric : str
        One of `OF_LINKS` or `OF_GROUPS`.
    index : int
        Index of the link or group.
    name : str
        Name in documents, such as ``utilization[core]``.
    relative : float [1]
        Largest half-width as a share of the mean.
    """

    metric: str
    index: int
    name: str
    relative: float

    def measure(self, outcome: ReplicationOutcome) -> float:
        """Read the metric from one replication."""
        if self.metric in OF_LINKS:
            return float((outcome.derived | outcome.links)[OF_LINKS[self.metric].name][self.index])
        quantity, mine = OF_GROUPS[self.metric], outcome.flows["group"] == self.index
        columns = np.array([[outcome.flows[name][mine] for name in quantity.needs]], dtype=float)
        return quantity.values(GroupValues(quantity.needs, columns))[0]


@dataclass(frozen=True)
class PrecisionReached:
    """Required precision of a run, and whether it was reached.

    Parameters
    ----------
    rows : ndarray of float, shape (replications, metrics)
    """

    wanted: tuple[PrecisionTarget, ...]
    rows: NDArray[np.float64]
    is_met: bool

    def to_json(self) -> PrecisionDocument:
        """Return the entry ``precision`` of the document of ``elephan run --json``.

        Returns
        -------
        dict
            ``met`` and, per metric, ``wanted`` and ``reached``: half-width as a share of the mean.
        """
        metrics: list[PrecisionRow] = []
        for wanted, column in zip(self.wanted, self.rows.T, strict=True):
            found = estimate(column)
            reached = None if found.ci95 is None or not found.mean else finite(found.ci95 / abs(found.mean))
            met = is_precise(found, relative=wanted.relative)
            metrics.append({"metric": wanted.name, "wanted": wanted.relative, "reached": reached, "met": met})
        return {"met": self.is_met, "metrics": metrics}


def missed(document: PrecisionDocument) -> str:
    """Describe the metrics that are not precise enough, and by how much.

    Parameters
    ----------
    document : mapping
        Document of `PrecisionReached.to_json`.
    """
    return ", ".join(
        f"{row['metric']} {'-' if row['reached'] is None else format(row['reached'], '.3g')} "
        f"where {row['wanted']:g} is wanted"
        for row in document["metrics"]
        if not row["met"]
    )


def parse_precision(asked: str | Iterable[str], scenario: Scenario) -> tuple[PrecisionTarget, ...]:
    """Parse the requested precision.

    Parameters
    ----------
    asked : str or iterable of str
        ``"1%"``: for the utilization of each link that carries data and the goodput of each group.
        ``"goodput=2%"``: for every group. ``"utilization[core]=1%"``: for one link.

    Returns
    -------
    tuple of PrecisionTarget
        If a metric is given twice, the later one counts.

    Raises
    ------
    InputError
        If it cannot be read, or there is no such metric, link or group.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> [wanted.name for wanted in parse_precision("1%", Scenario.from_text(EXAMPLE))]
    ['utilization[core]', 'goodput[bulk]']
    """
    found: dict[str, PrecisionTarget] = {}
    for text in [asked] if isinstance(asked, str) else asked:
        match = _FORM.fullmatch(text.strip())
        if match is None:
            message = f'precision: "{text}" cannot be read; write for example 1%, goodput=2% or utilization[core]=1%'
            raise InputError(message)
        relative = _relative(text, match["share"])
        metrics = [SPELT.get(match["metric"], match["metric"])] if match["metric"] else ["utilization", "goodput"]
        for metric in metrics:
            for index, name in _places(metric, match["name"], scenario.network):
                shown = f"{metric}[{name}]"
                found[shown] = PrecisionTarget(metric, index, shown, relative)
    if not found:
        raise InputError('precision: none given; write for example "1%"')
    return tuple(found.values())


def _relative(text: str, written: str) -> float:
    try:
        relative = share(written)
    except UnitError as error:
        raise InputError(f"precision: {error}") from None
    if not 0 < relative < 1:
        raise InputError(f'precision: "{text}" is out of range; it lies above 0 and below 1{percent_advice(relative)}')
    return relative


def _places(metric: str, name: str | None, network: Network) -> Sequence[tuple[int, str]]:
    """Return the links or groups for which a metric is requested, as indices and names."""
    if metric in OF_LINKS:
        # A link without flows has no quantity that could be measured.
        places = [(link.index, link.name) for link in network.links if link.flows + link.background_flows]
    elif metric in OF_GROUPS:
        places = [(group.index, group.name) for group in network.groups]
    else:
        raise InputError(f'precision: there is no "{metric}"; {suggest(metric, (*OF_LINKS, *OF_GROUPS))}')
    chosen = [place for place in places if name is None or place[1] == name]
    if not chosen:
        known = [place[1] for place in places]
        hint = suggest(str(name), known, f"known: {', '.join(known)}")
        raise InputError(f"precision: {metric}[{name}]: there is none of this name; {hint}")
    return chosen
