"""Every analytic model by name: its card, its table, what it predicts for a link. One file each."""

from elephan.errors import InputError
from elephan.theory.models import delay_based, hstcp, sawtooth
from elephan.theory.models.bottleneck import Bottleneck, bottleneck
from elephan.theory.models.card import Column, Model, Parameter, Picture, Prediction, Table

__all__ = [
    "MODELS",
    "Bottleneck",
    "Column",
    "Model",
    "Parameter",
    "Picture",
    "Prediction",
    "Table",
    "bottleneck",
    "model",
]

MODELS: dict[str, Model] = {
    module.MODEL.name: module.MODEL
    for module in (
        delay_based,
        hstcp,
        sawtooth,
    )
}
"""In the order of the catalogue."""


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
        If there is none of this name.

    Examples
    --------
    >>> model("sawtooth").name
    'sawtooth'
    """
    if name not in MODELS:
        message = f'model: there is no "{name}"; use {", ".join(MODELS)}'
        raise InputError(message)
    return MODELS[name]
