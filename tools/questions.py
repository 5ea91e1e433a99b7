"""Writes docs/guide/questions.md: operators' questions, each with one command, its screen, its time and a sentence.

    python tools/questions.py                  # asks all (minutes) and writes the page
    python tools/questions.py 1 6              # asks only these and prints what the page would say
    python tools/questions.py --kept answers   # keeps what commands say in a folder
    python tools/questions.py --repeat 6 7     # four times as long, and with another seed

The questions are in `questions.toml` beside this file; numbers in sentences come from the documents of the commands. A
question's `claims` are its verdict, [statement, left, "<" or ">", right]. A claim holds if the 95 % interval of the
difference excludes the opposite; otherwise the page says "not decided". `stays` is an interval that must overlap when
the question is asked again. The results of `--repeat` are kept in `questions-repeated.json`; the page shows them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
import time as clock
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from elephan.units import format_rate, format_time, seconds

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "guide" / "questions.md"
LIST = Path(__file__).with_name("questions.toml")
REPEATED = Path(__file__).with_name("questions-repeated.json")

Document = dict[str, Any]

HEAD = """\
# Twenty questions

What operators, teachers and developers of stacks ask, each answered by one command on one screen. Senders are those of
a default Linux host (`tcp = "linux"`: CUBIC, offload of 64 KiB, a receive window of 3 MiB) unless an answer says
otherwise; the scenarios are in `scenarios/operators/`. Times are upper bounds on two cores, some of them shared. A
verdict is what 95 % intervals allow: where they do not exclude the opposite, the answer says *not decided* and how long
a run would decide. What cannot be asked yet says what is missing. `make questions` asks all again and writes this page.
Without a checkout `elephan new policer --out policer.toml` writes a scenario of that name; files of sweeps (questions
12, 13, 14 and 18) are in the repository alone.

"""

REPEATS = """\
## Asked again

With four times the duration, and with another seed. *Stays*: each claim of the verdict holds as before, and the
interval of what was sized overlaps with that of before. `python tools/questions.py --repeat` asks.

| | four times as long | another seed |
|---|---|---|
"""


def mean(quantity: Any) -> float:
    """Return the mean of a measured quantity; a number is returned unchanged."""
    return float(quantity["mean"] if isinstance(quantity, dict) else quantity)


class Bounds(NamedTuple):
    """A quantity and its 95 % interval."""

    mid: float
    low: float
    high: float

    @classmethod
    def of(cls, x: Any) -> Bounds:
        """Make bounds from a measured mean, from (value, (low, high)), or from a number."""
        if isinstance(x, dict):
            half = float(x["ci95"] or 0.0)
            return cls(x["mean"], x["mean"] - half, x["mean"] + half)
        if isinstance(x, tuple):
            return cls(float(x[0]), *map(float, x[1]))
        return cls(float(x), float(x), float(x))

    def text(self) -> str:
        """Format the quantity with its interval."""
        return f"{self.mid:,.4g} ({self.low:,.4g} to {self.high:,.4g})"


class Claim(NamedTuple):
    """A part of a verdict."""

    says: str
    holds: bool
    decided: bool
    factor: float
    """Factor of a longer run's duration that would decide the claim, if the difference stays."""

    @classmethod
    def of(cls, says: str, left: Any, sign: str, right: Any) -> Claim:
        """Compare two quantities by the interval of their difference."""
        less, more = (Bounds.of(left), Bounds.of(right)) if sign == "<" else (Bounds.of(right), Bounds.of(left))
        gap = more.mid - less.mid
        if not math.isfinite(gap):  # nothing is enough, on one side or on both
            return cls(says, gap > 0, not math.isnan(gap), math.inf)
        sides = (less.high - less.mid, more.mid - more.low) if gap > 0 else (less.mid - less.low, more.high - more.mid)
        half = math.hypot(*sides)
        return cls(says, gap > 0, abs(gap) > half, (half / gap) ** 2 if gap else math.inf)

    @property
    def state(self) -> str:
        """State of this claim in a word."""
        return ("holds" if self.holds else "does not hold") if self.decided else "not decided"

    def text(self) -> str:
        """Format the claim as a part of a sentence."""
        if self.decided:
            return self.says if self.holds else f"**not so**: {self.says}"
        times = math.ceil(self.factor) if self.factor < 1000 else 1000
        more = "over " if self.factor >= 1000 else "about "
        return f"**not decided** whether {self.says} ({more}{max(times, 2)} times the simulated time would decide)"


