"""Kinds of inputs: each makes an input from a number, and tries it. Any exception but an `InputError` is a failure."""

import io
import json
import random
import shutil
import tempfile
from abc import ABC, abstractmethod
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import elephan
from elephan import cli, flow_files
from elephan.errors import InputError
from elephan.lint import lint
from elephan.runs.outcome import simulate
from elephan.scenario import Scenario
from elephan.store import Store
from elephan.sweeps import Sweep
from fuzz import mutate

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
ROOT = HERE.parents[1]

MOST_PACKETS = 3e4
"""Maximum number of packets of a scenario that is also simulated, in both engines: a tenth of a second."""

VERBS = [
    "lint",
    "list",
    "schema",
    "model",
    "new",
    "import",
    "size",
    "sweep",
    "store",
    "report",
    "completion",
    "doctor",
    "run",
]
"""Verbs that answer at once, or with an option that makes them do so."""

MOST_POINTS = 1000
"""Maximum number of points of a sweep whose points are listed."""

FLOWS = ["start_s,size_bytes\n0,1000\n0.5,2000\n1.25,1e6\n", "size_bytes,start_s,other\n12000,0.001,x\n1,1,y\n"]


class FoundError(AssertionError):
    """Raised for a result that must not occur."""


class Kind(ABC):
    """One kind of input.

    Attributes
    ----------
    name : str
    ending : str
        Suffix of a file with such an input.
    """

    name: str
    ending = ".toml"

    @cached_property
    def found_before(self) -> list[bytes]:
        """Inputs of earlier failures."""
        return [path.read_bytes() for path in sorted((CORPUS / self.name).glob("*"))]

    def of(self, seed: int, number: int) -> bytes:
        """Make an input; the same numbers give the same input."""
        return self.make(random.Random(f"{self.name} {seed} {number}"))

    @abstractmethod
    def make(self, chance: random.Random) -> bytes:
        """Make an input."""

    @abstractmethod
    def attempt(self, given: bytes) -> None:
        """Try an input; raise an exception for a failure."""


def texts(*patterns: str) -> list[str]:
    """Return the texts of scenario or sweep files of the project."""
    return [path.read_text(encoding="utf-8") for pattern in patterns for path in sorted(ROOT.glob(pattern))]


class ScenarioKind(Kind):
    """Scenario files: read, linted, and simulated in both engines if that is little work."""

    name = "scenario"

    @cached_property
    def corpus(self) -> list[str]:
        """Whole scenarios, the short ones twice as often."""
        whole = texts("scenarios/*.toml", "python/elephan/templates/*.toml", "python/elephan/bench/scenarios/*.toml")
        return whole + [elephan.EXAMPLE] * 10 + [given.decode(errors="replace") for given in self.found_before]

    def make(self, chance: random.Random) -> bytes:
        return mutate.text(chance, self.corpus).encode("utf-8", "surrogatepass")

    def attempt(self, given: bytes) -> None:
        try:
            scenario = Scenario.from_text(given.decode("utf-8", "replace"), "fuzz.toml", CORPUS)
            lint(scenario)
        except InputError:
            return
        duration = float(scenario.facts["duration_s"])
        most = sum(link["rate_bps"] * link["count"] for link in scenario.links) * duration / 8 / 40
        if scenario.warmup_rule != "stated" or most > MOST_PACKETS or sum(g["flows"] for g in scenario.groups) > 100:
            return
        try:
            window = simulate(scenario, 0, with_hash=True)
        except InputError:
            return
        reference = simulate(scenario, 0, engine="reference", with_hash=True)
        if window.hash != reference.hash:
            message = f"engines differ: {window.hash} and {reference.hash}"
            raise FoundError(message)


class SweepKind(Kind):
    """Sweep files: read, and their points listed."""

    name = "sweep"

    @cached_property
    def corpus(self) -> list[str]:
        """Sweeps, and scenarios, which are sweeps of one point."""
        own = 'base = "x.toml"\n[over]\n"links[0].buffer" = ["0.1 bdp", "200..15000 packets:5"]\n'
        own += '"flows[0].count" = "1..3:3lin"\n'
        return [own, *texts("scenarios/sweeps/*.toml"), elephan.EXAMPLE]

    def make(self, chance: random.Random) -> bytes:
        return mutate.text(chance, self.corpus).encode("utf-8", "surrogatepass")

    def attempt(self, given: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "x.toml").write_text(elephan.EXAMPLE, encoding="utf-8")
            path = Path(folder) / "fuzz.toml"
            path.write_bytes(given)
            with suppress(InputError):
                sweep = Sweep.from_file(path)
                if len(sweep) < MOST_POINTS:
                    sweep.points()


