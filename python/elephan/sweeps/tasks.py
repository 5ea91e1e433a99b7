"""Messages between a sweep and its workers: tasks have a few points as plain text; replies are results or errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from elephan import _native
from elephan.errors import InputError
from elephan.own_laws import AnyOwnLaw
from elephan.runs import run, run_several
from elephan.scenario import Scenario
from elephan.store import PackedRun, pack
from elephan.sweeps.points import SweepPoint, change

if TYPE_CHECKING:
    from elephan.runs.result import RunResult
    from elephan.sweeps.document import Sweep
    from elephan.sweeps.lists import Value


Made = TypeVar("Made")


class ScenarioPayload(NamedTuple):
    """A scenario as plain text, which is cheap to send; the worker does not need to validate it again."""

    text: str
    canonical: str
    origin: str
    warmup_rule: str
    id: str
    described: str
    laws: tuple[tuple[str, AnyOwnLaw], ...]

    @classmethod
    def of(cls, scenario: Scenario) -> ScenarioPayload:
        """Convert a scenario to plain text."""
        named = (scenario.text, scenario.canonical, scenario.origin, scenario.warmup_rule)
        return cls(*named, scenario.id, scenario.described, tuple(sorted(scenario.laws.items())))

    def scenario(self) -> Scenario:
        """Rebuild the scenario."""
        return Scenario(*self[:4], dict(self.laws))._with_cached_facts(self.id, self.described)


class SweepSettings(NamedTuple):
    """Settings that all points of a sweep share."""

    base: ScenarioPayload
    precision: tuple[str, ...]
    max_replications: int
    series: bool
    version: str = _native.version()
    """Version of the caller's engine. Workers with another version are refused, as results could differ."""

    @classmethod
    def of(cls, sweep: Sweep, *, series: bool) -> SweepSettings:
        """Return the settings that all points of a sweep share."""
        return cls(ScenarioPayload.of(sweep.base), sweep.precision, sweep.max_replications, series)


class PointBatch(NamedTuple):
    """A task for a worker: a few points of a sweep."""

    settings: SweepSettings
    points: list[ScenarioPayload | dict[str, Value]]
    """Each point as a payload, or as its changes to the base scenario."""


def task(settings: SweepSettings, points: Sequence[SweepPoint]) -> PointBatch:
    """Convert points to a task."""
    return PointBatch(settings, [p.changes if p.made is None else ScenarioPayload.of(p.made) for p in points])


class PointReply(NamedTuple):
    """Reply for one point."""

    packed: PackedRun | None
    """Files of the result. The worker encodes them, so that the caller only needs to write them."""
    error: str | None


def run_points(given: PointBatch) -> list[PointReply]:
    """Run a few points in sequence, in this thread.

    Returns
    -------
    list of PointReply
        Replies in the order of the points.

    Raises
    ------
    InputError
        If the version of elephan differs from the caller's.
    """
    settings = given.settings
    if settings.version != _native.version():
        raise InputError(
            f"sweep: a worker has elephan {_native.version()}, who asks has {settings.version}; "
            "install the same version everywhere"
        )
    base = settings.base.scenario()
    scenarios = [_tried(lambda point=point: _scenario(base, point)) for point in given.points]  # type: ignore[misc]
    results = {} if settings.precision else _together(settings, [s for s in scenarios if isinstance(s, Scenario)])
    return [_reply(settings, scenario, results) for scenario in scenarios]


def _scenario(base: Scenario, point: ScenarioPayload | dict[str, Value]) -> Scenario:
    return point.scenario() if isinstance(point, ScenarioPayload) else change(base, point)


def _together(settings: SweepSettings, scenarios: Sequence[Scenario]) -> dict[int, RunResult | InputError]:
    """Run several points in one call of the engine, which takes the interpreter's lock only once.

    Returns
    -------
    dict
        Results or errors by Python's `id` of the scenario; empty if the engine failed.
    """
    try:
        found = run_several(scenarios, series=settings.series)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # A panic of the engine is not an `Exception`. The points are then run one by one.
        return {}
    return {id(scenario): result for scenario, result in zip(scenarios, found, strict=True)}


def _reply(
    settings: SweepSettings, scenario: Scenario | PointReply, results: dict[int, RunResult | InputError]
) -> PointReply:
    if isinstance(scenario, PointReply):
        return scenario

    def packed() -> PackedRun:
        result = results.pop(id(scenario), None)
        if result is None:
            result = run(
                scenario,
                workers=1,
                series=settings.series,
                precision=settings.precision or None,
                max_replications=settings.max_replications,
            )
        if isinstance(result, InputError):
            raise result
        return pack(result)

    made = _tried(packed)
    return made if isinstance(made, PointReply) else PointReply(made, None)


def _tried(do: Callable[[], Made]) -> Made | PointReply:
    """Call a function; return its result, or a reply with its error, so that the other points continue."""
    try:
        return do()
    except (KeyboardInterrupt, SystemExit):
        raise
    except InputError as error:
        return PointReply(None, str(error))
    except BaseException as error:  # A panic of the engine is not an `Exception`.
        return PointReply(None, f"internal error: {type(error).__name__}: {error}; a defect of elephan")
