"""Size the buffer of a link: the smallest that meets all targets, its confidence interval, and the measured curve."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elephan.errors import ScenarioError
from elephan.network import NetworkLink
from elephan.own_laws import LawSource
from elephan.runs.warmup import settle_warmup
from elephan.scenario import Scenario
from elephan.sizing.answer import NoModelError, SizeAnswer
from elephan.sizing.comparison import SizeComparison, size_variants
from elephan.sizing.curve import BufferCurve
from elephan.sizing.deployment import Deployment, deployment
from elephan.sizing.inverse import LimitAnswer, size_limit
from elephan.sizing.limits import SENDERS, LinkLimit, held_by_windows, held_elsewhere, too_short, why_not
from elephan.sizing.measuring import LinkSimulations, prepared
from elephan.sizing.pacing import BOTH, check_pacing, with_pacing
from elephan.sizing.recommend import misses, nearest
from elephan.sizing.rows import measured_rows
from elephan.sizing.rules import broken, rules
from elephan.sizing.search import Search, SearchProgress
from elephan.sizing.suggest import PER_FLOW, SMALL, BufferSuggestion, standard_buffers
from elephan.sizing.suggest import suggest as suggest_buffer
from elephan.sizing.targets import BufferSample, Target
from elephan.units import format_packets, format_rate

if TYPE_CHECKING:
    from elephan.sizing.documents import BufferRow, PredictionDocument
    from elephan.sizing.models import ModelPrediction

__all__ = ["LimitAnswer", "SizeAnswer", "SizeComparison", "size", "size_limit", "size_variants"]


GRID_BDP = (1 / 256, 2.0)
"""First grid, in bandwidth-delay products."""

STANDARD_REPLICATIONS = 3
"""Replications of the standard buffers that an answer is compared with, or the scenario's number if that is smaller."""

LARGEST_BDP = 16.0
"""Largest buffer that the search tries, in bandwidth-delay products."""


def size(
    scenario: Scenario | str | Path,
    target: str | Iterable[str] | Mapping[str, float | str],
    *,
    link: str | None = None,
    precision: float = 0.05,
    replications: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    progress: Callable[[SearchProgress], None] | None = None,
    on_sample: Callable[[int, int, BufferSample], None] | None = None,
    whole_curve: bool = False,
    model_only: bool = False,
    pacing: str | None = None,
    laws: Mapping[str, LawSource] | None = None,
) -> SizeAnswer:
    """Find the smallest buffer of a link that meets all targets.

    Parameters
    ----------
    scenario : Scenario or path
    target : str, iterable of str, or mapping
        ``"utilization=0.95"``, ``"loss=0.1%"``, ``"delay=10ms"``, ``"fairness=0.9"`` (Jain's index),
        ``"delay_p95=20ms"``, or of a group of pings or of cbr ``"rtt_p95[ping]=50ms"``, ``"delay_p95[voice]=20ms"``;
        met when the mean over replications meets it.
    link : str, optional
        Name of the link; the first that carries data by default.
    precision : float [1]
        Precision of the search, as a share of the buffer.
    replications, seed : int, optional
        Replace those of the file.
    workers : int, optional
        Threads; the answer does not depend on it. As many as there are cores by default.
    progress : callable, optional
        Called after every run.
    on_sample : callable, optional
        Called with the buffer [packets], the replication and its sample after every run.
    whole_curve : bool
        Measure a grid of buffers up to twice the bandwidth-delay product, and not only those around the answer.
    model_only : bool
        Simulate nothing; answer by the analytic model that was nearest to simulations of similar links.
    pacing : str, optional
        ``"none"``, ``"linux"`` or ``"quic"``: all TCP senders space their segments in this way, whatever the file says.
        ``"both"``: the answer for the file as it is; its ``paced`` is the answer with Linux's pacing.
    laws : mapping of str to class or path, optional
        Laws in Python, as in `elephan.run`.

    Returns
    -------
    SizeAnswer

    Raises
    ------
    InputError
        If the scenario, the link, the target, the precision or the pacing cannot be used.

    Notes
    -----
    Utilization rises with the buffer and loss falls, so these bound the buffer from below and decide it. Delay rises
    with it: a delay target is checked at the buffer found, and when it is violated no buffer meets all. Fairness may do
    either: it is checked there, too, and the note gives the fairness of larger measured buffers.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE
    >>> answer = size(Scenario.from_text(EXAMPLE), "utilization=0.8", replications=2)
    >>> answer.to_json()["link"]
    'core'
    """
    check_pacing(pacing)
    read, index, targets = prepared(scenario, target, link, precision, replications, seed, laws)
    own = read if pacing in (None, BOTH) else with_pacing(read, pacing)
    answers = [
        _answer_by_model(each, index, targets)
        if model_only
        else _answer(each, index, targets, precision, workers, progress, on_sample, whole_curve=whole_curve)
        for each in ([own, with_pacing(read, "linux")] if pacing == BOTH else [own])
    ]
    return replace(answers[0], paced=answers[1]) if pacing == BOTH else answers[0]


