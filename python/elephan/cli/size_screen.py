"""Default screen of ``elephan size``: the answer in a sentence, dangers, and a few buffers side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elephan.cli.columns import LINES, Column, command_lines, fitting, line_width, table_lines, terminal_width, wrapped
from elephan.cli.common import shown
from elephan.cli.no_tc import why_no_tc
from elephan.plugins import optional_hook
from elephan.sizing import SizeAnswer
from elephan.sizing.targets import Target
from elephan.sizing.wording import full_words, interval_words, paced_words
from elephan.units import count, format_bytes, format_packets, format_rate, format_time, scaled

if TYPE_CHECKING:
    from elephan.results import Quantity
    from elephan.sizing.deployment import Deployment
    from elephan.sizing.documents import BufferRow, ChosenRow, SizeDocument, ValueRow

GROUPS = 3
"""Maximum number of groups of flows with a column each; of more, only the poorest and the richest have one."""

REST = ("models, rules, every buffer", "more")
"""Contents of the details: in words, and for a short line."""

NOTES = 2
"""Number of lines for dangers and advice, for which rows beside the answer are omitted."""


def size_screen(answer: SizeAnswer, title: str) -> list[str]:
    """Return the screen of an answer, below its title.

    Returns
    -------
    list of str
        At most `LINES` lines, unless dangers need more or the terminal has fewer than 80 columns.
    """
    document = answer.to_json()
    head = [*wrapped(title), *wrapped(link_line(answer.facts)), *wrapped(sentence(answer, document))]
    head += wrapped(full_words(answer.scenario.network, answer.link))
    rows = list(document["table"])
    decisive = decided_by(answer.targets)

    def lines() -> list[str]:
        return with_decisive(lambda keys: buffer_columns(rows, _roles, keys), decisive)

    table = lines() if rows else []
    tc = command_lines(document["tc"], "Linux: ") if document["tc"] else []
    if not tc and document["suggested_packets"] is not None:
        tc = no_line(answer.deployment, answer.link)
    cited = _cited(answer)
    # The footer with the fewest lines, of several the first; the cited answer is omitted if it needs a line of its own.
    last = min((wrapped(footer(answer, document, rest, see)) for see in (cited, "") for rest in REST), key=len)
    head += wrapped(paced_words(document))
    room = LINES - len(head) - len(table) - len(tc) - len(last)
    # Rows of other buffers are omitted if dangers need their lines, or if there are fewer than `NOTES` lines for notes.
    wanted = max(sum(map(len, _dangers(document))), NOTES if document["dangers"] or document["advice"] else 0)
    spare = [row for row in rows[:-1] if "suggested" not in row["is"]]
    while room < wanted and spare and len(rows) > 1:
        # The row with a packet for each flow is omitted last.
        rows.remove(spare.pop())
        shorter = lines()
        table, room = shorter, room + len(table) - len(shorter)
    return [*head, *notes(answer, document, room), *table, *tc, *last]


def link_line(link: Mapping[str, Any]) -> str:
    """Format the facts of a link."""
    beside = link["background_flows"]
    flows = count(link["flows"], "flow") + (f" (and {beside} of other traffic)" if beside else "")
    return (
        f"Link {link['name']}: {format_rate(link['rate_bps'])}, mean base RTT {format_time(link['mean_rtt_s'])}, "
        f"{flows}, BDP {link['bdp_packets']:,.0f} packets"
    )


def sentence(answer: SizeAnswer, document: SizeDocument) -> str:
    """Return the answer as a sentence."""
    wanted = " and ".join(str(target) for target in answer.targets)
    buffer, suggested = answer.buffer_packets, document["suggested_packets"]
    if buffer is None:
        return f"No answer for {wanted}: {document['note']}."
    size = f"{format_packets(buffer)} ({interval_words(document)})"
    if suggested == buffer:
        bdp = f"{format_bytes(document['buffer_bytes'] or 0)}, {document['buffer_bdp']:.3g} BDP"
        return f"Buffer for {wanted}: {size}; {bdp}."
    if suggested is None:
        return f"No buffer can be suggested. {wanted} needs {size}, which should not be deployed."
    return f"Suggested: {format_packets(suggested)}. {wanted} needs only {buffer:,} ({interval_words(document)})."


def notes(answer: SizeAnswer, document: SizeDocument, room: int) -> list[str]:
    """Return all dangers, then advice and the note; those that do not fit are counted."""
    others = [wrapped(text + ".", mark="  > ") for text in document["advice"]]
    if document["note"] and answer.is_met:
        others.append(wrapped(document["note"] + ".", mark="  > "))
    return within(_dangers(document), others, room)


def _dangers(document: SizeDocument) -> list[list[str]]:
    """Return the lines of each danger."""
    return [wrapped(text + ".", mark="  ! ") for text in document["dangers"]]


def within(dangers: Sequence[list[str]], others: Sequence[list[str]], room: int) -> list[str]:
    """Return all dangers, and as many of the other notes as fit; the omitted ones are counted.

    Parameters
    ----------
    dangers, others : sequence of list of str
        The lines of each.
    room : int
        Lines.

    Examples
    --------
    >>> within([["! a"], ["! b"]], [["> c", "  c"]], 3)
    ['! a', '! b', '  > 1 more note with --details']
    >>> within([["! a"], ["! b"]], [["> c"], ["> d"]], 1)
    ['! a', '! b']
    """
    shown = [line for each in dangers for line in each]
    for number, each in enumerate(others):
        rest = len(others) - number
        if len(shown) + len(each) + (rest > 1) > room:
            said = [f"  > {rest} more {'note' if rest == 1 else 'notes'} with --details"]
            return [*shown, *said[: max(room - len(shown), 0)]]
        shown += each
    return shown


def decided_by(targets: Iterable[Target]) -> tuple[str, ...]:
    """Return the keys of the quantities that decide a verdict: utilization, and those of the targets."""
    return tuple(dict.fromkeys(("utilization", *(target.metric for target in targets))))


def with_decisive(make: Callable[[Collection[str]], list[Column]], decisive: Sequence[str]) -> list[str]:
    """Format a table in which the deciding numbers have intervals, if there is room for them.

    Only columns with a rank above `NEEDED` are omitted to make room for intervals.

    Parameters
    ----------
    make : callable
        Returns the columns, with intervals for the given keys of quantities.
    decisive : sequence of str
        Keys of the deciding quantities.
    """
    width = terminal_width()
    bare = make(())
    needed = sum(column.rank <= NEEDED for column in fitting(bare, width))
    # Without room for all intervals, those of the last quantities are shown.
    for first in range(len(decisive)):
        full = make(decisive[first:])
        kept = fitting(full, width)
        if line_width(kept) <= width and sum(column.rank <= NEEDED for column in kept) >= needed:
            return table_lines(full)
    return table_lines(bare)


NEEDED = 1
"""Maximum rank of columns that are not omitted to make room for intervals."""


def link_columns(rows: Sequence[Mapping[str, Any]], decisive: Collection[str] = ()) -> list[Column]:
    """Return the columns of a link: utilization, mean and 95th percentile of delay, and loss.

    Parameters
    ----------
    decisive : collection of str
        Keys of quantities whose columns have intervals and are never omitted.
    """
    found = []
    for head, unit, key, digits, rank in (
        ("used", "", "utilization", 3, 0),
        ("mean", "delay", "queueing_delay_s", 2, 0),
        ("95 %", "delay", "queueing_delay_p95_s", 2, 4),
        ("loss", "", "loss_ratio", 2, 2),
    ):
        asked = key in decisive
        texts = tuple(_quantity(row[key], key, digits, interval=asked) for row in rows)
        found.append(Column(head, unit, texts, 0 if asked else rank))
    return found


def _quantity(quantity: Quantity | None, key: str, digits: int, *, interval: bool) -> str:
    """Format a quantity of a link with its unit, and on request with its interval."""
    mean = _mean(quantity)
    if interval and mean is not None:
        divide, unit = scaled("s", [mean]) if key.endswith("_s") else (0.01, "%")
        if text := _with_interval(quantity, key, 1 / divide, digits):
            return f"{text} {unit}"
    return short_time(quantity) if key.endswith("_s") else short_percent(quantity, digits)


def _with_interval(quantity: Quantity | None, key: str, scale: float = 1.0, digits: int = 4) -> str:
    """Format a quantity with its interval; empty if it has no meaningful interval."""
    if quantity is None or quantity["mean"] is None or quantity["ci95"] is None:
        return ""
    text = shown({"mean": quantity["mean"], "ci95": quantity["ci95"]}, scale, digits, of=key)
    # Where all replications are equal there is no interval.
    return text if "±" in text or "(" in text else ""


def buffer_columns(rows: Sequence[BufferRow], say: Any = None, decisive: Collection[str] = ()) -> list[Column]:
    """Return the columns of a table of buffers.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of ``table`` or ``curve`` of the document.
    say : callable, optional
        Returns the words at the end of a row.
    decisive : collection of str
        As in `link_columns`.
    """
    columns = [
        Column("buffer", "packets", tuple(f"{row['buffer_packets']:,}" for row in rows)),
        Column("", "", tuple(format_bytes(float(f"{row['buffer_bytes']:.2g}")) for row in rows), 5),
        *link_columns(rows, decisive),
        *group_columns(rows, decisive),
    ]
    alone = sum(group["flows"] for group in rows[0]["groups"] if group.get("flows")) == 1
    if not alone and any(_mean(row["jain"]) is not None for row in rows):
        asked = "jain" in decisive
        texts = tuple(_number(row["jain"], interval=asked) for row in rows)
        columns.append(Column("Jain", "", texts, 0 if asked else 2))
    columns = [column for column in columns if set(column.cells) != {"-"}]
    if say is not None:
        columns.append(Column("", "", tuple(say(row) for row in rows), 0, is_text=True))
    return columns


def group_columns(rows: Sequence[BufferRow | ValueRow], decisive: Collection[str] = ()) -> list[Column]:
    """Return a column for each group of flows: goodput per flow, or for datagrams their delay.

    Parameters
    ----------
    decisive : collection of str
        As in `link_columns`; keys of a group end with its name in brackets.

    Returns
    -------
    list of Column
        Empty if there is one group only.
    """
    names = [group["name"] for group in rows[0]["groups"]]
    if len(names) < 2:
        return []
    delays = {g: key for g in range(len(names)) if (key := _delay_of(rows, g))}
    rates = [[_mean(group["goodput_per_flow_bps"]) or 0.0 for group in row["groups"]] for row in rows]
    chosen = [g for g in range(len(names)) if g not in delays]
    if len(chosen) > GROUPS:
        chosen = sorted(chosen, key=lambda g: rates[-1][g])
        chosen = [chosen[0], chosen[-1]]
    factor, unit = scaled("bit/s", [row[g] for row in rates for g in chosen])
    ends = {end(chosen, key=lambda g: rates[-1][g]) for end in (min, max)} if chosen else set()
    found: list[Column] = []
    for g, key in sorted(delays.items(), key=lambda one: f"{one[1]}[{names[one[0]]}]" not in decisive)[:GROUPS]:
        asked = f"{key}[{names[g]}]" in decisive
        own: list[Mapping[str, Any]] = [row["groups"][g] for row in rows]
        texts = tuple(_quantity(group.get(key), key, 2, interval=asked) for group in own)
        found.append(Column(f"{_short(names[g])}\n{DELAYS[key]}", "95 %", texts, 0 if asked else 3 if found else 1))
    return found + [
        Column(
            _short(names[g]),
            unit if g == chosen[0] else "",
            tuple(f"{x:,.0f}" if (x := row[g] / factor) >= 1000 else f"{x:.3g}" for row in rates),
            1 if g in ends else 3,
        )
        for g in chosen
    ]


DELAYS = {"rtt_p95_s": "rtt", "delay_p95_s": "one way", "queueing_delay_p95_s": "wait"}
"""Keys of the delays of a group of datagrams, in order of preference, and their heads."""


def _delay_of(rows: Sequence[BufferRow | ValueRow], group: int) -> str:
    """Return the key of the delay of a group of datagrams; empty for others, and where none was recorded."""
    groups: list[Mapping[str, Any]] = [row["groups"][group] for row in rows]
    if groups[0]["law"] is not None:
        return ""
    return next((key for key in DELAYS if any(_mean(each.get(key)) is not None for each in groups)), "")


def footer(answer: SizeAnswer, document: SizeDocument, rest: str, cited: str = "") -> str:
    """Describe what was done, how to see the rest, and the answer that is cited."""
    if answer.is_simulated:
        ran = f"{count(len(document['curve']), 'buffer')}, {count(answer.runs, 'run')}, {document['wall_s']:.0f} s"
    else:
        ran = "nothing simulated"
    warned = f"{count(len(document['warnings']), 'warning')}, " if document["warnings"] else ""
    return f"({ran}; {warned}{rest}: --details{cited})"


def _cited(answer: SizeAnswer) -> str:
    """Name the published answer that is nearest to the scenario, if they are installed and one is near."""
    nearest = optional_hook("size.cites")
    found = nearest(answer.scenario, answer.link) if nearest is not None else None
    return f"; see elephan answer {found}" if found else ""


def no_line(deployed: Deployment, link: int) -> list[str]:
    """Explain why there is no `tc` line for a buffer of a link."""
    if deployed.forbidding:
        return wrapped(f"Linux: no line, since {deployed.forbidding[0].message} ({deployed.forbidding[0].rule})")
    # If tc cannot describe the queue, the buffer does not matter.
    has_line = deployed.scenario.links[link]["tc"] is not None
    why = deployed.lossy if deployed.lossy and has_line else why_no_tc(deployed.scenario, link)
    return wrapped(f"Linux: no line, since {why}")


def _roles(row: ChosenRow) -> str:
    """Return a row's reasons to be in the table; the sentence already says if the suggestion is the smallest."""
    return ", ".join(role for role in row["is"] if not (role == "smallest" and "suggested" in row["is"]))


def _mean(quantity: Quantity | None) -> float | None:
    return None if quantity is None else quantity["mean"]


def short_percent(quantity: Quantity | None, digits: int) -> str:
    """Format a measured share in per cent, without its interval."""
    mean = _mean(quantity)
    return "-" if mean is None else f"{100 * mean:.{digits}g} %"


def short_time(quantity: Quantity | None) -> str:
    """Format a measured time with two digits, without its interval."""
    mean = _mean(quantity)
    return "-" if mean is None else "0" if mean == 0 else format_time(float(f"{mean:.2g}"))


def _number(quantity: Quantity | None, *, interval: bool = False) -> str:
    mean = _mean(quantity)
    text = _with_interval(quantity, "jain") if interval else ""
    return text or ("-" if mean is None else f"{mean:.2f}")


def _short(name: str) -> str:
    return name if len(name) <= 10 else f"{name[:9]}…"
