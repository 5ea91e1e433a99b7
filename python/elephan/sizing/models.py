"""Predictions of the analytic models for a link: the smallest buffer by each, and its error once it is simulated.

A model predicts only where it applies (`unsuited`); its assumptions that are violated are reported with it (`doubts`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elephan.accuracy import NearbyErrors, largest_error, level, nearby
from elephan.errors import InputError
from elephan.network import Network, NetworkLink
from elephan.sizing.curve import BufferCurve
from elephan.sizing.rows import MEASURED, PREDICTED, buffer_row
from elephan.sizing.suggest import ANSWER, PER_FLOW, SUGGESTED, BufferSuggestion, less_than_one_each
from elephan.sizing.targets import Target
from elephan.theory.models import MODELS, bottleneck
from elephan.theory.models.bottleneck import Bottleneck
from elephan.theory.models.card import Model, Prediction
from elephan.theory.models.senders import doubts
from elephan.theory.response import Floats
from elephan.units import count, format_packets

if TYPE_CHECKING:
    from elephan.sizing.documents import BufferRow, ModelErrors, PredictionDocument

POINTS = 41
"""Number of buffers at which a model is evaluated; neighbours differ by a third on a long fat path."""

REACH_BDP = 2.0
"""Largest buffer at which a model is evaluated, in bandwidth-delay products; one BDP suffices for a law that halves."""


@dataclass(frozen=True)
class ModelPrediction:
    """Prediction of one model for a link.

    Parameters
    ----------
    not_applicable : str
        Reason if it does not apply; then all of the following is empty.
    doubts : tuple of str
        Assumptions of the model that do not hold here.
    buffer_packets : int or None [packets]
        Smallest buffer with which it meets all floors; None if none does, or it does not predict a metric.
    buffers : ndarray [packets], shape (points,)
    near : NearbyErrors or None
        Error of the model in the simulations nearest to its answer, or else nearest to the scenario's buffer.
    """

    model: Model
    not_applicable: str
    doubts: tuple[str, ...]
    buffer_packets: int | None
    buffers: Floats
    curve: Prediction
    near: NearbyErrors | None
    link: Bottleneck | None

    def holds(self, buffer: float) -> bool:
        """Return whether it was within the last of `elephan.accuracy.LEVELS` in the runs nearest to a buffer.

        Parameters
        ----------
        buffer : float [packets]

        Returns
        -------
        bool
            False if its error was larger, or it was not checked there.
        """
        return self.link is not None and math.isfinite(level(largest_error(self.model.name, self.link, buffer)))

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """Mask of the points where the model `holds` along its curve, shape (points,)."""
        # Computed on first use: all models together take a tenth of a second, and only files and pages need it.
        return np.array([self.holds(float(buffer)) for buffer in self.buffers], dtype=bool)

    def at(self, buffer: float, metric: str) -> float | None:
        """Read its curve of a metric at a buffer.

        Parameters
        ----------
        buffer : float [packets]
        metric : str
            Field of `BufferSample`.

        Returns
        -------
        float or None
            Interpolated in the logarithm of the buffer; None outside the range of the curve.
        """
        values = getattr(self.curve, metric, None)
        if values is None:
            return None  # no model predicts fairness
        return _between(self.buffers, values, buffer)


def _between(buffers: Floats, values: Floats, buffer: float) -> float | None:
    known = np.isfinite(values)
    if not known.any() or not buffers[known][0] <= buffer <= buffers[known][-1]:
        return None
    return float(np.interp(math.log(buffer), np.log(buffers[known]), values[known]))


def predicted_at(curves: Mapping[str, Floats], buffer: float, metric: str) -> float | None:
    """Read a model's curve of a metric at a buffer, as `ModelPrediction.at` does, if the model is trusted there.

    Parameters
    ----------
    curves : mapping of str to ndarray
        Columns of ``models.parquet`` of the model.
    buffer : float [packets]
    metric : str
        Name of the column.

    Returns
    -------
    float or None
        None if it was not within the last of `elephan.accuracy.LEVELS` at the nearest buffer of its curve, too.
    """
    buffers = curves["buffer_packets"]
    if not buffers.size or not curves["held"][np.argmin(np.abs(np.log(buffers / buffer)))]:
        return None
    return _between(buffers, curves[metric], buffer)


def ask(network: Network, link: int, targets: Sequence[Target]) -> dict[str, ModelPrediction]:
    """Evaluate every model of a link.

    Returns
    -------
    dict of str to ModelPrediction
        In the order of the catalogue.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.sizing.targets import parse_targets
    >>> predictions = ask(Scenario.from_text(EXAMPLE).network, 0, parse_targets("utilization=0.95"))
    >>> predictions["sawtooth"].buffer_packets
    44
    """
    of_links = {name: model for name, model in MODELS.items() if model.predict is not None}
    seen = bottleneck(network, link)
    if seen is None:
        reason = "the link limits no long-lived TCP flow"
        return {name: _not_applicable(model, reason) for name, model in of_links.items()}
    return {name: _ask(model, seen, targets) for name, model in of_links.items()}


def _not_applicable(model: Model, reason: str) -> ModelPrediction:
    nothing = np.empty(0)
    return ModelPrediction(model, reason, (), None, nothing, Prediction(nothing, nothing, nothing), None, None)


def _ask(model: Model, seen: Bottleneck, targets: Sequence[Target]) -> ModelPrediction:
    if reason := model.unsuited(seen):
        return _not_applicable(model, reason)
    assert model.predict is not None  # only those are asked
    buffers = np.unique(np.round(np.geomspace(1, max(REACH_BDP * seen.bdp, 16), POINTS)))
    try:
        found = model.predict(seen, buffers)
        empty = np.flatnonzero(np.isnan(found.utilization))
        if 0 < empty.size < buffers.size and empty[-1] == empty.size - 1:
            # It begins to apply between two buffers that differ by a third: evaluate it at more buffers between them.
            first, last = buffers[empty.size - 1], buffers[empty.size]
            buffers = np.union1d(buffers, np.round(np.geomspace(first, last, POINTS)))
            found = model.predict(seen, buffers)
    except InputError as error:
        # If a model cannot compute something, the simulation still can.
        return _not_applicable(model, str(error))
    packets = _smallest(buffers, found, targets)
    where = packets or seen.buffer_packets or seen.bdp
    return ModelPrediction(
        model, "", tuple(doubts(model, seen, where)), packets, buffers, found, nearby(model.name, seen, where), seen
    )


def _smallest(buffers: Floats, prediction: Prediction, targets: Sequence[Target]) -> int | None:
    crossings = [
        _crossing(buffers, getattr(prediction, target.metric), target) for target in targets if target.is_floor
    ]
    smallest = max(crossings, default=math.inf)
    return math.ceil(smallest) if math.isfinite(smallest) else None


def expected(prediction: ModelPrediction, targets: Sequence[Target]) -> int | None:
    """Buffer at which the answer is expected: the model's, corrected by its mean error in the runs nearest to it.

    Returns
    -------
    int or None [packets]
    """
    if prediction.near is None or not prediction.near.checked:
        return prediction.buffer_packets
    mended = prediction.curve._replace(utilization=prediction.curve.utilization - prediction.near.mean / 100)
    return _smallest(prediction.buffers, mended, targets) or prediction.buffer_packets


def _crossing(buffers: Floats, values: Floats, floor: Target) -> float:
    """Smallest buffer at which a curve meets a floor, interpolated in the logarithm; infinite if it never does."""
    known = np.isfinite(values)
    b, v = buffers[known], values[known]
    meets = np.array([floor.meets(float(value)) for value in v], dtype=bool)
    if not meets.any():
        return math.inf
    k = int(np.argmax(meets))
    if k == 0:
        return float(b[0])
    part = (floor.level - v[k - 1]) / (v[k] - v[k - 1])
    return float(b[k - 1] * (b[k] / b[k - 1]) ** part)


def verdict(prediction: ModelPrediction, buffer: int | None, curve: BufferCurve) -> ModelErrors:
    """Return the errors of a model in comparison with the simulations of the link.

    Parameters
    ----------
    buffer : int or None [packets]
        The answer.
    curve : BufferCurve
        Measured curve; empty if nothing was simulated.

    Returns
    -------
    dict
        ``buffer_ratio`` (its buffer over the answer), ``utilization_points`` (its utilization minus the measured one
        at the answer, in points), ``worst_points`` (the largest such difference over the measured buffers); null if
        a value is missing.
    """
    measured = {b: curve.estimate(b, "utilization").mean for b in curve.buffers}
    off = {b: 100 * (u - mean) for b, mean in measured.items() if (u := prediction.at(b, "utilization")) is not None}
    own = prediction.buffer_packets
    return {
        "buffer_ratio": own / buffer if own is not None and buffer and measured else None,
        "utilization_points": off.get(buffer) if buffer is not None else None,
        "worst_points": max(off.values(), key=abs, default=None),
    }


def prediction_rows(
    predictions: Mapping[str, ModelPrediction], buffer: int | None, curve: BufferCurve
) -> dict[str, PredictionDocument]:
    """Return the predictions of each model at the answer, and its errors, as in JSON.

    Parameters
    ----------
    buffer, curve : int or None and BufferCurve
        As in `verdict`.

    Returns
    -------
    dict of str to dict
    """
    return {name: _document(prediction, buffer, curve) for name, prediction in predictions.items()}


def _document(prediction: ModelPrediction, buffer: int | None, curve: BufferCurve) -> PredictionDocument:
    at = {metric: None if buffer is None else prediction.at(buffer, metric) for metric in PREDICTED}
    return {
        "buffer_packets": prediction.buffer_packets,
        "utilization": at["utilization"],
        "loss_ratio": at["loss_ratio"],
        "queueing_delay_s": at["queueing_delay_s"],
        "off": verdict(prediction, buffer, curve),
        "near": prediction.near.to_json() if prediction.near is not None else None,
        "silent": prediction.not_applicable,
        "doubts": list(prediction.doubts),
        "fails": list(prediction.model.fails),
    }


def predicted_rows(
    prediction: ModelPrediction, link: Mapping[str, Any], buffers: Iterable[int]
) -> dict[int, BufferRow]:
    """Return a model's predictions for buffers, in the form of `elephan.sizing.rows.measured_rows`.

    Parameters
    ----------
    link : mapping
        Facts of the link.
    buffers : iterable of int [packets]

    Returns
    -------
    dict of int to dict
        Without groups.
    """
    rows = {}
    for buffer in buffers:
        quantities: Any = {metric: {"mean": prediction.at(buffer, metric), "ci95": None} for metric in MEASURED}
        rows[buffer] = buffer_row(link, buffer, 0, quantities, [])
    return rows


def trusted(predictions: Mapping[str, ModelPrediction]) -> str | None:
    """Choose the model whose buffer the search starts from.

    Returns
    -------
    str or None
        The one with the smallest error in simulations near its own answer. Models that were not checked there come
        last, ordered by the number of violated assumptions. None if no model predicts a buffer.
    """
    able = {name: one.near for name, one in predictions.items() if one.buffer_packets is not None}
    off = {name: near.largest if near is not None and near.checked else math.inf for name, near in able.items()}
    return min(off, key=lambda name: (off[name], len(predictions[name].doubts)), default=None)


def by_model(
    predictions: Mapping[str, ModelPrediction], chosen: str | None, targets: Sequence[Target]
) -> tuple[int | None, str]:
    """Answer without simulating.

    Parameters
    ----------
    chosen : str or None
        Result of `trusted`.

    Returns
    -------
    int or None [packets]
        None if no model applies to this link and these targets, if the model was not within the last of
        `elephan.accuracy.LEVELS` of simulations of such links, or if its own delay at that buffer violates a target.
    str
        Remark on the answer.

    Raises
    ------
    InputError
        If none of the targets bounds the buffer from below.
    """
    if not any(target.is_floor for target in targets):
        message = "target: delay alone is met by the smallest buffer there is; for a model, add utilization or loss"
        raise InputError(message)
    if chosen is None:
        return None, f"no model says how large this buffer must be; leave out --model-only: {_reasons(predictions)}"
    buffer, near = predictions[chosen].buffer_packets, predictions[chosen].near
    assert buffer is not None  # so it was chosen
    if near is None or not math.isfinite(near.level):
        return None, _no_headline(predictions, near)
    values = {target: predictions[chosen].at(buffer, target.metric) for target in targets}
    violated = [t for t, value in values.items() if value is not None and not t.is_floor and not t.meets(value)]
    unsaid = [str(target) for target, value in values.items() if value is None]
    note = f"by the model {chosen}; nothing was simulated"
    if unsaid:
        note += f", and it does not predict {', '.join(unsaid)}"
    if violated:
        return (
            None,
            f"{note}: the buffer that it asks for, {format_packets(buffer)}, violates {', '.join(map(str, violated))}",
        )
    return buffer, note


def model_range(predictions: Mapping[str, ModelPrediction]) -> tuple[int, int] | None:
    """Return the smallest and the largest buffer that the models predict.

    Returns
    -------
    tuple of int [packets] or None
        None if no model predicts a buffer.
    """
    said = [one.buffer_packets for one in predictions.values() if one.buffer_packets is not None]
    return (min(said), max(said)) if said else None


def _no_headline(predictions: Mapping[str, ModelPrediction], near: NearbyErrors | None) -> str:
    """Explain why the models' buffers are not given as an answer: none was accurate enough for links like this."""
    said = sorted((one.buffer_packets, name) for name, one in predictions.items() if one.buffer_packets is not None)
    why = "none of them was compared with simulations of such links"
    if near is not None and near.checked:
        why = "none of them is within 10 points of the simulations of such links"
    if len(said) == 1:
        buffer = format_packets(said[0][0])
        return f"only {said[0][1]} says a buffer, {buffer}, and it {_singular(why)}; leave out --model-only"
    (least, low), (most, high) = said[0], said[-1]
    return f"models say {least} ({low}) to {format_packets(most)} ({high}), and {why}; leave out --model-only"


