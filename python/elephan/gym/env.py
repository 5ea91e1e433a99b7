"""One link as a gymnasium environment, with its spaces of actions and observations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from elephan.gym.intervals import COLUMNS, Interval
from elephan.gym.links import LINK, Drawn, Links
from elephan.scenario import Scenario

TOLD = ("throughput_bps", "rtt_s", "loss_ratio", "cwnd")
"""Quantities of each flow in ``info``."""

_TOLD = [COLUMNS[name] for name in TOLD]


def observation_space(links: Links) -> spaces.Box:
    """Return the space of one link's observations: (features,) for one flow, (flows, features) for several."""
    low, high = links.eye.low, links.eye.high
    shape = (len(low),) if links.flows == 1 else (links.flows, len(low))
    return spaces.Box(np.broadcast_to(low, shape), np.broadcast_to(high, shape), dtype=np.float32)


def action_space(links: Links) -> spaces.Box | spaces.Discrete | spaces.MultiDiscrete:
    """Return the space of one link's actions."""
    levels = links.actions.levels
    if levels is None:
        return spaces.Box(-1.0, 1.0, (links.flows,), dtype=np.float32)
    return spaces.Discrete(len(levels)) if links.flows == 1 else spaces.MultiDiscrete([len(levels)] * links.flows)


def told(interval: Interval, link: int) -> dict[str, Any]:
    """Return ``info`` for one link."""
    columns = interval.values[link].T.take(_TOLD, axis=0)
    return {"time_s": float(interval.time_s[link, 0]), **dict(zip(TOLD, columns, strict=True))}


class LinkEnv(gymnasium.Env[np.ndarray, Any]):
    """A link with flows whose windows or rates an agent sets; the agent observes the effects.

    An episode is a replication of a scenario, from its start to its end. It ends with ``truncated``, never with
    ``terminated``. The same seed gives the same episodes.

    Parameters
    ----------
    scenario : Scenario, Path, str or callable
        A scenario or its file; or a callable that takes a NumPy generator and returns the scenario of an episode. By
        default `elephan.gym.links.LINK`.
    **options
        Options of `elephan.gym.links.Links`: ``flows``, ``interval``, ``action``, ``levels``, ``most``, ``observe``,
        ``reward``.

    Notes
    -----
    If the agent drives one flow, an observation has the shape (features,), and an action has the shape (1,) or is the
    index of a level. If it drives several flows, observations have the shape (flows, features), and actions the shape
    (flows,), with a number or the index of a level for each flow. The reward is the mean over flows. ``info`` holds the
    measurements: ``time_s``, and by flow ``throughput_bps``, ``rtt_s``, ``loss_ratio`` and ``cwnd``.

    A decision takes effect at the next ACK, timer or paced segment of its sender. A loss does not change a window that
    the agent drives; a timeout reduces it to one segment until the next decision.

    Examples
    --------
    >>> env = LinkEnv(interval="10 ms", levels=(0.5, 1.0, 1.1, 2.0))
    >>> observation, info = env.reset(seed=1)
    >>> for _ in range(30):
    ...     observation, reward, terminated, truncated, info = env.step(3 if info["cwnd"][0] < 300 else 1)
    >>> info["cwnd"].tolist(), info["time_s"]
    ([512.0], 0.3)
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (gymnasium reads it from the class)

    def __init__(self, scenario: Scenario | Drawn | Path | str | None = None, **options: Any) -> None:
        one = Scenario.from_text(LINK, "elephan.gym") if scenario is None else scenario
        self.links = Links([one], **options)
        self.observation_space = observation_space(self.links)
        self.action_space = action_space(self.links)

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 (the interface's)
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            Seed of the random generator for this episode and the following ones.
        options : dict, optional
            Not used; part of gymnasium's interface.
        """
        super().reset(seed=seed)
        self.links.begin(0, self.np_random)
        return self._seen(), told(self.links.interval, 0)

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Apply a decision, and simulate until the next one."""
        interval = self.links.step(np.asarray(action).reshape(self.links.shape))
        reward = float(self.links.reward(interval)[0].sum() / self.links.flows)
        return self._seen(), reward, False, self.links.over()[0], told(interval, 0)

    def _seen(self) -> np.ndarray:
        seen: np.ndarray = self.links.eye(self.links.interval)[0]
        return seen[0] if self.links.flows == 1 else seen
