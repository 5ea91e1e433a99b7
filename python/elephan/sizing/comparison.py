"""Comparison of laws and queues on one link: each variant is sized with the same seed, and one is recommended."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.catalog.entry import RegistryEntry
from elephan.display import ColumnTable, page
from elephan.errors import InputError, ScenarioError
from elephan.lint import LintWarning
from elephan.lint.thresholds import CODELS
from elephan.lint.thresholds import RULE as THRESHOLDS
from elephan.network import NetworkLink
from elephan.own_laws import LawSource, check_used, declared
from elephan.profiles import profiled_queues
from elephan.results import ResultPart, ResultTables
from elephan.results.files import TableColumns
from elephan.runs.files import file_names, identity
from elephan.scenario import Scenario
from elephan.sizing.answer import NoModelError, SizeAnswer
from elephan.sizing.caveats import FULL_FIRST, caveats
from elephan.sizing.deployment import Deployment, deployment
from elephan.sizing.recommend import Candidate, Recommendation, nearest, recommend
from elephan.sizing.rows import METRICS
from elephan.sizing.suggest import BDP, PER_FLOW, dangers_at, standard_buffers
from elephan.sizing.targets import BufferSample
from elephan.units import count, format_packets, format_time, seconds

if TYPE_CHECKING:
    from elephan.sizing.documents import NearestRow, VariantDocument, VariantsDocument


@dataclass(frozen=True)
class SizedVariant:
    """One law with one queue.

    Parameters
    ----------
    law, queue : str
        Names in the catalogue.
    at_ample : bool
        Whether it is compared with the ample buffer: if one of the compared queues acts before it is full.
    ample_packets : int or None [packets]
        Buffer large enough for disciplines that act before it is full: one BDP plus a packet for each flow. None if
        nothing was simulated.
    candidate : Candidate
        The variant in the form that `elephan.sizing.recommend.recommend` takes.
    dangers : tuple of tuple of str
        Dangers at the buffer that is compared, in two lists; see `elephan.sizing.suggest.dangers_at`.
    deployment : Deployment
        Warnings and `tc` line of that buffer.
    """

    law: str
    queue: str
    answer: SizeAnswer
    at_ample: bool
    ample_packets: int | None
    candidate: Candidate
    dangers: tuple[tuple[str, ...], tuple[str, ...]]
    deployment: Deployment

    @property
    def label(self) -> str:
        """Name of the variant in sentences."""
        return f"{self.law} with {self.queue}"

    @property
    def deployed_packets(self) -> int | None:
        """Buffer with which this variant is compared.

        The ample one, if some of the compared disciplines act before they are full and it meets the targets: a small
        buffer hides the effect of a discipline, and suits only the flows of the scenario. Otherwise the suggested one,
        else the smallest one that meets the targets, else the nearest one.
        """
        return self.candidate.buffer_packets

    @property
    def tc(self) -> str | None:
        """The `tc` line that sets the compared buffer on Linux; None if that buffer does not meet the targets."""
        return self.deployment.tc if self.candidate.meets else None

    def to_json(self) -> VariantDocument:
        """Return the document of ``elephan size --json`` with the law and the queue in front.

        Returns
        -------
        dict
            ``nearest``: if no buffer meets the targets, the nearest one and its measurements. ``deployed``: the buffer
            with which it is compared, ``ample``: one at which every discipline acts.
        """
        answer, buffer = self.answer, self.deployed_packets
        near: NearestRow | None = None
        if not answer.is_met and buffer is not None:
            near = {"buffer_packets": buffer, **answer.at(buffer)}
        return {
            "law": self.law,
            "queue": self.queue,
            **answer.to_json(),
            "nearest": near,
            "deployed": None if buffer is None else answer.rows[buffer],
            "refused": self.candidate.refused,
            "ample": None if self.ample_packets is None else answer.rows[self.ample_packets],
        }


def _sized(law: str, queue: str, answer: SizeAnswer, *, at_ample: bool) -> SizedVariant:
    """Judge the answer of one law with one queue."""
    curve, targets, link = answer.curve, answer.targets, answer.link
    network = answer.scenario.network
    standard = standard_buffers(network.links[link])
    ample = max(standard[BDP], standard[PER_FLOW]) if answer.is_simulated else None
    suggested = answer.suggestion.buffer_packets
    buffer, is_ample = suggested or answer.buffer_packets or nearest(curve, targets), False
    if at_ample and answer.is_met and ample is not None:
        is_ample = all(target.meets(curve.estimate(ample, target.metric).mean) for target in targets)
        buffer = ample if is_ample else buffer
    deployed = answer.deployment
    if buffer != deployed.buffer_packets:
        deployed = deployment(answer.scenario, link, targets, curve, buffer)
    refused = ""
    if answer.limits and (not answer.is_met or answer.limits[0].is_certain):
        refused = answer.limits[0].text
    elif answer.is_met and not is_ample:
        refused = _never_acts(answer, deployed) if at_ample else ""
        if not refused and suggested is None:
            refused = "; ".join(answer.suggestion.dangers[:2]) or "none of its buffers should be deployed"
    samples = () if buffer is None else curve.samples(buffer)
    if buffer is not None and not samples and not answer.is_simulated and answer.buffer_packets is not None:
        # Nothing was simulated: the quantities are those of the answer's model.
        row: Mapping[str, Any] = answer.at(buffer)
        used, loss, wait, jain = (_number(row[metric]["mean"]) for metric in METRICS)
        samples = (BufferSample(used, loss, wait, jain),)
    grave: Sequence[str] = ()
    other: Sequence[str] = ()
    if buffer is not None and answer.is_simulated:
        grave, other = dangers_at(curve, targets, buffer, network, link)
    # Variants without a `tc` line rank behind those with one.
    forbidden = () if buffer is None else tuple(warned.message for warned in deployed.forbidding)
    interval = answer.interval if buffer == answer.buffer_packets else None
    meets, rtt_s = answer.is_met and not refused, float(answer.facts["mean_rtt_s"])
    dangers = (*forbidden, *grave)
    candidate = Candidate(law, queue, buffer, meets, interval, samples, rtt_s, dangers, refused)
    return SizedVariant(law, queue, answer, at_ample, ample, candidate, (tuple(grave), tuple(other)), deployed)


def _never_acts(answer: SizeAnswer, deployed: Deployment) -> str:
    """Return why the discipline never acts in the buffer that meets the targets; empty if it does."""
    buffer, where = deployed.buffer_packets, f"links[{answer.facts['name']}].queue"
    said = [one.message for one in deployed.warnings if one.rule == THRESHOLDS.name and one.where.startswith(where)]
    return f"it meets them with {format_packets(buffer)} only, where {said[0]}" if said and buffer is not None else ""


@dataclass(frozen=True, repr=False)
class SizeComparison(ResultTables):
    """The result of `size_variants`.

    Parameters
    ----------
    scenario : Scenario
        As given.
    link, group : int
        Indices of the link and the group whose queue and law vary.
    variants : tuple of SizedVariant
        In the requested order, the queue varying fastest.
    recommendation : Recommendation
        The variant to deploy, and the reason; see `elephan.sizing.recommend.recommend` for the rule.
    wall_s : float [s]
    """

    scenario: Scenario
    link: int
    group: int
    variants: tuple[SizedVariant, ...]
    recommendation: Recommendation
    wall_s: float

    @property
    def is_met(self) -> bool:
        """Whether the recommended variant meets all targets."""
        return self.recommendation.meets

    @property
    def warnings(self) -> list[LintWarning]:
        """Lint warnings for all variants."""
        return [warned for variant in self.variants for warned in variant.answer.warnings]

    def recommended(self) -> SizedVariant:
        """Return the variant that is recommended."""
        return _of(self.variants, self.recommendation)

    def to_json(self) -> VariantsDocument:
        """Return the document of ``elephan size --laws … --queues … --json``.

        Returns
        -------
        dict
        """
        return {
            "variants": [variant.to_json() for variant in self.variants],
            "recommendation": self.recommendation.to_json(),
            "wall_s": self.wall_s,
        }

    def table(self) -> ColumnTable:
        """Return a row per variant: its buffer, and the measurements with that buffer.

        Returns
        -------
        ColumnTable
        """
        rows = [self._row(variant) for variant in self.variants]
        return ColumnTable({name: [row[name] for row in rows] for name in rows[0]}, f"{self.scenario.title}: variants")

    @property
    def parts(self) -> tuple[ResultPart, ...]:
        """One part for each variant and measured buffer."""
        return tuple(
            replace(part, labels={"law": variant.law, "queue": variant.queue, **part.labels})
            for variant in self.variants
            for part in variant.answer.parts
        )

    def __repr__(self) -> str:
        found = self.recommendation
        text = f"recommended: {self.recommended().label}" if found.meets else "none meets the targets"
        return f"<Comparison of {count(len(self.variants), 'variant')}, {text}>"

    def _repr_html_(self) -> str:
        return page(self)

    def folder(self, variant: SizedVariant, folder: Path) -> Path:
        """Return the folder for the files of one variant.

        Parameters
        ----------
        variant : SizedVariant
        folder : Path
            Folder of the comparison.

        Returns
        -------
        Path
        """
        return folder / file_names([f"{variant.law}-{variant.queue}"])[0]

    def files(self) -> Iterator[tuple[str, Any]]:
        """Yield ``comparison`` and ``comparison.json``."""
        yield "comparison", TableColumns(self.table(), identity(self.scenario))
        yield "comparison.json", self.to_json()

    def write(self, folder: Path | str, tables: str = "parquet") -> list[Path]:
        """Write ``comparison.json``, the table of the variants, and each answer in a folder of its own.

        Parameters
        ----------
        folder, tables : path and str
            As in other results.

        Returns
        -------
        list of Path
            The folders and the two files.
        """
        folders = [self.folder(variant, Path(folder)) for variant in self.variants]
        for variant, place in zip(self.variants, folders, strict=True):
            variant.answer.write(place, tables)
        return [*folders, *super().write(folder, tables)]

    def _row(self, variant: SizedVariant) -> dict[str, Any]:
        """Return a variant's row of the table: measurements at its answer, or at the buffer nearest to the targets."""
        document, buffer = variant.answer.to_json(), variant.candidate.buffer_packets
        low, high = document["buffer_interval_packets"] or (None, None)
        row = {"law": variant.law, "queue": variant.queue, "recommended": variant is self.recommended()}
        row |= {"met": variant.answer.is_met, "buffer_packets": document["buffer_packets"]}
        row |= {"buffer_low_packets": low, "buffer_high_packets": high, "measured_at_packets": buffer}
        measured: Mapping[str, Any] = variant.answer.at(buffer)
        for metric in METRICS:
            row[metric] = measured[metric] and measured[metric]["mean"]
            row[f"{metric}_ci95"] = measured[metric] and measured[metric]["ci95"]
        return row


