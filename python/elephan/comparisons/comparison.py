"""Three answers to one scenario: an analytic model's, the simulator's, and the kernel's on a testbed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan import testbed
from elephan.comparisons.sawtooth import sawtooth_statistics
from elephan.display import page
from elephan.errors import InputError
from elephan.metrics.values import buffer_packets
from elephan.network import Network
from elephan.results import ResultPart, ResultTables
from elephan.runs import run
from elephan.runs.result import RunResult
from elephan.runs.saved import SavedRun
from elephan.scenario import Scenario
from elephan.testbed import TestbedResult
from elephan.theory import controls
from elephan.theory.law_responses import SOURCES, law_responses
from elephan.theory.models import MODELS
from elephan.theory.models.bottleneck import bottleneck
from elephan.theory.models.senders import PERIOD, ignored_parameters, violated_by_senders
from elephan.theory.sawtooth import synchronised

if TYPE_CHECKING:
    from elephan.results import CompareDocument, ComparedQuantityDocument, PartDocument, Quantity


@dataclass(frozen=True)
class ComparedQuantity:
    """One quantity with its values in the model, the simulation and the testbed.

    Parameters
    ----------
    name, unit : str
    model, simulation, testbed : float or None
        Values; None if unknown.
    relative : bool
        Whether the gap is relative to the reference; otherwise it is a difference.
    against : str
        The reference for the others: ``"testbed"``, or ``"simulation"`` without a testbed.
    """

    name: str
    unit: str
    model: float | None
    simulation: float | None
    testbed: float | None
    relative: bool
    against: str

    def gap(self, other: str) -> float | None:
        """Return the gap between one of the others and the reference.

        Parameters
        ----------
        other : str
            ``"model"`` or ``"simulation"``.

        Returns
        -------
        float or None
        """
        value, base = getattr(self, other), getattr(self, self.against)
        if other == self.against or value is None or base is None or (self.relative and not base):
            return None
        return float(value / base - 1.0 if self.relative else value - base)

    def to_json(self) -> ComparedQuantityDocument:
        """Return the row as plain data."""
        return {
            "name": self.name,
            "unit": self.unit,
            "gap_is": "relative" if self.relative else "absolute",
            "against": self.against,
            "model": self.model,
            "simulation": self.simulation,
            "testbed": self.testbed,
            "model_gap": self.gap("model"),
            "simulation_gap": self.gap("simulation"),
        }


@dataclass(frozen=True)
class ScenarioComparison(ResultTables):
    """Result of `compare_scenario`.

    Parameters
    ----------
    scenario : Scenario
    rows : tuple of ComparedQuantity
    simulated : RunResult or SavedRun
        The simulated run with its series; a SavedRun if read from a folder.
    tested : TestbedResult or None
        None if no testbed was requested.
    """

    scenario: Scenario
    rows: tuple[ComparedQuantity, ...]
    simulated: RunResult | SavedRun
    tested: TestbedResult | None

    @property
    def parts(self) -> list[ResultPart]:
        """The results of each ``source``; a model and a testbed only if there is one."""
        sources = {"simulation": self.simulated.parts[0]}
        if self.tested is not None:
            sources["testbed"] = self.tested.parts[0]
        said = self._said("model")
        model = [ResultPart({"source": "model"}, _as_document(self.scenario, said), None, said)] if said else []
        return model + [
            ResultPart({"source": name}, part.document, part.arrays, self._said(name)) for name, part in sources.items()
        ]

    @property
    def no_model(self) -> str:
        """Reason for the model's missing answer, in words; empty if it has an answer."""
        return silence(self.scenario.network)

    def _repr_html_(self) -> str:
        return page(self)

    def _said(self, source: str) -> dict[str, float]:
        """Return the quantities known to a source, by name."""
        values = {row.name: getattr(row, source) for row in self.rows}
        return {name: float(value) for name, value in values.items() if value is not None}

    def to_json(self) -> CompareDocument:
        """Return the document of ``elephan compare --json``.

        Returns
        -------
        dict
            ``scenario`` as a file, ``rows``, and the documents ``simulation`` and ``testbed``; None without one.
        """
        tested = None if self.tested is None else self.tested.to_json()
        rows = [row.to_json() for row in self.rows]
        return {
            "scenario": self.scenario.text,
            "rows": rows,
            "simulation": self.simulated.to_json(),
            "testbed": tested,
        }

    def files(self) -> Iterator[tuple[str, Any]]:
        """Yield ``compare.json``."""
        yield "compare.json", self.to_json()

    def write(self, folder: Path | str, tables: str = "parquet") -> list[Path]:
        """Write ``compare.json``, and each result with its series into a folder of its own.

        Parameters
        ----------
        folder, tables : path and str
            As in other results.

        Returns
        -------
        list of Path
            The folders ``simulation`` and, if there is one, ``testbed``; then the document.
        """
        found = [Path(folder) / "simulation"]
        self.simulated.write(found[0], tables)
        if self.tested is not None:
            found.append(Path(folder) / "testbed")
            self.tested.write(found[1], tables)
        return [*found, *super().write(folder, tables)]


