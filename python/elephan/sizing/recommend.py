"""Recommend one of several variants of a link, by a documented rule and with a reason in numbers.

Source: variants share random numbers, so they are told apart by paired differences, LawKelton2000, Section 11.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elephan.sizing.curve import BufferCurve
from elephan.sizing.targets import BufferSample, Target
from elephan.stats import estimate, paired
from elephan.units import format_packets

if TYPE_CHECKING:
    from elephan.sizing.documents import RecommendationDocument

MATTERS = 0.05
"""Smallest relative difference that counts in a choice: buffers themselves are found with a precision of 5 %."""

FELT = 0.01
"""Smallest difference in queueing delay that counts in a choice, as a share of the base RTT."""

RARE = 1e-6
"""Smallest difference in loss ratio that counts in a choice: links corrupt about one packet in a million."""

MOST_DIGITS = 3
"""Maximum number of additional digits that distinguish a value from the target that it misses."""

BUFFER = "buffer"
CRITERIA = ("queueing_delay_s", "loss_ratio", "jain", BUFFER)
"""Criteria of the choice, in this order."""

_COUNTS = {"queueing_delay_s": "delay", "loss_ratio": "loss", "jain": "fairness", BUFFER: "buffer"}
_BETTER = {"queueing_delay_s": "less delay", "loss_ratio": "less loss", "jain": "fairer shares", BUFFER: "less buffer"}
_WORSE = {"queueing_delay_s": "more delay", "loss_ratio": "more loss", "jain": "fairness", BUFFER: "more buffer"}


@dataclass(frozen=True)
class Candidate:
    """One variant, in the form that the rule takes.

    Parameters
    ----------
    buffer_packets : int or None [packets]
        The smallest that meets all targets, or else the nearest measured one; None if nothing is known.
    meets : bool
        Whether it meets them.
    interval : tuple of float or None [packets]
        Confidence interval of the buffer.
    samples : tuple of BufferSample
        Samples with that buffer, by replication.
    rtt_s : float [s]
        Mean base RTT of the link's flows.
    dangers : tuple of str
        Serious dangers, which rank the variant behind others without: heavy loss, and warnings that forbid its `tc`
        line. Clauses without a full stop.
    refused : str
        Why none of its buffers should be deployed, although one may meet the targets; empty otherwise.

    Examples
    --------
    >>> from elephan.sizing.targets import BufferSample
    >>> Candidate("cubic", "fq", 69, True, None, (BufferSample(0.95, 0.0005, 0.002, 0.98),)).label
    'cubic with fq'
    """

    law: str
    queue: str
    buffer_packets: int | None
    meets: bool
    interval: tuple[float, float] | None
    samples: tuple[BufferSample, ...]
    rtt_s: float = 0.0
    dangers: tuple[str, ...] = ()
    refused: str = ""

    @property
    def label(self) -> str:
        """Name of the variant in sentences."""
        return f"{self.law} with {self.queue}"

    def values(self, metric: str) -> list[float]:
        """Values of a metric by replication.

        Parameters
        ----------
        metric : str
            Field of `BufferSample`.
        """
        return [sample.value(metric) for sample in self.samples]

    def mean(self, criterion: str) -> float:
        """Mean of a criterion.

        Parameters
        ----------
        criterion : str
            One of `CRITERIA`, or a field of `BufferSample`.

        Returns
        -------
        float
            NaN if nothing is known of it.
        """
        if criterion == BUFFER:
            return math.nan if self.buffer_packets is None else float(self.buffer_packets)
        return estimate(self.values(criterion)).mean

    def shown(self, criterion: str, more: int = 0) -> str:
        """Write a criterion with its unit.

        Parameters
        ----------
        criterion : str
            As in `mean`.
        more : int
            Number of additional digits.
        """
        value = self.mean(criterion)
        if criterion.partition("[")[0].endswith("_s"):
            return f"{value * 1e3:.{3 + more}g} ms"
        if criterion == "loss_ratio":
            return f"{value * 100:.{2 + more}g} %"
        return format_packets(round(value)) if criterion == BUFFER else f"{value:.{3 + more}g}"

    def shown_beside(self, target: Target) -> str:
        """Write the metric of a missed target, with enough digits to show the miss.

        Parameters
        ----------
        target : Target
        """
        value, usual = self.mean(target.metric), 2 if target.metric == "loss_ratio" else 3
        more = next((n for n in range(MOST_DIGITS) if not target.meets(float(f"{value:.{usual + n}g}"))), MOST_DIGITS)
        return self.shown(target.metric, more)


@dataclass(frozen=True)
class Recommendation:
    """Recommended variant, and the reason.

    Parameters
    ----------
    runner_up : Candidate or None
        The rule's choice among the others; None if no other one meets the targets as well.
    reason : str
        One sentence with the numbers.
    otherwise : str
        Preferences that would change the choice; empty if there are none.
    caveats : tuple of str
        Caveats before it is deployed.
    is_nearest : bool
        Whether nothing meets the targets, not even within its interval, and this is the nearest.
    """

    chosen: Candidate
    runner_up: Candidate | None
    reason: str
    otherwise: str
    caveats: tuple[str, ...] = ()
    is_nearest: bool = False

    @property
    def meets(self) -> bool:
        """Whether the recommended variant meets all targets; otherwise it is only the nearest."""
        return self.chosen.meets

    def to_json(self) -> RecommendationDocument:
        """Return the part ``recommendation`` of a comparison's document."""
        runner = self.runner_up
        return {
            "law": self.chosen.law,
            "queue": self.chosen.queue,
            "met": self.meets,
            "reason": self.reason,
            "runner_up": None if runner is None else {"law": runner.law, "queue": runner.queue},
            "otherwise": self.otherwise,
            "caveats": list(self.caveats),
        }