def _answer_by_model(scenario: Scenario, index: int, targets: tuple[Target, ...]) -> SizeAnswer:
    """Implement `size` without simulation, for one setting of pacing."""
    from elephan.sizing.models import ask, by_model, suggest_by_model, trusted  # noqa: PLC0415 (as above)

    begun = time.perf_counter()
    facts = _sizable(scenario, index)
    models = ask(scenario.network, index, targets)
    chosen = trusted(models)
    buffer, note = by_model(models, chosen, targets)
    limited = held_elsewhere(scenario.network, index)
    if limited:
        buffer, note = None, limited[0].text
    suggestion = suggest_by_model(models, chosen, buffer, facts)
    curve = BufferCurve()
    given = (scenario, index, targets, buffer, None, note, curve, models, chosen, suggestion)
    said = _conclusions(scenario, index, targets, buffer, curve, models, chosen, suggestion)
    answer = SizeAnswer(*given, *said, 0, 0, time.perf_counter() - begun, limits=limited)
    if chosen is None:
        raise NoModelError(f"{scenario.origin}: {note}", answer)
    return answer


def _answer(
    scenario: Scenario,
    index: int,
    targets: tuple[Target, ...],
    precision: float,
    workers: int | None,
    progress: Callable[[SearchProgress], None] | None,
    on_sample: Callable[[int, int, BufferSample], None] | None,
    *,
    whole_curve: bool,
) -> SizeAnswer:
    """Implement `size` by simulation, for one setting of pacing."""
    from elephan.sizing.models import ask, expected, trusted  # noqa: PLC0415 (as above)

    begun = time.perf_counter()
    facts = _sizable(scenario, index)
    low, high, largest = (max(1, round(share * facts.bdp_packets)) for share in (*GRID_BDP, LARGEST_BDP))
    grid = (max(1, min(low, round(facts.bdp_packets / math.sqrt(facts.flows) / 8))), max(high, 4))
    models = ask(scenario.network, index, targets)
    chosen = trusted(models)
    scenario = settle_warmup(scenario, workers)
    network, replications = scenario.network, scenario.replications
    simulations = LinkSimulations(scenario, index, workers, watched=progress is not None, on_sample=on_sample)
    standard = standard_buffers(facts)
    start = None if whole_curve else float(standard[SMALL]) if chosen is None else expected(models[chosen], targets)
    through = standard.values()
    search = Search(
        simulations, targets, replications, precision, grid, max(largest, 16), progress, start=start, through=through
    )
    found = search.smallest()
    if found is None or any(not target.meets(search.mean(found, target)) for target in search.ceilings):
        # The explanation of a conflict needs the whole curve.
        search.complete()
    curve = search.curve
    buffer, note = _judge(curve, targets, found)
    limited = held_elsewhere(network, index) or held_by_windows(network, index)
    if found is None:
        limited = why_not(network, index, _missed(curve, targets)) or too_short(network) or _idle(curve, facts)
        note = f"{limited[0].text}; {note}" if limited else note
    interval = None if buffer is None else curve.interval(search.floors, buffer)
    # The answer is final; the following measurements only evaluate it.
    search.measure_also({*standard.values(), max(standard[PER_FLOW], buffer or 1)}, STANDARD_REPLICATIONS)
    suggestion = suggest_buffer(curve, targets, buffer, network, index)
    if suggestion.buffer_packets is not None and suggestion.buffer_packets != buffer:
        search.measure_also({suggestion.buffer_packets}, replications)
        suggestion = suggest_buffer(curve, targets, buffer, network, index)
    given = (scenario, index, targets, buffer, interval, note, curve, models, chosen, suggestion)
    said = _conclusions(scenario, index, targets, buffer, curve, models, chosen, suggestion)
    packets, wall_s = simulations.packets, time.perf_counter() - begun
    return SizeAnswer(*given, *said, packets, replications, wall_s, limits=limited)


def _conclusions(
    scenario: Scenario,
    index: int,
    targets: tuple[Target, ...],
    buffer: int | None,
    curve: BufferCurve,
    models: dict[str, ModelPrediction],
    chosen: str | None,
    suggestion: BufferSuggestion,
) -> tuple[dict[int, BufferRow], dict[str, PredictionDocument], dict[str, float], dict[str, list[str]], Deployment]:
    """Return other parts of an answer: rows of buffers and models, rules of thumb, and the buffer to deploy."""
    from elephan.sizing.models import predicted_rows, prediction_rows  # noqa: PLC0415 (as above)

    network = scenario.network
    rows = measured_rows(scenario, index, curve)
    if chosen is not None and not rows:
        rows = predicted_rows(models[chosen], scenario.links[index], suggestion.rows)
    deployed = deployment(scenario, index, targets, curve, suggestion.buffer_packets or buffer)
    return rows, prediction_rows(models, buffer, curve), rules(network, index), broken(network, index), deployed


