"""Result of sizing a buffer: the document of ``elephan size --json`` and its files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from elephan.display import ColumnTable, page
from elephan.errors import InputError
from elephan.lint import LintWarning
from elephan.results import ResultPart, ResultTables
from elephan.results.files import TableColumns
from elephan.results.parts import RunArrays
from elephan.runs.files import identity
from elephan.scenario import Scenario
from elephan.sizing.curve import BufferCurve
from elephan.sizing.deployment import Deployment
from elephan.sizing.limits import LinkLimit
from elephan.sizing.rows import MEASURED, PREDICTED, row_document
from elephan.sizing.suggest import BufferSuggestion
from elephan.sizing.targets import Target, targets_json
from elephan.units import format_packets

if TYPE_CHECKING:
    from elephan.pictures.figure import Figure
    from elephan.sizing.documents import (
        AnswerQuantities,
        BufferRow,
        LinkQuantities,
        PacedPart,
        PredictionDocument,
        ShortSizeDocument,
        SizeDocument,
    )
    from elephan.sizing.models import ModelPrediction


@dataclass(frozen=True, repr=False)
class SizeAnswer(ResultTables):
    """The result of `size`.

    Its tables have a row for each buffer that was measured (and link or group); its dataset has the buffers as an axis.

    Parameters
    ----------
    scenario : Scenario
        As given, except for replications and seed.
    link : int
        Index of the link that was sized.
    targets : tuple of Target
    buffer_packets : int or None [packets]
        The smallest buffer that meets all targets; None if there is none.
    interval : tuple of float or None [packets]
        Its 95 % confidence interval; see `elephan.sizing.curve.BufferCurve.interval`.
    note : str
        A remark on the answer; if there is no answer, the reason.
    curve : BufferCurve
        Everything that was measured; empty if nothing was simulated.
    models : dict of str to ModelPrediction
        Predictions of all analytic models.
    trusted : str or None
        The model that the search began with, or whose answer this is if nothing was simulated.
    suggestion : BufferSuggestion
        Buffer to deploy, with dangers and advice.
    rows : dict of int to dict
        Quantities of each buffer [packets], as in JSON; see `elephan.sizing.rows`.
    model_rows : dict of str to dict
        Predictions of each model at the answer, and its errors; see `elephan.sizing.models.prediction_rows`.
    rules, rules_broken : dict
        Buffers by rules of thumb, and their violated assumptions; see `elephan.sizing.rules`.
    deployment : Deployment
        Warnings and `tc` line of the suggested buffer, or else of the smallest one found.
    packets_simulated : int
        Data packets sent in all runs together.
    replications : int
        Maximum number per buffer; 0 if nothing was simulated.
    wall_s : float [s]
    paced : SizeAnswer or None
        The answer for the same senders with Linux's pacing, if requested.
    limits : tuple of LinkLimit
        Limits other than the buffer, the tightest first.
    """

    scenario: Scenario
    link: int
    targets: tuple[Target, ...]
    buffer_packets: int | None
    interval: tuple[float, float] | None
    note: str
    curve: BufferCurve
    models: dict[str, ModelPrediction]
    trusted: str | None
    suggestion: BufferSuggestion
    rows: dict[int, BufferRow]
    model_rows: dict[str, PredictionDocument]
    rules: dict[str, float]
    rules_broken: dict[str, list[str]]
    deployment: Deployment
    packets_simulated: int
    replications: int
    wall_s: float
    paced: SizeAnswer | None = None
    limits: tuple[LinkLimit, ...] = ()

    @property
    def is_met(self) -> bool:
        """Whether some buffer meets all targets."""
        return self.buffer_packets is not None

    @property
    def is_simulated(self) -> bool:
        """Whether any simulation was run."""
        return bool(self.curve.buffers)

    @property
    def facts(self) -> dict[str, Any]:
        """Facts of the link that was sized."""
        return self.scenario.links[self.link]

    @property
    def warnings(self) -> list[LintWarning]:
        """Lint warnings for the scenario with the suggested buffer, or else the smallest one found."""
        return self.deployment.warnings

    @property
    def tc(self) -> str | None:
        """The `tc` line that sets the suggested buffer on Linux; None while a warning or heavy loss forbids it."""
        return None if self.suggestion.buffer_packets is None else self.deployment.tc

    @overload
    def at(self, buffer: int) -> LinkQuantities: ...

    @overload
    def at(self, buffer: None) -> AnswerQuantities: ...

    def at(self, buffer: int | None) -> Any:
        """Measured quantities at a buffer, as JSON shows them.

        Parameters
        ----------
        buffer : int or None [packets]

        Returns
        -------
        dict
            Null for every metric if ``buffer`` is None.
        """
        if buffer is None:
            return dict.fromkeys(MEASURED)
        row: Mapping[str, Any] = self.rows[buffer]
        return {metric: row[metric] for metric in MEASURED}

    def to_json(self) -> SizeDocument:
        """Return the document of ``elephan size --json``.

        Returns
        -------
        dict
        """
        from elephan.sizing.models import model_range  # noqa: PLC0415 (NumPy; --help does without)

        link, buffer = self.facts, self.buffer_packets
        bounds: list[Any] | None = None
        if self.interval is not None:
            low, high = self.interval
            bounds = [math.floor(low), math.ceil(high) if math.isfinite(high) else None]
        paced: PacedPart = {} if self.paced is None else {"paced": self.paced.short()}
        return {
            "target": targets_json(self.targets),
            "met": self.is_met,
            "note": self.note,
            "link": link["name"],
            "buffer_packets": buffer,
            "buffer_bytes": None if buffer is None else round(buffer * link["packet_bytes"]),
            "buffer_bdp": None if buffer is None else buffer / link["bdp_packets"],
            "buffer_interval_packets": bounds,
            **self.at(buffer),
            **self.suggestion.to_json(),
            "limited_by": [limit.what for limit in self.limits] or None,
            "limited_to_bps": self.limits[0].rate_bps if self.limits else None,
            "limits": [limit.text for limit in self.limits] or None,
            "table": [{"is": list(roles), **self.rows[b]} for b, roles in self.suggestion.rows.items()],
            "rules": self.rules,
            "rules_broken": self.rules_broken,
            "models": self.model_rows,
            "trusted_model": self.trusted,
            "models_range_packets": None if (said := model_range(self.models)) is None else list(said),
            "simulated": {"runs": self.runs, "packets": self.packets_simulated},
            "curve": [self.rows[b] for b in self.curve.buffers],
            "tc": self.tc,
            "run": {
                "id": self.scenario.id,
                "scenario": self.scenario.title,
                "seed": self.scenario.seed,
                "warmup_s": self.scenario.facts["warmup_s"],
                "warmup_rule": self.scenario.warmup_rule,
            },
            "replications": self.replications,
            "warnings": [warned.to_json() for warned in self.warnings],
            "wall_s": self.wall_s,
            **paced,
        }

    def short(self) -> ShortSizeDocument:
        """Return the answer without the data behind it: ``buffer_packets``, its interval and the suggestion."""
        whole = self.to_json()
        return {
            "met": whole["met"],
            "note": whole["note"],
            "buffer_packets": whole["buffer_packets"],
            "buffer_bdp": whole["buffer_bdp"],
            "buffer_interval_packets": whole["buffer_interval_packets"],
            "suggested_packets": whole["suggested_packets"],
            **self.at(self.buffer_packets),
            "simulated": whole["simulated"],
        }

    @property
    def runs(self) -> int:
        """Number of replications of all buffers together."""
        return sum(self.curve.replications(b) for b in self.curve.buffers)

    def model_curves(self) -> dict[str, dict[str, Any]]:
        """Return the curves of the models, and where each was accurate enough: columns of ``models.parquet`` by model.

        Returns
        -------
        dict of str to dict of str to ndarray
        """
        return {
            name: {
                "buffer_packets": prediction.buffers,
                **{metric: getattr(prediction.curve, metric) for metric in PREDICTED},
                "held": prediction.held.astype(float),
            }
            for name, prediction in self.models.items()
        }

    def _model_columns(self) -> dict[str, list[Any]]:
        """Return the curves of all applicable models, concatenated, and where each was accurate enough."""
        columns: dict[str, list[Any]] = {"model": []}
        for name, curves in self.model_curves().items():
            columns["model"] += [name] * len(curves["held"])
            for key, values in curves.items():
                columns.setdefault(key, []).extend(values.tolist())
        return columns

    def pictures(self) -> tuple[Figure, ...]:
        """Describe the pictures of utilization, delay and loss against the buffer.

        Returns
        -------
        tuple of Figure
        """
        from elephan.sizing.pictures import answer_pictures  # noqa: PLC0415 (NumPy; the command line starts without)

        return answer_pictures(self.to_json(), self.facts, self.model_curves())

    def table(self) -> ColumnTable:
        """Return everything that was measured, a row per buffer.

        Returns
        -------
        ColumnTable
        """
        groups = [group.name for group in self.scenario.network.crossing(self.link)]
        columns = {"buffer_packets": self.curve.buffers, **self.curve.columns(MEASURED, groups)}
        return ColumnTable(columns, f"{self.scenario.title}: what was measured of {self.facts['name']}")

    @property
    def parts(self) -> tuple[ResultPart, ...]:
        """One part for each measured buffer, in rising order; empty if nothing was simulated."""
        return tuple(self._part(buffer) for buffer in self.curve.buffers)

    def _part(self, buffer: int) -> ResultPart:
        document = row_document(self.scenario, self.link, buffer, self.rows[buffer])
        return ResultPart({"buffer": f"{buffer} packets"}, document, lambda: self._arrays(buffer))

    def _arrays(self, buffer: int) -> RunArrays:
        """Return the link's measurements, one per replication; of flows, a sizing keeps only means per group."""
        samples = self.curve.samples(buffer)
        columns = {name: np.array([[getattr(sample, name)] for sample in samples]) for name in MEASURED}
        none = np.empty(0)
        return RunArrays(
            links=(self.facts["name"],),
            flows=(),
            facts={"buffer_packets": np.array([float(buffer)])},
            of_runs={"jain": columns.pop("jain")[:, 0]},
            of_links=columns,
            of_flows={},
            time_s=none,
            link_samples={},
            flow_samples={},
        )

    def __repr__(self) -> str:
        return f"<Answer: {_sentence(self)}>"

    def _repr_html_(self) -> str:
        return page(self)

    def files(self) -> Iterator[tuple[str, Any]]:
        """Yield ``curve``, ``models``, ``scenario.toml`` and ``size.json``; `plots` draws the picture."""
        who = identity(self.scenario)
        yield "curve", TableColumns(self.table(), who)
        yield "models", TableColumns(self._model_columns(), who)
        yield "scenario.toml", self.scenario.text
        yield "size.json", self.to_json()


def _sentence(answer: SizeAnswer) -> str:
    """Summarize an answer in one line."""
    wanted, name = " and ".join(str(target) for target in answer.targets), answer.facts["name"]
    if answer.buffer_packets is None:
        return f"no buffer of {name} found for {wanted}: {answer.note}"
    share = answer.buffer_packets / answer.facts["bdp_packets"]
    return f"{name} needs {format_packets(answer.buffer_packets)} ({share:.2g} BDP) for {wanted}{_interval(answer)}"


def _interval(answer: SizeAnswer) -> str:
    if answer.interval is None:
        return "" if answer.is_simulated else ", by a model, nothing simulated"
    low, high = answer.interval
    upper = f"to {math.ceil(high)}" if math.isfinite(high) else "or more"
    return f"; 95 %: {math.floor(low)} {upper}"


class NoModelError(InputError):
    """Error: no model predicts the required buffer.

    Parameters
    ----------
    message : str
    answer : SizeAnswer
        Without a buffer: for a comparison in which other variants have one.
    """

    def __init__(self, message: str, answer: SizeAnswer) -> None:
        super().__init__(message)
        self.answer = answer
