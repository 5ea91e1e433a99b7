"""Run a scenario: all its replications, the result, and its provenance."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elephan.errors import InputError
from elephan.own_laws import LawSource
from elephan.runs.outcome import ReplicationOutcome, simulate_several
from elephan.runs.parallel import ReplicationJob, default_workers, simulate_all
from elephan.scenario import AUTO, Scenario

if TYPE_CHECKING:
    from elephan.runs.result import RunResult

__all__ = ["ReplicationJob", "default_workers", "run", "run_several", "simulate_all"]


def run(
    scenario: Scenario | str | Path,
    replications: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    *,
    series: bool = False,
    engine: str = "window",
    precision: str | Sequence[str] | None = None,
    max_replications: int = 100,
    watched: bool = False,
    metrics: str | Sequence[str] = (),
    laws: Mapping[str, LawSource] | None = None,
) -> RunResult:
    """Run all replications of a scenario.

    Parameters
    ----------
    scenario : Scenario or path
    replications, seed : int, optional
        Replace those of the file.
    workers : int, optional
        Threads; the results do not depend on it. As many as there are cores by default; 0 for the calling thread only.
    progress : callable, optional
        Called with (replications done, replications to do) after each.
    series : bool
        Keep the sampled cwnd, srtt and backlog, not only their means.
    engine : str
        ``"window"``, or ``"reference"`` for the simpler one against which it is checked.
    precision : str or sequence of str, optional
        Add replications, five at a time, until the 95 % half-widths are at most this share of their means: ``"1%"``, or
        for chosen metrics, see `elephan.runs.precision.parse_precision`. The result says whether it was reached.
    max_replications : int
        Maximum number of replications.
    watched : bool
        Simulate on threads in any case: `elephan.runs.threads.running_shares` returns their progress.
    metrics : str or sequence of str
        Additional metrics of the catalogue for the document, such as ``"convergence_time(delta=0.2)"``. Series are kept
        if one needs them.
    laws : mapping of str to class or path, optional
        Your own laws by their names in the scenario: see the guide, a law in Python and a law in Rust.

    Returns
    -------
    RunResult

    Raises
    ------
    InputError
        If the precision or a metric cannot be read, or the metric has no value in this scenario.
    ScenarioError
        If the scenario cannot be read or is too large for the engine, or no automatic warm-up can be found.
    LawError
        If a law in Python fails.
    ValueError
        If there is no such engine.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE
    >>> result = run(Scenario.from_text(EXAMPLE), replications=2)
    >>> len(result.outcomes)
    2
    """
    # All of these need NumPy; the command line starts without.
    from elephan.runs.measures import check_metrics, needs_series, parse_metrics  # noqa: PLC0415 (start-up does without)
    from elephan.runs.precision import FIRST, STEP, PrecisionReached, parse_precision  # noqa: PLC0415 (as above)
    from elephan.runs.result import RunResult  # noqa: PLC0415 (as above)
    from elephan.runs.warmup import PILOT, settle_warmup  # noqa: PLC0415 (as above)
    from elephan.stats import sample_until  # noqa: PLC0415 (as above)

    begun = time.perf_counter()
    scenario = Scenario.from_any(scenario, laws).replace(replications=replications, seed=seed)
    chosen = parse_metrics(metrics)
    check_metrics(chosen, scenario)
    series = series or needs_series(chosen)
    wanted = () if precision is None else parse_precision(precision, scenario)
    most = scenario.replications if precision is None else max_replications
    first = most if precision is None else min(max(scenario.replications, FIRST), most)
    pilots = PILOT if scenario.warmup_rule == AUTO else 0
    done, total = 0, pilots + first

    def on_done(_: ReplicationJob) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    settled = settle_warmup(scenario, workers, on_done)
    outcomes: list[ReplicationOutcome] = []

    def measure(numbers: range) -> list[list[float]]:
        nonlocal total
        total = pilots + numbers.stop
        jobs = [ReplicationJob(settled, replication) for replication in numbers]
        more = simulate_all(jobs, workers=workers, on_done=on_done, series=series, engine=engine, watched=watched)
        outcomes.extend(more)
        return [[metric.measure(outcome) for metric in wanted] for outcome in more]

    reached = None
    if wanted:
        relative = [metric.relative for metric in wanted]
        rows, is_met = sample_until(measure, relative=relative, first=first, step=STEP, most=most)
        reached = PrecisionReached(wanted, rows, is_met)
    else:
        measure(range(most))
    if settled.replications != len(outcomes):
        settled = settled.replace({"replications": len(outcomes)})
    result = RunResult(settled, tuple(outcomes), engine, time.perf_counter() - begun, reached, chosen)
    # Computed here and kept, so that writing or showing the result takes no time.
    result.to_json()
    return result


def run_several(scenarios: Sequence[Scenario], *, series: bool = False) -> list[RunResult | InputError]:
    """Run scenarios one after the other in this thread, as `run` would, taking the interpreter's lock once for all.

    Parameters
    ----------
    scenarios : sequence of Scenario
        Short ones: nothing can interrupt them.
    series : bool

    Returns
    -------
    list of RunResult or InputError
        Result of each scenario, or its error.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE
    >>> [result] = run_several([Scenario.from_text(EXAMPLE)])
    >>> result.to_json()["links"] == run(Scenario.from_text(EXAMPLE)).to_json()["links"]
    True
    """
    from elephan.runs.result import RunResult  # noqa: PLC0415 (as in `run`)

    found: list[RunResult | InputError] = []
    # Scenarios with laws in Python are run alone, since these laws take the lock themselves.
    alone = [scenario.warmup_rule == AUTO or bool(scenario.own_laws) for scenario in scenarios]
    together = [scenario for scenario, by_itself in zip(scenarios, alone, strict=True) if not by_itself]
    jobs = [(scenario, number) for scenario in together for number in range(scenario.replications)]
    done = iter(simulate_several(jobs, series=series))
    for scenario, by_itself in zip(scenarios, alone, strict=True):
        if by_itself:
            found.append(_tried(scenario, series=series))
            continue
        mine = [next(done) for _ in range(scenario.replications)]
        outcomes = tuple(outcome for outcome, _ in mine if not isinstance(outcome, InputError))
        wrong = next((outcome for outcome, _ in mine if isinstance(outcome, InputError)), None)
        took_s = sum(took for _, took in mine)
        found.append(wrong or RunResult(scenario, outcomes, "window", took_s))
    return found


def _tried(scenario: Scenario, *, series: bool) -> RunResult | InputError:
    try:
        return run(scenario, workers=1, series=series)
    except InputError as error:
        return error
