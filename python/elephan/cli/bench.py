"""``elephan bench``: the speed workloads, beside the memory floor, the reference engine and ns-2 in the same run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from elephan.cli import options
from elephan.cli.common import check_out, print_json, print_parts, print_wrapped, say, writing
from elephan.cli.options import option
from elephan.cli.progress import ProgressLine
from elephan.cli.tables import whole_table
from elephan.errors import InputError

if TYPE_CHECKING:
    pass

EXAMPLE = "Example:  elephan bench --workloads W1,W6 --runs 5"


def bench(
    workloads: Annotated[
        str | None,
        option(
            "--workloads W1,W2|all",
            "Workloads to measure, of W1 to W10, W6-paced, W6-fq-codel, W8b.",
            show_default="those that take seconds",
        ),
    ] = None,
    laws: Annotated[
        str | None, option("--laws A,B|all", "Measure only W1, under each of these laws.", show_default="none")
    ] = None,
    queues: Annotated[
        str | None, option("--queues A,B|all", "Measure only W1, under each of these disciplines.", show_default="none")
    ] = None,
    runs: Annotated[int, option("--runs", "Repetitions; the fastest counts.", min=1)] = 3,
    no_reference: Annotated[bool, option("--no-reference", "Do not run the reference engine.")] = False,
    no_peers: Annotated[bool, option("--no-peers", "Do not run ns-2.")] = False,
    quick: Annotated[
        bool, option("--quick", "Use short simulated times: the results are too noisy to compare.")
    ] = False,
    details: options.Details = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Measure the CPU time per delivered data packet [ns]: one core, the native call, network building included."""
    from elephan.bench import bench as measure  # noqa: PLC0415 (--help does without NumPy)
    from elephan.bench import bench_variants, select, select_variants  # noqa: PLC0415 (as above)
    from elephan.runs.files import write_json  # noqa: PLC0415 (as above)

    asked = {"laws": laws, "queues": queues}
    kinds = [kind for kind, names in asked.items() if names is not None]
    if len(kinds) + (workloads is not None) > 1:
        raise InputError(f"--{kinds[0]}: measures W1 alone under each; leave --workloads and the other comparison out")
    chosen = select(workloads)
    kind = kinds[0] if kinds else None
    variants = select_variants(kind, asked[kind] or "") if kind else []
    check_out(out)
    with ProgressLine("bench", quiet=quiet) as line:
        line.interrupted = lambda: "bench interrupted; nothing was written"
        announce = lambda what, done, total: line.update(done, total, what)  # noqa: E731
        if kind:
            document = bench_variants(kind, variants, runs=runs, quick=quick, progress=announce)
        else:
            document = measure(
                chosen, runs=runs, reference=not no_reference, peers=not no_peers, quick=quick, progress=announce
            )
        with writing(out):
            written = write_json(out / "bench.json", document) if out is not None else None
    if json:
        print_json(document)
        return
    if kind:
        title = f"CPU ns per delivered data packet on W1, fastest of {document['runs']} runs"
        print_parts(title, _table(document[kind], VARIANTS[kind]))
    else:
        print_parts(*_tables(document, details=details))
        if workloads is None:
            print_wrapped(f"not measured: {', '.join(w.name for w in select('all') if w.is_asked)} (--workloads all)")
    if written is not None:
        say(f"wrote {written}")


ANSWER = (
    ("ns/packet", "ns_per_packet", 1),
    ("floor", "floor_ns_per_packet", 1),
    ("x floor", "over_floor", 1),
    ("at most", "must_over_floor", 0),
    ("heap", "speedup_over_reference", "x"),
    ("peak MB", "peak_rss_mb", 1),
)
"""Heads, keys and decimals of the answer: each workload relative to the memory floor of the same run."""

ALL = (
    ("ns/packet", "ns_per_packet", 2),
    ("median", "median_ns_per_packet", 2),
    ("floor", "floor_ns_per_packet", 2),
    ("x floor", "over_floor", 2),
    ("at most", "must_over_floor", 1),
    ("extreme", "extreme_over_floor", 1),
    ("heap", "reference_ns_per_packet", 0),
    ("ratio", "speedup_over_reference", 1),
    ("ns-2", "ns2_ns_per_packet", 0),
    ("ratio", "ns2_ratio", 0),
    ("MB", "peak_rss_mb", 1),
    ("packets", "delivered", ","),
)
"""Heads, keys and decimals of all measurements."""

COSTS = (("ns/packet", "ns_per_packet", 2), ("median", "median_ns_per_packet", 2))

VARIANTS = {
    "laws": (*COSTS, ("over highspeed", "over_highspeed", 2)),
    "queues": (
        *COSTS,
        ("over drop-tail", "over_drop_tail", 2),
        ("more ns", "more_ns_per_packet", 2),
        ("at most", "must_more_ns_per_packet", 0),
    ),
}
"""Heads, keys and decimals of W1 under several laws or disciplines."""


def _table(rows: Mapping[str, Mapping[str, Any]], columns: Sequence[tuple[str, str, int | str]]) -> list[str]:
    cells = [[name, *(_number(row.get(key), form) for _, key, form in columns)] for name, row in rows.items()]
    return whole_table(["", *(head for head, _, _ in columns)], cells, [False, *([True] * len(columns))])


def _tables(document: dict[str, Any], *, details: bool) -> list[str | list[str]]:
    """Return the answer, or all measurements."""
    rows, short = document["workloads"], ", short" if document["quick"] else ""
    how = (
        f"CPU ns per delivered packet, fastest of {document['runs']} runs{short}; x floor: over a bare loop "
        "through as much memory, which is what is limited; heap: how much slower the reference is"
    )
    if not details:
        return [how, _table(rows, ANSWER)]
    peers = document["peers"].get("ns2", {})
    beside = {name: {f"ns2_{key}": x for key, x in peers.get(name, {}).items()} for name in rows}
    every = _table({name: row | beside[name] for name, row in rows.items()}, ALL)
    return [how, every, *(row["title"] for row in rows.values())]


def _number(x: float | None, form: int | str) -> str:
    """Format a number with some decimals, as a whole factor (``x``), or with commas between thousands."""
    if x is None:
        return "-"
    return f"{x:.0f}x" if form == "x" else f"{x:,}" if form == "," else f"{x:.{form}f}"
