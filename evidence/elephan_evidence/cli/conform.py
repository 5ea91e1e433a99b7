"""``elephan conform``: published test cases of a congestion control, with a verdict for each observation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elephan.cli import common, options
from elephan.cli.progress import ProgressLine
from elephan.cli.tables import text_table, whole_table
from elephan.units import count, format_time
from elephan_evidence.cli.conform_tcp import SCRIPTS, refuse_options, sender_changes, show_random, show_scripts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elephan_evidence.conform import Conformance
    from elephan_evidence.conform.case import Suite

EXAMPLE = """Example:  elephan conform bbr
elephan conform bbr drain-time 9 --details
elephan conform bbr --out conformance/
elephan conform tcp packetdrill/gtests/net/tcp/fast_recovery
elephan conform tcp --random 120 --out recorded/"""


def _suites() -> list[tuple[str, str]]:
    """Return the suites that Tab offers, with their titles."""
    from elephan_evidence.conform.case import Suite  # noqa: PLC0415 (--help does without NumPy)
    from elephan_evidence.conform.conformance import SUITES  # noqa: PLC0415 (as above)

    return [*((suite, Suite.read(suite).title) for suite in SUITES), (SCRIPTS, "Scripts of packetdrill")]


def _cases() -> list[tuple[str, str]]:
    """Return the cases that Tab offers, with their titles."""
    from elephan_evidence.conform.case import Suite  # noqa: PLC0415 (as above)
    from elephan_evidence.conform.conformance import SUITES  # noqa: PLC0415 (as above)

    return [(case.name, case.title) for suite in SUITES for case in Suite.read(suite).cases]


def conform(
    suite: Annotated[
        str,
        typer.Argument(
            metavar="SUITE", help="Suite of test cases: bbr, or tcp for packetdrill scripts.", autocompletion=_suites
        ),
    ],
    cases: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CASE",
            help="Names (drain-time) or numbers of cases; for tcp, scripts or folders.",
            show_default="all",
            autocompletion=_cases,
        ),
    ] = None,
    law: Annotated[
        str | None,
        typer.Option(
            "--law",
            metavar="NAME|NAME=FILE",
            help="Law of the sender in tcp scripts: cubic, mine=mine.py:Mine, mine=libmine.so, quinn/cubic.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PLACE=VALUE",
            help='Change the sender in tcp scripts, as in flows[0].recovery="prr"; repeatable.',
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Run tcp scripts against the running kernel, too: Linux, root.")
    ] = False,
    random: Annotated[
        int | None,
        typer.Option(
            "--random",
            metavar="N",
            min=1,
            max=999,
            help="Record N connections of the running kernel instead of running scripts; Linux, root.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of --random.")] = 1,
    list_: Annotated[bool, typer.Option("--list", help="Only list the cases.")] = False,
    details: options.Details = False,
    workers: options.Workers = None,
    out: options.Out = None,
    pages: Annotated[
        Path | None,
        typer.Option("--pages", metavar="DIR", help="Write the page of the suite, with its pictures, in Markdown."),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Run the test cases of a specification: what each must show, whether it does, and what a sender without it shows.

    With tcp: run scripts of packetdrill against a sender in virtual time; say of each whether it agrees. With --random:
    record connections of the running kernel with losses, reordering and pauses, and give a sender the same ACKs.
    Exit code 1 if an observation is not made and no run explains it, or if a script differs.
    """
    if suite == SCRIPTS:
        refuse_options(SCRIPTS, {"--list": list_, "--workers": workers, "--pages": pages})
        changes = sender_changes(law, set_)
        if random is None:
            refuse_options(f"{SCRIPTS} without --random", {"--out": out})
            show_scripts(cases or [], changes, live=live, details=details, quiet=quiet, json=json)
        else:
            refuse_options(f"{SCRIPTS} --random", {"CASE": cases, "--live": live})
            common.check_out(out)
            show_random(random, seed, changes, out, details=details, quiet=quiet, json=json)
        return
    refuse_options(suite, {"--law": law, "--set": set_, "--live": live, "--random": random})
    from elephan_evidence.conform import conform as judge  # noqa: PLC0415 (--help does without NumPy)
    from elephan_evidence.conform.conformance import find, select  # noqa: PLC0415 (as above)

    common.check_out(out)
    common.check_out(pages, "--pages", drawn=True)
    read = find(suite)
    asked = select(read, cases or ())
    if list_:
        _show_list(read, [case.number for case in asked], details=details, json=json)
        return
    with ProgressLine("conform", quiet=quiet, of="cases") as line:
        line.interrupted = lambda: "nothing was written"
        found = judge(suite, *(cases or ()), workers=workers, progress=line.update)
    written = _write(found, out, pages)
    document = found.to_json()
    if json:
        common.print_json(document)
    else:
        _show(document, details=details)
        for path in written:
            common.say(f"wrote {path}")
    raise typer.Exit(0 if found.holds else 1)


