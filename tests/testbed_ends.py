"""Ends a testbed in every possible way, many times, and checks each time that nothing is left of it.

It runs as the first process of a PID namespace of its own, so that every process that it sees is its own or was started
by a testbed, whatever else this machine does. `tests/test_testbed_leaves_nothing.py` starts it; in full:
``unshare --pid --fork --kill-child --mount-proc python tests/testbed_ends.py --cycles 200``. A line of JSON per cycle.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.cli import main
from elephan.errors import InputError
from elephan.testbed import TestbedPlan, replication
from testbed_here import available

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SCENARIO = """
title = "One short flow"
duration = "200 ms"
warmup = "50 ms"
[[links]]
name = "bottleneck"
rate = "20 Mbit/s"
delay = "2 ms"
buffer = "20 packets"
[[flows]]
name = "flow"
path = ["bottleneck"]
rtt = "4 ms"
packet = "1500 B"
control = { law = "LAW" }
"""

LAWS = {"reno": "reno", "scalable": "el_scalable", "htcp": "el_htcp"}
"""Names of laws in the kernel. Other laws are left to other work on this machine."""

ENDS = {"end": 4, "error": 8, "interrupt": 10, "terminate": 8, "kill": 10}
"""Numbers of the kinds of ends, of 40 cycles."""

URGED_S = 1.0
"""Time after which a Ctrl-C without effect is repeated [s]; removing everything takes less."""

SIGNALS = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM, "kill": signal.SIGKILL}
LATEST_S = 0.4
"""Signals come within this time, of which the setup takes about a half [s]."""

PATIENCE_S = 5.0
"""Time for the kernel to release its objects [s]."""

RUNNING_S = 30.0
"""Longer than any step here [s]."""

MODULE: Any = sys.modules["elephan.testbed.plan"]
"""The module; the package has a function of the same name."""


def state(law: str, temporary: Path) -> list[str]:
    """List everything that a testbed might leave: processes, namespaces, devices, a law, files."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        if int(folder.name) == os.getpid():
            continue
        try:
            _, _, rest = (folder / "stat").read_text().partition(" ")
            command = (folder / "cmdline").read_text().replace("\0", " ").strip()
            found.append(f"process {' '.join(rest.split()[:2])} {command}".strip())
            found.append(f"namespace {(folder / 'ns/net').readlink()}")
        except OSError:  # It is gone by now, or a zombie: then it counts as a process.
            continue
    found += [row.split(":")[0].strip() for row in Path("/proc/net/dev").read_text().splitlines()[2:]]
    found += [f"law {law}"] if law != "reno" and law in available() else []
    return sorted([*found, *(f"file {path.name}" for path in temporary.iterdir())])


def reap() -> None:
    """Reap orphans: the first process of a namespace inherits them."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def fail(how: str) -> None:
    """Make an operation fail in this process, in the middle of a replication."""

    def broken(*_: object, **__: object) -> Any:
        message = "broken on purpose"
        raise InputError(message)

    broken_at: dict[str, Callable[[], object]] = {
        "setting": lambda: MODULE.SETTINGS.update({"net.ipv4.no_such_setting": "1"}),
        "sender": lambda: setattr(TestbedPlan, "send", lambda *_: ("iperf3", "--no-such-option")),
        "receiver": lambda: setattr(TestbedPlan, "serve", lambda *_: ("iperf3", "--no-such-option")),
        "no program": lambda: setattr(TestbedPlan, "send", lambda *_: ("no-such-program",)),
        "relay": lambda: setattr(replication.LinkRelay, "start", broken),
        "reading": lambda: setattr(replication, "read", broken),
        "columns": lambda: setattr(replication, "outcome", broken),
    }
    broken_at[how]()


FAILURES = ("setting", "sender", "receiver", "no program", "relay", "reading", "columns")


def testbed(words: list[str], how: str, ready: int, complaints: int) -> int:
    """Run ``elephan testbed`` in a process of its own; return the exit code."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(0, 1)
    os.dup2(complaints, 2)
    # Two seconds less of each that ends by itself.
    MODULE.AFTER_S = 0
    if how in FAILURES:
        fail(how)
    os.write(ready, b".")
    try:
        main(words)
    except SystemExit as done:
        return int(done.code or 0)
    except BaseException:
        traceback.print_exc()
    return 99


