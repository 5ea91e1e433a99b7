"""A simulated testbed: a simulation's results, with a made-up record of punctuality."""

from dataclasses import replace
from typing import Any

from elephan.comparisons.comparison import ScenarioComparison, _known, measured
from elephan.runs.result import RunResult
from elephan.runs.saved import SavedRun
from elephan.testbed import ENGINE, TestbedResult

DIFFERENT = 'flows[bulk].recovery: Linux recovers as "rack" does, not as "sack"'


def punctual(**changes: object) -> dict[str, Any]:
    """Return the record of a replication on a quiet machine."""
    late = {"late_us": [10, 80, 10], "p50_us": 2, "p99_us": 4, "latest_s": 3.5e-6, "gap_s": 2e-5, "later": 0.0}
    drops = {"limit_s": 0.004, "suspect": 0, "drops": 17, "refused": 0, "hurried": True, "attempts": 1}
    return late | drops | changes


def beside(alone: ScenarioComparison, result: RunResult | SavedRun, *objections: str) -> ScenarioComparison:
    """Return a comparison with a simulation in the testbed's place."""
    found = measured(result)
    rows = tuple(replace(row, testbed=_known(found, row.name), against="testbed") for row in alone.rows)
    return replace(alone, rows=rows, tested=faked(result, *objections))


def faked(result: RunResult | SavedRun, *objections: str) -> TestbedResult:
    """Return a simulation in a testbed's place; not valid if there are objections."""
    assert isinstance(result, RunResult)
    records = tuple(punctual() for _ in result.outcomes)
    counted = {"connections": 1, "losses": 3, "timeouts": 0, "tests": 40, "rising": 20, "strays": 0}
    laws = tuple({"ghstcp": counted} for _ in result.outcomes)
    acks = tuple({"sent": 9000, "received": 8990, "merged": 12} for _ in result.outcomes)
    return TestbedResult(replace(result, engine=ENGINE), not objections, objections, records, laws, acks, (DIFFERENT,))
