"""``make fuzz``: many inputs of every kind, each generated from its number; failures are kept, and it continues where
it stopped.

A failure is any result except a clear refusal: an exception, a defect (exit code 70), a process that ends, more than 10
s, more than 4 GiB, engines that differ. Its input is written to ``target/fuzz``; once fixed, it belongs into
``tests/fuzz/corpus``.
"""

import argparse
import json
import mmap
import multiprocessing
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from elephan import cli
from fuzz.kinds import KINDS as OF_FILES
from fuzz.kinds import ROOT, FoundError, Kind
from fuzz.measured import MeasuredKind
from fuzz.web import WebKind
from fuzz.worst import WorstKind

KINDS: dict[str, Kind] = {**OF_FILES, **{kind.name: kind for kind in (MeasuredKind(), WebKind(), WorstKind())}}
"""All kinds; requests of the page need the extra `web`, searches for worst cases seconds: both are tried by name."""

SHARES = {"scenario": 0.59, "sweep": 0.2, "flows": 0.14, "measured": 0.02, "command": 0.0495, "store": 0.0005}
"""Shares of the kinds among all inputs: about as much time for each as failures are to be expected."""

LONGEST_S, MOST_BYTES = 10.0, 4 * 2**30
"""Limits of time [s] and memory [bytes] for an input; the machine may be busy with other work."""

STATE = ROOT / "target" / "fuzz"


def attempt(kind: Kind, given: bytes) -> str | None:
    """Try an input.

    Returns
    -------
    str or None
        The failure, in one line; None if there is none.
    """

    def too_long(*_: object) -> None:
        message = f"takes more than {LONGEST_S:g} s"
        raise FoundError(message)

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_S)
    try:
        kind.attempt(given)
    except BaseException as error:  # A panic of the engine is no Exception.
        if isinstance(error, KeyboardInterrupt):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} at {Path(last.filename).name}:{last.lineno}".replace("\n", " ")[:400]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    return None


def _work(name: str, seed: int, begin: int, end: int, place: str, out: Any) -> None:
    """Try inputs in a process of its own, which an input may kill: its number is written to the file first."""

    def leave(code: int) -> None:
        raise SystemExit(code)

    setattr(cli, "leave", leave)  # noqa: B010 (the type checker knows it as another module's)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    kind = KINDS[name]
    with Path(place).open("r+b") as file, mmap.mmap(file.fileno(), 8) as now:
        for number in range(begin, end):
            now[:] = number.to_bytes(8, "little")
            wrong = attempt(kind, kind.of(seed, number))
            if wrong is not None:
                out.put((number, wrong))


def run(name: str, seed: int, begin: int, end: int, until: float = float("inf")) -> tuple[int, list[tuple[int, str]]]:
    """Try inputs `begin` to `end` of a kind until some time, in processes that may die.

    Returns
    -------
    int
        The first number that was not tried.
    list of tuple of int and str
        Failures: number of the input, and the error.
    """
    STATE.mkdir(parents=True, exist_ok=True)
    place = STATE / f"{name}.now"
    context = multiprocessing.get_context("spawn")
    finds: list[tuple[int, str]] = []
    while begin < end:
        place.write_bytes(begin.to_bytes(8, "little"))
        out = context.SimpleQueue()
        process = context.Process(target=_work, args=(name, seed, begin, end, str(place), out))
        process.start()
        last, since = begin, time.monotonic()
        while process.is_alive() and time.monotonic() < until:
            process.join(0.2)
            while not out.empty():
                finds.append(out.get())
            now = int.from_bytes(place.read_bytes(), "little")
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > 3 * LONGEST_S:
                # Native code does not see signals; three times the limit, as the process has to start, too.
                process.kill()
                process.join()
        now = int.from_bytes(place.read_bytes(), "little")
        if process.is_alive():
            process.kill()
            process.join()
            return now, finds
        while not out.empty():
            finds.append(out.get())
        if process.exitcode == 0:
            return end, finds
        finds.append((now, f"its process ended with {process.exitcode}"))
        begin = now + 1
    return end, finds


def say(line: str) -> None:
    """Put one line on stdout, now."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Try the requested number of inputs, after those of the last time.

    Returns
    -------
    int
        1 if there was a failure.
    """
    asked = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    asked.add_argument("--inputs", type=int, default=1_000_000, help="of all kinds together")
    asked.add_argument("--seconds", type=float, default=float("inf"), help="at most, as many for each kind")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--kinds", default=",".join(SHARES))
    given = asked.parse_args()
    STATE.mkdir(parents=True, exist_ok=True)
    state = STATE / f"seed-{given.seed}.json"
    tried: dict[str, int] = json.loads(state.read_text()) if state.exists() else {}
    names = given.kinds.split(",")
    total = sum(SHARES.get(name, 1.0) for name in names)
    began, found = time.monotonic(), 0
    for name in names:
        share = SHARES.get(name, 1.0) / total
        begin, begun = tried.get(name, 0), time.monotonic()
        until = begun + given.seconds / len(names)
        end, finds = run(name, given.seed, begin, begin + round(given.inputs * share), until)
        for number, wrong in finds:
            path = STATE / f"{name}-{given.seed}-{number}{KINDS[name].ending}"
            path.write_bytes(KINDS[name].of(given.seed, number))
            say(f"{path}: {wrong}")
        found += len(finds)
        tried[name] = end
        state.write_text(json.dumps(tried))
        rate = (end - begin) / max(time.monotonic() - begun, 1e-9)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        say(
            f"{name}: inputs {begin} to {end} of seed {given.seed}, {rate:.0f} a second, at most {peak:,} MiB, "
            f"{len(finds)} finds"
        )
    say(f"{found} finds in {time.monotonic() - began:.0f} s")
    return int(found > 0)
