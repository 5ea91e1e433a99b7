"""What a model says of a link of a scenario, for one buffer or many: the same table as for given parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from elephan.errors import InputError
from elephan.theory.models.bottleneck import Bottleneck, bottleneck
from elephan.theory.models.card import Column, Parameter, Picture

if TYPE_CHECKING:
    from collections.abc import Mapping

    from elephan.scenario import Scenario
    from elephan.theory.models.card import Model, Table, Values
    from elephan.theory.response import Floats

COLUMNS = {
    "utilization": Column("1", "share of the rate that is used"),
    "loss_ratio": Column("1", "dropped over arrived"),
    "queueing_delay_s": Column("s", "mean wait"),
}


def suited(model: Model, scenario: Scenario, link: int) -> Bottleneck:
    """See a link as a model does, or say why the model cannot speak of it.

    Parameters
    ----------
    model : Model
    scenario : Scenario
    link : int

    Returns
    -------
    Bottleneck

    Raises
    ------
    InputError
        If the model says nothing of links, or nothing of this one.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import MODELS
    >>> suited(MODELS["sawtooth"], Scenario.from_text(EXAMPLE), 0).law
    'reno'
    """
    where = f"{scenario.origin}: link {scenario.links[link]['name']}"
    if model.predict is None:
        message = f"{model.name}: says nothing of a scenario's link; give its own parameters with --set"
        raise InputError(message)
    seen = bottleneck(scenario, link)
    reason = "it limits no long-lived TCP flow" if seen is None else model.unsuited(seen)
    if seen is None or reason:
        message = f"{where}: the model {model.name} cannot speak of it: {reason}"
        raise InputError(message)
    return seen


def table(model: Model, scenario: Scenario, link: int, given: Mapping[str, str]) -> Table:
    """Compute what a model says of a link.

    Parameters
    ----------
    model : Model
    scenario : Scenario
    link : int
    given : mapping of str to str
        ``buffer``: a value, list or range; by default from a hundredth of the bandwidth-delay product to its double.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        As in `suited`, or if something else than ``buffer`` is given.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import MODELS
    >>> found = table(MODELS["sawtooth"], Scenario.from_text(EXAMPLE), 0, {"buffer": "25,100"})
    >>> found.columns["utilization"].round(2).tolist()
    [0.89, 1.0]
    """
    seen = suited(model, scenario, link)
    low, high = max(1, round(seen.bdp / 100)), max(4, round(2 * seen.bdp))

    def compute(values: Values) -> Mapping[str, Floats]:
        assert model.predict is not None  # `suited` has seen to it
        buffers = np.asarray(values["buffer"], dtype=float)
        if not (buffers >= 1).all():
            message = f"buffer: {buffers.min():g} packets is too small; give at least 1"
            raise InputError(message)
        return model.predict(seen, buffers)._asdict()

    buffer = Parameter(f"{low}..{high}:15", "packets", f"of link {seen.name}")
    doubts = tuple(model.doubts(seen))
    return replace(
        model,
        title=f"{model.title}; link {seen.name} of {scenario.title}",
        parameters={"buffer": buffer},
        columns=COLUMNS,
        compute=compute,
        fails=(*doubts, *model.fails),
        picture=Picture("buffer", ("utilization",), "x"),
    ).table(given)
