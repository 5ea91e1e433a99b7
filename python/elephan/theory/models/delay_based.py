"""Model `backlog-target`: laws that keep a number of their own packets in the queue, if the buffer is large enough."""

from __future__ import annotations

import numpy as np

from elephan.errors import InputError
from elephan.theory import controls
from elephan.theory.models.bottleneck import Bottleneck
from elephan.theory.models.card import Columns, Prediction, Values, read_model
from elephan.theory.models.flows import mixed_laws, no_capacity_left, other_traffic
from elephan.theory.response import Floats

TARGETS = {"fast": ("alpha", "alpha"), "vegas": ("alpha", "beta")}
"""Names of the parameters for the minimum and maximum of a flow's own packets in the queue, by law."""

MOST_FLOWS = 10_000
"""Maximum number of flows; up to it the table is computed immediately."""


def targets(law: str) -> tuple[float, float]:
    """Minimum and maximum of a flow's own packets in the queue.

    Parameters
    ----------
    law : str
        Name in the form of `controls.write`.

    Returns
    -------
    tuple of float [packets]

    Examples
    --------
    >>> targets("fast"), targets("vegas(beta=4)")
    ((200.0, 200.0), (1.0, 4.0))
    """
    found = controls.settings(law)
    least, most = TARGETS[controls.kind(law)]
    return found[least], found[most]


def joining(flows: int) -> float:
    """Queue of flows that start one after the other, and include the queue that they find in their minimum RTT.

    A flow that found a queue q' controls its rate r so that r (q - q') / C is its target alpha. Its rate is therefore r
    = C alpha / (q - q'); the sum of all rates is C.

    Returns
    -------
    float [1]
        Queue in units of one flow's target. With correct minimum RTTs it would be the number of flows.

    References
    ----------
    Low2002, its persistent congestion.

    Examples
    --------
    >>> [round(joining(n), 3) for n in (1, 2, 3)]
    [1.0, 2.618, 4.599]
    """
    met, step = np.zeros(1), 1.0
    for _ in range(flows):
        # Each new flow adds more to the queue than the one before. Newton's method begins there and rises to the root.
        queue = met[-1] + step
        while (rates := 1 / (queue - met)).sum() > 1 + 1e-12:
            queue += (rates.sum() - 1) / (rates**2).sum()
        met, step = np.append(met, queue), queue - met[-1]
    return float(met[-1])


def _table(v: Values) -> Columns:
    if not ((v["flows"] >= 1) & (v["flows"] == v["flows"].round()) & (v["flows"] <= MOST_FLOWS)).all():
        raise InputError(f"backlog-target: flows must be a whole number from 1 to {MOST_FLOWS}")
    rate = v["rate"] / 8 / v["packet"]
    least, most = (np.array([targets(law)[end] for law in v["law"].tolist()]) * v["flows"] for end in (0, 1))
    fits = most <= v["buffer"]
    backlog = np.where(fits, (least + most) / 2, np.nan)
    counts = v["flows"].astype(int)
    grown = {n: joining(n) for n in set(counts.tolist())}
    return {
        "utilization": np.where(fits, 1.0, np.nan),
        "loss_ratio": np.where(fits, 0.0, np.nan),
        "backlog_packets": backlog,
        "queueing_delay_s": backlog / rate,
        "room_packets": most,
        "joining_packets": most / v["flows"] * np.array([grown[n] for n in counts.tolist()]),
    }


def _predict(link: Bottleneck, buffers: Floats) -> Prediction:
    least, most = (link.flows * x for x in targets(link.law))
    fits = buffers >= most
    delay = (least + most) / 2 / link.rate
    return Prediction(*(np.where(fits, x, np.nan) for x in (1.0, 0.0, delay)))


def _unsuited(link: Bottleneck) -> str:
    if reason := no_capacity_left(link) or mixed_laws(link):
        return reason
    return "" if link.law_name in TARGETS else f"{link.law_name} keeps no set number of packets in the queue"


def _doubts(link: Bottleneck) -> list[str]:
    lines = []
    if link.discipline != "drop-tail":
        lines.append(f"assumes a drop-tail queue, first in first out; here {link.discipline}")
    if link.flows > 1:
        most = targets(link.law)[1]
        lines.append(
            f"assumes that every flow knows its RTT without a queue, {link.flows * most:.0f} packets waiting at most; "
            f"if they come one after the other, {joining(link.flows) * most:.0f}"
        )
    return lines + other_traffic(link)


MODEL = read_model(
    __file__,
    choices={"law": tuple(TARGETS)},
    compute=_table,
    predict=_predict,
    unsuited=_unsuited,
    doubts=_doubts,
    asks=lambda law, _: np.array(targets(law)),
)
