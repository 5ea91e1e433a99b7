"""elephan: a laboratory for TCP over long fat networks and for the router buffers on them.

>>> import elephan
>>> scenario = elephan.Scenario.from_text(elephan.EXAMPLE)
>>> result = elephan.run(scenario, replications=2)
>>> link = result.to_json()["links"][0]
>>> link["name"], link["buffer_packets"]
('core', 25)
"""

from elephan import _native
from elephan.errors import ElephanError, InputError, ScenarioError, TargetError, UnitError
from elephan.run import run
from elephan.scenario import EXAMPLE, Scenario
from elephan.size import size
from elephan.sweep import sweep
from elephan.tabulate import law_table

__version__ = _native.version()

__all__ = [
    "EXAMPLE",
    "ElephanError",
    "InputError",
    "Scenario",
    "ScenarioError",
    "TargetError",
    "UnitError",
    "__version__",
    "law_table",
    "run",
    "size",
    "sweep",
]
