"""Regions of accuracy of each model: maps of its errors over buffer, flows and RTT."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elephan.accuracy.errors import errors, number
from elephan.accuracy.lookup import LEVELS, POINTS, level
from elephan.accuracy.survey import FAMILIES, FLOWS, PACKET, RTTS_MS, SHARES, SurveyFamily
from elephan.stats.interval import finite
from elephan.theory.models.bottleneck import UNPACED

LEGEND = """Model against simulation, points of utilization, by buffer / BDP
2: within 2; +5: less than 5 too high; -10: less than 10 too low"""


@dataclass(frozen=True)
class ErrorRegion:
    """Errors of a model for one law, one discipline and one kind of pacing.

    Parameters
    ----------
    family : SurveyFamily
    points : ndarray [points of utilization], shape (RTTs, flows, buffers)
        Model minus simulation over the grid of the survey; NaN where the model does not apply.

    Examples
    --------
    >>> regions("sawtooth")[0].points.shape
    (4, 6, 8)
    """

    family: SurveyFamily
    points: NDArray[np.float64]

    @property
    def title(self) -> str:
        """Law, discipline and link in words."""
        law, discipline, rate, pacing = self.family
        paced = "" if pacing == UNPACED else f" paced as {pacing}"
        return f"{law}{paced}, {discipline}, {rate} Mbit/s, {PACKET} B"

    def to_json(self) -> dict[str, Any]:
        """Return the map for ``elephan model NAME --map --json``.

        Returns
        -------
        dict
            The map; null where the model does not apply.
        """
        points = [[[finite(round(p, 2)) for p in row] for row in of_rtt] for of_rtt in self.points.tolist()]
        return {
            "law": self.family.law,
            "discipline": self.family.discipline,
            "pacing": self.family.pacing,
            "rate_bps": self.family.rate_mbps * 1_000_000,
            "rtts_s": [rtt / 1e3 for rtt in RTTS_MS],
            "flows": list(FLOWS),
            "buffers_bdp": list(SHARES),
            "error_points": points,
        }


def regions(name: str) -> tuple[ErrorRegion, ...]:
    """Map a model's errors.

    Parameters
    ----------
    name : str

    Returns
    -------
    tuple of ErrorRegion
        One for each law, discipline and kind of pacing to which the model applies.

    Examples
    --------
    >>> [region.title for region in regions("sawtooth")][0]
    'reno, drop-tail, 100 Mbit/s, 1000 B'
    """
    maps = {_of(family): np.full((len(RTTS_MS), len(FLOWS), len(SHARES)), np.nan) for family in FAMILIES}
    for row in errors(name):
        place = (RTTS_MS.index(int(row["rtt_ms"])), FLOWS.index(int(row["flows"])), SHARES.index(float(row["share"])))
        maps[row["law"], row["discipline"], row["pacing"]][place] = POINTS * number(row["utilization"])
    return tuple(ErrorRegion(f, maps[_of(f)]) for f in FAMILIES if np.isfinite(maps[_of(f)]).any())


def _of(family: SurveyFamily) -> tuple[str, str, str]:
    return family.law, family.discipline, family.pacing


def label(points: float) -> str:
    """Format the level of an error, with the sign of the error if it is above the first level.

    Examples
    --------
    >>> label(-1.5), label(3.0), label(-8.0), label(30.0), label(float("nan"))
    ('2', '+5', '-10', '+>10', '-')
    """
    if math.isnan(points):
        return "-"
    found, side = level(points), "+" if points > 0 else "-"
    if math.isinf(found):
        return f"{side}>10"
    return f"{found:g}" if found == LEVELS[0] else f"{side}{found:g}"
