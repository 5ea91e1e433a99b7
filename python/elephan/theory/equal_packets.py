"""Poisson packets of one size at a buffer: loss and mean queue of M/D/1/K.

Source: Keilson1966, by the chain embedded at departures.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

BEYOND = 40
"""Number of terms computed beyond K. The ratio of the last two equals that of the tail to machine precision, because
the other poles are far away."""
MOST = 1e100
"""Upper limit of an unnormalised term. With larger terms the probability of an empty system is practically zero."""


class EqualPackets(NamedTuple):
    """Loss and mean queue of equal packets.

    Parameters
    ----------
    loss : ndarray [1]
        Share of arrivals that find the system full.
    waiting : ndarray [packets]
        Mean number of packets in the buffer, the one in service not counted.
    """

    loss: Floats
    waiting: Floats


def equal_packets(load: ArrayLike, places: ArrayLike) -> EqualPackets:
    """Loss and mean queue of M/D/1/K.

    Parameters
    ----------
    load : array_like [1]
        Packets that arrive per service time; at least 0, and also above 1.
    places : array_like [packets]
        K, including the packet in service; at least 1. Broadcast against `load`. Between whole numbers, the logarithm
        of the loss and the mean queue are interpolated linearly.

    Returns
    -------
    EqualPackets
        Arrays of the broadcast shape. Relative error of the loss 1e-8.

    References
    ----------
    Keilson1966.

    Notes
    -----
    The distribution of the queue at departures follows from level crossing; all terms are positive. With unnormalised
    q_j from q_0 = 1, and G(m) the probability of more than m arrivals in a service time, q_{j+1} P(0 arrivals) = q_0
    G(j) + sum_{i=1..j} q_i G(j + 1 - i). The loss is 1 - 1/(pi_0 + rho). If this difference loses too many digits, the
    loss is computed as (1 - rho) T / (1 - rho T). T is the tail of the unlimited queue; its end is a geometric series.

    Examples
    --------
    >>> found = equal_packets([0.5, 0.9, 1.0], 10)
    >>> found.loss.round(6).tolist(), found.waiting.round(3).tolist()
    ([4e-06, 0.016632, 0.050847], [0.25, 2.586, 4.116])
    """
    rho, room = np.broadcast_arrays(np.asarray(load, dtype=float), np.asarray(places, dtype=float))
    whole, part = np.floor(room), room % 1
    found = _of_whole(rho, whole.astype(np.int64))
    if not part.any():
        return found
    more = _of_whole(rho, whole.astype(np.int64) + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.exp((1 - part) * np.log(found.loss) + part * np.log(more.loss))
    return EqualPackets(np.nan_to_num(loss), (1 - part) * found.waiting + part * more.waiting)


def _of_whole(rho: Floats, room: NDArray[np.int64]) -> EqualPackets:
    """Compute `equal_packets` for whole numbers of places; both arrays have the same shape."""
    from scipy.special import gammainc  # noqa: PLC0415 (slow to import)

    # The unnormalised terms do not depend on the buffer, so they are computed once per load.
    loads, back = np.unique(rho, return_inverse=True)
    back, k = back.ravel(), room.ravel()
    longest = int(k.max(initial=1))
    more = gammainc(np.arange(longest + BEYOND + 1) + 1.0, loads[:, None])
    q = np.zeros_like(more)
    q[:, 0] = 1.0
    some = np.exp(np.minimum(loads, 400.0))
    for j in range(longest + BEYOND):
        step = more[:, j] + np.einsum("ij,ij->i", q[:, 1 : j + 1], more[:, j:0:-1])
        q[:, j + 1] = np.minimum(step * some, MOST)
    below, waits = np.cumsum(q, axis=1), np.cumsum(np.maximum(np.arange(q.shape[1]) - 1, 0) * q, axis=1)
    rest = np.cumsum(q[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(q[:, -2] > 0, q[:, -1] / q[:, -2], 0.0)
        rest += np.where(ratio < 1, q[:, -1] * ratio / (1 - ratio), 0.0)[:, None]
    one, total = loads[back], below[back, k - 1]
    loss = 1 - 1 / (1 / total + one)
    tail = np.clip((1 - one) * rest[back, k], 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rare = (1 - one) * tail / (1 - one * tail)
    # At a loss of 1e-6 or more, the first formula keeps ten digits.
    loss = np.where((one < 1) & (loss < 1e-6), rare, loss)
    # The share of time with j < K packets in the system is pi_j / (pi_0 + rho); the share with K packets is the loss.
    waiting = waits[back, k - 1] / (1 + one * total) + loss * (k - 1)
    return EqualPackets(loss.reshape(rho.shape), waiting.reshape(rho.shape))