def _recommendation(link: int, group: int, variants: Sequence[SizedVariant]) -> Recommendation:
    """Recommend one of the variants, with the caveats of it."""
    found = recommend([variant.candidate for variant in variants], variants[0].answer.targets)
    chosen = _of(variants, found)
    grave, other = chosen.dangers
    network, replications = chosen.answer.scenario.network, chosen.answer.replications
    known = caveats(network, link, group, found.chosen, replications, (*grave, *other))
    return replace(found, caveats=(*grave, *other, *_smaller(chosen, variants), *known))


def _of(variants: Sequence[SizedVariant], found: Recommendation) -> SizedVariant:
    return next(variant for variant in variants if variant.candidate is found.chosen)


def _smaller(chosen: SizedVariant, variants: Sequence[SizedVariant]) -> list[str]:
    """Return a remark if a queue that was compared with an ample buffer has less delay with a small one."""
    buffer = chosen.deployed_packets
    if buffer is None or not chosen.at_ample or not chosen.answer.is_simulated:
        return []
    own = _wait(chosen, buffer)
    small = [v for v in variants if v is not chosen and v.law == chosen.law and v.queue in FULL_FIRST]
    known = [(v, v.answer.suggestion.buffer_packets) for v in small]
    waits = [(_wait(v, b), b, v.queue) for v, b in known if b is not None]
    if not waits or not min(waits)[0] < own:
        return []
    wait, packets, queue = min(waits)
    variant = next(v for v, b in known if (v.queue, b) == (queue, packets))
    lost = variant.answer.curve.estimate(packets, "loss_ratio").mean
    return [
        f"{queue} has less delay ({format_time(wait)}, loss {100 * lost:.2g} %) with {format_packets(packets)}, a "
        "buffer that suits these flows and RTTs only"
    ]


