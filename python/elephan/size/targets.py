"""What a buffer must achieve: utilization and fairness at least, loss and queueing delay at most."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from elephan.errors import TargetError, UnitError, suggest
from elephan.units import seconds, share

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMS = "utilization=0.95, loss=0.1%, delay=10ms, fairness=0.9"


class GroupSample(NamedTuple):
    """What one replication measured of a group of flows.

    Mean goodput of its flows, its loss at any link, and how long 95 % of its packets wait at the link at most: NaN
    unless waiting times were recorded. 95 % of its pings are back within `rtt_p95_s`, and 95 % of its other timed
    datagrams arrive within `delay_p95_s`: NaN of other traffic.
    """

    goodput_per_flow_bps: float
    loss_ratio: float
    queueing_delay_p95_s: float = math.nan
    rtt_p95_s: float = math.nan
    delay_p95_s: float = math.nan


GROUP_DELAYS = {"rtt_p95_s": "round trip, 95 %", "delay_p95_s": "one way, 95 %"}
"""Keys of delays of timed datagrams, and words for them."""


def asked_of(groups: Iterable[Mapping[str, Any]]) -> str:
    """Return the key of what a table shows of a group: the delay of timed datagrams, whose rate is their own.

    Parameters
    ----------
    groups : iterable of mapping
        What the documents of sizings have of one group, buffer by buffer.

    Examples
    --------
    >>> asked_of([{"rtt_p95_s": {"mean": 0.03, "ci95": None}}]), asked_of([{"rtt_p95_s": {"mean": None, "ci95": None}}])
    ('rtt_p95_s', 'goodput_per_flow_bps')
    """
    listed = list(groups)
    known = (key for key in GROUP_DELAYS if any((group.get(key) or {}).get("mean") is not None for group in listed))
    return next(known, "goodput_per_flow_bps")


class BufferSample(NamedTuple):
    """What one replication measured on the link with one buffer.

    `jain` is over the goodputs of its TCP flows, `queueing_delay_p95_s` over packets; `groups` are those that cross the
    link, in the order of `Network.crossing`.
    """

    utilization: float
    loss_ratio: float
    queueing_delay_s: float
    jain: float = math.nan
    queueing_delay_p95_s: float = math.nan
    groups: tuple[GroupSample, ...] = ()


@dataclass(frozen=True)
class Target:
    """One condition.

    Parameters
    ----------
    metric : str
        Field of `BufferSample`.
    level : float
        In the unit of the metric.
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
        """Whether large buffers meet it (utilization, loss): these decide the buffer, others are checked at it."""
        return self.at_least == self.rises

    @property
    def is_ceiling(self) -> bool:
        """Whether small buffers meet it (delay). Fairness may rise or fall with the buffer and is neither."""
        return self.rises is not None and not self.is_floor

    def meets(self, value: float) -> bool:
        """Return whether a value of the metric is good enough."""
        return value >= self.level if self.at_least else value <= self.level

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        if self.metric == "queueing_delay_s":
            return f"delay {sign} {self.level * 1e3:g} ms"
        return f"{_KEYS[self.metric]} {sign} {self.level:g}"


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
    "fairness": _Kind("jain", "fairness", at_least=True, rises=None),
}
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
        If there is none, one is unknown, out of range or given twice, or fairness has none beside it that decides.

    Examples
    --------
    >>> [str(target) for target in parse_targets("utilization=95%, delay=10ms")]
    ['utilization >= 0.95', 'delay <= 10 ms']
    """
    targets: dict[str, Target] = {}
    for name, value in _pairs(given):
        if name not in _KINDS:
            # One spelling of two, so that the beginning of both means it.
            known = [kind for kind in _KINDS if kind != "utilisation"]
            message = f'target: there is no "{name}"; {suggest(name, known, f"write for example {FORMS}")}'
            raise TargetError(message)
        kind = _KINDS[name]
        if kind.metric in targets:
            message = f"target: {name} is given twice"
            raise TargetError(message)
        targets[kind.metric] = Target(kind.metric, _level(name, kind, value), kind.at_least, kind.rises)
    if not targets:
        message = f"target: none given; write for example {FORMS}"
        raise TargetError(message)
    if "jain" in targets and not any(target.is_floor for target in targets.values()):
        message = "target: fairness decides no buffer, it is checked at the one found; add utilization or loss"
        raise TargetError(message)
    return tuple(targets.values())


def targets_json(targets: Iterable[Target]) -> dict[str, float]:
    """Return targets as the document of ``size --json`` shows them.

    Returns
    -------
    dict of str to float
        Keys ``utilization`` [1], ``loss`` [1], ``delay_s`` [s], ``fairness`` [1].

    Examples
    --------
    >>> targets_json(parse_targets("loss=1%"))
    {'loss': 0.01}
    """
    return {_KEYS[target.metric]: target.level for target in targets}


def _pairs(given: str | Iterable[str] | Mapping[str, float | str]) -> list[tuple[str, float | str]]:
    if isinstance(given, Mapping):
        return list(given.items())
    texts = [given] if isinstance(given, str) else list(given)
    pairs: list[tuple[str, float | str]] = []
    for item in ",".join(texts).split(","):
        if not item.strip():
            continue
        name, equals, value = item.partition("=")
        if not equals:
            message = f'target: "{item.strip()}" has no value; write for example {FORMS}'
            raise TargetError(message)
        pairs.append((name.strip().lower(), value.strip()))
    return pairs


def _level(name: str, kind: _Kind, value: float | str) -> float:
    is_delay = kind.metric == "queueing_delay_s"
    try:
        level = float(value) if not isinstance(value, str) else seconds(value) if is_delay else share(value)
    except UnitError as error:
        message = f"target: {name}: {error}"
        raise TargetError(message) from None
    if not level > 0 or (not is_delay and level >= 1):
        range_ = "above 0 s" if is_delay else "above 0 and below 1"
        if not is_delay and 1 < level < 100:
            range_ += f", or below 100 %: write {level:g}%"
        message = f"target: {name}: {value} is out of range; it lies {range_}"
        raise TargetError(message)
    return level
