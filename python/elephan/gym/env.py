"""One link as an environment of gymnasium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from elephan.gym.links import LINK, Links
from elephan.gym.spaces import action_space, observation_space, told
from elephan.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

    from elephan.gym.links import Drawn


class LinkEnv(gymnasium.Env[np.ndarray, Any]):
    """A link whose flows an agent drives: it decides windows or rates, and sees what came of it.

    An episode is a replication of a scenario, from its start to its end (``truncated``; it never terminates before).
    The same seed gives the same episodes.

    Parameters
    ----------
    scenario : Scenario, Path, str or callable
        A scenario or its file; a callable draws one for each episode from a NumPy generator. By default
        `elephan.gym.links.LINK`.
    **options
        As `elephan.gym.links.Links` has them: ``flows``, ``interval``, ``action``, ``levels``, ``most``, ``observe``,
        ``reward``.

    Notes
    -----
    Of one driven flow an observation has the shape (features,), an action (1,) or is the number of a level; of several
    they are (flows, features), (flows,), and one level for each. The reward is the mean over flows. ``info`` holds what
    was measured: ``time_s``, and by flow ``throughput_bps``, ``rtt_s``, ``loss_ratio`` and ``cwnd``.

    A decision counts from the next ACK, timer or paced segment of its sender on. A loss does nothing to a driven
    window, a timeout leaves one segment until the next decision.

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
            Of this episode and, by what it draws, of those after it.
        options : dict, optional
            There are none: what gymnasium's interface has a place for is not used.
        """
        super().reset(seed=seed)
        self.links.begin(0, self.np_random)
        return self._seen(), told(self.links.interval, 0)

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Decide, and go on to the next decision."""
        interval = self.links.step(np.asarray(action).reshape(self.links.shape))
        reward = float(self.links.reward(interval)[0].sum() / self.links.flows)
        return self._seen(), reward, False, self.links.over()[0], told(interval, 0)

    def _seen(self) -> np.ndarray:
        seen: np.ndarray = self.links.eye(self.links.interval)[0]
        return seen[0] if self.links.flows == 1 else seen