class Names:
    """Names that a sentence may use."""

    def __init__(self, d: Document) -> None:
        self.d = d

    def table(self) -> dict[str, Any]:
        """Return all names."""
        own = {name: getattr(self, name) for name in dir(self) if not name.startswith("_") and name != "table"}
        return {**own, "d": self.d, "mean": mean, "min": min, "max": max}

    def row(self, role: str) -> Document:
        """Return the row of a sizing's table with this role."""
        return next(row for row in self.d["table"] if role in row["is"])

    def buffer(self) -> tuple[float, list[float]]:
        """Return the sized buffer, with its interval."""
        return self.d["buffer_packets"], self.d["buffer_interval_packets"]

    def amount(self) -> tuple[float, list[float]]:
        """Return the answer to an inverse question, with its interval."""
        return self.d["amount"], self.d["interval"]

    @staticmethod
    def group(row: Document, name: str) -> Any:
        """Return the goodput of a flow of a group in a row [bit/s]."""
        return next(g["goodput_per_flow_bps"] for g in row["groups"] if g["name"] == name)

    def variant(self, name: str) -> Document:
        """Return the variant of a comparison with this law or queue."""
        return next(v for v in self.d["variants"] if name in (v["law"], v["queue"]))

    def need(self, name: str) -> tuple[float, list[float]]:
        """Return the buffer that a variant needs, with its interval; infinite if none is sufficient."""
        found = self.variant(name)
        if found["buffer_packets"] is None:
            return math.inf, [math.inf, math.inf]
        return found["buffer_packets"], found["buffer_interval_packets"]

    def needs(self, name: str) -> str:
        """Return the same as text."""
        found = self.variant(name)["buffer_packets"]
        return "more than any" if found is None else f"{found:,}"

    def ample(self, name: str) -> Document:
        """Return the results of a variant with an ample buffer."""
        found: Document = self.variant(name)["ample"]
        return found

    def deployed(self, name: str) -> Document:
        """Return the results of a variant with the buffer to deploy."""
        found: Document = self.variant(name)["deployed"]
        return found

    def beside(self, name: str, group: str) -> Any:
        """Return the goodput of a flow of a group beside a variant with an ample buffer [bit/s]."""
        return self.group(self.ample(name), group)

    def wait(self, name: str, group: str) -> Any:
        """Return the 95th percentile of a group's waiting time under a variant [s]."""
        return next(g["queueing_delay_p95_s"] for g in self.ample(name)["groups"] if g["name"] == group)

    def point(self, point: int) -> Document:
        """Return the first link at a point of a sweep."""
        found: Document = self.d["points"][point]["links"][0]
        return found

    def page(self, point: int) -> Any:
        """Return the 95th percentile of the page time at a point [s]."""
        return next(g["transfers"]["page_time_p95_s"] for g in self.d["points"][point]["groups"] if g["transfers"])

    def delay(self, point: int) -> Any:
        """Return the mean queueing delay at a point of a sweep [s]."""
        return self.point(point)["queueing_delay_s"]

    def loss(self, point: int) -> Any:
        """Return the loss at a point of a sweep."""
        return self.point(point)["loss_ratio"]

    def used(self, point: int) -> Any:
        """Return the utilization at a point of a sweep."""
        return self.point(point)["utilization"]

    def flow(self, point: int, group: str) -> Any:
        """Return the goodput of a flow of a group at a point of a sweep [bit/s]."""
        return self.group(self.d["points"][point], group)

    def ratio(self, a: Any, b: Any) -> tuple[float, list[float]]:
        """Return a ratio, with the interval that follows from both intervals."""
        x, y = Bounds.of(a), Bounds.of(b)
        half = math.hypot((x.high - x.mid) / x.mid, (y.high - y.mid) / y.mid)
        return x.mid / y.mid, [x.mid / y.mid * (1 - half), x.mid / y.mid * (1 + half)]

    def apart(self, a: Any, b: Any) -> tuple[float, list[float]]:
        """Return the ratio of the larger to the smaller one."""
        return self.ratio(a, b) if mean(a) > mean(b) else self.ratio(b, a)

    def least(self) -> Any:
        """Return the smallest utilization of a sweep."""
        return min((self.used(n) for n in range(len(self.d["points"]))), key=mean)

    def busier(self) -> int:
        """Count the points in a sweep's second half with a significantly busier link than those of the first."""
        return self._above("utilization", ">")

    def shorter(self) -> int:
        """Count the points in a sweep's second half with significantly less waiting than those of the first."""
        return self._above("queueing_delay_s", "<")

    def _above(self, key: str, sign: str) -> int:
        half = len(self.d["points"]) // 2
        pairs = [Claim.of("", self.point(half + n)[key], sign, self.point(n)[key]) for n in range(half)]
        return sum(claim.holds and claim.decided for claim in pairs)

    def limit(self) -> Document:
        """Return the row of the answer to an inverse question."""
        found: Document = next(row for row in self.d["rows"] if row["amount"] == self.d["amount"])
        return found

    def at(self, amount: float) -> Document:
        """Return the row of an inverse question whose amount is nearest."""
        return min(self.d["rows"], key=lambda row: abs(row["amount"] - amount))

    @staticmethod
    def held(rtt_s: float) -> str:
        """Return the rate to which a receive window of 3 MiB, Linux's default, limits a flow."""
        return format_rate(float(f"{3 * 2**20 * 8 / rtt_s:.3g}"))

    @staticmethod
    def window(rate_bps: float, rtt_s: float) -> str:
        """Return the receive window that a rate needs."""
        return f"{rate_bps * rtt_s / 8e6:.3g} MB"

    @staticmethod
    def rate(x: Any) -> str:
        """Format a rate."""
        return format_rate(float(f"{mean(x):.3g}"))

    @staticmethod
    def time(x: Any) -> str:
        """Format a time."""
        return format_time(float(f"{mean(x):.3g}"))

    @staticmethod
    def percent(x: Any) -> str:
        """Format a share."""
        return f"{100 * mean(x):.3g} %"


