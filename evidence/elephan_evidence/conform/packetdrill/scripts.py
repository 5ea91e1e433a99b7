"""Results of several scripts: the document of ``elephan conform tcp --json``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError
from elephan.profiles import VERSION
from elephan.runs.files import provenance
from elephan_evidence.conform.packetdrill.drive import judge_script
from elephan_evidence.conform.packetdrill.judged import VERDICTS, JudgedScript, Verdict
from elephan_evidence.conform.packetdrill.replay import KINDS, is_recording, judge_recording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


@dataclass(frozen=True, repr=False)
class TcpConformance:
    """The result of `conform_scripts`.

    Parameters
    ----------
    scripts : tuple of JudgedScript
        Scripts in the given order, those of a folder by name.
    kernel : str, optional
        Version of the running kernel, if it ran the scripts, too.
    """

    scripts: tuple[JudgedScript, ...]
    kernel: str | None = None

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

    @property
    def live(self) -> dict[Verdict, int]:
        """Number of scripts by verdict under the running kernel."""
        counts = Counter(script.live.verdict for script in self.scripts if script.live is not None)
        return {verdict: counts[verdict] for verdict in VERDICTS}

    @property
    def recordings(self) -> list[dict[str, Any]]:
        """Counts of recorded connections, for each kind of path.

        Returns
        -------
        list of dict
            ``path`` (the last word of the scripts' names), ``count``, ``agrees``, the number that agrees in each field
            that is compared, and ``reasons``: the rule of Linux at the first difference, and the number of connections,
            most frequent first.
        """
        found: dict[str, list[JudgedScript]] = {}
        for script in self.scripts:
            if script.compared is not None:
                found.setdefault(script.path.stem.rpartition("-")[2], []).append(script)
        return [
            {
                "path": path,
                "count": len(scripts),
                "agrees": sum(script.verdict == "agrees" for script in scripts),
                **{kind: sum((script.compared or {})[kind] for script in scripts) for kind in KINDS},
                "reasons": [
                    {"rule": rule, "count": count}
                    for rule, count in Counter(one.difference.rule for one in scripts if one.difference).most_common()
                ],
            }
            for path, scripts in found.items()
        ]

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
            "summary": _underscored(self.summary),
            "segments": self.segments,
            "assertions": self.assertions,
            "live": self.kernel and {"kernel": f"Linux {self.kernel}", **_underscored(self.live)},
            "recordings": self.recordings,
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
    """Run scripts of packetdrill, and recorded connections, against a sender in virtual time.

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
        judge = judge_recording if is_recording(script) else judge_script
        done.append(judge(script, changes))
        if progress is not None:
            progress(len(done), len(scripts))
    return TcpConformance(tuple(done))


def _underscored(counts: Mapping[Verdict, int]) -> dict[str, int]:
    return {verdict.replace(" ", "_"): n for verdict, n in counts.items()}


def _scripts(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = sorted(path.rglob("*.pkt"))
    if not found:
        message = f"{path}: holds no packetdrill script (*.pkt)"
        raise InputError(message)
    yield from found