def recommend(candidates: Sequence[Candidate], targets: Sequence[Target]) -> Recommendation:
    """Choose among variants.

    The rule: (1) Only variants count that meet all targets with a buffer to deploy; of these those without a danger, if
    there are any. (2) One that another dominates is dropped: clearly worse in queueing delay, loss, fairness or buffer,
    and clearly better in none. (3) Of the rest those remain whose delay is not clearly above the lowest; of these those
    whose loss is not clearly above the lowest, then likewise the fairest, then the smallest buffer; what is still left
    is decided by the mean delay. *Clearly* means beyond the 95 % interval of the paired difference (of the buffer:
    intervals apart) and by more than `MATTERS` of the larger; delay also by more than `FELT` of the base RTT, loss by
    more than `RARE`; fairness by more than `MATTERS` in the coefficient of variation of the shares, sqrt(1/J - 1) for
    Jain's index J. If no variant meets the targets, the one that misses the fewest comes nearest, and among equals that
    whose worst miss is the smallest share of its level.

    Parameters
    ----------
    candidates : sequence of Candidate
        At least one; all have their samples in the same order of replications.

    Returns
    -------
    Recommendation
        Without caveats.

    References
    ----------
    LawKelton2000.

    Examples
    --------
    >>> from elephan.sizing.targets import BufferSample, parse_targets
    >>> fast = Candidate("cubic", "fq", 70, True, None, (BufferSample(0.95, 0.001, 0.002, 0.98),))
    >>> slow = Candidate("reno", "drop-tail", 140, True, None, (BufferSample(0.95, 0.001, 0.005, 0.9),))
    >>> recommend([slow, fast], parse_targets("utilization=0.95")).reason
    "cubic with fq meets utilization >= 0.95 with 70 packets (delay 2 ms, loss 0.1 %, Jain's index 0.98); against reno
    with drop-tail, the runner-up, it has less delay (2 ms against 5 ms), fairer shares (Jain's index 0.98 against 0.9),
    less buffer (70 packets against 140 packets)"
    """
    meeting = [candidate for candidate in candidates if candidate.meets]
    if not meeting:
        return _nearest(candidates, targets)
    safe = [candidate for candidate in meeting if not candidate.dangers]
    chosen = _choose(safe or meeting)
    others = [candidate for candidate in meeting if candidate is not chosen]
    runner = _choose([c for c in safe if c is not chosen] or others) if others else None
    wanted = " and ".join(str(target) for target in targets)
    known = _facts(chosen)
    buffer = format_packets(chosen.buffer_packets or 0)
    head = f"{chosen.label} meets {wanted} with {buffer}{f' ({known})' if known else ''}"
    if runner is None:
        only = f" and is the only one of {len(candidates)} that does" if len(candidates) > 1 else ""
        return Recommendation(chosen, None, f"{head}{only}", "")
    is_lowest = _cost(chosen, CRITERIA[0]) <= min(_cost(c, CRITERIA[0]) for c in others)
    if is_lowest and len(meeting) > 2:
        alike = len({candidate.buffer_packets for candidate in meeting}) == 1
        each = "this buffer" if alike else "its own buffer"
        head += f", with the lowest delay of the {len(meeting)} variants that do, each with {each}"
    return Recommendation(chosen, runner, f"{head}; {_why(chosen, runner)}", _otherwise(chosen, others))