def _number(mean: float | None) -> float:
    return math.nan if mean is None else mean


def _wait(variant: SizedVariant, buffer: int) -> float:
    return float(variant.answer.curve.estimate(buffer, "queueing_delay_s").mean)


def size_variants(
    scenario: Scenario | str | Path,
    controls: Sequence[str | RegistryEntry] = (),
    queues: Sequence[str | RegistryEntry] = (),
    target: str | Iterable[str] | Mapping[str, float | str] | Callable[[Scenario], SizeAnswer] = "",
    *,
    link: str | None = None,
    begin: Callable[[int, int, str], None] | None = None,
    laws: Mapping[str, LawSource] | None = None,
    **options: Any,
) -> SizeComparison:
    """Size the same link under several laws, several queues, or all pairs of them.

    Parameters
    ----------
    scenario : Scenario or path
    controls : sequence of str or RegistryEntry
        Laws for the first group of TCP flows, with default parameters; the slow start stays. An empty sequence keeps
        the file's.
    queues : sequence of str or RegistryEntry
        Disciplines of the link, each with its own defaults, some of which derive from the buffer. An empty sequence
        keeps the file's.
    target : str, iterable of str, mapping or callable
        Targets of the buffer, as for `elephan.size`; or a function that sizes one scenario. The seed is
        the scenario's, so variants share their random numbers.
    link : str, optional
        Name of the link; the first that carries data by default.
    begin : callable, optional
        Called with (number from 1, of how many, label) before each variant.
    laws : mapping of str to class or path, optional
        Laws in Python that `controls` or the scenario name, as in `elephan.run`.
    **options
        Given to `elephan.size`: ``precision``, ``replications``, ``model_only``, …

    Returns
    -------
    SizeComparison

    Raises
    ------
    ScenarioError
        If a law or queue is unknown or given twice, or the scenario refuses a variant; if possible before any run.
    InputError
        If `laws` is not a mapping, or names a law that neither `controls` nor the scenario uses.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE
    >>> small = Scenario.from_text(EXAMPLE)
    >>> found = size_variants(small, ["reno", "cubic"], ["fq"], "utilization=0.8", replications=2)
    >>> [variant.label for variant in found.variants]
    ['reno with fq', 'cubic with fq']
    """
    from elephan.sizing import size  # noqa: PLC0415 (that module offers this function, too)

    begun = time.perf_counter()
    given: object = laws
    if not isinstance(given, Mapping | None):
        raise InputError("laws: must be {NAME: CLASS}, your own laws; those to compare are controls=[NAME, …]")
    with declared(laws):
        scenario = Scenario.from_any(scenario)
    make_answer: Any = target if callable(target) else partial(size, **{"target": target, "link": link, **options})
    index = scenario.link_index(link)
    group = next((each.index for each in scenario.network.groups if each.is_tcp), 0)
    made: dict[tuple[str, str], Scenario] = {}
    for law, queue in product(map(_name, controls) if controls else (None,), map(_name, queues) if queues else (None,)):
        changed = _changed(scenario, group, index, law, queue)
        key = (str(changed.groups[group]["law"]), str(changed.links[index]["discipline"]))
        if key in made:
            raise ScenarioError(f"{key[0]} with {key[1]} is given twice; give each law and each queue once")
        made[key] = changed
    check_used(laws or (), [scenario.own_laws, *(each.own_laws for each in made.values())])
    disciplines = {queue for _, queue in made}
    at_ample = len(disciplines) > 1 and not disciplines <= FULL_FIRST
    if at_ample and len(scenario.network.crossing(index)) > 1:
        # Under such disciplines each group has its own waiting times.
        made = {key: changed.replace({"record.delays": True}) for key, changed in made.items()}
    variants: list[SizedVariant] = []
    unknown: list[NoModelError] = []
    for number, ((law_name, queue_name), changed) in enumerate(made.items(), start=1):
        label = f"{law_name} with {queue_name}"
        if begin is not None:
            begin(number, len(made), label)
        try:
            variants.append(_sized(law_name, queue_name, make_answer(changed), at_ample=at_ample))
        except NoModelError as error:
            unknown.append(error)
            variants.append(_sized(law_name, queue_name, error.answer, at_ample=False))
        except InputError as error:
            raise type(error)(f"{error} (variant {label})") from None
    if len(unknown) == len(variants):
        raise unknown[0]
    found = _recommendation(index, group, variants)
    return SizeComparison(scenario, index, group, tuple(variants), found, time.perf_counter() - begun)


