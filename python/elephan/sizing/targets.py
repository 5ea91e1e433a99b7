"""Targets of a buffer: minimum utilization and fairness, maximum loss and delays."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from elephan.errors import InputError, TargetError, UnitError, percent_advice, suggest
from elephan.network import Network
from elephan.runs.result import DELAYS
from elephan.units import seconds, share

FORMS = "utilization=0.95, loss=0.1%, delay=10ms, fairness=0.9, delay_p95=20ms, rtt_p95[ping]=50ms"


class GroupSample(NamedTuple):
    """Sample of a group of flows in one replication.

    Mean goodput of its flows, its loss at all links together, and the 95th percentile of its waiting times at the link
    (NaN unless they were recorded); for pings `rtt_p95_s`, the 95th percentile of their round trips, and for other
    timed datagrams `delay_p95_s`, that of their one-way delays (NaN for other traffic).
    """

    goodput_per_flow_bps: float
    loss_ratio: float
    queueing_delay_p95_s: float = math.nan
    rtt_p95_s: float = math.nan
    delay_p95_s: float = math.nan


LEAST_PERCENT = 50
"""Minimum number that is read as percent in advice on a minimum share out of range: a target of 2 % is unlikely."""

GROUP_DELAYS = {"rtt_p95_s": "round trip, 95 %", "delay_p95_s": "one way, 95 %"}
"""Keys of the delays of timed datagrams, and their names in tables."""


def asked_of(groups: Iterable[Mapping[str, Any]]) -> str:
    """Return the key of the quantity shown for a group: for timed datagrams, whose rate is fixed, the delay.

    Parameters
    ----------
    groups : iterable of mapping
        Rows of one group in the documents of sizings, by buffer.

    Examples
    --------
    >>> asked_of([{"rtt_p95_s": {"mean": 0.03, "ci95": None}}]), asked_of([{"rtt_p95_s": {"mean": None, "ci95": None}}])
    ('rtt_p95_s', 'goodput_per_flow_bps')
    """
    listed = list(groups)
    known = (key for key in GROUP_DELAYS if any((group.get(key) or {}).get("mean") is not None for group in listed))
    return next(known, "goodput_per_flow_bps")


class BufferSample(NamedTuple):
    """Sample of the link in one replication with one buffer.

    `jain` is over the goodputs of the flows of `Network.counted`, `queueing_delay_p95_s` over packets; `groups` are
    those that cross the link, in the order of `Network.crossing`, and `names` their names.
    """

    utilization: float
    loss_ratio: float
    queueing_delay_s: float
    jain: float = math.nan
    queueing_delay_p95_s: float = math.nan
    groups: tuple[GroupSample, ...] = ()
    names: tuple[str, ...] = ()

    def value(self, metric: str) -> float:
        """Return a metric of the link, or of a group.

        Parameters
        ----------
        metric : str
            As `Target.metric`.

        Examples
        --------
        >>> ping = GroupSample(1e3, 0.0, rtt_p95_s=0.03)
        >>> BufferSample(0.9, 0.0, 0.01, groups=(ping,), names=("ping",)).value("rtt_p95_s[ping]")
        0.03
        """
        field, _, group = metric.partition("[")
        of = self.groups[self.names.index(group.removesuffix("]"))] if group else self
        return float(getattr(of, field))


@dataclass(frozen=True)
class Target:
    """One condition.

    Parameters
    ----------
    metric : str
        Field of `BufferSample`, or field of `GroupSample` followed by the name of the group in brackets.
    level : float
        Level in the unit of the metric.
    at_least : bool
        Whether the metric must reach the level, or stay at or below it.
    rises : bool or None
        Whether the metric rises with the buffer; None if that is not known beforehand.
    """

    metric: str
    level: float
    at_least: bool
    rises: bool | None

    @property
    def is_floor(self) -> bool:
        """Whether large buffers meet the target (utilization, loss): these decide the buffer, others are checked."""
        return self.at_least == self.rises

    @property
    def is_ceiling(self) -> bool:
        """Whether small buffers meet the target (delay). Fairness may rise or fall with the buffer and is neither."""
        return self.rises is not None and not self.is_floor

    def meets(self, value: float) -> bool:
        """Return whether a value of the metric meets the target."""
        return value >= self.level if self.at_least else value <= self.level

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        return f"{self.name} {sign} {self.level * 1e3:g} ms" if self.is_time else f"{self.name} {sign} {self.level:g}"

    @property
    def is_time(self) -> bool:
        """Whether the level is a time [s]."""
        return self.metric.partition("[")[0].endswith("_s")

    @property
    def key(self) -> str:
        """Key of the target in the documents of sizings."""
        return _KEYS.get(self.metric, self.metric)

    @property
    def name(self) -> str:
        """Name of the target, as given by the user."""
        field, bracket, group = self.key.partition("[")
        return f"{field.removesuffix('_s')}{bracket}{group}"


class _Kind(NamedTuple):
    metric: str
    key: str
    at_least: bool
    rises: bool | None


_KINDS = {
    "utilization": _Kind("utilization", "utilization", at_least=True, rises=True),
    "utilisation": _Kind("utilization", "utilization", at_least=True, rises=True),
    "loss": _Kind("loss_ratio", "loss", at_least=False, rises=False),
    "delay": _Kind("queueing_delay_s", "delay_s", at_least=False, rises=True),
    "delay_p95": _Kind("queueing_delay_p95_s", "delay_p95_s", at_least=False, rises=True),
    "fairness": _Kind("jain", "fairness", at_least=True, rises=None),
}
_OF_GROUPS = {key.removesuffix("_s"): key for key in GROUP_DELAYS}
"""Names of targets of a group of timed datagrams, and the fields of `GroupSample` they are about."""

_SWEPT = ("page_time", "completion_time", "slowdown", "goodput")
"""Columns of sweeps that are not targets."""

_KEYS = {kind.metric: kind.key for kind in _KINDS.values()}


def parse_targets(given: str | Iterable[str] | Mapping[str, float | str]) -> tuple[Target, ...]:
    """Read targets.

    Parameters
    ----------
    given : str, iterable of str, or mapping
        ``"utilization=0.95,delay=10ms"``, several such texts, or ``{"utilization": 0.95, "delay": "10 ms"}``; a bare
        number is a share, for a delay seconds.

    Returns
    -------
    tuple of Target
        Each metric once.

    Raises
    ------
    TargetError
        If there is none, one is unknown, out of range or given twice, or fairness is not combined with utilization or
        loss.

    Examples
    --------
    >>> [str(target) for target in parse_targets("utilization=95%, delay=10ms")]
    ['utilization >= 0.95', 'delay <= 10 ms']
    """
    targets: dict[str, Target] = {}
    for name, value in _pairs(given):
        kind = _kind(name)
        if kind.metric in targets:
            raise TargetError(f"target: {name} is given twice")
        targets[kind.metric] = Target(kind.metric, _level(name, kind, value), kind.at_least, kind.rises)
    if not targets:
        raise TargetError(f"target: none given; write for example {FORMS}")
    if "jain" in targets and not any(target.is_floor for target in targets.values()):
        raise TargetError("target: fairness decides no buffer, it is checked at the one found; add utilization or loss")
    return tuple(targets.values())


def targets_json(targets: Iterable[Target]) -> dict[str, float]:
    """Return targets as the document of ``size --json`` shows them.

    Returns
    -------
    dict of str to float
        Keys ``utilization`` [1], ``loss`` [1], ``delay_s`` [s], ``delay_p95_s`` [s], ``fairness`` [1], and of groups
        such as ``rtt_p95_s[ping]`` [s].

    Examples
    --------
    >>> targets_json(parse_targets("loss=1%"))
    {'loss': 0.01}
    """
    return {target.key: target.level for target in targets}


def check_targets(targets: Iterable[Target], network: Network, link: int) -> None:
    """Refuse targets of groups that do not exist, or that are not measured.

    Parameters
    ----------
    link : int
        Link that is sized.

    Raises
    ------
    InputError
        If there is one.
    """
    groups = {group.name: group for group in network.crossing(link)}
    timed = {name: f"{DELAYS[g.traffic]}_p95[{name}]" for name, g in groups.items() if g.traffic in DELAYS}
    for target in targets:
        group = target.name.partition("[")[2].removesuffix("]")
        if not group or timed.get(group) == target.name:
            continue
        known = f"write {' or '.join(timed.values())}" if timed else "add a group of pings that crosses it"
        if group not in groups:
            why = f'no group "{group}" crosses link {network.links[link].name}'
        elif group in timed:
            why = "pings have an rtt_p95, there and back, and cbr has a delay_p95, one way"
        else:
            why = f"only datagrams of ping and cbr are timed, and {group} sends {groups[group].traffic}"
        raise InputError(f"target: {target.name}: {why}; {known}")


def _kind(name: str) -> _Kind:
    """Return the kind of target by its name."""
    base, bracket, group = name.partition("[")
    if bracket and base in _OF_GROUPS and group.endswith("]"):
        key = f"{_OF_GROUPS[base]}[{group}"
        return _Kind(key, key, at_least=False, rises=True)
    if base in _OF_GROUPS and base not in _KINDS:
        raise TargetError(f"target: {name}: belongs to a group of pings; write for example {base}[ping]=50ms")
    if base.removesuffix("_p95") in _SWEPT:
        column = f"{base}[{group.removesuffix(']') or 'web'}]"
        raise TargetError(
            f"target: {name}: cannot be a target, as it may rise and fall with the buffer; compare buffers: elephan "
            f"sweep FILE --over 'links[0].buffer=0.1,0.5,1 bdp' --columns utilization,{column}"
        )
    if name not in _KINDS:
        # Only one of the two spellings, so that a common prefix suggests it.
        known = [kind for kind in (*_KINDS, "rtt_p95[ping]") if kind != "utilisation"]
        forms = f"write for example {FORMS}"
        message = f'target: there is no "{name}"; {suggest(name, known, forms) if name.isidentifier() else forms}'
        raise TargetError(message)
    return _KINDS[name]


def _pairs(given: str | Iterable[str] | Mapping[str, float | str]) -> list[tuple[str, float | str]]:
    if isinstance(given, Mapping):
        return list(given.items())
    texts = [given] if isinstance(given, str) else list(given)
    pairs: list[tuple[str, float | str]] = []
    for item in re.split(r",(?![^\[]*\])", ",".join(texts)):
        if not item.strip():
            continue
        name, equals, value = item.partition("=")
        if not equals:
            raise TargetError(f'target: "{item.strip()}" has no value; write for example {FORMS}')
        base, bracket, group = name.strip().partition("[")
        pairs.append((f"{base.lower()}{bracket}{group}", value.strip()))
    return pairs


def _level(name: str, kind: _Kind, value: float | str) -> float:
    is_delay = kind.metric.partition("[")[0].endswith("_s")
    try:
        level = float(value) if not isinstance(value, str) else seconds(value) if is_delay else share(value)
    except UnitError as error:
        raise TargetError(f"target: {name}: {error}") from None
    if not level > 0 or (not is_delay and level >= 1):
        range_ = "above 0 s" if is_delay else "above 0 and below 1"
        if not is_delay and (LEAST_PERCENT if kind.at_least else 1) <= level < 100:
            range_ += percent_advice(level)
        elif not is_delay and level >= 1:
            range_ += f"; write for example {name}={'0.95 or 95%' if kind.at_least else '0.001 or 0.1%'}"
        raise TargetError(f"target: {name}: {value} is out of range; it lies {range_}")
    return level
