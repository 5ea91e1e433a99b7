"""Model `poisson-loss`: loss of a small buffer under traffic that the link does not limit, as a bound and exactly."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elephan.theory.elastic import drain_time, load_for_loss, loss
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, Values
from elephan.theory.response import Floats


def _table(v: Values) -> Mapping[str, Floats]:
    below = v["load"] < 1
    bound = np.where(below, loss(np.where(below, v["load"], 0.0), v["buffer"]), np.nan)
    return {
        "bound": bound,
        "mm1k": loss(v["load"], v["buffer"], "M/M/1/K"),
        "md1k": loss(v["load"], v["buffer"], "M/D/1/K"),
        "load_for_target": load_for_loss(v["target"], v["buffer"]),
        "drain_s": drain_time(v["buffer"], v["packet"], v["rate"]),
    }


MODEL = Model(
    name="poisson-loss",
    title="Loss of Poisson packets at a small buffer",
    source="AugeRoberts2006",
    says=(
        "Loss ratio at a buffer while all flows are limited elsewhere: rho^n, exactly for exponential and for equal "
        "packet sizes; the load at which rho^n is a target; and the time to send what a full buffer holds."
    ),
    fails=(
        "The paper prints 71 % as the load at which 20 packets lose 0.01: rho^n is 0.001 there. It is 79.4 % for 0.01.",
        "rho^n is the tail of an unlimited queue: too large by almost 1/(1 - rho) for exponential packet sizes, by "
        "more for equal ones; above a load of 1 it says nothing.",
        "TCP flows that the link itself holds back come in bursts and lose far more.",
    ),
    parameters={
        "load": ModelParameter(
            "0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95",
            "1",
            "packets that arrive per service time",
            within="[0, inf)",
        ),
        "buffer": ModelParameter("20,100", "packets", "places, the one in service included", within="[1, 4096]"),
        "target": ModelParameter("0.01", "1", "loss ratio that may be", within="(0, 1)"),
        "packet": ModelParameter("500 B", "B", "size of a packet", within="(0, inf)"),
        "rate": ModelParameter("2.5 Gbit/s", "bit/s", "of the link", within="(0, inf)"),
    },
    columns={
        "bound": ModelColumn("1", "loss ratio, rho^n"),
        "mm1k": ModelColumn("1", "loss ratio, M/M/1/K"),
        "md1k": ModelColumn("1", "loss ratio, M/D/1/K"),
        "load_for_target": ModelColumn("1", "load at which rho^n is the target"),
        "drain_s": ModelColumn("s", "time to send a full buffer"),
    },
    compute=_table,
    picture=ModelPicture("load", ("bound", "mm1k", "md1k"), "y", "loss ratio"),
)
