"""Model `response`: the window of each law at a loss rate, and the loss rate at which it has a given window."""

from __future__ import annotations

import numpy as np

from elephan.theory.models.card import Columns, Values, read_model
from elephan.theory.models.flows import vectorized_over
from elephan.theory.textbook import RESPONSES, published


@vectorized_over("p", "rtt", "window")
def _table(v: Values) -> Columns:
    law, rtt = published(str(v["law"][0])), v["rtt"]
    held = law.window(v["p"], rtt)
    unknown = np.full_like(held, np.nan)
    return {
        "window_segments": held,
        "throughput_packets_per_s": held / rtt,
        "increase_segments": unknown if law.increase_curve is None else law.increase(held, rtt),
        "decrease": unknown if law.decrease_curve is None else law.decrease(held, rtt),
        "p_for_window": law.loss(v["window"], rtt),
    }


MODEL = read_model(__file__, choices={"law": tuple(RESPONSES)}, compute=_table)
