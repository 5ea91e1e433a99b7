"""Rewards of an agent in a step: formulas of the measurements, with one number for each flow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elephan.errors import InputError, suggest
from elephan.gym.intervals import Floats, Interval

Reward = Callable[[Interval], Floats]

LOSS_WEIGHT = 5.0
"""Ratio of the cost of a lost bit to the gain of a delivered one, in `orca`."""

SLACK = 1.25
"""Ratio of the RTT to the minimum RTT up to which `orca` ignores delay: a small queue is needed to keep a link busy."""


def orca(interval: Interval) -> Floats:
    """Power (throughput over delay) relative to the best power: 1 at the largest throughput without loss or delay.

    The reward is (throughput - 5 lost) / delay, divided by (largest throughput / smallest delay). A delay of up to 1.25
    times the smallest counts as the smallest. The weight 5 and the ratio 1.25 are not from the source.

    References
    ----------
    Abbasloo, Yen, Chao, Classic Meets Modern: a Pragmatic Learning-Based Congestion Control for the Internet, SIGCOMM
    2020.
    """
    # The ratio of lost to delivered bits equals that of segments. `throughput_share` is relative to the largest.
    lost = LOSS_WEIGHT * interval.retransmitted / np.maximum(interval.delivered, 1.0)
    ratio = interval.rtt_ratio
    return interval.throughput_share * (1.0 - lost) / np.where(ratio <= SLACK, 1.0, ratio)


def aurora(interval: Interval) -> Floats:
    """10 throughput [segments/s] - 1000 delay [s] - 2000 loss [share].

    References
    ----------
    Jay, Rotman, Godfrey, Schapira, Tamar, A Deep Reinforcement Learning Perspective on Internet Congestion Control,
    ICML 2019, Section 4.
    """
    segments = interval.throughput_bps / interval.segment_bits
    return 10.0 * segments - 1000.0 * interval.rtt_s - 2000.0 * interval.loss_ratio


REWARDS: dict[str, Reward] = {"orca": orca, "aurora": aurora}
"""Reward functions by name."""


def reward_of(reward: str | Reward) -> Reward:
    """Look up a formula by name; return a function unchanged.

    Raises
    ------
    InputError
        For an unknown name.

    Examples
    --------
    >>> reward_of("orca") is orca
    True
    """
    if callable(reward):
        return reward
    if reward not in REWARDS:
        raise InputError(f"reward: there is no formula {reward!r}; {suggest(reward, REWARDS)}")
    return REWARDS[reward]
