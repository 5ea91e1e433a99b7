"""``elephan bench``: the speed workloads, with the floor, the reference engine and ns-2 in the same run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from elephan.cli.common import (
    Interrupted,
    JsonOption,
    OutOption,
    QuietOption,
    check_out,
    new_table,
    print_json,
    print_tables,
    say,
)
from elephan.cli.progress import ProgressLine
from elephan.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

EXAMPLE = "Example:  elephan bench --workloads W1,W2 --runs 5"


def bench(
    workloads: Annotated[
        str | None, typer.Option("--workloads", metavar="W1,W2", help="Which of W1 to W5.", show_default="all")
    ] = None,
    laws: Annotated[
        str | None,
        typer.Option("--laws", metavar="A,B|all", help="Instead: W1 under each of these laws.", show_default="none"),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Repetitions; the fastest counts.")] = 3,
    no_reference: Annotated[bool, typer.Option("--no-reference", help="Leave the reference engine out.")] = False,
    no_peers: Annotated[bool, typer.Option("--no-peers", help="Leave ns-2 out.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Short simulated times: a look, no figures.")] = False,
    out: OutOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Measure CPU nanoseconds per delivered data packet, one core, the native call with network building."""
    from elephan.bench import bench as measure  # noqa: PLC0415 (--help does without NumPy)
    from elephan.bench import bench_laws, select, select_laws  # noqa: PLC0415
    from elephan.run.files import write_json  # noqa: PLC0415

    if laws is not None and workloads is not None:
        message = "--laws: measures W1 under each law; leave --workloads out"
        raise InputError(message)
    chosen = select(workloads)
    chosen_laws = select_laws(laws) if laws is not None else None
    check_out(out)
    with ProgressLine("bench", quiet=quiet) as line:
        try:
            announce = lambda what, done, total: line.update(done, total, what)  # noqa: E731
            if chosen_laws is not None:
                document = bench_laws(chosen_laws, runs=runs, quick=quick, progress=announce)
            else:
                document = measure(
                    chosen, runs=runs, reference=not no_reference, peers=not no_peers, quick=quick, progress=announce
                )
            written = write_json(out / "bench.json", document) if out is not None else None
        except KeyboardInterrupt:
            message = "bench interrupted; nothing was written"
            raise Interrupted(message) from None
    if json:
        print_json(document)
        return
    print_tables(*(_law_tables(document) if chosen_laws is not None else _tables(document)))
    if written is not None:
        say(f"wrote {written}")


def _tables(document: dict[str, Any]) -> list[Table | str]:
    columns = ("ns/packet", "must", "floor", "ratio", "heap", "ratio", "ns-2", "ratio", "peak MB")
    table = new_table("", *columns)
    peers = document["peers"].get("ns2", {})
    for name, row in document["workloads"].items():
        peer = peers.get(name, {})
        table.add_row(
            name,
            _number(row["ns_per_packet"], 2),
            _number(row["must_ns_per_packet"]),
            _number(row["floor_ns_per_packet"], 2),
            _number(row["over_floor"], 1),
            _number(row["reference_ns_per_packet"]),
            _number(row["speedup_over_reference"]),
            _number(peer.get("ns_per_packet")),
            _number(peer.get("ratio")),
            _number(row["peak_rss_mb"], 1),
        )
    how = f"fastest of {document['runs']} runs{', quick: short simulated times' if document['quick'] else ''}"
    what = "heap: the reference engine; ratios: ours to the floor, the others to ours"
    return [f"CPU ns per delivered data packet, {how}\n{what}", table]


def _law_tables(document: dict[str, Any]) -> list[Table | str]:
    table = new_table("", "ns/packet", "median", "over highspeed")
    for name, row in document["laws"].items():
        numbers = (_number(row[key], 2) for key in ("ns_per_packet", "median_ns_per_packet", "over_highspeed"))
        table.add_row(name, *numbers)
    return [f"CPU ns per delivered data packet on W1, fastest of {document['runs']} runs", table]


def _number(x: float | None, digits: int = 0) -> str:
    return "-" if x is None else f"{x:.{digits}f}"
