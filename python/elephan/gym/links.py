"""Links with driven flows, simulated side by side: the common part of the environments, without gymnasium."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elephan import _native
from elephan.errors import InputError, suggest
from elephan.gym.actions import MOST, Actions
from elephan.gym.intervals import OBSERVED, Eye, Floats, Interval, features
from elephan.gym.rewards import Reward, reward_of
from elephan.network import FlowGroup
from elephan.scenario import Scenario
from elephan.units import count, seconds

Drawn = Callable[[np.random.Generator], Scenario]

LINK = """
title    = "One flow of an agent on 100 Mbit/s, 40 ms"
duration = "20 s"

[[links]]
name   = "bottleneck"
rate   = "100 Mbit/s"
buffer = "0.5 bdp"

[[flows]]
name     = "agent"
path     = ["bottleneck"]
rtt      = "40 ms"
packet   = "1500 B"
recovery = "rack"
"""
"""Default scenario of an environment."""

ROUNDS = "rtt"
"""Unit of an interval in round-trip times."""

_SORTS = ("transfer", "application")
"""Kinds of traffic whose flows each have one sender from start to end."""


def _interval(text: str | float) -> tuple[float | None, float]:
    """Read the time between two decisions, in seconds or round trips."""
    number, unit = (float(text), "s") if isinstance(text, (int, float)) else (math.nan, text.rpartition(" ")[2])
    if isinstance(text, str):
        with contextlib.suppress(ValueError):
            number = float(text.removesuffix(ROUNDS)) if unit == ROUNDS else seconds(text)
    if not (math.isfinite(number) and number > 0):
        raise InputError(f'interval: {text} is not a time above 0; give for example "10 ms" or "1 rtt"')
    return (None, number) if unit == ROUNDS else (number, 1.0)


def _driven(scenario: Scenario, names: Sequence[str] | None) -> list[FlowGroup]:
    """Choose the groups whose flows are driven."""
    groups = scenario.network.groups
    if names is None:
        found = [group for group in groups if group.is_tcp and group.sort in _SORTS]
        if not found:
            raise InputError(f"flows: no group of {scenario.origin} has TCP flows that go on from start to end")
        return found
    by_name = {group.name: group for group in groups}
    for name in names:
        if name not in by_name:
            raise InputError(f"flows: there is no group {name!r}; {suggest(name, by_name)}")
        if not (by_name[name].is_tcp and by_name[name].sort in _SORTS):
            raise InputError(
                f"flows: {name} has no TCP flows that go on from start to end; drive groups of bulk traffic"
            )
    return [group for group in groups if group.name in set(names)]


class Links:
    """Runs of scenarios that proceed from decision to decision.

    Parameters
    ----------
    scenarios : sequence of Scenario, or of callables
        One for each link. A callable draws the scenario of each episode from a random generator; each must have the
        same number of driven flows.
    flows : sequence of str, optional
        Names of the groups whose flows are driven; by default all TCP flows that go on from start to end. The others
        have the law that the scenario names.
    interval : str or float
        From one decision to the next: a time such as ``"10 ms"`` (a number is in seconds), or a multiple (``"1 rtt"``)
        of the mean smoothed round-trip time of the driven flows (of their base round-trip time before the first
        sample).
    action, levels, most
        As in `Actions`.
    observe : sequence of str
        Names of `elephan.gym.intervals.FEATURES`.
    reward : str or callable
        A name of `elephan.gym.rewards.REWARDS`, or a function of an `Interval` that returns an array of shape (links,
        flows).
    threads : int
        Number of runs simulated at the same time.

    Examples
    --------
    >>> links = Links([Scenario.from_text(LINK)], interval="1 rtt")
    >>> links.begin(0, np.random.default_rng(1))
    >>> for _ in range(5):
    ...     interval = links.step(np.array([[1.0]]))
    >>> interval.cwnd.tolist(), interval.time_s.round(3).tolist()
    ([[64.0]], [[0.201]])
    """

    def __init__(
        self,
        scenarios: Sequence[Scenario | Drawn | Path | str],
        *,
        flows: Sequence[str] | None = None,
        interval: str | float = "1 rtt",
        action: str = "window",
        levels: Sequence[float] | None = None,
        most: float = MOST,
        observe: Sequence[str] = OBSERVED,
        reward: str | Reward = "orca",
        threads: int = 1,
    ) -> None:
        self.seconds, self.rounds = _interval(interval)
        self.actions = Actions.of(action, levels, most)
        self.eye = Eye(features(observe))
        self.reward = reward_of(reward)
        self.names = None if flows is None else tuple(flows)
        self.drawn = [each if callable(each) else None for each in scenarios]
        # A drawn scenario is known only when its first episode begins. One draw gives the number of flows before.
        first = [each(np.random.default_rng(0)) if callable(each) else Scenario.from_any(each) for each in scenarios]
        if not first:
            raise InputError("scenarios: the list is empty; give one for each link")
        driven = [_driven(scenario, self.names) for scenario in first]
        counts = [sum(group.flows for group in groups) for groups in driven]
        if len(set(counts)) > 1:
            raise InputError(
                f"scenarios: one link has {count(min(counts), 'driven flow')}, another {max(counts)}; make them equal"
            )
        self.flows = counts[0]
        self.shape = (len(first), self.flows)
        self._runs = _native.SteppedRuns([each.canonical for each in first], flows=self.flows, threads=threads)
        self._columns = len(_native.SteppedRuns.MEASURED)
        self._values = np.zeros((*self.shape, self._columns))
        self._spans = np.ones((2, *self.shape))
        self.scenarios = first
        self.interval = Interval(self._values)
        """Measurements of the last step."""
        for i in range(len(first)):
            self._describe(i, driven[i])

    def _describe(self, i: int, groups: list[FlowGroup]) -> None:
        """Store the properties of link `i` that follow from its scenario."""
        of = [group for group in groups for _ in range(group.flows)]
        rate = [group.narrowest.rate_bps for group in of]
        if self.actions.paced:
            self._spans[:, i] = [[0.01 * each for each in rate], [2.0 * each for each in rate]]
        else:
            windows = [group.narrowest.rate_bps * group.rtt_s / 8 / group.packet_bytes for group in of]
            self._spans[:, i] = [[1.0] * len(of), [max(4.0 * each, 10.0) for each in windows]]

    def begin(self, i: int, chance: np.random.Generator, *, hashed: bool = False) -> None:
        """Begin an episode on link `i`: draw the scenario and the seed of its replication from `chance`."""
        draw = self.drawn[i]
        if draw is not None:
            self.scenarios[i] = draw(chance)
        scenario = self.scenarios[i]
        groups = _driven(scenario, self.names)
        if draw is not None:
            self._describe(i, groups)
        self._values[i] = self._runs.begin(
            i,
            int(chance.integers(2**32)),
            groups=[group.index for group in groups],
            link=groups[0].narrowest.index,
            paced=self.actions.paced,
            hash=hashed,
            canonical=scenario.canonical,
        )
        self.interval = Interval(self._values)

    def step(self, given: Floats, goes: Sequence[bool] | None = None) -> Interval:
        """Apply the agents' decisions, and simulate up to the next ones.

        Parameters
        ----------
        given : ndarray, shape (links, flows)
        goes : sequence of bool, optional
            Links that proceed; by default all. The others are left unchanged.

        Returns
        -------
        Interval
        """
        windows, rates = self.actions.decide(given, self.interval, self._spans)
        going = [True] * self.shape[0] if goes is None else list(goes)
        values = self._runs.step(windows, rates, going, seconds=self.seconds, rounds=self.rounds)
        self._values = values if all(going) else np.where(np.asarray(going)[:, None, None], values, self._values)
        self.interval = Interval(self._values)
        return self.interval

    def over(self) -> list[bool]:
        """Whether the episode of each link has reached the end of its scenario."""
        return self._runs.over()

    def finish(self, i: int) -> dict[str, Any]:
        """Simulate the episode of link `i` to its end without further decisions; return the columns of its run."""
        columns = self._runs.finish(i)
        if columns is None:
            raise InputError(f"link {i}: its episode has not begun; call reset first")
        return columns
