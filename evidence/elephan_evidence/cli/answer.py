"""``elephan answer``: questions that people ask, with answers that anyone can repeat."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elephan.cli import common, options
from elephan.cli.columns import LINES, command_lines, terminal_width
from elephan.cli.progress import ProgressLine
from elephan.units import count, format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elephan_evidence.answers import Answer

EXAMPLE = """Example:  elephan answer
elephan answer access-call
elephan answer access-call --ask
elephan answer policer --out policer/"""

SCREEN = 80
"""Width of recorded screens."""

CUT = " ..."
"""End of a text that is cut."""

FEW = 5
"""Maximum number of changed answers that are named."""


def _ids() -> list[str]:
    """Return the answers that Tab offers."""
    from elephan_evidence.answers import answers  # noqa: PLC0415 (--help does without NumPy)

    return [each.id for each in answers()]


def answer(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Answers.", show_default="a list of them", autocompletion=_ids),
    ] = None,
    ask: Annotated[
        bool,
        typer.Option("--ask", help="Run the command now; without ID, the commands of all answers (hours; resumable)."),
    ] = False,
    repeat: Annotated[
        bool,
        typer.Option(
            "--repeat", help="Run it four times as long, and with another seed, to see whether the answer stays."
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Run short versions, to see whether an answer may have changed; shows no numbers."
        ),
    ] = False,
    replications: Annotated[
        int | None,
        typer.Option(
            "--replications", min=1, help="Fewer replications for --ask, to see an answer and its numbers sooner."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write the files of one answer, to change them."),
    ] = None,
    bless: Annotated[bool, typer.Option("--bless", help="Record these results as the published ones.")] = False,
    pages: Annotated[
        Path | None, typer.Option("--pages", metavar="DIR", help="Write a page for each answer, in Markdown.")
    ] = None,
    store: Annotated[
        Path,
        typer.Option("--store", metavar="DIR", help="Store of the results; a run that it already has is not repeated."),
    ] = Path(".elephan/answers"),
    details: options.Details = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Answer a question that people ask; show the command that repeats it.

    Exit code 1 if an answer differs from the published one.
    """
    from elephan.errors import InputError  # noqa: PLC0415 (--help does without NumPy)
    from elephan_evidence.answers import answers, find  # noqa: PLC0415 (as above)

    common.check_out(pages, "--pages", drawn=True)
    common.check_out(out)
    chosen = [find(name) for name in ids or ()]
    _check(ask, repeat, quick, bless=bless, json=json, replications=replications)
    if out is not None and len(chosen) != 1:
        message = "--out: name one answer; elephan answer lists all"
        raise InputError(message)
    changed: list[str] = []
    if ask or repeat or quick:
        run = _ask if ask else _repeat if repeat else _quick
        if replications is not None:
            run = partial(_ask, more=("--replications", str(replications)))
        try:
            changed = run(chosen or answers(), store, bless=bless, quiet=quiet)
        except KeyboardInterrupt:
            message = f"finished runs are in {store}; the same command continues from there"
            raise common.Interrupted(message) from None
    elif json:
        common.print_json([_document(each) for each in chosen or answers()])
    elif chosen and out is None:
        for each in chosen:
            _show(each, details=details)
    elif pages is None and out is None:
        _list(details=details)
    if out is not None:
        with common.writing(out):
            common.say_written(_write_files(chosen[0], out))
    if pages is not None:
        from elephan_evidence.report.answers import write_pages  # noqa: PLC0415 (Matplotlib is slow to import)

        with common.writing(pages, "--pages"):
            common.say(f"wrote {len(write_pages(pages))} pages to {pages}")
    raise typer.Exit(1 if changed and not bless else 0)


def _check(*asked: bool, bless: bool, json: bool, replications: int | None) -> None:
    """Refuse options that contradict each other; `asked` are --ask, --repeat and --quick."""
    from elephan.errors import InputError  # noqa: PLC0415 (--help does without NumPy)

    if sum(asked) > 1:
        message = "--ask, --repeat, --quick: choose one"
        raise InputError(message)
    if json and any(asked):
        message = "--json: shows published answers; leave out --ask, --repeat and --quick, or first use --ask --bless"
        raise InputError(message)
    if replications is not None and (not asked[0] or bless):
        said = "leave out --repeat, --quick and --bless" if bless or any(asked) else "add --ask"
        message = f"--replications: shortens --ask, so its results are not published; {said}"
        raise InputError(message)
    if bless and not any(asked):
        message = "--bless: records new results; give --ask, --repeat or --quick, too"
        raise InputError(message)


