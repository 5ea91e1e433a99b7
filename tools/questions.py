"""Writes docs/guide/questions.md: operators' questions, each with one command, its screen, its time and a sentence.

    python tools/questions.py           # asks all (minutes) and writes the page
    python tools/questions.py 1 6       # asks only these and prints what the page would say

What is asked stands in `questions.toml` beside this file. Numbers in sentences come from the documents of the commands.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time as clock
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.units import format_rate, format_time

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "guide" / "questions.md"
LIST = Path(__file__).with_name("questions.toml")

Document = dict[str, Any]

HEAD = """\
# Twenty questions

What operators, teachers and developers of stacks ask, each answered by one command on one screen. Senders are Linux's
of today (`tcp = "linux"`) unless a scenario says otherwise; the scenarios are in `scenarios/operators/`. Times are
those of two cores. What cannot be asked yet says what is missing. `make questions` asks all again and writes this page.

"""


def mean(quantity: Any) -> float:
    """The mean of what was measured; a number is itself."""
    return float(quantity["mean"] if isinstance(quantity, dict) else quantity)


class Names:
    """What a sentence may call."""

    def __init__(self, d: Document) -> None:
        self.d = d

    def table(self) -> dict[str, Any]:
        """All of it by name."""
        own = {name: getattr(self, name) for name in dir(self) if not name.startswith("_") and name != "table"}
        return {**own, "d": self.d, "mean": mean}

    def row(self, role: str) -> Document:
        """The row of a size's table with this role."""
        return next(row for row in self.d["table"] if role in row["is"])

    @staticmethod
    def group(row: Document, name: str) -> float:
        """What a flow of a group gets in a row [bit/s]."""
        return next(mean(g["goodput_per_flow_bps"]) for g in row["groups"] if g["name"] == name)

    @staticmethod
    def variant(d: Document, name: str) -> Document:
        """The variant of a comparison with this law or queue."""
        return next(v for v in d["variants"] if name in (v["law"], v["queue"]))

    def need(self, d: Document, name: str) -> int:
        """The buffer that a variant needs."""
        return int(self.variant(d, name)["buffer_packets"])

    def ample(self, d: Document, name: str) -> Document:
        """What a variant gives with an ample buffer."""
        found: Document = self.variant(d, name)["ample"]
        return found

    def beside(self, d: Document, name: str, group: str) -> float:
        """What a flow of a group gets beside a variant with an ample buffer [bit/s]."""
        return self.group(self.ample(d, name), group)

    def wait(self, d: Document, name: str, group: str) -> float:
        """How long 95 % of a group's packets wait at most under a variant [s]."""
        groups = self.ample(d, name)["groups"]
        return next(mean(g["queueing_delay_p95_s"]) for g in groups if g["name"] == group)

    def used(self, d: Document, name: str) -> float:
        """Utilization of a variant with an ample buffer."""
        return mean(self.ample(d, name)["utilization"])

    @staticmethod
    def page(d: Document, point: int) -> str:
        """95 % of the pages at a point take no longer [s]."""
        groups = d["points"][point]["groups"]
        return f"{next(mean(g['transfers']['page_time_p95_s']) for g in groups if g['transfers']):.3g}"

    @staticmethod
    def delay(d: Document, point: int) -> float:
        """Mean queueing delay at a point of a sweep [s]."""
        return mean(d["points"][point]["links"][0]["queueing_delay_s"])

    @staticmethod
    def loss(d: Document, point: int) -> float:
        """Loss at a point of a sweep."""
        return mean(d["points"][point]["links"][0]["loss_ratio"])

    @staticmethod
    def least(d: Document) -> float:
        """The smallest utilization of a sweep."""
        return min(mean(point["links"][0]["utilization"]) for point in d["points"])

    @staticmethod
    def flow(d: Document, point: int, group: str) -> float:
        """What a flow of a group gets at a point of a sweep [bit/s]."""
        return next(mean(g["goodput_per_flow_bps"]) for g in d["points"][point]["groups"] if g["name"] == group)

    @staticmethod
    def used_at(d: Document, point: int) -> str:
        """Utilization at a point of a sweep."""
        return Names.percent(d["points"][point]["links"][0]["utilization"])

    @staticmethod
    def busier(d: Document) -> int:
        """At how many points of the second half of a sweep the link is busier than at those of the first."""
        return Names._above(d, lambda link: mean(link["utilization"]))

    @staticmethod
    def shorter(d: Document) -> int:
        """At how many points of the second half of a sweep packets wait less than at those of the first."""
        return Names._above(d, lambda link: -mean(link["queueing_delay_s"]))

    @staticmethod
    def _above(d: Document, of: Callable[[Document], float]) -> int:
        links = [of(point["links"][0]) for point in d["points"]]
        half = len(links) // 2
        return sum(second > first for first, second in zip(links[:half], links[half:], strict=True))

    @staticmethod
    def limit(d: Document) -> Document:
        """The row of the answer to an inverse question."""
        found: Document = next(row for row in d["rows"] if row["amount"] == d["amount"])
        return found

    @staticmethod
    def rate(x: Any) -> str:
        """Write a rate."""
        return format_rate(mean(x))

    @staticmethod
    def time(x: Any) -> str:
        """Write a time."""
        return format_time(float(f"{mean(x):.3g}"))

    @staticmethod
    def percent(x: Any) -> str:
        """Write a share."""
        return f"{100 * mean(x):.3g} %"


def ask(command: str) -> tuple[str, float, Document]:
    """Run a command as it stands on the page; its screen, its time, its document."""
    words = shlex.split(command)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("scenarios", "examples"):
            (Path(folder) / name).symlink_to(ROOT / name)
        typed = [sys.executable, "-m", "elephan", *words[1:], "-q"]
        begun = clock.perf_counter()
        done = subprocess.run(
            typed, cwd=folder, env={**os.environ, "COLUMNS": "80"}, text=True, capture_output=True, check=False
        )
        took = clock.perf_counter() - begun
        if done.returncode not in (0, 1):
            sys.exit(f"{command}\n{done.stderr}")
        again = subprocess.run([*typed, "--json"], cwd=folder, text=True, capture_output=True, check=False)
        return done.stdout.rstrip("\n"), took, json.loads(again.stdout)


def main() -> None:
    """Ask, and write the page or print parts of it."""
    wanted = {int(word) for word in sys.argv[1:]}
    questions = tomllib.loads(LIST.read_text(encoding="utf-8"))["questions"]
    rows, parts = [], []
    for number, question in enumerate(questions, start=1):
        if wanted and number not in wanted:
            continue
        asked = question["asked"]
        if "missing" in question:
            rows.append(f"| {number} | {asked} | *Missing:* {question['missing']} | |")
            continue
        screen, took, document = ask(question["command"])
        sentence = eval(f"f'''{question['answer']}'''", {"__builtins__": {}}, Names(document).table())
        limits = f" *{question['limits']}*" if "limits" in question else ""
        rows.append(
            f"| [{number}](#question-{number}) | {asked} | {' '.join(sentence.split())}{limits} | {took:.0f} s |"
        )
        parts.append(
            f"## Question {number}\n\n*{asked}*\n\n<!-- not run: each takes up to a minute -->\n"
            f"```\n{question['command']}\n```\n\n```text\n{screen}\n```\n"
        )
        sys.stderr.write(f"{number}: {took:.0f} s\n")
    text = HEAD + "| | question | answer | time |\n|--:|---|---|--:|\n" + "\n".join(rows) + "\n\n" + "\n".join(parts)
    if wanted:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
