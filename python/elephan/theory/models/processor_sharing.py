"""Model `processor-sharing`: flows in progress and duration of a transfer if flows share a link equally."""

from __future__ import annotations

from elephan.theory.elastic import in_progress, mean_in_progress, mean_response, more_in_progress
from elephan.theory.models.card import Columns, Values, read_model


def _table(v: Values) -> Columns:
    return {
        "mean_flows": mean_in_progress(v["load"]),
        "chance": in_progress(v["load"], v["flows"]),
        "chance_of_more": more_in_progress(v["load"], v["flows"]),
        "response_s": mean_response(v["size"], v["rate"], v["load"]),
        "flow_rate_bps": v["rate"] * (1 - v["load"]),
    }


MODEL = read_model(__file__, compute=_table)