def _sizable(scenario: Scenario, index: int) -> NetworkLink:
    """Return the link that is sized; refuse one without flows, and an array."""
    facts = scenario.network.links[index]
    if not facts.flows:
        message = f"{scenario.origin}: no flow sends data over link {facts.name}, so its buffer decides nothing"
        raise ScenarioError(message)
    if facts.members > 1:
        message = f"{scenario.origin}: {facts.name} are {facts.members} links; only a single link can be sized"
        raise ScenarioError(message)
    return facts


def _idle(curve: BufferCurve, link: NetworkLink) -> tuple[LinkLimit, ...]:
    """Return a limit by the senders if the largest buffer loses nothing: no larger buffer gives more then."""
    top = curve.buffers[-1]
    if curve.estimate(top, "loss_ratio").mean > 0:
        return ()
    rate_bps = curve.estimate(top, "utilization").mean * link.rate_bps
    text = f"the senders fill {format_rate(rate_bps)} of this link and lose nothing with {format_packets(top)}"
    return (LinkLimit(SENDERS, rate_bps, f"{text}: no buffer changes that", is_certain=False),)


def _missed(curve: BufferCurve, targets: Sequence[Target]) -> list[Target]:
    """Return the floors that the largest measured buffer misses; all floors if it misses none."""
    top, floors = curve.buffers[-1], [target for target in targets if target.is_floor]
    return [target for target in floors if not target.meets(curve.estimate(top, target.metric).mean)] or floors


def _judge(curve: BufferCurve, targets: Sequence[Target], found: int | None) -> tuple[int | None, str]:
    """Return the answer and a remark on it, given the smallest buffer that meets all floors."""
    floors = [target for target in targets if target.is_floor]
    ceilings = [target for target in targets if target.is_ceiling]
    if found is None:
        top = curve.buffers[-1]
        reached = ", ".join(
            f"{_shown(curve, top, target)} where {target} is wanted" for target in _missed(curve, targets)
        )
        return None, f"no buffer up to {format_packets(top)} is enough: {reached}{_in_between(curve, targets)}"
    violated = [target for target in ceilings if not target.meets(curve.estimate(found, target.metric).mean)]
    if violated:
        return None, "; ".join(_conflict(curve, floors, target, found) for target in violated)
    unfair = [t for t in targets if t.metric == "jain" and not t.meets(curve.estimate(found, t.metric).mean)]
    if unfair:
        return None, _unfair(curve, floors, unfair[0], found)
    if not floors:
        until = min(curve.crossing(target) for target in ceilings)
        far = (
            "every buffer measured" if math.isinf(until) else f"buffers up to about {format_packets(math.floor(until))}"
        )
        return found, f"a delay target alone is met by the smallest buffer there is; it holds for {far}"
    return found, ""


def _in_between(curve: BufferCurve, targets: Sequence[Target]) -> str:
    """Return a remark if a measured buffer meets all targets but larger ones do not, so that no fit has a crossing."""
    near = nearest(curve, targets)
    if near is None or misses(curve.samples(near), targets)[0]:
        return ""
    return (
        f"; but {format_packets(near)} of buffer would meet the targets: "
        "larger buffers are worse here, which the search does not expect"
    )


def _conflict(curve: BufferCurve, floors: Sequence[Target], ceiling: Target, found: int) -> str:
    """Explain why a ceiling and the floors cannot both be met."""
    until = curve.crossing(ceiling)
    has = _shown(curve, found, ceiling)
    if not floors:
        return f"{ceiling} is not met by any buffer: already with {format_packets(found)} it is {has}"
    needs = " and ".join(str(target) for target in floors)
    allowed = [b for b in curve.buffers if b <= until]
    best = ", ".join(_shown(curve, allowed[-1], target) for target in floors) if allowed else ""
    so = (
        f"{ceiling} allows about {format_packets(math.floor(until))} ({best} at {allowed[-1]})"
        if allowed
        else "no buffer does"
    )
    return f"{needs} needs {format_packets(found)} ({has}), but {so}"


def _unfair(curve: BufferCurve, floors: Sequence[Target], target: Target, found: int) -> str:
    """Explain that the answer misses a fairness target (the search ignores it), and which buffer is fairest."""
    needs = " and ".join(str(floor) for floor in floors)
    so = f"{needs} needs {format_packets(found)}, where {_shown(curve, found, target)} falls short of {target.level:g}"
    larger = [b for b in curve.buffers if b > found]
    if not larger:
        return so
    best = max(larger, key=lambda b: curve.estimate(b, target.metric).mean)
    has = _shown(curve, best, target)
    return f"{so}; of the larger buffers measured, that of {format_packets(best)} is the fairest: {has}"


def _shown(curve: BufferCurve, buffer: int, target: Target) -> str:
    value = curve.estimate(buffer, target.metric).mean
    return f"{target.name} {value * 1e3:.3g} ms" if target.is_time else f"{target.name} {value:.4g}"