def _ask(chosen: Sequence[Answer], store: Path, *, bless: bool, quiet: bool, more: tuple[str, ...] = ()) -> list[str]:
    """Run commands and compare the answers with the published ones; return the keys of those that differ.

    Parameters
    ----------
    more : tuple of str
        Further words of each command. What is found with them is shown, and not compared.
    """
    from elephan_evidence.answers import STAYS, Record, ask  # noqa: PLC0415 (--help does without NumPy)

    changed = []
    with ProgressLine("answer", quiet=quiet, of="answers") as line:
        for n, each in enumerate(chosen):
            line.update(n, len(chosen))
            before, now = Record.read(each), Record.of(each, ask(each, store, more))
            if len(chosen) == 1 or more:
                common.print_wrapped(plain(now.sentence))
            if more:
                continue
            differs = "was not published yet" if before is None else before.differences(now)
            if differs != STAYS:
                changed.append(each.id)
                common.say(f"{each.id}: {differs}")
            if bless:
                now.with_repetitions_of(before).write(each)
    if more:
        common.say(
            f"asked with {' '.join(more).removeprefix('--')}, which the published answers were not: not compared"
        )
        return []
    common.say(f"{len(chosen)} asked, {len(changed)} differ from the published answers")
    return changed


def _repeat(chosen: Sequence[Answer], store: Path, *, bless: bool, quiet: bool) -> list[str]:
    """Run commands for longer and with another seed; return the keys of answers that do not stay."""
    from elephan_evidence.answers import STAYS, Record, ask, longer  # noqa: PLC0415 (--help does without NumPy)

    changed = []
    with ProgressLine("answer", quiet=quiet, of="answers") as line:
        for n, each in enumerate(chosen):
            line.update(n, len(chosen))
            first = Record.of(each, ask(each, store))
            more_time = longer(each)
            for name, more in (("seed", ("--seed", "1001")), ("longer", more_time)):
                if more_time:
                    found = first.differences(Record.of(each, ask(each, store, more)))
                else:
                    found = "a recorded measurement is not repeated"
                common.say(f"{each.id}, {'another seed' if name == 'seed' else 'four times as long'}: {found}")
                if more_time and found != STAYS:
                    changed.append(f"{each.id}, {name}")
                if bless:
                    kept = first.with_repetitions_of(Record.read(each))
                    replace(kept, **{name: found}).write(each)  # type: ignore[arg-type]
    return changed


def _quick(chosen: Sequence[Answer], store: Path, *, bless: bool, quiet: bool) -> list[str]:
    """Run scenarios in short; return the keys of answers whose values moved."""
    from elephan_evidence.answers import Record, shortened  # noqa: PLC0415 (--help does without NumPy)

    changed = []
    with ProgressLine("answer", quiet=quiet, of="answers") as line, ThreadPoolExecutor(2) as threads:
        found = threads.map(lambda each: shortened(each, store), chosen)
        for n, (each, values) in enumerate(zip(chosen, found, strict=True), start=1):
            line.update(n, len(chosen))
            before = Record.read(each)
            if before is None:
                changed.append(each.id)
            elif before.shortened != values:
                changed.append(each.id)
                if bless:
                    replace(before, shortened=values).write(each)
    named = ", ".join(changed[:FEW]) + (f" and {len(changed) - FEW} more" if len(changed) > FEW else "")
    if changed:
        common.say(f"short runs changed: {named}; elephan answer ID --ask shows whether the answer has changed")
    common.say(f"short runs of {count(len(chosen), 'answer')}: {len(changed)} of them changed")
    return changed


def _list(*, details: bool) -> None:
    """Print the key and the question of each answer by topic; a question is cut at the end of the line."""
    from elephan_evidence.answers import answers  # noqa: PLC0415 (--help does without NumPy)

    topics: dict[str, list[Answer]] = {}
    for each in answers():
        topics.setdefault(each.topic, []).append(each)
    longest = max(len(each.id) for each in answers())
    for topic, members in topics.items():
        common.print_lines(f"{topic}:")
        for each in members:
            if details:
                common.print_wrapped(f"  {each.id}: {each.question}")
            else:
                common.print_lines(_cut(f"  {each.id:<{longest}}  {each.question}", terminal_width()))
    common.say("elephan answer ID answers one" + ("" if details else "; --details: the questions in full"))


def _cut(line: str, width: int) -> str:
    """Cut a line after a word where it is longer than the terminal is wide, see `textwrap.shorten`."""
    if len(line) <= width:
        return line
    return f"{line[: width - len(CUT) + 1].rpartition(' ')[0].rstrip(' ,:')}{CUT}"