def cycle(kind: str, how: str, moment_s: float, law: str, folder: Path) -> dict[str, Any]:
    """Run one testbed and its end."""
    scenario, out, temporary = folder / "one.toml", folder / "out", folder / "tmp"
    scenario.write_text(SCENARIO.replace("LAW", law))
    before = state(LAWS[law], temporary)
    said = tempfile.TemporaryFile()  # noqa: SIM115 (closed below)
    listen, ready = os.pipe()
    process = os.fork()
    if process == 0:
        words = ["testbed", "run", str(scenario), "--json", "--attempts", "1", "--out", str(out)]
        os._exit(testbed(words, how, ready, said.fileno()))
    os.close(ready)
    os.read(listen, 1)
    os.close(listen)
    send = os.killpg if how == "group" else os.kill
    if kind in SIGNALS:
        time.sleep(moment_s)
        # Ctrl-C reaches all that run in the terminal.
        send(process, SIGNALS[kind])
    status, again = ended(process, (lambda: send(process, signal.SIGINT)) if kind == "interrupt" else None)
    begun = time.monotonic()
    while (left := added(state(LAWS[law], temporary), before)) and time.monotonic() < begun + PATIENCE_S:
        reap()
        time.sleep(0.005)
    waited_s = time.monotonic() - begun
    said.seek(0)
    written = sorted(path.name for path in folder.iterdir() if path not in {scenario, temporary})
    files = sorted(path.name for path in out.iterdir()) if out.exists() else []
    for path in files:
        (out / path).unlink()
    if out.exists():
        out.rmdir()
    complaints = said.read().decode().strip().splitlines()
    said.close()
    return {
        "kind": kind,
        "how": how,
        "law": law,
        "moment_s": moment_s,
        "code": os.waitstatus_to_exitcode(status),
        "left": left,
        "waited_s": waited_s,
        "again": again,
        "written": written,
        "files": files,
        "said": complaints,
    }


def ended(process: int, urge: Callable[[], object] | None) -> tuple[int, bool]:
    """Wait for a process with a time limit; return its status, and whether a Ctrl-C had to be repeated.

    Python loses a Ctrl-C that comes in a callback of C, such as during imports; a user would press it again.
    """
    begun, urged = time.monotonic(), False
    while time.monotonic() < begun + RUNNING_S:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return status, urged
        if urge is not None and not urged and time.monotonic() > begun + URGED_S:
            urge()
            urged = True
        time.sleep(0.005)
    os.kill(process, signal.SIGKILL)
    return os.waitpid(process, 0)[1], urged


def added(now: Iterable[str], before: Iterable[str]) -> list[str]:
    """Return the items that are new."""
    rest = list(before)
    return [one for one in now if one not in rest or rest.remove(one)]  # type: ignore[func-returns-value]


def free(law: str) -> bool:
    """Whether no process has the law loaded."""
    return law == "reno" or LAWS[law] not in available()


def prepare(folder: Path) -> None:
    """Import the modules that the command line imports late.

    Python loses a Ctrl-C that comes while a module's lock is released; only the next one takes effect.
    """
    import pyarrow.parquet  # noqa: F401, PLC0415

    (folder / "dry.toml").write_text(SCENARIO.replace("LAW", "reno"))
    with redirect_stdout(StringIO()), suppress(SystemExit):
        main(["testbed", "run", str(folder / "dry.toml"), "--dry-run"])
    (folder / "dry.toml").unlink()


def run(cycles: int, seed: int, laws: list[str]) -> None:
    """Run all cycles, in a random order."""
    chance = random.Random(seed)
    kinds = [kind for kind, count in ENDS.items() for _ in range(count)] * (cycles // sum(ENDS.values()) + 1)
    kinds = kinds[:cycles]
    chance.shuffle(kinds)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        (folder / "tmp").mkdir()
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")
        for number, kind in enumerate(kinds):
            how = FAILURES[number % len(FAILURES)] if kind == "error" else chance.choice(["", "group"])
            law = chance.choice(laws)
            moment_s = chance.uniform(0, LATEST_S)
            said = cycle(kind, how if kind != "end" else "", moment_s, law if free(law) else "reno", folder)
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--laws", nargs="+", default=list(LAWS), choices=list(LAWS))
    asked = parser.parse_args()
    run(asked.cycles, asked.seed, asked.laws)