class FlowsKind(Kind):
    """Lists of flows in .csv and .parquet files."""

    name = "flows"
    ending = ".bin"

    @cached_property
    def corpus(self) -> list[bytes]:
        """One byte for the kind of file, then the file."""
        sink = io.BytesIO()
        pq.write_table(pa.table({"start_s": [0.0, 0.5, 1.0], "size_bytes": [1000, 2000, 5]}), sink)
        return [b"c" + text.encode() for text in FLOWS] + [b"p" + sink.getvalue()] + self.found_before

    def make(self, chance: random.Random) -> bytes:
        return mutate.raw(chance, self.corpus)

    def attempt(self, given: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / ("f.csv" if given[:1] == b"c" else "f.parquet")
            path.write_bytes(given[1:])
            with suppress(InputError):
                flow_files.read(path)


class CommandKind(Kind):
    """Command lines of verbs that answer at once: exit code 0, 1 or 2, one line on stderr if 2."""

    name = "command"
    ending = ".json"

    @cached_property
    def words(self) -> list[str]:
        """Verbs, options of all of them, and values."""
        group: Any = cli.command()
        options = [o for verb in group.commands.values() for p in verb.params for o in (*p.opts, *p.secondary_opts)]
        values = ["{file}", "{file}", "utilization=0.9", "links[0].buffer=1 bdp", "seed=[[", "1%", "0", "-1", "1e99"]
        return [*sorted(set(options)), *values, "x", "", "λ", "\0", *mutate.ODD]

    def make(self, chance: random.Random) -> bytes:
        verb = chance.choice(VERBS)
        words = [verb, *(chance.choice(self.words) for _ in range(chance.randrange(6)))]
        if verb in ("size", "run") and "--help" not in words:
            words += ["--model-only"] if verb == "size" else ["--replications", "0"]
        return json.dumps([word for word in words if word not in ("--open", "--force", "--repair", "--gc")]).encode()

    def attempt(self, given: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "s.toml"
            path.write_text(elephan.EXAMPLE, encoding="utf-8")
            words = [word.replace("{file}", str(path)) for word in json.loads(given)]
            told = io.StringIO()
            with redirect_stdout(output()), redirect_stderr(told), chdir(folder):
                code = _exit_code(words)
            if code not in (0, 1, 2):
                message = f"exit code {code}: {told.getvalue()[-300:]}"
                raise FoundError(message)


class StoreKind(Kind):
    """Stores with damaged files: listed, verified, repaired; never a defect, and complete after the repair."""

    name = "store"
    ending = ".bin"

    @cached_property
    def whole(self) -> Path:
        """A store of three runs, made once."""
        folder = Path(tempfile.mkdtemp(prefix="fuzz-store-"))
        base = Scenario.from_text(elephan.EXAMPLE).replace({"duration": "0.2 s", "warmup": "0.05 s"}, replications=1)
        elephan.sweep(base, over={"seed": [1, 2, 3]}, store=folder / "store", workers=1)
        return folder / "store"

    def make(self, chance: random.Random) -> bytes:
        return chance.randbytes(16)

    def attempt(self, given: bytes) -> None:
        chance = random.Random(given)
        with tempfile.TemporaryDirectory() as folder:
            damaged = Path(folder) / "store"
            shutil.copytree(self.whole, damaged)
            every = sorted(path for path in damaged.rglob("*") if path.is_file())
            for path in chance.sample(every, min(len(every), chance.choice((1, 1, 2, 5)))):
                if chance.random() < 0.2:
                    path.unlink()
                else:
                    path.write_bytes(mutate.raw(chance, [path.read_bytes()]))
            for words in (["list"], ["verify"], ["export"], ["verify", "--repair"]):
                told = io.StringIO()
                with redirect_stdout(output()), redirect_stderr(told):
                    code = _exit_code(["store", *words, "--store", str(damaged)])
                if code not in (0, 1, 2):
                    message = f"store {words[0]}: exit code {code}: {told.getvalue()[-300:]}"
                    raise FoundError(message)
            with Store(damaged) as store:
                store.runs()


def output() -> io.TextIOWrapper:
    """Return a stream for output, text or bytes."""
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


def _exit_code(words: list[str]) -> int:
    try:
        cli.main(words)
    except SystemExit as done:
        return int(done.code or 0)
    raise AssertionError("always exits")


_ALL: tuple[Kind, ...] = (ScenarioKind(), SweepKind(), FlowsKind(), CommandKind(), StoreKind())

KINDS = {kind.name: kind for kind in _ALL}
"""Kinds by name; random networks in the two engines are tested in Rust."""
