"""Keys of requests: equal keys mean equal results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from elephan import _native
from elephan.scenario import AUTO, STATED, Scenario

if TYPE_CHECKING:
    from elephan.runs.result import RunResult

WINDOW = "window"


def key(
    scenario: Scenario,
    *,
    precision: str | Sequence[str] | None = None,
    max_replications: int = 100,
    engine: str = WINDOW,
) -> str:
    """Return the key of a request.

    Parameters
    ----------
    scenario : Scenario
    precision, max_replications, engine
        As in `elephan.run`.

    Returns
    -------
    str
        64 hexadecimal digits. For a plain request (stated warm-up, fixed replications, default engine) it is
        `Scenario.id`; otherwise a BLAKE3 hash of everything that determines the result.

    Raises
    ------
    InputError
        If the precision cannot be read.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> scenario = Scenario.from_text(EXAMPLE)
    >>> key(scenario) == scenario.id
    True
    >>> key(scenario, precision="1%") == key(scenario, precision="0.01")
    True
    """
    if precision is None and scenario.warmup_rule == STATED and engine == WINDOW:
        return scenario.id
    wanted: list[list[object]] = []
    if precision is not None:
        from elephan.runs.precision import parse_precision  # noqa: PLC0415 (a dozen modules of statistics; few keys need them)

        found = parse_precision(precision, scenario)
        wanted = sorted([each.metric, each.index, each.relative] for each in found)
    asked = {
        "scenario": scenario.id,
        "engine": engine,
        "warmup": scenario.warmup_rule,
        "precision": wanted,
        "max_replications": max_replications if wanted else None,
    }
    return _native.digest(json.dumps(asked, sort_keys=True))


def key_of(result: RunResult) -> str:
    """Return the key of a result whose request is not known.

    Parameters
    ----------
    result : RunResult

    Returns
    -------
    str
        Equal to the key of the request if that had a stated warm-up and no precision.
    """
    if result.precision is None:
        return key(result.scenario, engine=result.engine)
    asked = {
        "scenario": result.scenario.id,
        "engine": result.engine,
        "warmup": result.scenario.warmup_rule,
        "precision": result.precision.to_json(),
    }
    return _native.digest(json.dumps(asked, sort_keys=True))


__all__ = ["AUTO", "key", "key_of"]