def _show(each: Answer, *, details: bool) -> None:
    """Print a published answer, what would change it, its command and, if there is room, for whom it is valid."""
    from elephan_evidence.answers import Record  # noqa: PLC0415 (--help does without NumPy)
    from elephan_evidence.answers.judged import nearest  # noqa: PLC0415 (as above)
    from elephan_evidence.answers.repeats import sentence  # noqa: PLC0415 (as above)
    from elephan_evidence.answers.shown import said_of_others  # noqa: PLC0415 (as above)

    found = Record.read(each)
    command = command_lines(each.command, "Command: ")
    took = f" ({format_time(found.processor_s)} of processor)" if found else ""
    more = f"{'' if details else '--details: how sure; '}--out DIR: files; --ask: run again{took}"
    if found is None:
        common.print_wrapped(each.question, "Not asked yet.")
    else:
        common.print_wrapped(each.question, plain(found.sentence))
        limits = [f"Valid for: {plain(found.senders)}", f"Would change it: {plain(found.changes)}"]
        if not details:
            room = LINES - _lines(each.question, plain(found.sentence), more) - _rows(command)
            limits = limits if _lines(*limits) <= room else [_fitting(limits[1], max(room, 1))]
        common.print_wrapped(*limits)
        if details:
            common.print_wrapped(f"How sure: {plain(found.certainty)}", f"Asked again: {found.repetitions}")
            common.print_wrapped(*([f"Asked by: {each.source}"] if each.source else []), nearest(each))
            common.print_wrapped(*([sentence(each)] if each.repeats else []))
            common.print_lines(found.screen if terminal_width() >= SCREEN else f"(its screen needs {SCREEN} columns)")
            common.print_wrapped(*([f"{others}."] if (others := said_of_others(each, found)) else []))
    common.print_lines(*command)
    common.say(more)


def _fitting(text: str, room: int) -> str:
    """Return a text, cut after a word where it takes more than `room` lines."""
    words = text.split()
    while (shown := " ".join(words) + (CUT if len(words) < len(text.split()) else "")) and _lines(shown) > room:
        words.pop()
    return shown


def _lines(*texts: str) -> int:
    """Return the number of lines that texts take on the terminal."""
    return sum(len(common.sentence_lines(text)) for text in texts)


def _rows(lines: Sequence[str]) -> int:
    """Return the number of lines that lines without a break take on the terminal."""
    return sum(-(-len(line) // terminal_width()) for line in lines)


def plain(text: str) -> str:
    """Return Markdown as plain text: a link is followed by its page, or by the command that shows the answer."""
    text = re.sub(r"\]\(([\w-]+)\.md\)", r"](elephan answer \1)", text.replace("](../guide/", "](docs/guide/"))
    return re.sub(r"\*\*|`", "", re.sub(r"\[([^]]*)\]\(([^)]*)\)", r"\1 (\2)", text))


def _document(each: Answer) -> dict[str, Any]:
    from elephan_evidence.answers import Record  # noqa: PLC0415 (--help does without NumPy)

    found = Record.read(each)
    return {
        "id": each.id,
        "topic": each.topic,
        "question": each.question,
        "source": each.source or None,
        "command": each.command,
        "answer": plain(found.sentence) if found else None,
        "valid_for": plain(found.senders) if found else None,
        "would_change_it": plain(found.changes) if found else None,
        "certainty": plain(found.certainty) if found else None,
        "claims": found.claims if found else {},
        "longer": (found.longer or None) if found else None,
        "seed": (found.seed or None) if found else None,
        "processor_s": found.processor_s if found else None,
        "version": found.version if found else None,
    }


def _write_files(each: Answer, folder: Path) -> list[Path]:
    """Write the files of an answer and a script with its command."""
    from elephan.runs.files import write_text  # noqa: PLC0415 (--help does without NumPy)
    from elephan_evidence.answers.asking import sources  # noqa: PLC0415 (as above)

    written = []
    folder.mkdir(parents=True, exist_ok=True)
    for file in sources(each):
        target = folder / file.name
        target.write_bytes(file.read_bytes())
        written.append(target)
    command = re.sub(r"\S*/(?=[\w.-]+\.(toml|json\.gz)\b)", "", each.command)
    script = f'#!/bin/sh\n# {each.question}\ncd "$(dirname "$0")" && {command}\n'
    written.append(write_text(folder / "ask.sh", script))
    return written
