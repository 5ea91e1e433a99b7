"""Two hosts on this machine: network namespaces, each held by a process, and commands that run inside them.

The kernel kills every process that is started here when the thread that started it ends, even if that thread is killed.
The namespaces, their devices and routes then disappear, too. The namespaces have no names.

*Source*: namespaces(7), prctl(2) ``PR_SET_PDEATHSIG``, nsenter(1), setpriv(1).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from elephan.errors import InputError

LISTENS = "0A"
"""Code of the state LISTEN in ``/proc/net/tcp``."""

GROUP_S = 0.2
"""Time for a signal to reach all processes of a group [s]."""

PATIENCE_S = 5.0
"""Time limit for steps that usually take milliseconds [s]."""

SAME_PARENT = 'test "$PPID" = "$0" && exec "$@"'
"""Shell script that runs its arguments only if its parent is the process given as the first argument."""


class NetworkHost:
    """A network namespace that acts as a host.

    Parameters
    ----------
    name : str
        Name for messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._holder: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> NetworkHost:
        self._holder = _start([*_bound(), "unshare", "--net", "sleep", "infinity"])
        try:
            self._arrive(self._holder)
        except BaseException:  # Also Ctrl-C: Python does not call __exit__ if __enter__ fails.
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._holder is not None:
            end(self._holder)
        self._holder = None

    def _arrive(self, holder: subprocess.Popen[bytes]) -> None:
        """Wait until the process has its own namespace."""
        here, until = Path("/proc/self/ns/net").readlink(), time.monotonic() + PATIENCE_S
        while not _elsewhere(self.namespace, here):
            if holder.poll() is not None or time.monotonic() > until:
                output = end(holder) or "not in time"
                raise InputError(f"testbed: {self.name}: no network namespace ({output}); it needs root")
            time.sleep(0.002)

    @property
    def namespace(self) -> Path:
        """Path of the host's network namespace."""
        assert self._holder is not None, "inside of the with block"
        return Path(f"/proc/{self._holder.pid}/ns/net")

    def inside(self, command: Sequence[str]) -> list[str]:
        """Return the command that runs another command on this host."""
        return [*_bound(), "nsenter", f"--net={self.namespace}", "--", *command]

    def do(self, command: Sequence[str]) -> str:
        """Run a short command.

        Returns
        -------
        str
            Output of the command.

        Raises
        ------
        InputError
            If the command fails, with its error output, or if it does not end in time.
        """
        where = f"testbed: {self.name}: {' '.join(command)}"
        try:
            done = subprocess.run(
                self.inside(command),
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise InputError(f"{where}: has not ended after {PATIENCE_S:g} s") from None
        if done.returncode == -signal.SIGINT:  # The command received Ctrl-C before this process.
            raise KeyboardInterrupt
        if done.returncode == -signal.SIGTERM:  # If it was sent to the process group, wait until it arrives here.
            time.sleep(GROUP_S)
        if done.returncode:
            raise InputError(f"{where}: {(done.stderr or done.stdout).strip() or f'exit code {done.returncode}'}")
        return done.stdout

    def listening(self) -> set[int]:
        """Return the ports on which a process listens on this host."""
        assert self._holder is not None, "inside of the with block"
        found = set()
        for name in ("tcp", "tcp6"):
            table = Path(f"/proc/{self._holder.pid}/net/{name}")
            for row in table.read_text().splitlines()[1:] if table.exists() else []:
                _, local, _, state, *_ = row.split()
                if state == LISTENS:
                    found.add(int(local.rpartition(":")[2], 16))
        return found

    def counters(self) -> dict[str, int]:
        """Read the kernel's TCP counters of this host.

        Returns
        -------
        dict of str to int
            Counters by the kernel's names, such as ``Tcp.OutSegs`` and ``TcpExt.TCPBacklogCoalesce``.
        """
        assert self._holder is not None, "inside of the with block"
        found: dict[str, int] = {}
        for name in ("snmp", "netstat"):
            lines = Path(f"/proc/{self._holder.pid}/net/{name}").read_text().splitlines()
            for heads, values in zip(lines[::2], lines[1::2], strict=True):
                protocol, *names = heads.replace(":", ".", 1).split()
                numbers = map(int, values.split()[1:])
                found |= {protocol + one: number for one, number in zip(names, numbers, strict=True)}
        return found

    def start(self, command: Sequence[str], stack: ExitStack, out: IO[bytes]) -> subprocess.Popen[bytes]:
        """Start a long-running command.

        Parameters
        ----------
        stack : ExitStack
            Stack whose end terminates the command.
        out : file
            File for its output.
        """
        process = _start(self.inside(command), out)
        stack.callback(end, process)
        return process


def lacking(programs: dict[str, str]) -> list[str]:
    """List the packages of missing programs.

    Parameters
    ----------
    programs : dict of str to str
        Names of programs and their packages.

    Returns
    -------
    list of str
        The distinct packages.
    """
    return list(dict.fromkeys(package for program, package in programs.items() if shutil.which(program) is None))


def end(process: subprocess.Popen[bytes]) -> str:
    """End a process, and wait until it has exited.

    Returns
    -------
    str
        Error output of the process.
    """
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(PATIENCE_S / 5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stderr is None or process.stderr.closed:
        return ""
    with process.stderr as complaints:
        return complaints.read().decode(errors="replace").strip()


def _bound() -> list[str]:
    """Return the prefix of every command, which makes the command end with this process.

    The kernel sends the signal only if the parent ends after setpriv has requested it. If this process has ended
    earlier, the command has another parent, and the script does not run it.
    """
    return ["setpriv", "--pdeathsig", "KILL", "--", "sh", "-c", SAME_PARENT, str(os.getpid())]


def _elsewhere(namespace: Path, here: Path) -> bool:
    """Whether a namespace exists and differs from `here`."""
    try:
        return namespace.readlink() != here
    except OSError:
        return False


def _start(command: Sequence[str], out: IO[bytes] | int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
    except FileNotFoundError:
        raise InputError(f"testbed: {command[0]} is not installed; elephan doctor says what is missing") from None
