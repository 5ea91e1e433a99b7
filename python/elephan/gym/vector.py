"""Many links as one gymnasium environment, which steps all of them in one call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from elephan.errors import InputError
from elephan.gym.env import TOLD, action_space, observation_space
from elephan.gym.links import LINK, Drawn, Links
from elephan.scenario import Scenario
from elephan.units import count


class LinkVectorEnv(VectorEnv[np.ndarray, Any, np.ndarray]):
    """Several links, each with the same number of driven flows; one call steps all of them, on several threads.

    The results are those of the same number of `LinkEnv` in a ``SyncVectorEnv``. The step after the last one of an
    episode begins a new episode and ignores the action (``AutoresetMode.NEXT_STEP``).

    Parameters
    ----------
    scenarios : sequence of Scenario, Path, str or callable, optional
        One for each link, as `LinkEnv` takes them. By default `LINK` for each of ``num_envs`` links.
    num_envs : int
        Number of links if ``scenarios`` is not given.
    threads : int
        Number of threads; results do not depend on it.
    **options
        Options of `LinkEnv`.

    Examples
    --------
    >>> base = Scenario.from_text(LINK)
    >>> links = [base.replace({"links[0].rate": rate}) for rate in ("10 Mbit/s", "100 Mbit/s", "1 Gbit/s")]
    >>> env = LinkVectorEnv(links, interval="1 rtt")
    >>> seen, info = env.reset(seed=1)
    >>> seen, rewards, terminated, truncated, info = env.step(np.ones((3, 1), dtype=np.float32))
    >>> seen.shape, rewards.shape, info["cwnd"].tolist()
    ((3, 6), (3,), [[4.0], [4.0], [4.0]])
    """

    def __init__(
        self,
        scenarios: Sequence[Scenario | Drawn | Path | str] | None = None,
        num_envs: int = 1,
        *,
        threads: int = 1,
        **options: Any,
    ) -> None:
        if scenarios is None:
            scenarios = [Scenario.from_text(LINK, "elephan.gym")] * num_envs
        self.links = Links(scenarios, threads=threads, **options)
        self.num_envs = len(scenarios)
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space = observation_space(self.links)
        self.single_action_space = action_space(self.links)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._chances = [np.random.default_rng() for _ in range(self.num_envs)]
        self._over = np.zeros(self.num_envs, dtype=bool)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 (the interface's)
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode on every link.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Seed of each link; a single number s stands for s, s + 1 and so on.
        options : dict, optional
            Not used; part of gymnasium's interface.
        """
        seeds: Sequence[int | None]
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, (int, np.integer)):
            seeds = [int(seed) + i for i in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise InputError(
                f"seed: has {count(len(seeds), 'number')} for {count(self.num_envs, 'link')}; give one for each"
            )
        for i, each in enumerate(seeds):
            if each is not None:
                self._chances[i] = np.random.default_rng(each)
            self.links.begin(i, self._chances[i])
        self._over[:] = False
        return self._seen(), self._told()

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Apply decisions on every link, and simulate up to the next ones."""
        begins = self._over.copy()
        interval = self.links.step(np.asarray(actions).reshape(self.links.shape), (~begins).tolist())
        rewards = np.where(begins, 0.0, self.links.reward(interval).mean(axis=1))
        for i in np.flatnonzero(begins):
            self.links.begin(int(i), self._chances[i])
        self._over = np.array(self.links.over())
        return self._seen(), rewards, np.zeros(self.num_envs, dtype=bool), self._over.copy(), self._told()

    def _seen(self) -> np.ndarray:
        seen = self.links.eye(self.links.interval)
        return seen.reshape((self.num_envs, *(self.single_observation_space.shape or ())))

    def _told(self) -> dict[str, Any]:
        interval = self.links.interval
        told = {"time_s": interval.time_s[:, 0], **{name: getattr(interval, name) for name in TOLD}}
        there = np.ones(self.num_envs, dtype=bool)
        return {name: array.copy() for name, array in told.items()} | {f"_{name}": there.copy() for name in told}
