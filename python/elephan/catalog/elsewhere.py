"""Laws of other programs: the congestion controls of QUIC stacks, which ``elephan-quic`` (`adapters/quic`) runs.

*Source*: none. The program is found as a shell finds it, or beside the Python that runs;
which laws it has it says itself.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROGRAM = "elephan-quic"
HOW_TO_GET = (
    "Congestion controls of QUIC stacks (quinn, noq, s2n-quic): `make quic` in the source of elephan builds "
    f"{PROGRAM} (Rust 1.95 or newer); with it on the path they are listed here."
)

SECONDS = 10.0
"""In which it must have answered: it prints a constant."""


@dataclass(frozen=True)
class Elsewhere:
    """What the program said.

    Parameters
    ----------
    version : str
        Of the program; empty if it is not there, or did not answer.
    cards : list of dict
        One for each law: ``name``, ``title``, ``package``, ``version``, ``source``, ``differs``.
    problem : str
        Why there are none; empty if there are some, or no program.
    """

    version: str = ""
    cards: list[dict[str, str]] = field(default_factory=list)
    problem: str = ""


def laws_elsewhere() -> Elsewhere:
    """Ask ``elephan-quic`` which laws it has.

    Returns
    -------
    Elsewhere
        Empty if there is no such program.
    """
    beside = str(Path(sys.executable).parent)
    program = shutil.which(PROGRAM) or shutil.which(PROGRAM, path=beside)
    if program is None:
        return Elsewhere()
    try:
        done = subprocess.run([program, "list"], capture_output=True, text=True, timeout=SECONDS, check=True)
        said = json.loads(done.stdout)
        names = ("name", "title", "package", "version", "source", "differs")
        cards = [{name: str(law[name]) for name in names} for law in said["laws"]]
        # The program's own entry for elephan's senders is no law of another.
        return Elsewhere(str(said["version"]), [card for card in cards if "/" in card["name"]])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Elsewhere(problem=f"{program}: list did not answer ({why}); make quic builds it again")


def as_cards(found: Elsewhere) -> list[dict[str, Any]]:
    """Return them with the keys that every card has, and what they are run by."""
    rest: dict[str, Any] = {"parameters": [], "aliases": [], "spellings": {}, "needs": [], "without": ""}
    return [card | rest | {"adapter": PROGRAM, "adapter_version": found.version} for card in found.cards]
