"""Laws of other programs: the congestion controls of QUIC stacks, run by ``elephan-quic`` (`adapters/quic`).

*Source*: none. The program is searched in ``PATH`` and beside the running Python; it lists its laws itself.
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
"""Time limit for the program's answer, which is a constant [s]."""


@dataclass(frozen=True)
class Elsewhere:
    """Answer of the program.

    Parameters
    ----------
    version : str
        Version of the program; empty if it is missing, or did not answer.
    cards : list of dict
        One for each law: ``name``, ``title``, ``package``, ``version``, ``source``, ``differs``.
    problem : str
        Reason for a missing list of laws; empty if there is a list, or no program.
    """

    version: str = ""
    cards: list[dict[str, str]] = field(default_factory=list)
    problem: str = ""


def program_elsewhere() -> str | None:
    """Return the path of ``elephan-quic``; None if it is not installed."""
    beside = str(Path(sys.executable).parent)
    return shutil.which(PROGRAM) or shutil.which(PROGRAM, path=beside)


def laws_elsewhere() -> Elsewhere:
    """Ask ``elephan-quic`` for its laws.

    Returns
    -------
    Elsewhere
        Empty if the program is not installed.
    """
    program = program_elsewhere()
    if program is None:
        return Elsewhere()
    try:
        done = subprocess.run([program, "list"], capture_output=True, text=True, timeout=SECONDS, check=True)
        said = json.loads(done.stdout)
        names = ("name", "title", "package", "version", "source", "differs")
        cards = [{name: str(law[name]) for name in names} for law in said["laws"]]
        # The program's entry for elephan's own senders is not a law of another program.
        return Elsewhere(str(said["version"]), [card for card in cards if "/" in card["name"]])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Elsewhere(problem=f"{program}: list did not answer ({why}); make quic builds it again")


def as_cards(found: Elsewhere) -> list[dict[str, Any]]:
    """Return the program's laws as cards, with the keys that every card has and the program that runs them."""
    rest: dict[str, Any] = {"parameters": [], "aliases": [], "spellings": {}, "needs": [], "without": ""}
    return [card | rest | {"adapter": PROGRAM, "adapter_version": found.version} for card in found.cards]
