"""Failures of single system calls that a store must survive: every write, fsync, rename, mkdir, mmap may return EIO or
ENOSPC or write less than it was given, at random; and kill -9 before every system call of a sweep. Afterwards no
command may have ended with an internal error, `store verify --repair` must repair the store, and the finished sweep
must equal an undisturbed one byte for byte.

`tests/test_faults.py` runs it small; ``python tests/faults.py --seeds 200`` runs it in full.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import survival

SOURCE = Path(__file__).with_suffix(".c")

RATES = (0.003, 0.01, 0.03, 0.1)
"""Shares of the calls that fail: from one in a whole sweep to one in ten."""


def built(folder: Path) -> Path | None:
    """Build the library; return None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    library = folder / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, SOURCE, "-ldl"], check=True)
    return library


def in_child(words: list[str], output: Path, folder: Path | None = None, **faults: Any) -> tuple[int, int]:
    """Run a command of elephan in a fork of this process, which has all modules loaded; with faults in `folder`.

    Returns its exit status (below 0: the signal that killed it), and how many of its system calls could have failed.
    """
    count = output.with_suffix(".count")
    count.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        # Whatever happens here, the parent's clean-up must not run twice.
        status = 99
        try:
            handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            os.dup2(handle, 1)
            os.dup2(handle, 2)
            library = ctypes.CDLL(None)
            if folder is not None:
                begin(library, folder, **faults)
            status = command(words)
            if folder is not None:
                library.faults_calls.restype = ctypes.c_uint64
                count.write_text(str(library.faults_calls()))
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(ended), int(count.read_text()) if count.exists() else 0


def begin(
    library: ctypes.CDLL,
    folder: Path,
    seed: int = 0,
    rate: float = 0.0,
    limit: int = 1 << 62,
    kill_at: int = 0,
    kinds: str = "",
) -> None:
    """Let system calls fail in this process from now on; the meanings are those of `faults_begin` in the C file."""
    kind = (ctypes.c_char_p, ctypes.c_uint64, ctypes.c_double, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p)
    library.faults_begin.argtypes = kind
    assert library.faults_begin(os.fsencode(folder), seed, rate, limit, kill_at, kinds.encode()) == 0


def command(words: list[str]) -> int:
    """Run the command line in this process; return its exit status."""
    from elephan.cli import main  # noqa: PLC0415 (what a child loads, the parent has loaded already)

    sys.argv = ["elephan", *words]
    try:
        main()
    except SystemExit as ended:
        # Output at exit can fail too.
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


class Campaign:
    """A sweep that is disturbed many times.

    Parameters
    ----------
    work : Path
        An empty folder.
    points : int
        Number of points of the sweep; a multiple of five.
    """

    def __init__(self, work: Path, points: int) -> None:
        self.work, self.output = work, work / "output.txt"
        self.disk = work / "disk"
        self.disk.mkdir()
        self.sweep = survival.write_sweep(work / "sweep", points, 1.05)
        self.problems: list[str] = []
        assert self.run("sweep", str(self.sweep), "--workers", "1") == 0, self.output.read_text()
        self.wanted = self.results()
        self.clear()

    def run(self, *words: str) -> int:
        """Run a command on the store, undisturbed; return its exit status."""
        return in_child([*words, "--store", str(self.disk / "store")], self.output)[0]

    def clear(self) -> None:
        """Empty the disk."""
        shutil.rmtree(self.disk / "store", ignore_errors=True)

    def results(self) -> str:
        """Return a digest of the stored results, without places and times."""
        out = self.work / "all.csv"
        status = self.run("store", "export", "--format", "csv", "--out", str(out))
        assert status == 0, self.output.read_text()
        lines = out.read_text().splitlines()
        names = lines[0].split(",")
        drop = [i for i, name in enumerate(names) if name in {"written", "wall_s"}]
        kept = [",".join(v for i, v in enumerate(line.split(",")) if i not in drop) for line in lines]
        return hashlib.sha256("\n".join([kept[0], *sorted(kept[1:])]).encode()).hexdigest()

    def disturb(self, what: str, verb: str = "sweep", **faults: Any) -> int:
        """Run the sweep, or a verb of the store, with faults; return the number of calls that could have failed."""
        words = ["sweep", str(self.sweep), "--workers", "1"] if verb == "sweep" else ["store", *verb.split()]
        status, calls = in_child([*words, "--store", str(self.disk / "store")], self.output, self.disk, **faults)
        text = self.output.read_text()
        if status not in {0, 1, 2, -9} or "internal error" in text or "Traceback" in text:
            self.problems.append(f"{what}: {verb}: exit {status}: {text[-400:]}")
        return calls

    def finish(self, what: str) -> None:
        """Repair the store, finish the sweep, and compare its results with those of an undisturbed one."""
        if (self.disk / "store" / "runs").exists() and (status := self.run("store", "verify", "--repair")) != 0:
            self.problems.append(f"{what}: verify --repair: exit {status}: {self.output.read_text()[-400:]}")
        if (status := self.run("sweep", str(self.sweep), "--workers", "1")) != 0:
            self.problems.append(f"{what}: sweep again: exit {status}: {self.output.read_text()[-400:]}")
        elif self.results() != self.wanted:
            self.problems.append(f"{what}: the results differ")
        elif (status := self.run("store", "verify")) != 0:
            self.problems.append(f"{what}: verify: exit {status}: {self.output.read_text()[-400:]}")
        self.clear()


def main() -> None:
    """Run the requested campaign in this process, which must have the library preloaded."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--points", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=200, help="sweeps with failing calls")
    parser.add_argument("--kills", type=int, default=0, help="kill before every so many-th call only; 0: before each")
    parser.add_argument("--loaded", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not options.loaded:
            library = built(Path(folder))
            if library is None:
                sys.exit("faults: there is no C compiler (cc)")
            here = [sys.executable, __file__, *sys.argv[1:], "--loaded"]
            sys.exit(subprocess.run(here, env={**os.environ, "LD_PRELOAD": str(library)}, check=False).returncode)
        # Once for all the child processes.
        for name in ("elephan.cli.sweep", "elephan.cli.store", "elephan.sweeps", "elephan.store", "pyarrow.csv"):
            importlib.import_module(name)

        campaign = Campaign(Path(folder), options.points)
        for seed in range(options.seeds):
            rate = RATES[seed % len(RATES)]
            what = f"seed {seed}, rate {rate}"
            campaign.disturb(what, seed=seed, rate=rate)
            if seed % 3 == 0:
                campaign.disturb(what, "verify --repair", seed=seed, rate=rate)
            campaign.finish(what)
        calls = campaign.disturb("count")
        campaign.finish("count")
        steps = range(1, calls + 1, options.kills or 1)
        for at in steps:
            campaign.disturb(f"killed at call {at}", kill_at=at)
            campaign.finish(f"killed at call {at}")
        sys.stdout.writelines(f"{problem}\n" for problem in campaign.problems)
        done = {"disturbed": options.seeds, "kills": len(steps), "calls": calls}
        sys.stdout.write(json.dumps({**done, "problems": len(campaign.problems)}) + "\n")
        sys.exit(bool(campaign.problems))


if __name__ == "__main__":
    main()
