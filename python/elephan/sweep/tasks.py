"""What travels to a worker and back: a task is a few points as plain text, its replies are results or errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from elephan import _native
from elephan.errors import InputError
from elephan.run import run
from elephan.scenario import Scenario
from elephan.store import Packed, pack
from elephan.sweep.points import change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elephan.sweep.document import Sweep
    from elephan.sweep.lists import Value
    from elephan.sweep.points import Point


class Text(NamedTuple):
    """A scenario taken apart: nothing but text, so it travels lightly and need not be read again."""

    text: str
    canonical: str
    origin: str
    warmup_rule: str
    id: str
    described: str

    @classmethod
    def of(cls, scenario: Scenario) -> Text:
        """Take a scenario apart."""
        return cls(
            scenario.text, scenario.canonical, scenario.origin, scenario.warmup_rule, scenario.id, scenario.described
        )

    def scenario(self) -> Scenario:
        """Put it together again."""
        return Scenario(*self[:4]).knowing(*self[4:])


class Settings(NamedTuple):
    """What all points of a sweep share."""

    base: Text
    precision: tuple[str, ...]
    max_replications: int
    series: bool
    version: str = _native.version()
    """Of the engine that asks; another one would give other results."""

    @classmethod
    def of(cls, sweep: Sweep, *, series: bool) -> Settings:
        """Say what all points of a sweep share."""
        return cls(Text.of(sweep.base), sweep.precision, sweep.max_replications, series)


class Task(NamedTuple):
    """A few points."""

    settings: Settings
    points: list[Text | dict[str, Value]]
    """Each as it is, or by what it changes in the base."""


def task(settings: Settings, points: Sequence[Point]) -> Task:
    """Write points as they travel.

    Parameters
    ----------
    settings : Settings
    points : sequence of Point

    Returns
    -------
    Task
    """
    return Task(settings, [p.changes if p.made is None else Text.of(p.made) for p in points])


class Reply(NamedTuple):
    """What became of one point."""

    packed: Packed | None
    """Its files: made where others are made at the same time, so that only writing them is left."""
    error: str | None


def run_points(given: Task) -> list[Reply]:
    """Run a few points, one after the other, in this thread.

    Parameters
    ----------
    given : Task

    Returns
    -------
    list of Reply
        In their order.

    Raises
    ------
    InputError
        If this is another version of elephan than the one that asks.
    """
    settings = given.settings
    if settings.version != _native.version():
        message = (
            f"sweep: a worker has elephan {_native.version()}, who asks has {settings.version}; "
            "install the same version everywhere"
        )
        raise InputError(message)
    base = settings.base.scenario()
    return [_run(settings, base, point) for point in given.points]


def _run(settings: Settings, base: Scenario, point: Text | dict[str, Value]) -> Reply:
    try:
        result = run(
            point.scenario() if isinstance(point, Text) else change(base, point),
            workers=1,
            series=settings.series,
            precision=settings.precision or None,
            max_replications=settings.max_replications,
        )
        packed = pack(result)
    except (KeyboardInterrupt, SystemExit):
        raise
    except InputError as error:
        return Reply(None, str(error))
    except BaseException as error:  # A panic of the engine is no Exception; the other points go on.
        return Reply(None, f"internal error: {type(error).__name__}: {error}; a defect of elephan")
    return Reply(packed, None)
