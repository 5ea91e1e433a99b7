"""Events that a sweep must survive, caused from outside as by an operating system: kill -9 at random moments, two
processes on one store, a full disk, a damaged file, a folder that cannot be written. Afterwards the store must be sound
or name the damage, and the finished sweep must equal an undisturbed one byte for byte.

`tests/test_survival.py` runs it small; ``python tests/survival.py --points 500 --kills 20`` runs it in full.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BASE = """
title        = "Reno flows on 100 Mbit/s, 40 ms"
duration     = "{duration_s} s"
warmup       = "1 s"
replications = 2

[[links]]
name   = "core"
rate   = "100 Mbit/s"
delay  = "5 ms"
buffer = "100 packets"

[[flows]]
name  = "bulk"
count = 4
path  = ["core"]
rtt   = {{ from = "38 ms", to = "42 ms" }}
start = {{ from = "0 s", to = "0.5 s" }}
"""

SWEEP = """
base = "base.toml"

[over]
"links[core].buffer" = {buffers}
"flows[bulk].count"  = [1, 2, 3, 4, 6]
"""

COUNTS = 5
"""Values of the second axis of the sweep."""

ELEPHAN = (sys.executable, "-c", "from elephan.cli import main; main()")


def write_sweep(folder: Path, points: int, duration_s: float) -> Path:
    """Write a sweep of `points` points (a multiple of `COUNTS`) of `duration_s` simulated seconds each."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "base.toml").write_text(BASE.format(duration_s=duration_s))
    buffers = [f"{10 + i} packets" for i in range(points // COUNTS)]
    path = folder / "sweep.toml"
    path.write_text(SWEEP.format(buffers=buffers))
    return path


def elephan(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run([*ELEPHAN, *map(str, words)], capture_output=True, text=True, timeout=900, check=False)


def start(*words: str | Path) -> subprocess.Popen[str]:
    """Start the command line and do not wait."""
    null = subprocess.DEVNULL
    return subprocess.Popen([*ELEPHAN, *map(str, words)], stdout=null, stderr=null, text=True)


def contents(store: Path) -> dict[str, str]:
    """Hash every part of a result: the exported table, and each run's columns.

    Volatile facts (time, place, duration) are in ``run.json`` only.
    """
    export = elephan("store", "export", "--store", store, "--format", "csv", "--columns", "labels,summary")
    assert export.returncode == 0, export.stderr
    found = {"export": hashlib.sha256(export.stdout.encode()).hexdigest()}
    for path in sorted((store / "runs").rglob("*")):
        if path.suffix in (".parquet", ".toml"):
            found[str(path.relative_to(store))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def count(store: Path) -> int:
    """Count complete runs."""
    return sum(1 for _ in (store / "runs").rglob("run.json")) if store.exists() else 0


def kill_often(sweep: Path, store: Path, points: int, kills: int, seed: int = 1) -> list[int]:
    """Kill the same sweep of `points` many times, at random moments of its work; return the numbers of runs."""
    draw = random.Random(seed)
    found = []
    for _ in range(kills):
        before = count(store)
        process = start("sweep", sweep, "--store", store, "--quiet")
        # The moment is counted in runs, so that each kill hits work on machines of any speed, not the imports or the
        # end.
        until = before + draw.randint(1, max(1, (points - before) // 3))
        while count(store) < until and process.poll() is None:
            time.sleep(0.002)
        process.kill()
        process.wait()
        found.append(count(store))
    return found


def run_twice_at_once(sweep: Path, store: Path) -> list[int]:
    """Run two processes on one store; return their exit codes."""
    processes = [start("sweep", sweep, "--store", store, "--quiet") for _ in range(2)]
    return [process.wait(timeout=900) for process in processes]


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path | None]:
    """Mount a small file system in memory; yield None if that is not permitted."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0 or not shutil.which("mount"):
        yield None
        return
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "elephan", str(folder)], check=False)
    if done.returncode != 0:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[bool]:
    """Make a folder read-only, even for root; yield False if that is not permitted."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        yield False
        return
    done = subprocess.run(["mount", "--bind", "-o", "ro", str(folder), str(folder)], check=False)
    if done.returncode != 0:
        yield False
        return
    subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=False)
    try:
        yield True
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def grow(folder: Path, size: str) -> None:
    """Enlarge a disk of `small_disk`."""
    subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)


def damage(store: Path, seed: int = 1) -> str:
    """Cut a Parquet file of some run in half; return the run's identity."""
    files = sorted((store / "runs").rglob("flows.parquet"))
    victim = random.Random(seed).choice(files)
    victim.write_bytes(victim.read_bytes()[: victim.stat().st_size // 2])
    return victim.parent.name


def one_line(text: str) -> bool:
    """Whether there is one line of output, and it is not a traceback."""
    return len(text.strip().splitlines()) == 1 and "Traceback" not in text and "internal error" not in text


def survive(folder: Path, points: int, kills: int, duration_s: float, disk: str) -> list[tuple[str, bool, str]]:
    """Make all tests; return each test, whether it passed, and the observation."""
    rows: list[tuple[str, bool, str]] = []
    sweep = write_sweep(folder, points, duration_s)

    def note(what: str, held: bool, seen: object) -> None:
        rows.append((what, held, str(seen)))

    whole = folder / "whole"
    undisturbed = elephan("sweep", sweep, "--store", whole, "--quiet")
    wanted = contents(whole)
    note("the undisturbed sweep ends", undisturbed.returncode == 0 and count(whole) == points, undisturbed.stderr)

    def same(what: str, store: Path) -> None:
        verified = elephan("store", "verify", "--store", store)
        note(f"{what}: the store is sound", verified.returncode == 0, verified.stdout + verified.stderr)
        note(f"{what}: the same bytes", contents(store) == wanted, f"{count(store)} runs")

    store = folder / "killed"
    seen = kill_often(sweep, store, points, kills)
    verified = elephan("store", "verify", "--store", store)
    note("killed: sound before it goes on", verified.returncode == 0, verified.stdout + verified.stderr)
    note("killed: in the middle of its work", any(0 < runs < points for runs in seen), seen)
    resumed = elephan("sweep", sweep, "--store", store, "--quiet")
    note("killed: the same command ends it", resumed.returncode == 0, resumed.stderr)
    same("killed", store)

    store = folder / "twice"
    codes = run_twice_at_once(sweep, store)
    note("two processes: both end", codes == [0, 0], codes)
    same("two processes", store)

    with small_disk(folder / "disk", disk) as mounted:
        if mounted is None:
            note("full disk: not tried", True, "mounting is not allowed here")
        else:
            store = mounted / "store"
            full = elephan("sweep", sweep, "--store", store, "--quiet")
            note("full disk: one line and exit 2", full.returncode == 2 and one_line(full.stderr), full.stderr)
            note("full disk: some runs are there", 0 < count(store) < points, count(store))
            verified = elephan("store", "verify", "--store", store)
            note("full disk: what is there is sound", verified.returncode == 0, verified.stdout + verified.stderr)
            grow(mounted, "2g")
            resumed = elephan("sweep", sweep, "--store", store, "--quiet")
            note("full disk: the same command ends it", resumed.returncode == 0, resumed.stderr)
            same("full disk", store)

    store = folder / "damaged"
    shutil.copytree(whole, store)
    victim = damage(store)
    verified = elephan("store", "verify", "--store", store)
    named = victim[:12] in verified.stdout + verified.stderr
    note("damaged file: named", verified.returncode == 1 and named, verified.stdout + verified.stderr)
    elephan("store", "verify", "--store", store, "--repair")
    resumed = elephan("sweep", sweep, "--store", store, "--quiet")
    note("damaged file: the same command mends it", resumed.returncode == 0, resumed.stderr)
    same("damaged file", store)

    store = folder / "part"
    shutil.copytree(whole, store)
    shutil.rmtree(min((store / "runs").iterdir()))
    with read_only(whole) as is_read_only, read_only(store) as other:
        if is_read_only and other:
            note("read-only: can be read", contents(whole) == wanted, "")
            note("read-only: sound", elephan("store", "verify", "--store", whole).returncode == 0, "")
            refused = elephan("sweep", sweep, "--store", store, "--quiet")
            note("read-only: one line and exit 2", refused.returncode == 2 and one_line(refused.stderr), refused.stderr)
        else:
            note("read-only: not tried", True, "mounting is not allowed here")
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all tests in full and print a table; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--duration", type=float, default=20.0, help="simulated seconds of a point")
    parser.add_argument("--disk", default="4m", help="size of the small disk")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="elephan-survival-") as folder:
        rows = survive(Path(folder), asked.points, asked.kills, asked.duration, asked.disk)
    for what, held, seen in rows:
        said = f": {seen.strip()}" if seen.strip() else ""
        sys.stdout.write(f"{'holds' if held else 'FAILS'}  {what}{said}\n")
    return 0 if all(held for _, held, _ in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
