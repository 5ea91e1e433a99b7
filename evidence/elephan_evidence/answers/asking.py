"""Runs of the commands of answers: in full, for longer, with another seed, or shortened."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from elephan import _native, templates
from elephan.errors import InputError
from elephan.runs.files import write_text
from elephan.units import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elephan_evidence.answers.answer import Answer
    from elephan_evidence.answers.values import Document

PACKAGE = Path(templates.__file__).parents[1]
EXAMPLES = PACKAGE / "examples"
LAWS = PACKAGE.parents[1] / "examples"
"""Laws of a checkout; a wheel has none."""

SHORTENED = 20
"""Factor by which runs of `shortened` are shorter."""

SHORTEST_S = 2.0
"""Duration below which runs are not shortened [s]."""

LONGER = 4
"""Factor of the duration, or of the number of replications, of a repetition."""


class Outcome(NamedTuple):
    """Result of a command."""

    screen: str
    """Text at 80 columns."""
    processor_s: float
    document: Document


def ask(answer: Answer, store: Path, more: Sequence[str] = ()) -> Outcome:
    """Run the command of an answer, or return what is kept of it.

    Parameters
    ----------
    store : Path
        Folder of results: what was run there with this version and the same files is not run again.
    more : sequence of str
        Further words of the command.

    Raises
    ------
    InputError
        If the command fails, or a file that it needs is missing.
    """
    file = store / "answers" / f"{_key(answer, more)}.json"
    if file.exists():
        return Outcome(*json.loads(file.read_text(encoding="utf-8")))
    folder = _prepared(store)
    words = shlex.split(answer.command)
    sized = ["--out", f"out-{file.stem}"] if words[1] == "size" else []
    typed = [*words[1:], *more, "-q"]
    begun = _processor_time()
    screen = _run(answer, [*typed, *sized], folder)
    took = _processor_time() - begun
    if sized:
        (written,) = (folder / sized[1]).glob("*.json")
        text = written.read_text(encoding="utf-8")
    else:  # the runs are in the store
        text = _run(answer, [*typed, "--json"], folder)
    outcome = Outcome(screen.rstrip("\n"), took, json.loads(text))
    write_text(file, json.dumps(outcome))
    return outcome


def longer(answer: Answer) -> tuple[str, ...]:
    """Return the words that make the command simulate `LONGER` times as much; empty if it cannot."""
    duration = _duration(answer)
    if answer.longer == "replications":
        return ("--set", f"replications={LONGER * _scenario(answer)['replications']}")
    return ("--set", f'duration="{LONGER * duration:g} s"') if duration else ()


def shortened(answer: Answer, store: Path) -> dict[str, Any]:
    """Run the scenario of an answer in short, and return values that change when the simulation behind it does.

    Returns
    -------
    dict of str to number
        Utilization, delay and loss of the first link and the goodput of each group, in four digits, at each point.
    """
    words = shlex.split(answer.command)
    duration = _duration(answer)
    if not duration:
        document = json.loads(_run(answer, [words[1], words[2], "--json", "-q"], _prepared(store)))
        return {name: _digits(each["median"]) for name, each in document["intervals"].items()}
    length = max(SHORTEST_S, duration / SHORTENED, 1.1 * _last_start(answer))
    short = ["--set", f'duration="{length:g} s"', "--set", f'warmup="{length / 4:g} s"', "--set", "replications=1"]
    typed = ["run", words[2]] if words[1] == "size" else [*words[1:], "--store", "short"]
    document = json.loads(_run(answer, [*typed, *short, "--workers", "1", "--json", "-q"], _prepared(store)))
    found = {}
    for n, point in enumerate(document.get("points", [document])):
        link = point["links"][0]
        for key in ("utilization", "queueing_delay_s", "loss_ratio"):
            found[f"{n}/{key}"] = _digits(link[key]["mean"])
        for group in point["groups"]:
            found[f"{n}/{group['name']}"] = _digits(group["goodput_per_flow_bps"]["mean"])
    return found


def _digits(value: float) -> float:
    return float(f"{value:.4g}")


def _scenario(answer: Answer) -> dict[str, Any]:
    """Return the scenario of a command as a mapping; empty if it has none."""
    files = [file for file in sources(answer) if file.suffix == ".toml"]
    return tomllib.loads(files[-1].read_text(encoding="utf-8")) if files else {}


def _duration(answer: Answer) -> float:
    return seconds(_scenario(answer).get("duration", "0 s"))


def _last_start(answer: Answer) -> float:
    starts = [flows["start"] for flows in _scenario(answer).get("flows", []) if "start" in flows]
    return max((seconds(start["from"]) for start in starts if isinstance(start, dict) and "from" in start), default=0)


def sources(answer: Answer) -> list[Path]:
    """List the files that a command reads, a sweep's base after the sweep."""
    found: list[Path] = []
    for word in shlex.split(answer.command):
        if word.startswith("scenarios/"):
            file: Path | None = EXAMPLES / word.removeprefix("scenarios/")
            while file is not None:
                if not file.exists():
                    message = f"{answer.id}: no file {word}"
                    raise InputError(message)
                found.append(file)
                base = tomllib.loads(file.read_text(encoding="utf-8")).get("base") if file.suffix == ".toml" else None
                file = file.parent / base if base else None
    return found


def _key(answer: Answer, more: Sequence[str]) -> str:
    digest = hashlib.sha256("\0".join([_native.version(), answer.command, *more]).encode())
    for file in sources(answer):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _prepared(store: Path) -> Path:
    """Make the folder in which commands run, with the scenarios of this checkout, even if another one made it."""
    store.mkdir(parents=True, exist_ok=True)
    for name, folder in (("scenarios", EXAMPLES), ("examples", LAWS)):
        link = store / name
        if folder.exists() and link.resolve() != folder.resolve():
            link.unlink(missing_ok=True)
            link.symlink_to(folder)
    return store


def _processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(answer: Answer, words: list[str], folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "elephan", *words],
        cwd=folder,
        env={**os.environ, "COLUMNS": "80"},
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        message = f"{answer.id}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no result'}"
        raise InputError(message)
    return done.stdout
