"""Results of several scripts: the document of ``elephan conform tcp --json``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError
from elephan.profiles import VERSION
from elephan.runs.files import provenance
from elephan_evidence.conform.packetdrill.drive import VERDICTS, JudgedScript, Verdict, judge_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


@dataclass(frozen=True, repr=False)
class TcpConformance:
    """The result of `conform_scripts`.

    Parameters
    ----------
    scripts : tuple of JudgedScript
        Scripts in the given order, those of a folder by name.
    """

    scripts: tuple[JudgedScript, ...]

    @property
    def holds(self) -> bool:
        """Whether no script differs."""
        return not self.summary["differs"]

    @property
    def summary(self) -> dict[Verdict, int]:
        """Number of scripts by verdict."""
        counts = Counter(script.verdict for script in self.scripts)
        return {verdict: counts[verdict] for verdict in VERDICTS}

    @property
    def segments(self) -> int:
        """Number of segments that were sent as expected, at the expected time."""
        return sum(script.segments for script in self.scripts)

    @property
    def assertions(self) -> int:
        """Number of assertions that hold."""
        return sum(script.assertions for script in self.scripts)

    def to_json(self) -> dict[str, Any]:
        """Return the document of ``elephan conform tcp --json``.

        Returns
        -------
        dict
        """
        return {
            "suite": "tcp",
            "kernel": f"Linux {VERSION}",
            "holds": self.holds,
            "summary": {verdict.replace(" ", "_"): n for verdict, n in self.summary.items()},
            "segments": self.segments,
            "assertions": self.assertions,
            "scripts": [script.to_json() for script in self.scripts],
            "provenance": provenance(),
        }

    def __repr__(self) -> str:
        text = ", ".join(f"{n} {verdict}" for verdict, n in self.summary.items() if n)
        return f"<TcpConformance of {len(self.scripts)} scripts: {text}>"


def conform_scripts(
    paths: Sequence[str | Path],
    changes: Mapping[str, object] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TcpConformance:
    """Run scripts of packetdrill against a sender in virtual time.

    Parameters
    ----------
    paths : sequence of str or Path
        Scripts, and folders with ``*.pkt`` files.
    changes : mapping, optional
        Differences of the sender from the scripts' hosts, by place in its scenario: ``{"flows[0].recovery": "prr"}``.
    progress : callable, optional
        Called with (scripts done, total scripts) after each.

    Returns
    -------
    TcpConformance

    Raises
    ------
    InputError
        If a script cannot be read, or the sender does not exist.

    Examples
    --------
    >>> conform_scripts(["tests/data/packetdrill/initial-window.pkt"]).segments
    12
    """
    scripts = [script for path in paths for script in _scripts(Path(path))]
    done = []
    for script in scripts:
        done.append(judge_script(script, changes))
        if progress is not None:
            progress(len(done), len(scripts))
    return TcpConformance(tuple(done))


def _scripts(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = sorted(path.rglob("*.pkt"))
    if not found:
        message = f"{path}: holds no packetdrill script (*.pkt)"
        raise InputError(message)
    yield from found