def is_better(one: Candidate, other: Candidate, criterion: str) -> bool:
    """Return whether one variant is clearly better than another by a criterion.

    Parameters
    ----------
    criterion : str
        One of `CRITERIA`.

    Returns
    -------
    bool
        False if the difference is within the 95 % interval of the paired difference, is too small (see `MATTERS`),
        or is unknown. With a single replication there is no interval, and differences above `MATTERS` count.

    Examples
    --------
    >>> from elephan.sizing.targets import BufferSample
    >>> noisy = [Candidate("l", q, 1, True, None, (BufferSample(1, 0, a, 1), BufferSample(1, 0, b, 1))) for q, a, b in
    ...          (("a", 0.001, 0.009), ("b", 0.005, 0.007))]
    >>> is_better(noisy[0], noisy[1], "queueing_delay_s")
    False
    """
    ours, theirs = one.mean(criterion), other.mean(criterion)
    if criterion == "jain":
        gain, least = _spread(theirs) - _spread(ours), MATTERS
    else:
        felt = {"queueing_delay_s": FELT * one.rtt_s, "loss_ratio": RARE}.get(criterion, 0.0)
        gain, least = theirs - ours, max(MATTERS * theirs, felt)
    if not gain > least:
        return False
    if criterion == BUFFER:
        return one.interval is None or other.interval is None or one.interval[1] < other.interval[0]
    both = min(len(one.samples), len(other.samples))
    difference = paired(one.values(criterion)[:both], other.values(criterion)[:both]).difference
    return difference.ci95 is None or abs(difference.mean) > difference.ci95


def nearest(curve: BufferCurve, targets: Sequence[Target]) -> int | None:
    """Find the measured buffer that is nearest to meeting all targets.

    Returns
    -------
    int [packets] or None
        The smallest of several equal ones; None if nothing was measured.

    Examples
    --------
    >>> from elephan.sizing.curve import BufferCurve
    >>> from elephan.sizing.targets import BufferSample, parse_targets
    >>> curve = BufferCurve()
    >>> for buffer in (10, 20):
    ...     curve.add(buffer, 0, BufferSample(buffer / 30, 0.0, 0.001 * buffer))
    >>> nearest(curve, parse_targets("utilization=0.9"))
    20
    """
    return min(curve.buffers, key=lambda buffer: misses(curve.samples(buffer), targets), default=None)


def misses(samples: Sequence[BufferSample], targets: Sequence[Target]) -> tuple[int, float]:
    """Return how far some samples are from meeting all targets.

    Returns
    -------
    tuple of int and float [1]
        Number of missed targets, and the worst miss as a share of its level; infinite if unknown.
    """
    means = {target: estimate([sample.value(target.metric) for sample in samples]).mean for target in targets}
    missed = [abs(mean - target.level) / target.level for target, mean in means.items() if not target.meets(mean)]
    return len(missed), max((math.inf if math.isnan(miss) else miss for miss in missed), default=0.0)


def _spread(jain: float) -> float:
    """Coefficient of variation of shares with a given Jain's index."""
    return math.nan if math.isnan(jain) else math.sqrt(max(0.0, 1.0 / jain - 1.0))


def _choose(candidates: Sequence[Candidate]) -> Candidate:
    """Apply steps 2 and 3 of the rule."""
    left = [c for c in candidates if not any(_dominates(other, c) for other in candidates)]
    # Significant differences are not transitive: in a circle all variants are dominated.
    left = left or list(candidates)
    for criterion in CRITERIA:
        best = min(left, key=lambda c: _cost(c, criterion))
        left = [c for c in left if c is best or not is_better(best, c, criterion)]
    return min(left, key=lambda c: _cost(c, CRITERIA[0]))


def _cost(candidate: Candidate, criterion: str) -> float:
    """Return a criterion as a cost, lower being better; an unknown one is the highest."""
    value = candidate.mean(criterion)
    return math.inf if math.isnan(value) else -value if criterion == "jain" else value


