"""elephan: a laboratory for TCP over long fat networks and for the router buffers on them.

>>> import elephan
>>> scenario = elephan.Scenario.from_text(elephan.EXAMPLE)
>>> result = elephan.run(scenario.replace({"flows[bulk].control": elephan.laws.cubic()}), replications=2)
>>> link = result.to_json()["links"][0]
>>> link["name"], link["buffer_packets"]
('core', 25)

Everything that a scenario can name is an attribute that can be completed: `laws`, `slow_starts`, `recoveries`,
`queues`, `traffic`; so are the analytic `models`, the `metrics` and the `plots`.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from elephan import _native
from elephan.display import draw_with, show_with
from elephan.errors import ElephanError, InputError, ScenarioError, TargetError, UnitError, UnknownNameError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from elephan import metrics, plots, stats, store, theory
    from elephan.catalog.registries import laws, queues, recoveries, slow_starts, traffic
    from elephan.causes import why
    from elephan.comparisons import compare
    from elephan.costs import estimate
    from elephan.loading import load
    from elephan.reports import report
    from elephan.runs import run
    from elephan.scenario import EXAMPLE, Scenario
    from elephan.sizing import size, size_limit, size_variants
    from elephan.store import Store
    from elephan.sweeps import sweep
    from elephan.tabulate import law_table
    from elephan.theory.models.registry import models
    from elephan.worst import attack, size_worst

__version__ = _native.version()

_MODULES = ("metrics", "plots", "stats", "store", "theory")
_REGISTRIES = ("laws", "queues", "recoveries", "slow_starts", "traffic")
_FOUND = {
    "EXAMPLE": "elephan.scenario",
    "Scenario": "elephan.scenario",
    "Store": "elephan.store",
    "attack": "elephan.worst",
    "compare": "elephan.comparisons",
    "estimate": "elephan.costs",
    "load": "elephan.loading",
    "law_table": "elephan.tabulate",
    "models": "elephan.theory.models.registry",
    "report": "elephan.reports",
    "run": "elephan.runs",
    "size": "elephan.sizing",
    "size_limit": "elephan.sizing",
    "size_variants": "elephan.sizing",
    "size_worst": "elephan.worst",
    "sweep": "elephan.sweeps",
    "why": "elephan.causes",
    **dict.fromkeys(_REGISTRIES, "elephan.catalog.registries"),
}
"""Modules of the lazily imported names, some of which import NumPy, SciPy, Matplotlib or Arrow."""

__all__ = [
    "EXAMPLE",
    "ElephanError",
    "InputError",
    "Scenario",
    "ScenarioError",
    "Store",
    "TargetError",
    "UnitError",
    "UnknownNameError",
    "__version__",
    "attack",
    "compare",
    "estimate",
    "law_table",
    "laws",
    "load",
    "metrics",
    "models",
    "plots",
    "queues",
    "recoveries",
    "report",
    "run",
    "size",
    "size_limit",
    "size_variants",
    "size_worst",
    "slow_starts",
    "stats",
    "store",
    "sweep",
    "theory",
    "traffic",
    "why",
]


if not TYPE_CHECKING:  # or any name would pass a type checker

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            found: Any = import_module(f"elephan.{name}")
        elif name in _FOUND:
            found = getattr(import_module(_FOUND[name]), name)
        else:
            raise AttributeError(f"module 'elephan' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        globals()[name] = found
        return found


def _figures(of: object) -> dict[str, "Figure"]:
    from elephan.plots import figures  # noqa: PLC0415 (Matplotlib is slow to import; only who draws pays)

    return figures(of)


def _shown(of: object) -> str:
    from elephan.reports.notebook import shown  # noqa: PLC0415 (NumPy; only notebooks need it)

    return shown(of)


draw_with(_figures)
show_with(_shown)


def __dir__() -> list[str]:
    return sorted(__all__)