def _name(given: str | RegistryEntry) -> str:
    return given.name if isinstance(given, RegistryEntry) else given


def _changed(scenario: Scenario, group: int, link: int, law: str | None, queue: str | None) -> Scenario:
    """Return the scenario with another law and another queue."""
    changes: dict[str, object] = {}
    if law is not None:
        before = scenario.source["flows"][group].get("control", {})
        kept = {key: before[key] for key in ("slow_start",) if isinstance(before, dict) and key in before}
        changes[f"flows[{group}].control"] = {"law": law, **kept}
    if queue is not None:
        before = scenario.source["links"][link].get("queue", {})
        profile = before.get("profile") if isinstance(before, dict) else None
        profiled = profile is not None and queue in profiled_queues()
        changes[f"links[{link}].queue"] = {"discipline": queue} | ({"profile": profile} if profiled else {})
    try:
        changed = scenario.replace(changes) if changes else scenario
        target = None if queue is None else _slow_target(changed.network.links[link])
        return changed if target is None else changed.replace({f"links[{link}].queue.target": target})
    except ScenarioError as error:
        text = " with ".join(name for name in (law, queue) if name is not None)
        raise ScenarioError(f"{error} (variant {text})") from None


def _slow_target(link: NetworkLink) -> str | None:
    """Return CoDel's target for a link on which one packet takes longer than the default; RFC 8290, Section 5.2."""
    if link.discipline not in CODELS or not link.packet_bytes > 0:
        return None
    packet_us = math.ceil(round(8e6 * link.packet_bytes / link.rate_bps, 3))
    return f"{packet_us} us" if 1e-6 * packet_us > seconds(link.queue["target"]) else None
