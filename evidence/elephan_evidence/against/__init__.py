"""Comparison of every model with packets: closed form, numerical integration and simulation of the same quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elephan.errors import InputError
from elephan_evidence.against import buffers, elastic, fluid, recovery, windows
from elephan_evidence.against.entry import ExtraColumn, ModelTest, simulated, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from elephan.theory.models import Model, ModelTable

__all__ = ["AGAINST", "WITHOUT", "ExtraColumn", "ModelTest", "against", "simulate", "simulated", "spread"]

AGAINST: dict[str, ModelTest] = {
    entry.model: entry
    for entry in (
        windows.RESPONSE,
        windows.HSTCP,
        windows.HSTCP_WINDOW,
        buffers.SAWTOOTH,
        buffers.STAGGERED,
        buffers.DROPTAIL,
        buffers.RED,
        buffers.GAUSSIAN,
        buffers.SMALL,
        buffers.BACKLOG_TARGET,
        fluid.FLUID,
        buffers.QUEUE_BOUND,
        elastic.PROCESSOR_SHARING,
        elastic.POISSON_LOSS,
        elastic.MIXED,
        elastic.ENGSET,
        recovery.RECOVERY_TIME,
        recovery.LOSS_SHARE,
    )
}
"""Comparisons by model, in the order of the catalogue."""

WITHOUT: dict[str, str] = {
    "rules": (
        "a rule gives a buffer and does not say what that buffer brings, so there is nothing that a run could confirm; "
        "`elephan size` simulates the link and puts the rules beside its answer"
    ),
    "convergence": (
        "a condition on pairs of rates and RTTs, yes or no, and no quantity of a run; the rates that it is about "
        "are those of loss-share, which is simulated"
    ),
}
"""Reasons why the other models are not compared."""


def against(model: str) -> ModelTest:
    """Find the comparison of a model with packets.

    Parameters
    ----------
    model : str

    Returns
    -------
    ModelTest

    Raises
    ------
    InputError
        If there is no such comparison; the message says why.

    Examples
    --------
    >>> against("rules")
    Traceback (most recent call last):
    elephan.errors.InputError: --simulate: rules: a rule gives a buffer ...
    """
    if model not in AGAINST:
        message = f"--simulate: {model}: {WITHOUT.get(model, 'no scenario was made for it')}"
        raise InputError(message)
    return AGAINST[model]


def simulate(
    model: Model, given: Mapping[str, str], progress: Callable[[int, int], None] | None = None
) -> tuple[ModelTable, ModelTable, dict[str, Any]]:
    """Simulate some rows of a model's table, for ``elephan model NAME --simulate``.

    Parameters
    ----------
    model : Model
    given : mapping of str to str
        Parameters that differ from the defaults of the comparison.
    progress : callable, optional
        Called with (runs done, total runs) after each.

    Returns
    -------
    ModelTable, ModelTable, dict
        The whole table, its simulated rows, and the description of the simulation for the document.

    Raises
    ------
    InputError
        If there is no comparison of this model, or a parameter is wrong.
    """
    entry = against(model.name)
    table = entry.simulate(model.table({**entry.given, **given}), progress)
    return table, simulated(table), {"simulation": entry.to_json()}
