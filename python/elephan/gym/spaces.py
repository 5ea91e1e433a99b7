"""The spaces of actions and observations, and the content of ``info``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from elephan.gym.intervals import COLUMNS

if TYPE_CHECKING:
    from elephan.gym.intervals import Interval
    from elephan.gym.links import Links

TOLD = ("throughput_bps", "rtt_s", "loss_ratio", "cwnd")
"""Quantities of each flow in ``info``."""

_TOLD = [COLUMNS[name] for name in TOLD]


def observation_space(links: Links) -> spaces.Box:
    """Make the space of one link's observations: (features,) for one flow, (flows, features) for several."""
    low, high = links.eye.low, links.eye.high
    shape = (len(low),) if links.flows == 1 else (links.flows, len(low))
    return spaces.Box(np.broadcast_to(low, shape), np.broadcast_to(high, shape), dtype=np.float32)


def action_space(links: Links) -> spaces.Box | spaces.Discrete | spaces.MultiDiscrete:
    """Make the space of one link's actions."""
    levels = links.actions.levels
    if levels is None:
        return spaces.Box(-1.0, 1.0, (links.flows,), dtype=np.float32)
    return spaces.Discrete(len(levels)) if links.flows == 1 else spaces.MultiDiscrete([len(levels)] * links.flows)


def told(interval: Interval, link: int) -> dict[str, Any]:
    """Make ``info`` for one link."""
    columns = interval.values[link].T.take(_TOLD, axis=0)
    return {"time_s": float(interval.time_s[link, 0]), **dict(zip(TOLD, columns, strict=True))}
