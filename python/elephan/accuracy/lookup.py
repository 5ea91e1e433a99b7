"""Error of a model in the simulations nearest to a link, read from tables; nothing is simulated or computed.

A link is found in the survey by law, discipline and senders, with all settings, including pacing; then by buffer over
bandwidth-delay product, number of flows, and this product in packets (divided by the flows it is the window of each).
*Reason*: the only time scale of a window law on a drop-tail queue is the round trip. Runs at a tenth to ten times the
rate, with the same product, differ by a point (docs/decisions/0029). If a law or discipline has a time scale of its
own, the rate must be near the survey's, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

from elephan.accuracy.errors import KEYS, Row, errors
from elephan.accuracy.survey import ACCESS, FAMILIES, FLOWS, RTTS_MS, SHARES, SurveyCell, SurveyFamily, written
from elephan.theory.controls import settings
from elephan.theory.models import Bottleneck
from elephan.theory.models.bottleneck import UNPACED, bottleneck
from elephan.theory.models.senders import differing, shown
from elephan.units import count, format_rate, format_time

if TYPE_CHECKING:
    from elephan.results import NearDocument

LEVELS = (2, 5, 10)
"""Errors below which a model is called good, fair and rough [points of utilization]."""

EDGE = 1.5
"""Factor by which a link may be outside of the grid, about half a step of the grid."""

CLOCKED = ("cubic", "nr-hstcp")
"""Laws of the survey whose growth depends on time or on their RTT, not only on round trips."""
FREE = "drop-tail"
"""The discipline without a time scale of its own; even RED's thresholds are delays by default."""
SAME_RATE = 2.0
"""Largest ratio to the survey's rate for laws with a time scale of their own. Within it the utilization of CUBIC
changes by a point, that of NR-HSTCP by two."""

OF_THE_START = ("initial_ssthresh",)
"""Settings of senders that may differ from the survey's: a warm-up removes their effect on the measurements."""

POINTS = 100.0
"""Points of utilization per unit."""


@dataclass(frozen=True)
class NearbyErrors:
    """Errors of a model near a link.

    Parameters
    ----------
    mean : float [points of utilization]
        Model minus simulation; NaN without a simulation nearby.
    largest : float [points of utilization]
        Largest absolute error.
    cells : int
        Number of simulated links nearby.
    sentence : str
        The errors in words.
    never_surveyed : bool
        Whether no run had this law and this discipline with these parameters; the model's error is then unknown.

    Examples
    --------
    >>> NearbyErrors(0.5, 1.5, 8, "").level, NearbyErrors(-20.0, 30.0, 8, "").level
    (2, inf)
    """

    mean: float
    largest: float
    cells: int
    sentence: str
    never_surveyed: bool = False

    @property
    def checked(self) -> bool:
        """Whether there was a simulation nearby."""
        return self.cells > 0

    @property
    def level(self) -> float:
        """The first of `LEVELS` above the largest error; infinite if none is, NaN without a simulation nearby."""
        return level(self.largest)

    def to_json(self) -> NearDocument:
        """Return the entry of a document: points, number of runs, sentence; null without a simulation nearby.

        Returns
        -------
        dict

        Examples
        --------
        >>> NearbyErrors(0.5, 1.5, 8, "within 2 points").to_json()["within_points"]
        2
        """
        known = self.checked
        return {
            "within_points": self.level if known and math.isfinite(self.level) else None,
            "mean_points": self.mean if known else None,
            "largest_points": self.largest if known else None,
            "cells": self.cells,
            "sentence": self.sentence,
        }


def level(points: float) -> float:
    """Return the first of `LEVELS` that is above the magnitude of an error.

    Parameters
    ----------
    points : float

    Returns
    -------
    float
        Infinite if none is, NaN if the error is NaN.

    Examples
    --------
    >>> level(-1.9), level(2.0), level(7), level(10.5)
    (2, 5, 10, inf)
    """
    return points if math.isnan(points) else next((at for at in LEVELS if abs(points) < at), math.inf)


