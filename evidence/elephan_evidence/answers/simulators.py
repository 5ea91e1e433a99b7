"""Simulators of others that repeat points of answers: ns-2 with a script, ns-3 with a program compiled on demand.

Source of ns-2's congestion controls: D. X. Wei and P. Cao, NS-2 TCP-Linux, WNS2 2006 (Linux 2.6.22).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from elephan.costs.machine import cache_folder
from elephan.errors import InputError, suggest

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent

LIBRARIES = ("core", "network", "internet", "point-to-point", "traffic-control")
"""Modules of ns-3 that the program uses."""


class Simulator(NamedTuple):
    """A simulator that repeats points.

    Parameters
    ----------
    name : str
        Name with its version: other versions may give other values for equal seeds.
    script : Path
        What it runs, with arguments ``key=value``.
    begin : callable
        Returns the words before the arguments; raises `InputError` if the simulator is not installed.
    colour : str
        Colour of its points in pictures.
    """

    name: str
    script: Path
    begin: Callable[[Path], list[str]]
    colour: str

    def run(self, arguments: str, seed: int) -> str:
        """Run it and return the line of results.

        Raises
        ------
        InputError
            If it is not installed, or refuses the arguments.
        """
        words = [*self.begin(self.script), *arguments.split(), f"seed={seed}"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        # ns-2 prints its own messages on stdout, and results on stderr.
        for line in (done.stdout + done.stderr).splitlines():
            if line.startswith("utilization"):
                return line
        said = (done.stderr.strip() or f"no results, exit code {done.returncode}").splitlines()[-1]
        message = f"{self.name}: {arguments}: {said}"
        raise InputError(message)


def _ns2(script: Path) -> list[str]:
    if shutil.which("ns") is None:
        message = "ns-2 is not installed: no command ns (apt-get install ns2)"
        raise InputError(message)
    return ["ns", str(script)]


def _ns3(script: Path) -> list[str]:
    """Compile the program if that was not done before."""
    digest = hashlib.sha256(script.read_bytes()).hexdigest()[:16]
    program = cache_folder() / f"ns3-{digest}"
    if program.exists():
        return [str(program)]
    if shutil.which("g++") is None:
        message = "ns-3 needs a compiler: no command g++ (apt-get install g++)"
        raise InputError(message)
    program.parent.mkdir(parents=True, exist_ok=True)
    made = program.with_suffix(f".{os.getpid()}")
    libraries = [f"-lns3-{name}" for name in LIBRARIES]
    done = subprocess.run(
        ["g++", "-std=c++17", "-O2", "-o", str(made), str(script), *libraries],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        missing = "No such file" in done.stderr or "cannot find -lns3" in done.stderr
        first = next((line for line in done.stderr.splitlines() if "error" in line), "no message")
        message = (
            "ns-3 is not installed: no headers or libraries of it (apt-get install libns3-dev)"
            if missing
            else f"{script.name} does not compile: {first}"
        )
        raise InputError(message)
    made.replace(program)
    return [str(program)]


SIMULATORS = {
    "ns-2": Simulator("ns-2 2.35", HERE / "ns2" / "dumbbell.tcl", _ns2, "orange"),
    "ns-3": Simulator("ns-3 3.37", HERE / "ns3" / "dumbbell.cc", _ns3, "purple"),
}
"""Simulators by their names in the files of answers."""


def simulator(name: str) -> Simulator:
    """Return a simulator by its name.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    if name not in SIMULATORS:
        message = f'no simulator "{name}"; {suggest(name, SIMULATORS, "there are " + ", ".join(SIMULATORS))}'
        raise InputError(message)
    return SIMULATORS[name]