def compare_scenario(
    scenario: Scenario | Path | str,
    replications: int | None = None,
    seed: int | None = None,
    progress: Callable[[str], None] | None = None,
    *,
    real: bool = True,
    attempts: int = testbed.ATTEMPTS,
) -> ScenarioComparison:
    """Compare a model, the simulator and the kernel.

    Parameters
    ----------
    scenario : Scenario or path
        Scenario that `elephan.testbed.plan` accepts.
    replications, seed : int, optional
        Replace those of the file.
    progress : callable, optional
        Called with a description of the current step.
    real : bool
        Whether to run the testbed, too; without it the rest is the same.
    attempts : int
        As in `elephan.testbed.run`.

    Returns
    -------
    ScenarioComparison

    Raises
    ------
    InputError
        As in `elephan.testbed.run`.
    """
    read = Scenario.from_any(scenario).replace(replications=replications, seed=seed)
    if read.facts["every_s"] is None:
        raise InputError(f'{read.origin}: record.every: windows are compared over time; give a time, such as "100 ms"')
    say = progress or (lambda _: None)
    if real:
        testbed.plan(read)  # Refuse a scenario that a testbed cannot run before the simulation.
    say("simulation")
    simulated = run(read, series=True)
    if real:
        say("testbed")
    # The testbed uses the simulation's warm-up, which a pilot may have determined.
    tested = testbed.run(simulated.scenario, attempts=attempts) if real else None
    model, simulation = _model(read.network), measured(simulated)
    real_one = None if tested is None else measured(tested.result)
    against = "testbed" if real else "simulation"
    rows = tuple(
        ComparedQuantity(
            name, unit, _known(model, name), _known(simulation, name), _known(real_one, name), relative, against
        )
        for name, unit, relative in QUANTITIES
    )
    return ScenarioComparison(read, rows, simulated, tested)


BBR = ("bbr1", "bbr3")
"""Laws whose window has phases of ProbeRTT instead of cuts."""

QUANTITIES = (
    ("utilization", "1", False),
    ("queueing_delay_s", "s", True),
    ("loss_ratio", "1", True),
    ("period_s", "s", True),
    ("cwnd_high_segments", "segments", True),
    ("cwnd_low_segments", "segments", True),
    ("jain", "1", False),
)
"""Name, unit, and whether its gap is relative."""


def _as_document(scenario: Scenario, said: Mapping[str, float]) -> PartDocument:
    """Return a model's values in the form of a run's document, without intervals."""
    fact = scenario.links[0]
    means: dict[str, Quantity] = {name: {"mean": value, "ci95": None} for name, value in said.items()}
    about = {"name": fact["name"], "rate_bps": fact["rate_bps"], "queue": {"discipline": fact["discipline"]}}
    own = {name: means[name] for name in ("utilization", "queueing_delay_s", "loss_ratio") if name in means}
    fair: dict[str, Quantity] = {"jain": means["jain"]} if "jain" in means else {}
    link: Any = {**about, "buffer_packets": buffer_packets(fact), **own}
    return {"links": [link], "groups": [], "fairness": fair}


