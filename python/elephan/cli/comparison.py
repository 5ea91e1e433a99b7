"""``elephan size --laws … --queues …``: comparison of variants of a link, and the recommended one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from elephan.cli import size_screen
from elephan.cli.columns import LINES, Column, command_lines, table_lines, wrapped
from elephan.sizing import SizeComparison
from elephan.sizing.recommend import Candidate
from elephan.units import count, format_packets

if TYPE_CHECKING:
    from elephan.sizing.documents import SizeDocument

MARK = "*"
"""Mark of the recommended variant."""


def comparison_screen(comparison: SizeComparison, title: str) -> list[str]:
    """Return the screen of a comparison: its title, recommendation, reason, and each variant with its buffer.

    Returns
    -------
    list of str
        At most `LINES` lines, unless there are more than some eight variants or the terminal has fewer than 80 columns.
    """
    first, found, chosen = comparison.variants[0], comparison.recommendation, comparison.recommended()
    wanted = " and ".join(str(target) for target in first.answer.targets)
    verdict = "Nearest" if found.is_nearest else "Recommended"
    meets = f" meets {wanted} with {_packets(found.chosen).removeprefix(', ')}"
    reason = found.reason.replace(meets, _packets(found.chosen))
    reason = reason.replace(f" meets {wanted}", " meets that").replace(f"does not meet {wanted}", "does not")
    reason = reason.replace(", the runner-up, it has ", ": ").replace(" and is the only one of ", ", the only one of ")
    caveats = [wrapped(f"{text}.", mark="  ! ") for text in found.caveats]
    # The first caveats are the dangers.
    grave = sum(map(len, chosen.dangers))
    dangers, others = caveats[:grave], caveats[grave:]
    dangers = [*_unchanged(comparison), *dangers]
    others += [wrapped(f"{text}.", mark="  > ") for text in [found.otherwise] if text]
    table = _table_of_variants(comparison) if first.ample_packets is not None else _table_of_models(comparison)
    tc = command_lines(chosen.tc, "Linux: ") if found.meets and chosen.tc else []
    if found.meets and not tc:
        tc = size_screen.no_line(chosen.deployment, comparison.link)
    runs = sum(variant.answer.runs for variant in comparison.variants)
    ran = f"{count(len(comparison.variants), 'variant')}, {count(runs, 'run')}"
    last = wrapped(f"({ran}, {comparison.wall_s:.0f} s; more with --details)")
    # Dangers of the recommended variant are always shown. A reason without room is shortened; the table shows the rest.
    least = max(sum(map(len, dangers)), 1 if dangers or others else 0)
    texts = list(_shorter(reason))
    heads = [[*wrapped(title), *wrapped(f"{verdict} for {wanted}: {text}.")] for text in texts]
    below = len(table) + len(tc) + len(last)
    # If no reason fits, the shortest is used for dangers; else only the cost is omitted.
    head = next((head for head in heads if LINES - len(head) - below >= least), heads[-1 if dangers else 1])
    return [*head, *size_screen.within(dangers, others, LINES - len(head) - below), *table, *tc, *last]


def _shorter(reason: str) -> Iterator[str]:
    """Yield ever shorter reasons: without the cost, with the first gain only, and without the runner-up."""
    yield reason
    yield reason.partition("; it costs")[0]
    head, against, rest = reason.partition("; against ")
    yield f"{head}{against}{rest.partition(')')[0]})" if against else reason
    yield head


def _packets(chosen: Candidate) -> str:
    """Describe the buffer with which a variant is recommended."""
    return "" if chosen.buffer_packets is None else f", {format_packets(chosen.buffer_packets)}"


def _table_of_variants(comparison: SizeComparison) -> list[str]:
    """Return a row for each variant: its required buffer, and the measurements at the compared buffer."""
    variants, chosen = comparison.variants, comparison.recommended()
    ample = variants[0].ample_packets
    # A variant that misses its targets with every buffer is compared at the ample one, if the others are.
    buffers = [v.ample_packets if v.at_ample and not v.answer.is_met else v.deployed_packets for v in variants]
    rows = [variant.answer.rows[buffer or 1] for variant, buffer in zip(variants, buffers, strict=True)]
    smallest = [variant.answer.buffer_packets for variant in variants]
    names = [f"{variant.law}{f' {MARK}' if variant is chosen else ''}" for variant in variants]
    buffer = size_screen.buffer_columns(rows)[0]
    if set(buffers) == {ample}:
        waits = [
            None if b is None else variant.answer.at(b)["queueing_delay_s"]
            for b, variant in zip(smallest, variants, strict=True)
        ]
        beside = Column("delay", "with it", tuple(map(size_screen.short_time, waits)), 2)
        said = f"the rest: with {format_packets(ample or 0)} (1 BDP)"
    else:
        cells = (
            "none" if v.answer.is_met and v.candidate.refused else cell
            for v, cell in zip(variants, buffer.cells, strict=True)
        )
        beside = Column("buffer", "packets", tuple(cells))
        said = "buffer: to deploy, used in later columns"
        if None in smallest:
            said = f"buffer: to deploy, or {'1 BDP' if variants[0].at_ample else 'the nearest'}"
    columns = [
        Column("law", "", tuple(names), is_text=True),
        Column("queue", "", tuple(variant.queue for variant in variants), is_text=True),
        Column("needs", "packets", tuple("not met" if b is None else f"{b:,}" for b in smallest)),
        beside,
    ]
    columns = [column for column in columns if set(column.cells) != {"-"}]
    # Variants that meet the targets are ranked by their delay first.
    decisive = (*size_screen.decided_by(variants[0].answer.targets), "queueing_delay_s")
    table = size_screen.with_decisive(
        lambda keys: columns + size_screen.buffer_columns(rows, decisive=keys)[2:], decisive
    )
    smallest_of = "smallest buffer, or not met by any" if None in smallest else "smallest buffer for the target"
    return [*wrapped(f"needs: {smallest_of}; {said}"), *table]


def _unchanged(comparison: SizeComparison) -> list[list[str]]:
    """Return a caveat about the links that are not compared, as wrapped lines; none if there is one link."""
    changed = comparison.variants[0].answer.facts["name"]
    others = [link.name for link in comparison.scenario.network.links if link.name != changed]
    if not others:
        return []
    names = ", ".join(others[:2]) + (f" and {len(others) - 2} more" if len(others) > 2 else "")
    keeps = "keeps its queue" if len(others) == 1 else "keep their queues"
    return [wrapped(f"only {changed} is changed; {names} {keeps}, where ACKs and datagrams may wait.", mark="  ! ")]


def _table_of_models(comparison: SizeComparison) -> list[str]:
    """Return a row for each variant, by models only."""
    chosen = comparison.recommended()
    documents = [variant.answer.to_json() for variant in comparison.variants]
    names = [f"{v.law}{f' {MARK}' if v is chosen else ''}" for v in comparison.variants]
    columns = [
        Column("law", "", tuple(names), is_text=True),
        Column("queue", "", tuple(variant.queue for variant in comparison.variants), is_text=True),
        Column("needs", "packets", tuple(_needs(document) for document in documents)),
        Column("model", "", tuple(str(document["trusted_model"] or "-") for document in documents), is_text=True),
        Column("used", "", tuple(size_screen.short_percent(document["utilization"], 3) for document in documents)),
        Column("delay", "", tuple(size_screen.short_time(document["queueing_delay_s"]) for document in documents)),
    ]
    unsure = any("?" in cell for cell in columns[2].cells)
    said = wrapped("needs: smallest buffer; ?: by models that were not checked on such links") if unsure else []
    return [*said, *table_lines(columns)]


def _needs(document: SizeDocument) -> str:
    if document["buffer_packets"] is not None:
        return f"{document['buffer_packets']:,}"
    said = document["models_range_packets"]
    return "no model" if said is None else f"{said[0]:,}?" if said[0] == said[1] else f"{said[0]:,} to {said[1]:,}?"


def comparison_notes(comparison: SizeComparison) -> list[str]:
    """Return the notes of the variants' answers, one per line."""
    return [
        f"{'note' if variant.answer.is_met else 'target not met'} under {variant.label}: {variant.answer.note}"
        for variant in comparison.variants
        if variant.answer.note
    ]
