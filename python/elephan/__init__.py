"""elephan: a laboratory for TCP over long fat networks and for the router buffers on them.

>>> import elephan
>>> scenario = elephan.Scenario.from_text(elephan.EXAMPLE)
>>> result = elephan.run(scenario.override({"flows[bulk].control": elephan.laws.cubic()}), replications=2)
>>> link = result.to_json()["links"][0]
>>> link["name"], link["buffer_packets"]
('core', 25)

Everything that a scenario can name is an attribute that can be completed: `laws`, `slow_starts`, `recoveries`,
`queues`, `traffic`; so are the analytic `models`, the `metrics` and the `plots`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elephan import _native
from elephan.errors import ElephanError, InputError, ScenarioError, TargetError, UnitError, UnknownNameError
from elephan.run import run
from elephan.scenario import EXAMPLE, Scenario
from elephan.size import compare, size

if TYPE_CHECKING:
    from elephan import metrics, plots, stats, theory
    from elephan.catalog.shelves import laws, queues, recoveries, slow_starts, traffic
    from elephan.theory.models.shelf import models

__version__ = _native.version()

_SHELVES = "elephan.catalog.shelves"
_LATER = {
    "laws": _SHELVES,
    "metrics": "",
    "models": "elephan.theory.models.shelf",
    "plots": "",
    "queues": _SHELVES,
    "recoveries": _SHELVES,
    "slow_starts": _SHELVES,
    "stats": "",
    "theory": "",
    "traffic": _SHELVES,
}
"""Loaded when first asked for, because NumPy, SciPy, Matplotlib or Arrow come with them: the module that has a name, or
nothing where the name is the module's own."""

__all__ = [
    "EXAMPLE",
    "ElephanError",
    "InputError",
    "Scenario",
    "ScenarioError",
    "TargetError",
    "UnitError",
    "UnknownNameError",
    "__version__",
    "compare",
    "laws",
    "metrics",
    "models",
    "plots",
    "queues",
    "recoveries",
    "run",
    "size",
    "slow_starts",
    "stats",
    "theory",
    "traffic",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    module = _LATER[name]
    found = getattr(import_module(module), name) if module else import_module(f"{__name__}.{name}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
