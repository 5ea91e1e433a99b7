"""Model `processor-sharing`: flows in progress and duration of a transfer if flows share a link equally."""

from __future__ import annotations

from collections.abc import Mapping

from elephan.theory.elastic import in_progress, mean_in_progress, mean_response, more_in_progress
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Values
from elephan.theory.response import Floats


def _table(v: Values) -> Mapping[str, Floats]:
    return {
        "mean_flows": mean_in_progress(v["load"]),
        "chance": in_progress(v["load"], v["flows"]),
        "chance_of_more": more_in_progress(v["load"], v["flows"]),
        "response_s": mean_response(v["size"], v["rate"], v["load"]),
        "flow_rate_bps": v["rate"] * (1 - v["load"]),
    }


MODEL = Model(
    name="processor-sharing",
    title="Processor sharing: transfers that share a link equally",
    source="AugeRoberts2006",
    says=(
        "How many transfers are in progress, how often more than a given number, and how long one takes on average; "
        "for any distribution of sizes if sessions start as a Poisson process."
    ),
    fails=(
        "Slow start, round trips and losses are left out: short transfers take several round trips however empty the "
        "link is.",
        "TCP does not share equally among different RTTs.",
    ),
    parameters={
        "load": ModelParameter("0..0.9:10", "1", "offered load over what the flows share", within="[0, 1)"),
        "flows": ModelParameter("4", "1", "so many in progress", within="[0, inf)"),
        "size": ModelParameter("1 MB", "B", "of the transfer", within="(0, inf)"),
        "rate": ModelParameter("50 Mbit/s", "bit/s", "what the flows share", within="(0, inf)"),
    },
    columns={
        "mean_flows": ModelColumn("1", "mean number in progress"),
        "chance": ModelColumn("1", "chance of exactly so many"),
        "chance_of_more": ModelColumn("1", "chance of more than so many"),
        "response_s": ModelColumn("s", "mean time that the transfer takes"),
        "flow_rate_bps": ModelColumn("bit/s", "size over that time"),
    },
    compute=_table,
    picture=ModelPicture("load", ("chance", "chance_of_more"), "", "chance"),
)
