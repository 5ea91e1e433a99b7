"""Results of a model for a link of a network, for one or more buffers, in a table like that for given parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from elephan.errors import InputError
from elephan.network import Network
from elephan.theory.models.bottleneck import Bottleneck, bottleneck
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, ModelTable, Values
from elephan.theory.models.senders import doubts
from elephan.theory.response import Floats

COLUMNS = {
    "utilization": ModelColumn("1", "share of the rate that is used"),
    "loss_ratio": ModelColumn("1", "dropped over arrived"),
    "queueing_delay_s": ModelColumn("s", "mean wait"),
    "backlog_packets": ModelColumn("packets", "mean queue"),
    "period_s": ModelColumn("s", "between two overflows"),
}
"""Columns of the table for a link; `period_s` is omitted for models without periods."""


def suited(model: Model, network: Network, link: int) -> Bottleneck:
    """Reduce a link to a model's view of it, or raise an error if the model does not apply.

    Raises
    ------
    InputError
        If the model does not predict links, or does not apply to this link.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import MODELS
    >>> suited(MODELS["sawtooth"], Scenario.from_text(EXAMPLE).network, 0).law
    'reno'
    """
    where = f"{network.origin}: link {network.links[link].name}"
    if model.predict is None:
        raise InputError(f"{model.name}: is no model of a scenario's link; give its own parameters with --set")
    seen = bottleneck(network, link)
    reason = "it limits no long-lived TCP flow" if seen is None else model.unsuited(seen)
    if seen is None or reason:
        raise InputError(f"{where}: the model {model.name} does not apply: {reason}")
    return seen


def table(model: Model, network: Network, link: int, given: Mapping[str, str]) -> ModelTable:
    """Compute a model's table for a link.

    Parameters
    ----------
    given : mapping of str to str
        ``buffer``: a value, list or range; by default a range from 1 % to 200 % of the bandwidth-delay product. For a
        model with its own table for a link: any of its parameters, instead of the scenario's values.

    Raises
    ------
    InputError
        For the reasons of `suited`, or if a given name is not a parameter.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import MODELS
    >>> found = table(MODELS["sawtooth"], Scenario.from_text(EXAMPLE).network, 0, {"buffer": "25,100"})
    >>> found.columns["utilization"].round(2).tolist()
    [0.89, 1.0]
    """
    if model.predict is None and model.from_link is not None:
        return _own_table(model, network, link, given)
    seen, predict = suited(model, network, link), model.predict
    assert predict is not None  # `suited` has checked it
    low, high = max(1, round(seen.bdp / 100)), max(4, round(2 * seen.bdp))

    def compute(values: Values) -> Mapping[str, Floats]:
        buffers = np.asarray(values["buffer"], dtype=float)
        if not (buffers >= 1).all():
            raise InputError(f"buffer: {buffers.min():g} packets is too small; give at least 1")
        found = predict(seen, buffers)
        computed = found._asdict() | {"backlog_packets": found.queueing_delay_s * seen.rate}
        return {name: computed[name] for name in columns}

    buffer = ModelParameter(f"{low}..{high}:15", "packets", f"of link {seen.name}", bdp=seen.bdp)
    most = max(buffer.read("buffer", given.get("buffer", buffer.default)))
    found = tuple(doubts(model, seen, float(most)))
    knows_period = predict(seen, np.array([seen.bdp])).period_s is not None
    columns = {name: column for name, column in COLUMNS.items() if name != "period_s" or knows_period}
    return replace(
        model,
        title=f"{model.title}; link {seen.name} of {network.title}",
        parameters={"buffer": buffer},
        columns=columns,
        compute=compute,
        fails=(*found, *model.fails),
        picture=ModelPicture("buffer", ("utilization",), "x"),
    ).table(given)


def _own_table(model: Model, network: Network, link: int, given: Mapping[str, str]) -> ModelTable:
    """Compute a model's own table, with a link's values as defaults."""
    assert model.from_link is not None  # `table` has checked it
    name = network.links[link].name
    if not network.links[link].flows:
        raise InputError(f"{network.origin}: link {name}: no flow sends data over it; give another link")
    values = model.from_link(network, link)
    parameters = {key: replace(row, default=values.get(key, row.default)) for key, row in model.parameters.items()}
    title = f"{model.title}; link {name} of {network.title}"
    return replace(model, title=title, parameters=parameters).table(given)


def rate(bps: float) -> str:
    """Format a rate as a parameter, with all digits.

    Parameters
    ----------
    bps : float [bit/s]

    Examples
    --------
    >>> rate(1e9)
    '1000000000 bit/s'
    """
    return f"{bps:.0f} bit/s"


def time(s: float) -> str:
    """Format a time as a parameter, to the picosecond.

    Parameters
    ----------
    s : float [s]

    Examples
    --------
    >>> time(0.12)
    '120000000000 ps'
    """
    return f"{1e12 * s:.0f} ps"
