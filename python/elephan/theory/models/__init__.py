"""Every analytic model by name: its card, its table, and its prediction for a link. One file each."""

from elephan.errors import InputError, suggest
from elephan.theory.models import (
    convergence,
    delay_based,
    droptail_fixed_point,
    engset,
    fluid,
    gaussian,
    hstcp,
    hstcp_window,
    loss_share,
    mixed,
    poisson_loss,
    processor_sharing,
    queue_bound,
    recovery_time,
    red_fixed_point,
    response,
    rules,
    sawtooth,
    small_buffer,
    staggered,
)
from elephan.theory.models.bottleneck import Bottleneck, bottleneck
from elephan.theory.models.card import Model, ModelColumn, ModelParameter, ModelPicture, ModelTable, Prediction

__all__ = [
    "MODELS",
    "Bottleneck",
    "Model",
    "ModelColumn",
    "ModelParameter",
    "ModelPicture",
    "ModelTable",
    "Prediction",
    "bottleneck",
    "model",
]


MODELS: dict[str, Model] = {
    module.MODEL.name: module.MODEL
    for module in (
        response,
        hstcp,
        hstcp_window,
        sawtooth,
        staggered,
        droptail_fixed_point,
        red_fixed_point,
        gaussian,
        small_buffer,
        delay_based,
        fluid,
        rules,
        queue_bound,
        processor_sharing,
        poisson_loss,
        mixed,
        engset,
        recovery_time,
        loss_share,
        convergence,
    )
}
"""Models by name, in the order of the catalogue."""


def model(name: str) -> Model:
    """Find a model.

    Parameters
    ----------
    name : str

    Returns
    -------
    Model

    Raises
    ------
    InputError
        If there is no model of this name.

    Examples
    --------
    >>> model("sawtooth").name
    'sawtooth'
    """
    if name not in MODELS:
        raise InputError(f'model: there is no "{name}"; {suggest(name, MODELS)}')
    return MODELS[name]
