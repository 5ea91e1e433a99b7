"""``elephan bench``: the speed workloads, beside the memory floor, the reference engine and ns-2 in the same run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from elephan.cli import options
from elephan.cli.common import Interrupted, check_out, new_table, print_json, print_tables, print_wrapped, say, writing
from elephan.cli.progress import ProgressLine
from elephan.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

EXAMPLE = "Example:  elephan bench --workloads W1,W6 --runs 5"


def bench(
    workloads: Annotated[
        str | None,
        typer.Option(
            "--workloads",
            metavar="W1,W2|all",
            help="Which of W1 to W10, W6-paced, W6-fq-codel, W8b.",
            show_default="those that take seconds",
        ),
    ] = None,
    laws: Annotated[
        str | None,
        typer.Option("--laws", metavar="A,B|all", help="Instead: W1 under each of these laws.", show_default="none"),
    ] = None,
    queues: Annotated[
        str | None,
        typer.Option("--queues", metavar="A,B|all", help="Instead: W1 under each discipline.", show_default="none"),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Repetitions; the fastest counts.")] = 3,
    no_reference: Annotated[bool, typer.Option("--no-reference", help="Leave the reference engine out.")] = False,
    no_peers: Annotated[bool, typer.Option("--no-peers", help="Leave ns-2 out.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Short simulated times: a first look, too noisy to compare.")
    ] = False,
    details: options.Details = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Measure CPU nanoseconds per delivered data packet, one core, the native call with network building."""
    from elephan.bench import bench as measure  # noqa: PLC0415 (--help does without NumPy)
    from elephan.bench import bench_variants, select, select_variants  # noqa: PLC0415 (as above)
    from elephan.runs.files import write_json  # noqa: PLC0415 (as above)

    asked = {"laws": laws, "queues": queues}
    kinds = [kind for kind, names in asked.items() if names is not None]
    if len(kinds) + (workloads is not None) > 1:
        message = f"--{kinds[0]}: measures W1 alone under each; leave --workloads and the other comparison out"
        raise InputError(message)
    chosen = select(workloads)
    kind = kinds[0] if kinds else None
    variants = select_variants(kind, asked[kind] or "") if kind else []
    check_out(out)
    with ProgressLine("bench", quiet=quiet) as line:
        try:
            announce = lambda what, done, total: line.update(done, total, what)  # noqa: E731
            if kind:
                document = bench_variants(kind, variants, runs=runs, quick=quick, progress=announce)
            else:
                document = measure(
                    chosen, runs=runs, reference=not no_reference, peers=not no_peers, quick=quick, progress=announce
                )
            with writing(out):
                written = write_json(out / "bench.json", document) if out is not None else None
        except KeyboardInterrupt:
            message = "bench interrupted; nothing was written"
            raise Interrupted(message) from None
    if json:
        print_json(document)
        return
    if kind:
        print_tables(*_variant_tables(document, kind))
    else:
        print_tables(*(_detailed(document) if details else _tables(document)))
        if workloads is None:
            print_wrapped(f"not measured: {', '.join(w.name for w in select('all') if w.is_asked)} (--workloads all)")
    if written is not None:
        say(f"wrote {written}")


def _tables(document: dict[str, Any]) -> list[Table | str]:
    """Return the answer: each workload relative to the memory floor of the same run, which machines have in common."""
    table = new_table("", "ns/packet", "floor", "x floor", "at most", "heap", "peak MB")
    for name, row in document["workloads"].items():
        table.add_row(
            name,
            _number(row["ns_per_packet"], 1),
            _number(row["floor_ns_per_packet"], 1),
            _number(row["over_floor"], 1),
            _number(row["must_over_floor"]),
            _times(row["speedup_over_reference"]),
            _number(row["peak_rss_mb"], 1),
        )
    return [_how(document), table]


def _how(document: dict[str, Any]) -> str:
    short = ", short" if document["quick"] else ""
    return (
        f"CPU ns per delivered packet, fastest of {document['runs']} runs{short}; x floor: over a bare loop\n"
        "through as much memory, which is what is limited; heap: how much slower the reference is"
    )


def _detailed(document: dict[str, Any]) -> list[Table | str]:
    """Return all measurements."""
    columns = ("ns/packet", "median", "floor", "x floor", "at most", "extreme", "heap", "ratio", "ns-2", "ratio", "MB")
    table = new_table("", *columns, "packets")
    peers = document["peers"].get("ns2", {})
    for name, row in document["workloads"].items():
        peer = peers.get(name, {})
        table.add_row(
            name,
            _number(row["ns_per_packet"], 2),
            _number(row["median_ns_per_packet"], 2),
            _number(row["floor_ns_per_packet"], 2),
            _number(row["over_floor"], 2),
            _number(row["must_over_floor"], 1),
            _number(row["extreme_over_floor"], 1),
            _number(row["reference_ns_per_packet"]),
            _number(row["speedup_over_reference"], 1),
            _number(peer.get("ns_per_packet")),
            _number(peer.get("ratio")),
            _number(row["peak_rss_mb"], 1),
            f"{row['delivered']:,}",
        )
    return [_how(document), table, "\n".join(row["title"] for row in document["workloads"].values())]


def _variant_tables(document: dict[str, Any], kind: str) -> list[Table | str]:
    ours = ("ns/packet", "median")
    columns = (*ours, "over highspeed") if kind == "laws" else (*ours, "over drop-tail", "more ns", "at most")
    table = new_table("", *columns)
    for name, row in document[kind].items():
        numbers = [_number(row["ns_per_packet"], 2), _number(row["median_ns_per_packet"], 2)]
        if kind == "laws":
            numbers.append(_number(row["over_highspeed"], 2))
        else:
            numbers += [_number(row["over_drop_tail"], 2), _number(row["more_ns_per_packet"], 2)]
            numbers.append(_number(row["must_more_ns_per_packet"]))
        table.add_row(name, *numbers)
    return [f"CPU ns per delivered data packet on W1, fastest of {document['runs']} runs", table]


def _times(x: float | None) -> str:
    return "-" if x is None else f"{x:.0f}x"


def _number(x: float | None, digits: int = 0) -> str:
    return "-" if x is None else f"{x:.{digits}f}"