def _dominates(one: Candidate, other: Candidate) -> bool:
    return any(is_better(one, other, c) for c in CRITERIA) and not any(is_better(other, one, c) for c in CRITERIA)


def _why(chosen: Candidate, runner: Candidate) -> str:
    """Compare the chosen variant with the runner-up, in the order of the criteria."""
    gains = [c for c in CRITERIA if is_better(chosen, runner, c)]
    costs = [c for c in CRITERIA if is_better(runner, chosen, c)]
    if gains:
        before = CRITERIA[: CRITERIA.index(gains[0])]
        same = [_COUNTS[c] for c in before if c not in costs and not math.isnan(chosen.mean(c) + runner.mean(c))]
        about = f"about the same {' and '.join(same)} and " if same else ""
        numbers = ", ".join(f"{_BETTER[c]} ({_against(chosen, runner, c)})" for c in gains)
        text = f"against {runner.label}, the runner-up, it has {about}{numbers}"
    else:
        first = CRITERIA[0]
        text = (
            f"it does not differ significantly from {runner.label}, the runner-up ({_against(chosen, runner, first)})"
        )
    if not costs:
        return text
    return f"{text}; it costs {', '.join(f'{_WORSE[c]} ({_against(chosen, runner, c)})' for c in costs)}"


def _against(one: Candidate, other: Candidate, criterion: str) -> str:
    named = "Jain's index " if criterion == "jain" else ""
    return f"{named}{one.shown(criterion)} against {other.shown(criterion)}"


def _facts(candidate: Candidate) -> str:
    """Describe a variant by delay, loss and shares, as far as they are known."""
    names = _COUNTS | {"jain": "Jain's index"}
    return ", ".join(
        f"{names[c]} {candidate.shown(c)}" for c in CRITERIA if c != BUFFER and not math.isnan(candidate.mean(c))
    )


def _otherwise(chosen: Candidate, others: Sequence[Candidate]) -> str:
    """Name, for each criterion by which others are clearly better than the chosen one, the best of them."""
    phrases = []
    for criterion in CRITERIA:
        better = [c for c in others if is_better(c, chosen, criterion)]
        if better:
            best = min(better, key=lambda c: (_cost(c, criterion), _cost(c, CRITERIA[0])))
            numbers = _against(best, chosen, criterion)
            but = f", but {best.dangers[0]}" if best.dangers else ""
            phrases.append(f"{best.label} if the {_COUNTS[criterion]} counts most ({numbers}{but})")
    return "; ".join(phrases)


def _nearest(candidates: Sequence[Candidate], targets: Sequence[Target]) -> Recommendation:
    """Recommend the variant nearest to the targets, because none meets them."""
    ranked = sorted(candidates, key=lambda c: misses(c.samples, targets))
    chosen = ranked[0]
    wanted = " and ".join(str(target) for target in targets)
    none = f"none of {len(candidates)} variants meets" if len(candidates) > 1 else f"{chosen.label} does not meet"
    if chosen.refused:
        deployed = " with a buffer to deploy" if chosen.samples and not misses(chosen.samples, targets)[0] else ""
        shared = len({candidate.refused for candidate in candidates}) == 1
        which = "" if shared else f"{chosen.label} comes nearest, and "
        return Recommendation(chosen, None, f"{none} {wanted}{deployed}: {which}{chosen.refused}", "", is_nearest=True)
    if not chosen.samples:
        of = f"one of {len(candidates)} variants" if len(candidates) > 1 else chosen.label
        reason = f"no model that was checked on such links says that {of} meets {wanted}; simulate them"
        return Recommendation(chosen, None, reason, "", is_nearest=True)
    short = ", ".join(
        f"{_name(target)} {chosen.shown_beside(target)} where {target} is wanted"
        for target in targets
        if not target.meets(chosen.mean(target.metric))
    )
    short = short or "larger buffers are worse again, so there is no smallest that is enough"
    near = f"{chosen.label} comes nearest" if len(candidates) > 1 else "the nearest"
    reason = f"{none} {wanted}; {near}, with {format_packets(chosen.buffer_packets or 0)}: {short}"
    return Recommendation(chosen, ranked[1] if len(ranked) > 1 else None, reason, "", is_nearest=True)


def _name(target: Target) -> str:
    return _COUNTS.get(target.metric, target.name)
