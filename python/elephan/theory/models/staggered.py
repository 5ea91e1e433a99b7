"""Model `staggered`: a fluid model in which only the largest window is reduced when the buffer overflows."""

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
"""Law whose computation takes too long: it oscillates around its own target backlog, in steps of half a round trip."""

MOST = 100
"""Maximum number of flows. The computing time grows with the number, and above it any buffer keeps the link full."""


def _followed(law: str, rate: float, buffers: Floats, rtts: Floats) -> Sawtooth:
    # In a turn each flow has one loss. The means over the first and over the thirtieth turn differ by at most 1.2e-3
    # (10 HighSpeed flows, 38 to 142 ms). Laws that remember their last loss take many small steps: they get one turn.
    own = law_responses(law)
    return partial(own, rate, buffers, rtts, 1, turns=2 if rtts.size <= 20 and not own.remembers else 1)


@vectorized_over("buffer")
def _table(v: Values) -> Columns:
    rtts = spread(v)
    if rtts.size > MOST:
        raise InputError(f"flows: {rtts.size} are too many for this model; give at most {MOST}")
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
        return f"the growth of {link.law} between two losses does not depend on losses alone"
    if link.law_name == SLOW and link.flows > 1:
        return f"several {SLOW} flows take too long for an immediate answer; the table of this model computes them"
    if link.flows > MOST:
        return f"it has at most {MOST} flows; here {link.flows}. With more, staggered reductions leave any link full"
    return ""


def _doubts(link: Bottleneck) -> list[str]:
    lines = []
    if link.discipline != "drop-tail":
        lines.append(f"assumes that the buffer fills before anything is lost; here {link.discipline}")
    if link.flows > 1 and max(link.rtts_s) == min(link.rtts_s):
        lines.append("assumes that flows lose one at a time; flows with equal RTTs tend to lose together")
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
