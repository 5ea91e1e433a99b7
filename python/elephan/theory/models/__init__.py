"""Every analytic model by name: its card, its table, and its prediction for a link. Each model has its own file."""

from importlib import import_module

from elephan.errors import InputError, suggest
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


_MODULES = (
    "response",
    "hstcp",
    "hstcp_window",
    "sawtooth",
    "staggered",
    "droptail_fixed_point",
    "red_fixed_point",
    "gaussian",
    "small_buffer",
    "delay_based",
    "fluid",
    "rules",
    "queue_bound",
    "processor_sharing",
    "poisson_loss",
    "mixed",
    "engset",
    "recovery_time",
    "loss_share",
    "convergence",
)

_FOUND: tuple[Model, ...] = tuple(import_module(f"{__name__}.{name}").MODEL for name in _MODULES)

MODELS: dict[str, Model] = {model.name: model for model in _FOUND}
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
        If the model does not exist.

    Examples
    --------
    >>> model("sawtooth").name
    'sawtooth'
    """
    if name not in MODELS:
        raise InputError(f'model: there is no "{name}"; {suggest(name, MODELS)}')
    return MODELS[name]