def nearby(name: str, link: Bottleneck, buffer: float) -> NearbyErrors:
    """Return a model's errors in the runs nearest to a link: the corners of the grid cell around it.

    Parameters
    ----------
    name : str
        Name of the model.
    link : Bottleneck
    buffer : float [packets]

    Returns
    -------
    NearbyErrors

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> link = bottleneck(Scenario.from_text(EXAMPLE).network, 0)
    >>> nearby("sawtooth", link, 1e9).sentence
    'not checked by simulation: no run had a buffer of 1e+07 BDP (0.01 to 2 were run)'
    """
    off, corners, why = _near(name, link, buffer)
    if why:
        what = "for paced senders" if link.is_paced else "by simulation"
        return NearbyErrors(math.nan, math.nan, 0, f"not checked {what}: {why}", bool(_never_surveyed(link)))
    largest, mean = max(map(abs, off)), sum(off) / len(off)
    sentence = _sentence(largest, mean, len(off), corners) + _missing_in_survey(link)
    return NearbyErrors(mean, largest, len(off), sentence)


def largest_error(name: str, link: Bottleneck, buffer: float) -> float:
    """Return the largest error of `nearby` without its sentence, which takes time to compute.

    Parameters
    ----------
    name : str
        Name of the model.
    link : Bottleneck
    buffer : float [packets]

    Returns
    -------
    float [points of utilization]
        NaN without a simulation nearby.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> largest_error("sawtooth", bottleneck(Scenario.from_text(EXAMPLE).network, 0), 1e9)
    nan
    """
    return max(map(abs, _near(name, link, buffer)[0]), default=math.nan)


def _near(name: str, link: Bottleneck, buffer: float) -> tuple[list[float], list[SurveyCell], str]:
    """Return a model's errors [points] at the corners of a link's cell, and the corners; or why there are none."""
    family, unknown = _family(link), _never_surveyed(link)
    if family is None or unknown or (unknown := _other_senders(link, family)):
        return _unchecked(f"no run had {unknown}")
    if link.background or link.others:
        return _unchecked(f"no run had {'background' if link.background else 'other'} traffic beside the flows")
    rate = family.rate_mbps * 1e6
    has_clock = family.law in CLOCKED or family.discipline != FREE
    if has_clock and not 1 / SAME_RATE <= link.rate_bps / rate <= SAME_RATE:
        return _unchecked(f"runs of {link.law} with {link.discipline} had {format_rate(rate)}")
    share = buffer / link.bdp
    shares, flows = _around(SHARES, share), _around(FLOWS, link.flows)
    rtts = _around(RTTS_MS, 1e3 * link.bdp / family.rate)
    if not shares:
        return _unchecked(f"no run had a buffer of {share:.2g} BDP ({_ends(SHARES)} were run)")
    if not flows:
        return _unchecked(f"no run had {count(link.flows, 'flow')} ({_ends(FLOWS)} were run)")
    if not rtts:
        products = [family.rate * rtt / 1e3 for rtt in RTTS_MS]
        return _unchecked(f"no run had a BDP of {link.bdp:.4g} packets ({_ends(products)} were run)")
    corners = [SurveyCell(family, rtt, int(n), one) for rtt, n, one in product(rtts, flows, shares)]
    known = _errors(name)
    off = [POINTS * known[key] for key in map(_key, corners) if key in known]
    if not off:
        return _unchecked("the model does not apply to the runs nearest to this link")
    return off, corners, ""


def _unchecked(why: str) -> tuple[list[float], list[SurveyCell], str]:
    return [], [], why


def _around(grid: Sequence[float], value: float) -> list[float]:
    """Return the neighbours of a value in a grid: one if it is on a grid value or just outside, none if far outside."""
    if not grid[0] / EDGE <= value <= grid[-1] * EDGE:
        return []
    below = [at for at in grid if at <= value * (1 + 1e-9)]
    above = [at for at in grid if at >= value * (1 - 1e-9)]
    return sorted({*below[-1:], *above[:1]})


def _key(cell: SurveyCell) -> tuple[str, ...]:
    law, discipline, _, pacing = cell.family
    return (law, discipline, pacing, f"{cell.rtt_ms:g}", str(cell.flows), f"{cell.share:g}")


