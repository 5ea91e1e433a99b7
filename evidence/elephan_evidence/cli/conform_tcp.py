"""``elephan conform tcp``: packetdrill scripts, run against a sender in virtual time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from elephan.assignments import parse_assignments
from elephan.cli.common import print_json, print_lines, print_wrapped, say, writing
from elephan.cli.progress import ProgressLine
from elephan.cli.tables import whole_table
from elephan.errors import InputError
from elephan.own_laws import declare
from elephan.units import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elephan_evidence.conform.packetdrill import TcpConformance

SCRIPTS = "tcp"
"""Name of the suite that consists of the user's own files."""

COMPARED = {"segments": "segments", "snd_ssthresh": "ssthresh", "snd_cwnd": "cwnd", "ca_state": "state"}
"""Names on a screen of the quantities that are compared in recorded connections."""

SHOWN, SHOWN_LIVE = 6, 4
"""Maximum number of scripts on a screen, with two lines each, or three beside the kernel; --details shows all."""


def refuse_options(suite: str, given: Mapping[str, object]) -> None:
    """Refuse options that a suite does not have.

    Raises
    ------
    InputError
        If one was given.
    """
    for option, value in given.items():
        if value:
            message = f"{option}: conform {suite} has no such option"
            raise InputError(message)


def sender_changes(law: str | None, assignments: list[str] | None) -> dict[str, object]:
    """Return the changes of the sender by ``--law`` and ``--set``; declare a law of the user's."""
    changes = parse_assignments(assignments)
    if law is None:
        return changes
    name, own, _ = law.partition("=")
    if not own:
        return changes | {"flows[0].control": name}
    declare([law])
    # With parameters, a law of the user's is named by --set.
    return {"flows[0].control": name} | changes


def show_scripts(
    paths: Sequence[str], changes: Mapping[str, object], *, live: bool, details: bool, quiet: bool, json: bool
) -> None:
    """Run scripts, print the results, and exit with code 1 if one differs.

    Raises
    ------
    InputError
        If none is given, or one cannot be read.
    """
    from elephan_evidence.conform.live.host import missing  # noqa: PLC0415 (as below)
    from elephan_evidence.conform.live.scripts import beside_kernel  # noqa: PLC0415 (as below)
    from elephan_evidence.conform.packetdrill import conform_scripts  # noqa: PLC0415 (--help does without NumPy)

    if not paths:
        message = "conform tcp: give packetdrill scripts, or folders of them"
        raise InputError(message)
    why = missing() if live else None
    if why is not None:
        message = f"--live: {why}"
        raise InputError(message)
    with ProgressLine("conform", quiet=quiet, of="scripts") as line:
        found = conform_scripts(paths, changes, line.update)
    if live:
        with ProgressLine("kernel", quiet=quiet, of="scripts") as line:
            found = beside_kernel(found, line.update)
    _end(found, details=details, json=json)


def show_random(
    count: int, seed: int, changes: Mapping[str, object], out: Path | None, *, details: bool, quiet: bool, json: bool
) -> None:
    """Record connections of the running kernel, run them with a sender, and print the results as `show_scripts` does.

    Raises
    ------
    InputError
        If this machine cannot record.
    """
    from elephan_evidence.conform.live.host import missing  # noqa: PLC0415 (as above)
    from elephan_evidence.conform.live.recording import record  # noqa: PLC0415 (as above)
    from elephan_evidence.conform.packetdrill import conform_scripts  # noqa: PLC0415 (as above)

    why = missing()
    if why is not None:
        message = f"--random: {why}"
        raise InputError(message)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) if out is None else out
        with ProgressLine("record", quiet=quiet, of="connections") as line:
            recorded = record(count, seed, line.update)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            for name, text in recorded.items():
                (folder / f"{name}.pkt").write_text(text, encoding="utf-8")
        with ProgressLine("conform", quiet=quiet, of="connections") as line:
            found = conform_scripts([folder / f"{name}.pkt" for name in recorded], changes, line.update)
    _end(found, details=details, json=json, wrote=out)


def _end(found: TcpConformance, *, details: bool, json: bool, wrote: Path | None = None) -> NoReturn:
    document = found.to_json()
    if json:
        print_json(document)
    elif document["recordings"] and not details:
        _show_recordings(document)
    else:
        _show(document, details=details)
    if wrote is not None and not json:
        say(f"wrote {count(len(found.scripts), 'script')} to {wrote}")
    raise typer.Exit(0 if found.holds else 1)


