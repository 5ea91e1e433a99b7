"""What travels to a worker and back: a task is a few points as plain text, its replies are results or errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from elephan import _native
from elephan.errors import InputError
from elephan.scenario import Scenario
from elephan.sweep.points import change

if TYPE_CHECKING:
    from elephan.run.result import Result
    from elephan.sweep.lists import Value


@dataclass(frozen=True)
class Settings:
    """What all points of a sweep share.

    Parameters
    ----------
    text, canonical, origin, warmup_rule : str
        The base, as `Scenario` has it.
    precision : tuple of str
    max_replications : int
    series : bool
    version : str
        Of the engine; another one would give other results.
    """

    text: str
    canonical: str
    origin: str
    warmup_rule: str
    precision: tuple[str, ...]
    max_replications: int
    series: bool
    version: str

    @classmethod
    def of(cls, base: Scenario, precision: tuple[str, ...], max_replications: int, *, series: bool) -> Settings:
        """Take apart what a worker puts together again.

        Parameters
        ----------
        base : Scenario
        precision : tuple of str
        max_replications : int
        series : bool

        Returns
        -------
        Settings
        """
        about = (base.text, base.canonical, base.origin, base.warmup_rule)
        return cls(*about, precision, max_replications, series, _native.version())

    @property
    def base(self) -> Scenario:
        """The base, put together again."""
        return Scenario(self.text, self.canonical, self.origin, self.warmup_rule)


class Reply(NamedTuple):
    """What became of one point."""

    result: Result | None
    error: str | None


def run_points(settings: Settings, points: list[dict[str, Value]]) -> list[Reply]:
    """Run a few points, one after the other, in this thread.

    Parameters
    ----------
    settings : Settings
    points : list of dict
        What each changes.

    Returns
    -------
    list of Reply
        In their order.

    Raises
    ------
    InputError
        If this is another version of elephan than the one that asks.
    """
    if settings.version != _native.version():
        message = (
            f"sweep: a worker has elephan {_native.version()}, this process {settings.version}; "
            "install the same version everywhere"
        )
        raise InputError(message)
    base = settings.base
    return [_run(settings, base, changes) for changes in points]


def _run(settings: Settings, base: Scenario, changes: dict[str, Value]) -> Reply:
    from elephan.run import run  # noqa: PLC0415 (the name of the function is that of the room)

    try:
        result = run(
            change(base, changes),
            workers=0,
            series=settings.series,
            precision=settings.precision or None,
            max_replications=settings.max_replications,
        )
        # Summed up here, where others work at the same time.
        result.to_json()
    except (KeyboardInterrupt, SystemExit):
        raise
    except InputError as error:
        return Reply(None, str(error))
    except BaseException as error:  # noqa: BLE001 (a panic of the engine is no Exception; the others go on)
        return Reply(None, f"internal error: {type(error).__name__}: {error}; a defect of elephan")
    return Reply(result, None)