def _write(found: Conformance, out: Path | None, pages: Path | None) -> list[Path]:
    written: list[Path] = []
    if out is not None:
        from elephan_evidence.conform.traces import write_traces  # noqa: PLC0415 (Arrow is slow to import)

        with common.writing(out):
            written += [found.write(out), write_traces(found, out)]
    if pages is not None:
        from elephan_evidence.report.conform import write_page  # noqa: PLC0415 (Matplotlib is slow to import)

        with common.writing(pages, "--pages"):
            written.append(write_page(found, pages))
    return written


def _show(document: Mapping[str, Any], *, details: bool) -> None:
    """Print what fits on a screen: numbers of verdicts, the cases that are not met, and why."""
    cases = document["cases"]
    if details:
        for case in cases:
            common.print_wrapped(f"{case['number']}. {case['title']}: {_verdict(case)}", *_about(case))
            if case["paths"]:
                common.print_lines(*_observations(case))
    counts = ", ".join(f"{n} {verdict.replace('_', ' ')}" for verdict, n in document["summary"].items() if n)
    common.print_wrapped(f"{count(len(cases), 'test case')} of {document['revision']}: {counts}.")
    others = [case for case in cases if case["verdict"] != "met"]
    if others and not details:
        rows = [[f"{case['number']} {case['name']}", case["verdict"], _why(case)] for case in others]
        common.print_lines(*whole_table(["case", "verdict", "why"], rows, [False] * 3))
    paths = sum(len(case["paths"]) for case in cases)
    observations = sum(len(path["seen"]) for case in cases for path in case["paths"])
    unexplained = [str(case["number"]) for case in cases if not case["holds"]]
    if unexplained:
        common.say(f"not explained: {', '.join(unexplained)}")
    more = "" if details else "; --details shows each"
    common.say(
        f"{count(observations, 'observation')} on {count(paths, 'path')} in {format_time(document['wall_s'])}{more}"
    )


def _verdict(case: Mapping[str, Any]) -> str:
    """Format a verdict, and whether its failures are explained."""
    explained = case["verdict"] == "contradicted" and case["holds"]
    return "contradicted, explained" if explained else str(case["verdict"])


def _about(case: Mapping[str, Any]) -> list[str]:
    lines = [f"   {case['stimulus']}"]
    whys = {seen["explained"]["why"] for path in case["paths"] for seen in path["seen"] if seen["explained"]}
    return lines + [f"   {why}" for why in whys]


def _why(case: Mapping[str, Any]) -> str:
    """Return a short reason why a case is not met, or the missing observations if no run explains it."""
    missed = {seen["id"]: seen for path in case["paths"] for seen in path["seen"] if seen["verdict"] != "met"}
    explained = [seen["explained"]["short"] for seen in missed.values() if seen["explained"]]
    return str(explained[0]) if case["holds"] and explained else f"not seen: {', '.join(missed)}"


def _observations(case: Mapping[str, Any]) -> list[str]:
    heads = ["path", "must be seen", "verdict", "measured", "accepted", "null"]
    rows = [
        [
            path["name"] if n == 0 else "",
            seen["says"],
            seen["verdict"],
            _number(seen["measured"]),
            seen["accepted"],
            _number(seen["null"]["measured"]),
        ]
        for path in case["paths"]
        for n, seen in enumerate(path["seen"])
    ]
    return whole_table(heads, rows, [False, False, False, True, False, True])


def _number(value: float | bool | None) -> str:
    if value is None or isinstance(value, bool):
        return "-" if value is None else str(value).lower()
    return f"{value:.4g}"


def _show_list(suite: Suite, numbers: Sequence[int], *, details: bool, json: bool) -> None:
    cases = [case for case in suite.cases if case.number in numbers]
    if json:
        common.print_json(
            [
                {
                    "number": case.number,
                    "name": case.name,
                    "title": case.title,
                    "section": case.section,
                    "stimulus": case.stimulus,
                    "paths": list(case.paths),
                }
                for case in cases
            ]
        )
        return
    rows = [[str(case.number), case.name, case.title, case.stimulus] for case in cases]
    if details:
        common.print_lines(*whole_table(["#", "case", "what", "stimulus"], rows, [True, False, False, False]))
    else:
        common.print_lines(*text_table(("#", "case", "what"), [row[:3] for row in rows]))
        common.say(f"{count(len(cases), 'case')}; --details describes each")
