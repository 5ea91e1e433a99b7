"""Environments of gymnasium for learning agents: an agent sets the windows or rates of flows on a simulated link.

>>> import elephan.gym
>>> import gymnasium
>>> env = gymnasium.make("elephan/Link-v0", interval="10 ms", action="rate")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
>>> observation.shape, terminated, truncated
((6,), False, False)

This module needs the package gymnasium (``pip install 'elephan[gym]'``). No other module of elephan imports it.
"""

from elephan.extras import require

require("elephan.gym", "gymnasium")

import gymnasium  # noqa: E402 (`require` must report a missing package first)

from elephan.gym.env import LinkEnv  # noqa: E402
from elephan.gym.intervals import FEATURES, OBSERVED, Feature, Interval  # noqa: E402
from elephan.gym.links import LINK, Links  # noqa: E402
from elephan.gym.policy import policy_law  # noqa: E402
from elephan.gym.rewards import REWARDS, aurora, orca  # noqa: E402
from elephan.gym.vector import LinkVectorEnv  # noqa: E402

__all__ = [
    "FEATURES",
    "LINK",
    "OBSERVED",
    "REWARDS",
    "Feature",
    "Interval",
    "LinkEnv",
    "LinkVectorEnv",
    "Links",
    "aurora",
    "orca",
    "policy_law",
]

ID = "elephan/Link-v0"
"""Id of the environment for ``gymnasium.make`` and ``gymnasium.make_vec``."""

if ID not in gymnasium.registry:
    gymnasium.register(ID, entry_point=LinkEnv, vector_entry_point=LinkVectorEnv)