@cache
def _errors(name: str) -> dict[tuple[str, ...], float]:
    def key(row: Row) -> tuple[str, ...]:
        return tuple(row[name] for name in KEYS)

    return {key(row): float(row["utilization"]) for row in errors(name)}


def _ends(values: Sequence[float]) -> str:
    low, high = f"{min(values):g}", f"{max(values):g}"
    return low if low == high else f"{low} to {high}"


def _sentence(largest: float, mean: float, count: int, corners: Sequence[SurveyCell]) -> str:
    found = level(largest)
    within = f"within {found:g} points" if math.isfinite(found) else f"up to {largest:.0f} points off"
    where = (
        f"buffer {_ends([cell.share for cell in corners])} BDP, {_ends([cell.flows for cell in corners])} flows, "
        f"BDP {_ends([cell.bdp for cell in corners])} packets"
    )
    side = "high" if mean > 0 else "low"
    runs = "run" if count == 1 else f"{count} runs"
    runs += " of paced senders" if corners[0].family.pacing != UNPACED else ""
    return f"{within} in the {runs} nearest to this link ({where}; on average {abs(mean):.1f} too {side})"


def _missing_in_survey(link: Bottleneck) -> str:
    """Name the properties of a link that the survey's runs did not have."""
    lacking = []
    if max(link.rtts_s) > 1.1 * min(link.rtts_s):
        lacking.append("RTTs so different")
    if link.access_bps < ACCESS / 2 * link.rate_bps:
        lacking.append("access so slow")
    return f"; none had {' or '.join(lacking)}" if lacking else ""


def _family(link: Bottleneck) -> SurveyFamily | None:
    """Find the runs with the link's law and discipline, whatever their settings; prefer runs with the link's pacing."""
    these = [one for one in FAMILIES if (one.law, one.discipline) == (link.law_name, link.discipline)]
    return next((one for one in these if (one.pacing,) == link.pacings), these[0] if these else None)


def _never_surveyed(link: Bottleneck) -> str:
    """Name the part of a link's law and discipline that no run had, parameters included; empty if all was run."""
    family = _family(link)
    if not link.law:
        return "flows with different laws"
    if family is None:
        return f"{link.law_name} with {link.discipline}"
    given, usual = settings(link.law), settings(family.law)
    lines = [f"{family.law} with {name} = {shown(value)}" for name, value in given.items() if value != usual[name]]
    # Most amounts of a discipline follow the buffer, so they are compared at one buffer.
    room = max(1.0, round(link.bdp))
    if dict(link.queue(room)) != dict(_surveyed(link, family).queue(room)):
        lines.append(f"such parameters of {link.discipline}")
    return " and ".join(lines)


def _other_senders(link: Bottleneck, family: SurveyFamily) -> str:
    """Name the senders' settings other than the law that differ from the survey's; empty if none does."""
    (usual,) = _surveyed(link, family).senders
    lines = [_written(key, own.get(key, "none")) for own in link.senders for key in differing(own, usual, OF_THE_START)]
    return " and ".join(dict.fromkeys(lines))


def _written(key: str, value: Any) -> str:
    """Format a setting as in a file; the key of a resolved time contains its unit."""
    if not key.endswith("_ps"):
        return f"{key} = {shown(value)}"
    return f"{key.removesuffix('_ps')} = {format_time(1e-12 * value)}"


def _surveyed(link: Bottleneck, family: SurveyFamily) -> Bottleneck:
    return _as_surveyed(family, link.rate_bps, link.packet_bytes, link.mean_rtt_s, link.flows)


@cache
def _as_surveyed(family: SurveyFamily, rate_bps: float, packet_bytes: float, rtt_s: float, flows: int) -> Bottleneck:
    """Return a link with this rate, packet size, RTT and number of flows, and otherwise with the survey's settings."""
    cell = SurveyCell(family, 1e3 * rtt_s, flows, 1.0)
    seen = bottleneck(written(cell, f"{rate_bps:.0f} bit/s", f"{packet_bytes:.0f} B").network, 0)
    assert seen is not None  # its only link carries its flows
    return seen