def _show_recordings(document: Mapping[str, Any]) -> None:
    """Print how many recorded connections agree, in what, and why the others do not."""
    counts, kinds = document["summary"], document["recordings"]
    total = sum(kind["count"] for kind in kinds)
    print_wrapped(
        f"{_many(total, 'recorded connection', 'recorded connections')}: {_many(counts['agrees'], 'agrees', 'agree')}, "
        f"{_many(counts['differs'], 'differs', 'differ')}."
    )
    heads = ["path", "connections", "agree", *COMPARED.values()]
    rows = [[kind["path"], *(str(kind[key]) for key in ("count", "agrees", *COMPARED))] for kind in kinds]
    print_lines(*whole_table(heads, rows, [False] + [True] * (len(heads) - 1)))
    reasons: Counter[str] = Counter()
    for kind in kinds:
        reasons.update({each["rule"]: each["count"] for each in kind["reasons"]})
    if reasons:
        ordered = [[reason, str(count)] for reason, count in reasons.most_common()]
        print_lines(*whole_table(["first difference", "connections"], ordered, [False, True]))
    say("each connection: --details")


def _show(document: Mapping[str, Any], *, details: bool) -> None:
    scripts, live = document["scripts"], document["live"]
    print_wrapped(f"{_many(len(scripts), 'script', 'scripts')}: {_counts(document['summary'])}.")
    if live:
        print_wrapped(f"{live['kernel']}, which runs here: {_counts(live)}.")
    compared = f"{_many(document['segments'], 'segment', 'segments')} and {document['assertions']} assertions agree"
    if details:
        for script in scripts:
            print_wrapped(*_about(script))
        say(compared)
        return
    # Scripts that differ come first, because they decide the exit code.
    others = sorted((script for script in scripts if _is_news(script)), key=lambda one: one["verdict"])
    shown = SHOWN_LIVE if live else SHOWN
    for script in others[:shown]:
        print_wrapped(*_first(script))
    left = len(others) - shown
    say(f"{compared}; {f'{left} more and ' if left > 0 else ''}omitted lines: --details")


def _counts(summary: Mapping[str, Any]) -> str:
    """Return the numbers of verdicts as text."""
    return (
        f"{_many(summary['agrees'], 'agrees', 'agree')}, {_many(summary['differs'], 'differs', 'differ')}, "
        f"{summary['not_expressible']} cannot be expressed"
    )


def _is_news(script: Mapping[str, Any]) -> bool:
    """Whether a script does not agree, here or with the running kernel."""
    return script["verdict"] != "agrees" or bool(script["live"] and script["live"]["verdict"] != "agrees")


def _many(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _first(script: Mapping[str, Any]) -> list[str]:
    """Describe the first difference of a script in two lines, or why it cannot be expressed; and the kernel's."""
    name, differs, stopped = Path(script["script"]).name, script["difference"], script["stopped"]
    lines = [f"{name}: agrees"]
    if differs:
        found = differs["actual"].partition(" (")[0]
        lines = [f"{name}:{differs['line']} differs", f"   expected {differs['expected']}; found {found}"]
    elif stopped:
        lines = [f"{name}:{stopped['line']} is not expressible", f"   {stopped['why']}"]
    return lines + _kernel(script)


def _kernel(script: Mapping[str, Any]) -> list[str]:
    """Describe what the running kernel does."""
    live = script["live"]
    if live is None:
        return []
    place = f", line {live['line']}: {live['why'].partition(' (')[0]}" if live["line"] else ""
    return [f"   kernel: {live['verdict']}{place}"]


def _about(script: Mapping[str, Any]) -> list[str]:
    """Describe a script completely: its sender, the agreeing lines, and every omitted line."""
    sender, differs, stopped = script["sender"], script["difference"], script["stopped"]
    lines = [f"{script['script']}: {script['verdict']}"]
    if sender["law"]:
        # A controller of a QUIC stack has a version, and the stack's own recovery.
        ours = f"recovery {sender['recovery']}, rto {sender['rto']}" if sender["recovery"] else str(sender["variant"])
        named = f"{sender['law']}, {ours}"
        lines.append(f"   {script['segments']} segments, {script['assertions']} assertions agree; {named}")
    if differs:
        lines.append(f"   line {differs['line']}: expected {differs['expected']}; found {differs['actual']}")
        lines.append(f"   by {differs['rule']}")
    if stopped:
        lines.append(f"   from line {stopped['line']} on not expressible: {stopped['why']}")
    lines += _kernel(script)
    return lines + [f"   line {each['line']} left out: {each['why']}" for each in script["left_out"]]