class Answer(NamedTuple):
    """Output of a command."""

    screen: str
    took: float
    document: Document


def ask(command: str, more: tuple[str, ...] = ()) -> Answer:
    """Run a command as shown on the page, or with further words."""
    words = shlex.split(command)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("scenarios", "examples"):
            (Path(folder) / name).symlink_to(ROOT / name)
        sized = ("--out", "out") if words[1] == "size" else ()
        typed = [sys.executable, "-m", "elephan", *words[1:], *more, "-q"]
        begun = clock.perf_counter()
        done = _run([*typed, *sized], folder)
        took = clock.perf_counter() - begun
        if sized:
            (written,) = (Path(folder) / "out").glob("*.json")
            text = written.read_text(encoding="utf-8")
        else:  # from the store
            text = _run([*typed, "--json"], folder).stdout
        return Answer(done.stdout.rstrip("\n"), took, json.loads(text))


def _run(typed: list[str], folder: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(typed, cwd=folder, env=environment, text=True, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{shlex.join(typed)}\n{done.stderr}")
    return done


def asked(command: str, kept: Path | None, more: tuple[str, ...] = ()) -> Answer:
    """Return a command's output, or the kept one if its scenario is the same."""
    if kept is None:
        return ask(command, more)
    sources = [word for word in shlex.split(command) if word.endswith(".toml")]
    texts = [path.read_text(encoding="utf-8") for word in sources for path in _with_base(ROOT / word)]
    key = hashlib.sha256("\0".join([command, *more, *texts]).encode()).hexdigest()[:16]
    file = kept / f"{key}.json"
    if file.exists():
        return Answer(*json.loads(file.read_text(encoding="utf-8")))
    answer = ask(command, more)
    kept.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(answer), encoding="utf-8")
    return answer


def _with_base(file: Path) -> list[Path]:
    base = tomllib.loads(file.read_text(encoding="utf-8")).get("base")
    return [file] if base is None else [file, *_with_base(file.parent / base)]


def evaluate(expression: str, document: Document) -> Any:
    """Evaluate a Python expression of `questions.toml`."""
    return eval(expression, {"__builtins__": {}, **Names(document).table()})


def fill(template: str, document: Document) -> str:
    """Fill a sentence of `questions.toml`, on one line."""
    return " ".join(str(evaluate(f"f'''{template}'''", document)).split())


def claims(question: Document, document: Document) -> list[Claim]:
    """Return the verdict of a question."""
    found = question.get("claims", [])
    return [
        Claim.of(fill(says, document), evaluate(left, document), sign, evaluate(right, document))
        for says, left, sign, right in found
    ]


def sentence(question: Document, document: Document) -> str:
    """Return the cell of a table: the answer, after the undecided claims."""
    unsure = "; ".join(claim.text() for claim in claims(question, document) if not (claim.decided and claim.holds))
    return (f"{capital(unsure)}. " if unsure else "") + fill(question["answer"], document)


def capital(text: str) -> str:
    """Capitalize a text as at the beginning of a sentence, also in bold."""
    bold = 2 * text.startswith("**")
    return text[:bold] + text[bold : bold + 1].upper() + text[bold + 1 :]


def lines(question: Document, document: Document) -> str:
    """Return the remarks of a page beside its answer."""
    found = claims(question, document)
    holding = [claim.says for claim in found if claim.decided and claim.holds]
    sure = [f"The 95 % intervals exclude the opposite of: {'; '.join(holding)}"] if holding else []
    sure += [capital(claim.text()) for claim in found if not (claim.decided and claim.holds)]
    if "sure" in question:
        sure.append(capital(fill(question["sure"], document)))
    senders, changes = (fill(question[key], document) for key in ("senders", "changes"))
    return f"- Valid for: {senders}\n- Would change it: {changes}\n- How sure: {'. '.join(sure)}.\n"


def longer(command: str) -> tuple[str, ...]:
    """Return the words that make a command simulate four times as long."""
    file = ROOT / next(word for word in shlex.split(command) if word.endswith(".toml"))
    scenario = tomllib.loads(_with_base(file)[-1].read_text(encoding="utf-8"))
    return ("--set", f'duration="{4 * seconds(scenario["duration"]):g} s"')


def differences(question: Document, first: Document, again: Document) -> str:
    """Return the parts of a verdict that changed."""
    found = [
        f"{before.says}: {before.state}, then {after.state}"
        for before, after in zip(claims(question, first), claims(question, again), strict=True)
        if before.state != after.state
    ]
    for expression in question.get("stays", []):
        before, after = (Bounds.of(evaluate(expression, document)) for document in (first, again))
        if after.low > before.high or after.high < before.low:
            found.append(f"{before.text()}, then {after.text()}")
    return "; ".join(found) or "stays"


def repeat(number: int, question: Document, kept: Path | None) -> None:
    """Ask a question again for longer and with another seed, and store the resulting changes of its verdict."""
    first = asked(question["command"], kept).document
    for name, more in (("longer", longer(question["command"])), ("seed", ("--seed", "1001"))):
        begun = clock.perf_counter()
        outcome = differences(question, first, asked(question["command"], kept, more).document)
        all_of = json.loads(REPEATED.read_text(encoding="utf-8")) if REPEATED.exists() else {}
        all_of.setdefault(str(number), {})[name] = outcome
        ordered = dict(sorted(all_of.items(), key=lambda item: int(item[0])))
        REPEATED.write_text(json.dumps(ordered, indent=2) + "\n", encoding="utf-8")
        sys.stderr.write(f"{number}, {name}: {outcome} ({clock.perf_counter() - begun:.0f} s)\n")


def repeats(count: int) -> str:
    """Return the table of repeated questions."""
    outcomes = json.loads(REPEATED.read_text(encoding="utf-8")) if REPEATED.exists() else {}
    rows = []
    for number in range(1, count + 1):
        outcome = outcomes.get(str(number), {})
        cells = [outcome.get(name, "not asked again yet") for name in ("longer", "seed")]
        rows.append(f"| [question {number}](#question-{number}) | {cells[0]} | {cells[1]} |")
    return REPEATS + "\n".join(rows) + "\n\n"


def page(questions: list[Document], wanted: list[int], kept: Path | None) -> str:
    """Return the page, or parts of it."""
    rows, parts = [], []
    for number, question in enumerate(questions, start=1):
        if wanted and number not in wanted:
            continue
        if "missing" in question:
            rows.append(f"| {number} | {question['asked']} | *Missing:* {question['missing']} | |")
            continue
        screen, took, document = asked(question["command"], kept)
        rows.append(
            f"| [{number}](#question-{number}) | {question['asked']} | {sentence(question, document)} | {took:.0f} s |"
        )
        parts.append(
            f"## Question {number}\n\n*{question['asked']}*\n\n{sentence(question, document)}\n\n"
            f"{lines(question, document)}\n<!-- not run: each takes up to a minute -->\n"
            f"```\n{question['command']}\n```\n\n```text\n{screen}\n```\n"
        )
        sys.stderr.write(f"{number}: {took:.0f} s\n")
    again = repeats(sum("missing" not in question for question in questions))
    table = "| | question | answer | time |\n|--:|---|---|--:|\n" + "\n".join(rows) + "\n\n"
    return HEAD + table + again + "\n".join(parts)


def main() -> None:
    """Ask the questions, and write the page or print parts of it; or ask them again."""
    parser = argparse.ArgumentParser(description="Ask the questions of operators.")
    parser.add_argument("numbers", nargs="*", type=int, help="only these")
    parser.add_argument("--kept", type=Path, metavar="DIR", help="keep what commands say here, and use what is there")
    parser.add_argument("--repeat", action="store_true", help="four times as long, and with another seed")
    words = parser.parse_args()
    questions = tomllib.loads(LIST.read_text(encoding="utf-8"))["questions"]
    if words.repeat:
        for number, question in enumerate(questions, start=1):
            if "command" in question and (not words.numbers or number in words.numbers):
                repeat(number, question, words.kept)
        return
    text = page(questions, words.numbers, words.kept)
    if words.numbers:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