def _known(of: dict[str, float] | None, name: str) -> float | None:
    value = None if of is None else of.get(name)
    return value if value is not None and np.isfinite(value) else None


def measured(result: RunResult | SavedRun, *, cuts: bool = False) -> dict[str, float]:
    """Return means over replications and flows, in the same way for a simulation and a testbed.

    Parameters
    ----------
    result : RunResult or SavedRun
        With its series.
    cuts : bool
        Measure cuts of the windows of BBR, too, instead of its phases of ProbeRTT.
    """
    document = result.to_json()
    link = document["links"][0]
    found = {name: link[name]["mean"] for name in ("utilization", "queueing_delay_s", "loss_ratio")}
    found["jain"] = document["fairness"]["jain"]["mean"]
    warmup_s, columns = result.scenario.facts["warmup_s"], []
    laws = [group.get("law") for group in result.scenario.groups]
    for outcome in result.outcomes:
        after = outcome.samples["time_s"] >= warmup_s
        delay_s = float(outcome.links["queueing_delay_s"][0])
        flows = zip(outcome.samples["cwnd_segments"], outcome.flows["base_rtt_s"], outcome.flows["group"], strict=True)
        for window, rtt_s, group in flows:
            one = sawtooth_statistics(
                outcome.samples["time_s"][after],
                window[after].astype(float),
                float(rtt_s) + delay_s,
                bbr=laws[int(group)] in BBR and not cuts,
            )
            columns.append((one.period_s, one.high, one.low))
    names = ("period_s", "cwnd_high_segments", "cwnd_low_segments")
    for name, values in zip(names, zip(*columns, strict=True), strict=True):
        known = [value for value in values if np.isfinite(value)]
        found[name] = float(np.mean(known)) if known else np.nan
    return found


def silence(network: Network) -> str:
    """Return the reason why the sawtooth of equal flows has no answer; empty if it has one."""
    link, facts = bottleneck(network, 0), network.links[0]
    if link is None:
        return f"link {facts.name} limits no long flow"
    if facts.min_rtt_s != facts.max_rtt_s:
        return "round-trip times differ"
    if link.buffer_packets is None:
        return f"the buffer of {facts.name} has no limit"
    if link.discipline != "drop-tail":
        return f"the queue is {link.discipline}, not drop-tail"
    if len(set(link.laws)) != 1:
        return "flows have different laws"
    if (name := controls.kind(link.law)) not in SOURCES:
        return f"it has no response function of {name} to loss alone"
    try:
        law = law_responses(link.law)
    except InputError as error:
        return str(error)
    if law.remembers:
        name = controls.control(link.law)["law"]
        return f"the response of {name} depends on more than its window, such as the time since a loss"
    return "; ".join([*violated_by_senders(link, PERIOD), *ignored_parameters(MODELS["sawtooth"], link)])


def _model(network: Network) -> dict[str, float] | None:
    """Compute the sawtooth of equal flows; None if flows differ or the sawtooth does not model them.

    A sender detects a loss one round trip later, and repairs it within another.
    """
    link = bottleneck(network, 0)
    if silence(network) or link is None or link.buffer_packets is None:
        return None
    law = law_responses(link.law)
    found = synchronised(law, link.rate, link.buffer_packets, link.mean_rtt_s, link.flows)
    high, full = (link.bdp + link.buffer_packets) / link.flows, link.mean_rtt_s + link.buffer_packets / link.rate
    kept = 1.0 - float(law.decrease(high, full, link.mean_rtt_s))
    rounds = 2 * full
    return {
        "utilization": float(found.utilisation),
        "queueing_delay_s": float(found.queue) / link.rate,
        "loss_ratio": float(found.dropped),
        "period_s": float(found.period) + rounds,
        "cwnd_high_segments": high,
        "cwnd_low_segments": kept * high,
        "jain": 1.0,
    }