def _singular(why: str) -> str:
    return why.replace("none of them was", "was not").replace("none of them is", "is not")


def suggest_by_model(
    predictions: Mapping[str, ModelPrediction], chosen: str | None, buffer: int | None, link: NetworkLink
) -> BufferSuggestion:
    """Return the buffer to deploy by a model alone: its answer, but at least one packet for each flow.

    Parameters
    ----------
    chosen : str or None
        Result of `trusted`.
    buffer : int or None [packets]
        Result of `by_model`.
    """
    if buffer is None or chosen is None:
        return BufferSuggestion(None, "", (), (), {})
    flows = link.flows_per_member
    if buffer >= flows:
        return BufferSuggestion(buffer, "", (), (), {buffer: (ANSWER, SUGGESTED)})
    less = f"a buffer of {format_packets(buffer)} holds less than one for each of the {count(flows, 'flow')}"
    # At this other buffer the model may not have been compared with simulations.
    if not predictions[chosen].holds(flows):
        return BufferSuggestion(None, "", (less,), (), {buffer: (ANSWER,)})
    why = less_than_one_each(buffer, flows)
    return BufferSuggestion(flows, why, (less,), (), {buffer: (ANSWER,), flows: (PER_FLOW, SUGGESTED)})


def _reasons(predictions: Mapping[str, ModelPrediction]) -> str:
    """Explain why no model predicts a buffer; models with the same reason share a phrase."""
    shared: dict[str, list[str]] = {}
    for name, one in predictions.items():
        reason = one.not_applicable or "no buffer is enough, or a target is not predicted"
        shared.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in shared.items())
