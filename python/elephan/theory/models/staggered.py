"""Model `staggered`: windows as a fluid of which only the largest is cut whenever the buffer overflows."""

from __future__ import annotations

import numpy as np

from elephan.errors import InputError
from elephan.theory.law_responses import law_responses
from elephan.theory.models.bottleneck import Bottleneck
from elephan.theory.models.card import Columns, Prediction, Values, read_model
from elephan.theory.models.flows import (
    few_segments,
    mixed_laws,
    no_capacity_left,
    other_traffic,
    packet_rate,
    spread,
    used,
    vectorized_over,
)
from elephan.theory.models.sawtooth import LAWS
from elephan.theory.models.senders import sawtooth_inputs
from elephan.theory.response import Floats
from elephan.theory.sawtooth import Sawtooth, partial

SLOW = "compound"
"""Law that takes too long to follow: it oscillates around its own target backlog, in steps of half a round trip."""

MOST = 100
"""Maximum number of flows: the computing time grows with it, and beyond it the link is full at any buffer."""


def _followed(law: str, rate: float, buffers: Floats, rtts: Floats) -> Sawtooth:
    # Means of the first turn and of the thirtieth differ by 1.2e-3 at most (10 HighSpeed flows, 38 to 142 ms). Laws
    # that remember their last loss take many small steps.
    own = law_responses(law)
    return partial(own, rate, buffers, rtts, 1, turns=2 if rtts.size <= 20 and not own.remembers else 1)


@vectorized_over("buffer")
def _table(v: Values) -> Columns:
    rtts = spread(v)
    if rtts.size > MOST:
        raise InputError(f"flows: {rtts.size} are too many to follow; give at most {MOST}")
    found = _followed(str(v["law"][0]), packet_rate(v), v["buffer"], rtts)
    return {
        "utilization": found.utilisation,
        "period_s": found.period,
        "backlog_packets": found.queue,
        "loss_ratio": found.dropped,
        "shortest_over_longest": found.rates[:, 0] / found.rates[:, -1],
    }


def _predict(link: Bottleneck, buffers: Floats) -> Prediction:
    found = _followed(link.law, link.rate, buffers, np.array(link.rtts_s))
    return Prediction(used(link, found.utilisation), found.dropped, found.queue / link.rate, found.period)


def _unsuited(link: Bottleneck) -> str:
    if reason := no_capacity_left(link) or mixed_laws(link):
        return reason
    if link.law_name not in LAWS:
        return f"how {link.law} grows between two losses is not a matter of losses alone"
    if link.law_name == SLOW and link.flows > 1:
        return f"to follow {SLOW} takes too long for an answer at once; its table takes the time"
    if link.flows > MOST:
        return f"it follows at most {MOST} flows; here {link.flows}. With so many, staggered cuts leave any link full"
    return ""


def _doubts(link: Bottleneck) -> list[str]:
    lines = []
    if link.discipline != "drop-tail":
        lines.append(f"assumes that the buffer fills before anything is lost; here {link.discipline}")
    if link.flows > 1 and max(link.rtts_s) == min(link.rtts_s):
        lines.append("assumes that flows lose one at a time; those with equal RTTs tend to lose together")
    return lines + few_segments(link) + other_traffic(link)


MODEL = read_model(
    __file__,
    choices={"law": LAWS},
    compute=_table,
    predict=_predict,
    unsuited=_unsuited,
    doubts=_doubts,
    asks=sawtooth_inputs,
)
