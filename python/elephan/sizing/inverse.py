"""Inverse sizing: the path, rate or number of flows that a buffer is sufficient for; the thresholds or pool it needs.

The search is that for the buffer (`elephan.sizing.search`): each of these decides the utilization, as the buffer does.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.display import ColumnTable, page
from elephan.errors import InputError
from elephan.lint import LintWarning, lint
from elephan.network import FlowGroup
from elephan.own_laws import LawSource
from elephan.results.files import TableColumns, write_files
from elephan.runs.files import identity
from elephan.runs.warmup import settle_warmup
from elephan.scenario import Scenario
from elephan.sizing.curve import BufferCurve
from elephan.sizing.limit_words import said
from elephan.sizing.limits import too_short, why_not
from elephan.sizing.measuring import LinkSimulations, prepared
from elephan.sizing.quantities import LinkQuantity, drop_tail, quantity
from elephan.sizing.search import Search, SearchProgress
from elephan.sizing.targets import Target, targets_json

if TYPE_CHECKING:
    from elephan.sizing.documents import LimitDocument, LimitRow, PoolPart, ValueRow

MEASURED = ("utilization", "loss_ratio", "queueing_delay_s", "queueing_delay_p95_s", "jain")
"""Metrics that are shown for every value of the searched quantity."""


BEYOND = (2, 4, 8)
"""Factors of the count found. The targets must still be met there, as the search assumes; this is checked."""


EASIER = {
    "rtt": "a shorter path",
    "rate": "a lower rate",
    "flows": "more flows",
    "red": "higher thresholds",
    "pool": "a larger pool",
    "alpha": "a larger alpha",
}
"""Change of each quantity that should keep a link busier."""


BESIDE = 3
"""Maximum number of replications of the drop-tail queue that RED is compared with."""


@dataclass(frozen=True, repr=False)
class LimitAnswer:
    """The result of `size_limit`.

    Parameters
    ----------
    scenario : Scenario
        As given, except for replications and seed.
    link : int
    targets : tuple of Target
    quantity : LinkQuantity
        The searched quantity.
    count : int or None
        The answer in counts of the quantity; None if there is none.
    interval : tuple of float or None
        Its 95 % confidence interval [unit of the quantity].
    note : str
        If there is no answer, the reason; otherwise a remark on it.
    curve : BufferCurve
        Everything measured, by count.
    rows : dict of int to dict
        Measured quantities of the link and of groups of flows by count, as in JSON.
    drop_tail : dict or None
        For RED's thresholds: the same of a drop-tail queue with the same buffer.
    at : Scenario
        The scenario with the value found; the original scenario if there is none.
    warnings : list of LintWarning
        Lint warnings for it.
    packets_simulated : int
    replications : int
    wall_s : float [s]
    """

    scenario: Scenario
    link: int
    targets: tuple[Target, ...]
    quantity: LinkQuantity
    count: int | None
    interval: tuple[float, float] | None
    note: str
    curve: BufferCurve
    rows: dict[int, LimitRow]
    drop_tail: ValueRow | None
    at: Scenario
    warnings: list[LintWarning]
    packets_simulated: int
    replications: int
    wall_s: float

    @property
    def is_met(self) -> bool:
        """Whether some value meets all targets."""
        return self.count is not None

    @property
    def amount(self) -> float | None:
        """The answer [unit of the quantity]."""
        return None if self.count is None else self.quantity.amount(self.count)

    @property
    def tc(self) -> str | None:
        """The `tc` line that sets RED with the thresholds found on Linux; None for other quantities."""
        if self.count is None or self.quantity.name != "red":
            return None
        line = self.at.links[self.link]["tc"]
        return None if line is None else str(line)

    def to_json(self) -> LimitDocument:
        """Return the document of ``elephan size --find … --json``."""
        facts = self.scenario.links[self.link]
        buffer = self.scenario.network.links[self.link].buffer_packets
        pool: PoolPart = {} if facts["pool"] is None else {"pool": self.scenario.pools[facts["pool"]]}
        return {
            "find": self.quantity.name,
            "unit": self.quantity.unit,
            "target": targets_json(self.targets),
            "met": self.is_met,
            "note": self.note,
            "link": facts["name"],
            "buffer_packets": buffer,
            **pool,
            "amount": self.amount,
            "interval": None
            if self.interval is None
            else [end if math.isfinite(end) else None for end in self.interval],
            "rows": [self.rows[count] for count in self.curve.buffers],
            "drop_tail": self.drop_tail,
            "tc": self.tc,
            "simulated": {
                "runs": sum(self.curve.replications(c) for c in self.curve.buffers),
                "packets": self.packets_simulated,
            },
            "run": {"id": self.scenario.id, "scenario": self.scenario.title, "seed": self.scenario.seed},
            "replications": self.replications,
            "warnings": [warned.to_json() for warned in self.warnings],
            "wall_s": self.wall_s,
        }

    def table(self) -> ColumnTable:
        """Return everything that was measured, a row per value of the searched quantity."""
        amounts = [self.quantity.amount(count) for count in self.curve.buffers]
        columns = {self.quantity.name: amounts, **self.curve.columns(MEASURED)}
        return ColumnTable(columns, f"{self.scenario.title}: {self.quantity.name}")

    def __repr__(self) -> str:
        found = "none" if self.amount is None else f"{self.amount:.6g} {self.quantity.unit}"
        return f"<LimitAnswer: {self.quantity.name}: {found}>"

    def _repr_html_(self) -> str:
        return page(self)

    def files(self) -> Iterator[tuple[str, Any]]:
        """Yield ``limit``, ``scenario.toml`` (the scenario with the value found) and ``limit.json``."""
        yield "limit", TableColumns(self.table(), identity(self.scenario))
        yield "scenario.toml", self.at.text
        yield "limit.json", self.to_json()

    def write(self, folder: Path | str, tables: str = "parquet") -> list[Path]:
        """Write the files of the answer, see `elephan.results.ResultTables.write`."""
        return write_files(Path(folder), self.files(), tables)


def size_limit(
    scenario: Scenario | str | Path,
    target: str | Iterable[str] | Mapping[str, float | str],
    find: str,
    *,
    link: str | None = None,
    precision: float = 0.05,
    replications: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    progress: Callable[[SearchProgress], None] | None = None,
    laws: Mapping[str, LawSource] | None = None,
) -> LimitAnswer:
    """Find what a link's buffer, as given in the scenario, is sufficient for; or the thresholds that RED needs with it.

    Parameters
    ----------
    scenario : Scenario or path
    target : str, iterable of str, or mapping
        As in `elephan.size`. One must be utilization, which decides; the others are checked at the answer.
    find : str
        ``"rtt"``: the longest path, all propagation of the scenario stretched alike. ``"rate"``: the fastest link.
        ``"flows"``: the fewest long-lived flows, groups in proportion. ``"red"``: RED's smallest thresholds, ``max_th``
        three times ``min_th``; a drop-tail queue with the same buffer is measured beside it. ``"pool"``: the smallest
        size of the pool that the link draws on. ``"alpha"``: the smallest alpha, the link's own if it has one, or else
        its pool's.
    link : str, optional
        Name of the link; the first that carries data by default.
    precision : float [1]
        Precision of the search, as a share.
    replications, seed : int, optional
        Replace those of the file.
    workers : int, optional
        Threads; the answer does not depend on it.
    progress : callable, optional
        Called after every run.
    laws : mapping of str to class or path, optional
        Laws in Python, as in `elephan.run`.

    Returns
    -------
    LimitAnswer

    Raises
    ------
    InputError
        If the scenario, the link, the target or what is to be found cannot be used.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> found = size_limit(Scenario.from_text(EXAMPLE), "utilization=0.9", "rtt", replications=2)
    >>> 0.05 < found.amount < 0.5
    True
    """
    begun = time.perf_counter()
    scenario, index, targets = prepared(scenario, target, link, precision, replications, seed, laws)
    deciding = tuple(each for each in targets if each.metric == "utilization")
    if not deciding:
        raise InputError("target: --find needs utilization, which decides; the others are checked where it is met")
    found = quantity(find, scenario, index)

    def make(count: int) -> Scenario:
        return settle_warmup(found.make(count), workers)

    simulations = LinkSimulations(scenario, index, workers, watched=progress is not None, make=make)
    grid = (max(found.least, found.own // 4), min(found.most, max(4 * found.own, found.own + 2)))
    given = (deciding, scenario.replications, precision, grid, found.most, progress)
    search = Search(simulations, *given, start=float(found.own), least=found.least)
    count = search.smallest()
    beside, packets = None, simulations.packets
    if found.name == "red":
        plain = LinkSimulations(scenario, index, workers, watched=False, make=lambda _: drop_tail(scenario, index))
        beside = BufferCurve()
        tried = [(0, replication) for replication in range(min(BESIDE, scenario.replications))]
        for replication, measured in enumerate(plain(tried, lambda: None)):
            beside.add(0, replication, measured)
        packets += plain.packets
    note = ""
    interval: tuple[float, float] | None = None
    if count is None:
        best = search.curve.buffers[-1]
        used = search.curve.estimate(best, "utilization").mean
        note = f"even with {_said(found, best)} the link is {100 * used:.3g} % busy"
        at_best = found.make(best).network
        if others := why_not(at_best, index, deciding) or too_short(at_best):
            note = f"{others[0].text}; {note}"
    else:
        ends = search.curve.interval(list(deciding), count)
        if ends is not None:
            low, high = sorted(found.amount(end) if math.isfinite(end) else math.inf for end in ends)
            interval = low, high
        search.measure_also({min(found.most, count * factor) for factor in BEYOND}, scenario.replications)
        missed = [c for c in search.curve.buffers if c > count and not _meets(search.curve, deciding, c)]
        note = _rest(search.curve, targets, count)
        if missed:
            used = search.curve.estimate(missed[-1], "utilization").mean
            at = f"with {_said(found, missed[-1])} the link is {100 * used:.3g} % busy"
            wrong = f"{EASIER[found.name]} can miss the target: {at}"
            note = f"{note}; " * bool(note) + wrong
        if count == search.curve.buffers[0] and count == found.least:
            note = f"{note}; " * bool(note) + f"the search ends at {_said(found, count)}"
    curve, crossing = search.curve, scenario.network.crossing(index)
    rows: dict[int, LimitRow] = {c: {"amount": found.amount(c), **_row(curve, c, crossing)} for c in curve.buffers}
    drop = None if beside is None else _row(beside, 0, crossing)
    changed = scenario if count is None else found.make(count)
    first = (scenario, index, targets, found, count, interval, note, curve, rows, drop)
    return LimitAnswer(*first, changed, lint(changed), packets, scenario.replications, time.perf_counter() - begun)


def _row(curve: BufferCurve, count: int, crossing: Sequence[FlowGroup]) -> ValueRow:
    """Return the quantities measured at a count, as JSON shows them."""
    return {
        "replications": curve.replications(count),
        "utilization": curve.estimate(count, "utilization").to_json(),
        "loss_ratio": curve.estimate(count, "loss_ratio").to_json(),
        "queueing_delay_s": curve.estimate(count, "queueing_delay_s").to_json(),
        "queueing_delay_p95_s": curve.estimate(count, "queueing_delay_p95_s").to_json(),
        "jain": curve.estimate(count, "jain").to_json(),
        "groups": [
            {"name": group.name, "law": group.law or None, **curve.group_quantities(count, i)}
            for i, group in enumerate(crossing)
        ],
    }


def _said(found: LinkQuantity, count: int) -> str:
    return said(found.name, found.amount(count))


def _meets(curve: BufferCurve, targets: Iterable[Target], count: int) -> bool:
    return all(target.meets(curve.estimate(count, target.metric).mean) for target in targets)


def _rest(curve: BufferCurve, targets: Iterable[Target], count: int) -> str:
    """Return a clause that names the other targets that are not met."""
    missed = [target for target in targets if not _meets(curve, [target], count)]
    return f"there {' and '.join(map(str, missed))} is not met" if missed else ""
