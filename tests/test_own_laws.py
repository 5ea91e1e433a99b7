"""Laws in Python: those of `examples/python` have the windows of the built-in ones; errors in a law are reported."""

from __future__ import annotations

import inspect
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import elephan
from conftest import load_file
from elephan import own_laws
from elephan.errors import InputError, LawError, ScenarioError
from elephan.lint import lint
from elephan.runs.outcome import simulate
from elephan.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from conftest import Command

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "python"


def module(name: str) -> ModuleType:
    return load_file(EXAMPLES / f"{name}.py")


STANDARD, MINE, EACH_ROUND = module("standard"), module("mine").Mine, module("each_round").EachRound
LAWS = {"my-reno": STANDARD.Reno, "my-cubic": STANDARD.Cubic, "mine": MINE, "each-round": EACH_ROUND}

LINK = """
duration = "8 s"
warmup = "1 s"
replications = 2
links = [{{ name = "core", rate = "10 Mbit/s", delay = "10 ms", buffer = "{buffer} packets" }}]
[[flows]]
name = "f"
count = {count}
path = ["core"]
rtt = {{ from = "40 ms", to = "61 ms" }}
packet = "1000 B"
start = {{ from = "0 s", to = "1 s" }}
control = {control}
{more}
"""


def link(control: str, count: int = 2, buffer: int = 20, more: str = "") -> Scenario:
    text = LINK.format(control=control, count=count, buffer=buffer, more=more)
    with own_laws.declared(LAWS):
        return Scenario.from_text(text)


@pytest.fixture
def command(request: pytest.FixtureRequest) -> Command:
    called: Command = request.getfixturevalue("elephan")
    return called


def hashes(scenario: Scenario) -> list[int]:
    engines = ("window", "reference")
    return [simulate(scenario, 0, engine=engine, with_hash=True).hash for engine in engines]


@pytest.mark.parametrize("law", ["reno", "cubic"])
@pytest.mark.parametrize(
    "more",
    [
        "",
        'recovery = "tahoe"',
        'recovery = "newreno"',
        'recovery = "rack"\ntcp = { delayed_ack = 2, min_rto = "200 ms" }',
        'recovery = "prr"\ntcp = { pacing = "linux", initial_window = 10, initial_ssthresh = 12 }',
        'traffic = { kind = "pausing-bulk", on = "900 ms", off = "600 ms" }\ntcp = { window_validation = "linux" }',
        'traffic = { kind = "engset", size = "40 kB", think = "500 ms" }',
    ],
)
@pytest.mark.parametrize(("count", "buffer"), [(1, 30), (25, 5)])
def test_windows_are_those_of_the_built_in_laws_after_every_ack(law: str, more: str, count: int, buffer: int) -> None:
    ours, built_in = (link(f'"{name}"', count, buffer, more) for name in (f"my-{law}", law))
    expected = hashes(built_in)
    assert expected[0] == expected[1] != 0
    assert hashes(ours) == expected
    outcome = simulate(built_in, 0)
    # Losses and timeouts are what the windows were held against.
    if count > 1:
        assert outcome.flows["retransmitted"].sum() > 100
        assert outcome.flows["timeouts"].sum() > 10
    elif "engset" not in more:
        assert outcome.flows["retransmitted"].sum() > 0


def test_a_law_for_each_round_trip_is_the_same_in_both_engines() -> None:
    # Its ACKs are taken in runs; pacing, delayed ACKs and sessions have ways of their own.
    for more in (
        "",
        'tcp = { pacing = "linux", delayed_ack = 2 }',
        'traffic = { kind = "engset", size = "400 kB", think = "100 ms" }',
        'recovery = "rack"\ntcp = "linux"',
    ):
        window, reference = hashes(link('"each-round"', more=more))
        assert window == reference
        assert more or window != hashes(link('{ law = "each-round", gain = 1.0 }', more=more))[0]


class Paced:
    """A law that paces at its own rate, whatever happens."""

    def __init__(self, mbps: float = 2.0) -> None:
        self.cwnd = 1000.0
        self.pacing_rate = mbps * 1e6

    def on_loss(self, _event: Any) -> None:
        pass


def test_a_pacing_rate_is_in_bits_per_second() -> None:
    with own_laws.declared({"paced": Paced}):
        scenario = Scenario.from_text(LINK.format(control='{ law = "paced", mbps = 3 }', count=2, buffer=20, more=""))
    assert hashes(scenario)[0] == hashes(scenario)[1]
    goodput = simulate(scenario, 0).flows["goodput_bps"]
    assert goodput == pytest.approx([3e6, 3e6], rel=0.01)


class Told:
    """A law that records its calls."""

    seen = ()
    version = "1"

    def __init__(self, flow: Any, share: float = 0.5, label: str = "", fast: bool = False) -> None:
        self.flow, self.cwnd, self.share = flow, 4.0, share
        self.rounds: list[Any] = []
        assert (share, label, fast) == (0.25, "x", True)
        assert (flow.group, flow.packet, flow.mss, flow.initial_window) == ("f", 1000, 960, 2.0)
        assert 0.04 <= flow.base_rtt <= 0.061

    def on_rtt_round(self, round: Any) -> None:  # noqa: A002
        assert round.rtt is not None
        assert round.rtt == round.rtt_ps / 1e12
        assert round.rtt >= self.flow.base_rtt
        if self.rounds:
            # A constant window: a round is a window of segments, and the ACKs in between are told of no other way.
            assert round.acked == 4
            assert round.delivered == self.rounds[-1].delivered + 4
        self.rounds.append(round)


def test_a_law_is_told_what_it_asks_for() -> None:
    control = '{ law = "told", share = 0.25, label = "x", fast = true }'
    with own_laws.declared({"told": Told}):
        scenario = Scenario.from_text(LINK.format(control=control, count=2, buffer=20, more=""))
    assert simulate(scenario, 0).flows["goodput_bps"].min() > 0
    assert hashes(scenario)[0] == hashes(scenario)[1]


MARKED = """
duration = "5 s"
[[links]]
name = "l"
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "100 packets"
queue = { discipline = "drop-tail", ecn_threshold = 5 }
[[flows]]
path = ["l"]
rtt = "20 ms"
recovery = "rack"
control = { law = "counts" }
"""


class Counts:
    """Half as many segments after a mark, and one more for each window; counts what is reported."""

    version, needs = "1", "marks"

    def __init__(self) -> None:
        self.cwnd, self.acked, self.marked, self.delivered = 10.0, 0.0, 0.0, 0

    def count(self, ack: Any) -> None:
        self.acked, self.marked, self.delivered = self.acked + ack.acked, self.marked + ack.ce_marked, ack.delivered
        assert self.acked == self.delivered
        assert ack.delivered < 1000 or self.marked > 0

    def on_ack(self, ack: Any) -> None:
        self.count(ack)
        self.cwnd += ack.acked / self.cwnd

    def on_recovery_ack(self, ack: Any) -> None:
        self.count(ack)

    def on_loss(self, event: Any) -> None:
        assert event.signal == "ecn"
        self.cwnd = max(2.0, self.cwnd / 2)


def test_a_law_that_counts_marks_learns_of_every_segment() -> None:
    with own_laws.declared({"counts": Counts}):
        scenario = Scenario.from_text(MARKED)
    assert hashes(scenario)[0] == hashes(scenario)[1]
    outcome = simulate(scenario, 0)
    # Reductions last a round trip each: without their ACKs the sums above would differ at the first.
    assert outcome.flows["loss_events"].sum() > 10


# Identity, workers, other places where laws can be given.


def test_the_source_is_in_the_identity_and_parameters_are(tmp_path: Path) -> None:
    text = LINK.format(control='{ law = "m", gain = 2 }', count=1, buffer=20, more="")
    ids: list[str] = []
    for source in ("2.0", "3.0", "2.0"):
        file = tmp_path / f"m{len(ids)}.py"
        file.write_text(
            f"class M:\n    def __init__(self, gain=1):\n        self.cwnd = {source} * gain\n"
            "    def on_loss(self, event):\n        pass\n"
        )
        own_laws.declare([f"m={file}:M"])
        ids.append(Scenario.from_text(text).id)
        other = Scenario.from_text(text.replace("gain = 2", "gain = 3"))
        assert other.id != ids[-1]
    own_laws.declare([])
    assert ids[0] != ids[1]
    assert ids[0] == ids[2]


def test_a_store_does_not_give_results_of_another_source(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(LINK.format(control='"m"', count=1, buffer=20, more=""))
    files = []
    for window in (3, 6):
        file = tmp_path / f"m{window}.py"
        file.write_text(f"class M:\n    cwnd = {window}\n    def on_loss(self, event):\n        pass\n")
        files.append(own_laws.load(f"m={file}:M"))
    with elephan.Store(tmp_path / "store") as store:
        runs = [store.run(scenario, laws={"m": law}) for law in (*files, files[0])]
        assert runs[0].id == runs[2].id != runs[1].id
        # Stored runs can be read without the law, but not run again.
        kept = store.get(runs[0].id).scenario
        assert kept.groups[0]["law"] == "m"
        with pytest.raises(ScenarioError, match=r'flows\[0\].control: "m" is no law of elephan'):
            elephan.run(kept)


def test_workers_and_threads_change_nothing() -> None:
    scenario = link('"my-reno"', count=30, buffer=30)
    one, more = (elephan.run(scenario, workers=workers).to_json() for workers in (1, 3))
    assert [more[key] for key in ("links", "groups")] == [one[key] for key in ("links", "groups")]


def test_flows_on_several_threads_change_nothing() -> None:
    # As many flows and arrivals as the engine wants for it: see the test beside `may_take_threads`.
    changes = {
        "duration": "300 ms",
        "warmup": "0 s",
        "links[0].rate": "10 Gbit/s",
        "links[0].buffer": "5000 packets",
        "flows[0].rtt": {"from": "20 ms", "to": "22 ms"},
        "flows[0].packet": "1500 B",
        "flows[0].start": {"from": "0 s", "to": "20 ms"},
    }
    for law in ("my-cubic", "each-round"):
        scenario = link(f'"{law}"', count=500).replace(changes)
        alone = simulate(scenario, 0, with_hash=True)
        assert alone.balance["delivered"] > 50_000
        assert simulate(scenario, 0, threads=2, with_hash=True).hash == alone.hash


def test_sweeps_run_laws_on_threads_and_in_other_processes(tmp_path: Path) -> None:
    base = link('"reno"', buffer=15)
    law = own_laws.load(f"mine={EXAMPLES / 'mine.py'}:Mine")
    over = {"flows[0].control": ["cubic", "mine", {"law": "mine", "gain": 3}]}
    swept = elephan.sweep(base, over=over, laws={"mine": law}, store=tmp_path / "a", workers=2)
    assert len(swept.points) == 3
    with ProcessPoolExecutor(2) as executor:
        again = elephan.sweep(base, over=over, laws={"mine": law}, store=tmp_path / "b", executor=executor)
    busy = [[point.to_json()["links"][0]["utilization"] for point in each.points] for each in (swept, again)]
    assert busy[0] == busy[1]


def test_size_and_compare_answer_with_a_law_of_ones_own() -> None:
    scenario = link('"mine"')
    answer = elephan.size(scenario, "utilization=0.9", precision=0.3, replications=1, whole_curve=False)
    assert (answer.to_json()["buffer_packets"] or 0) > 0
    names = [variant.label for variant in elephan.size_variants(scenario, ["mine", "reno"], target="utilization=0.8",
                                                               precision=0.3, replications=1).variants]  # fmt: skip
    assert names == ["mine with drop-tail", "reno with drop-tail"]
    sampled = scenario.replace({"record.every": "100 ms"})
    assert "simulation" in elephan.compare(sampled, replications=1, real=False).links["source"]


def test_variants_are_compared_with_laws_declared_in_the_same_call() -> None:
    scenario = link('"reno"', buffer=15)
    options: dict[str, Any] = {"target": "utilization=0.8", "precision": 0.3, "replications": 1}
    base = elephan.Scenario.from_text(scenario.text)
    found = elephan.size_variants(base, ["mine", "reno"], laws={"mine": MINE}, **options)
    assert [variant.label for variant in found.variants] == ["mine with drop-tail", "reno with drop-tail"]
    with pytest.raises(InputError, match=r"^laws mine: nothing uses it"):
        elephan.size_variants(base, ["reno"], laws={"mine": MINE}, **options)
    with pytest.raises(InputError, match=r"^laws: must be \{NAME: CLASS\}.*controls=\[NAME"):
        elephan.size_variants(base, laws=["mine", "reno"], **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^laws: must be \{NAME: CLASS\}, not \["):
        elephan.run(base, laws=["mine"])  # type: ignore[arg-type]


def test_a_scenario_gets_laws_where_it_is_read_or_changed(tmp_path: Path) -> None:
    plain, named = (LINK.format(control=control, count=2, buffer=20, more="") for control in ('"reno"', '"mine"'))
    (tmp_path / "a.toml").write_text(named)
    expected = link('"mine"').id
    base = Scenario.from_text(plain)
    assert Scenario.from_text(named, laws={"mine": MINE}).id == expected
    assert Scenario.from_file(tmp_path / "a.toml", laws={"mine": MINE}).id == expected
    assert (
        Scenario.from_mapping(Scenario.from_text(named, laws={"mine": MINE}).source, laws={"mine": MINE}).id == expected
    )
    assert base.replace({"flows[f].control": "mine"}, laws={"mine": MINE}).id == expected
    later = base.replace(laws={"mine": MINE})
    assert later.id == base.id
    assert later.replace(seed=2).replace({"flows[f].control": "mine"}, seed=1).id == expected
    # What the message names works.
    with pytest.raises(ScenarioError, match=r"in Python laws=\{NAME: CLASS\} of Scenario.from_file or replace$"):
        base.replace({"flows[f].control": "zyx"})
    with pytest.raises(InputError, match=r"^law zyx: must be a class"):
        Scenario.from_file(tmp_path / "a.toml", laws={"zyx": 7})  # type: ignore[dict-item]


def test_models_and_lint_do_not_take_it_for_another_law() -> None:
    scenario = link('"mine"')
    assert lint(scenario) is not None
    with pytest.raises(InputError) as raised:
        elephan.size(scenario, "utilization=0.9", model_only=True)
    assert "\n" not in str(raised.value)


def test_an_estimate_expects_calls_for_each_ack() -> None:
    fast = {"links[0].rate": "1 Gbit/s", "links[0].buffer": "5000 packets"}
    ours, built_in = (elephan.estimate(link(f'"{law}"').replace(fast)).to_json() for law in ("mine", "reno"))
    assert ours["packets"] == built_in["packets"]
    # 410 ns a packet were measured, 21 of the built-in law (decision 0090), less what the run itself costs.
    assert 410 / 21 < ours["cpu_s"] / built_in["cpu_s"] < 2.5 * 410 / 21


# Errors.


class Base:
    cwnd: float = 5.0

    def on_loss(self, _event: Any) -> None:
        pass


class Raising(Base):
    def on_ack(self, ack: Any) -> None:
        if ack.now > 2:
            self.cwnd = 1 / 0


class Lost(Base):
    def on_loss(self, _event: Any) -> None:
        self.cwnd = float("nan")

    def on_ack(self, _ack: Any) -> None:
        self.cwnd += 1


class Text(Base):
    def on_ack(self, _ack: Any) -> None:
        self.cwnd = "many"  # type: ignore[assignment]


class Unmade(Base):
    def __init__(self) -> None:
        raise KeyError("no")


class Without:
    def on_ack(self, _ack: Any) -> None:
        pass


class Shares(Base):
    count = 0

    def on_ack(self, _ack: Any) -> None:
        Shares.count += 1


class Endless(Base):
    def on_ack(self, _ack: Any) -> None:
        self.cwnd *= 1e30


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (Raising, r"law m: Raising\.on_ack \(test_own_laws\.py, line \d+\): ZeroDivisionError"),
        (Lost, r"law m: Lost\.on_loss \(test_own_laws\.py, line \d+\): left an invalid window: cwnd is NaN"),
        (Text, r"law m: Text\.on_ack \(.*, line \d+\): left an invalid window: cwnd is many; it must be a number"),
        (Unmade, r"law m: Unmade\.__init__ \(.*, line \d+\): KeyError"),
        (Without, r"law m: Without\.__init__.*AttributeError: .*cwnd"),
        (Shares, r"law m: Shares\.count was set on the class, which all flows share; keep it on self"),
    ],
)
def test_a_law_that_goes_wrong_ends_the_run_in_one_line(law: type, said: str) -> None:
    text = LINK.format(control='"m"', count=3, buffer=20, more="")
    with own_laws.declared({"m": law}):
        scenario = Scenario.from_text(text)
    for workers in (0, 1, 2):
        with pytest.raises(LawError, match=said) as raised:
            elephan.run(scenario, workers=workers)
        assert "\n" not in str(raised.value)
    with pytest.raises(LawError, match=said):
        simulate(scenario, 0, engine="reference")
    # The next run is not touched by it.
    elephan.run(link('"reno"'))


def test_a_window_without_end_is_bounded_by_the_transport() -> None:
    with own_laws.declared({"m": Endless}):
        scenario = Scenario.from_text(
            LINK.format(control='"m"', count=1, buffer=20, more="tcp = { receive_window = 100 }")
        )
    with pytest.raises(LawError, match="cwnd is inf"):
        simulate(scenario, 0)


class Listed(Base):
    seen: list[int] = []  # noqa: RUF012


def _global() -> type:
    class Global(Base):
        version = "1"

        def on_ack(self, _ack: Any) -> None:
            global COUNT
            COUNT = 1

    return Global


COUNT = 0


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (Listed, r"law m: Listed\.seen is one list for all flows; make it in __init__"),
        (_global(), r"law m: Global\.on_ack changes a global variable, which all flows share; keep it on self"),
        (object, r"law m: object has none of on_ack, on_loss and on_rtt_round"),
        (3, r"law m: must be a class, or the path of a shared library, not 3"),
        (
            type("Tells", (Base,), {"on_recovery_ack": print, "version": "1"}),
            r'law m: Tells has on_recovery_ack, which is called only with needs = "marks"',
        ),
        (type("Made", (), {"on_loss": print}), r"law m: the source of Made is not known, .* version = \"1\""),
        (
            type("Asks", (Base,), {"needs": "all", "version": "1"}),
            r"law m: Asks\.needs names 'all'; it may name every_rtt and marks",
        ),
    ],
)
def test_a_class_that_can_be_no_law_is_refused_in_one_line(law: type, said: str) -> None:
    with pytest.raises(InputError, match=said):
        own_laws.own_law("m", law)


def test_a_class_without_source_runs_if_it_has_a_version() -> None:
    laws = [own_laws.own_law("m", type("Made", (Base,), {"version": version})) for version in ("1", "1", "2")]
    assert laws[0].source == laws[1].source != laws[2].source


def test_names_that_nobody_declared_are_refused_as_before() -> None:
    text = LINK.format(control='"mein"', count=1, buffer=20, more="")
    with own_laws.declared(LAWS), pytest.raises(ScenarioError, match=r'flows\[0\].control: unknown law "mein"'):
        Scenario.from_text(text)
    with own_laws.declared({"reno": MINE}), pytest.raises(ScenarioError, match=r"is one of elephan's own laws"):
        Scenario.from_text(LINK.format(control='"reno"', count=1, buffer=20, more=""))
    with (
        own_laws.declared(LAWS),
        pytest.raises(ScenarioError, match=r"control.gian: Mine has no such parameter; it has: gain, kept"),
    ):
        Scenario.from_text(LINK.format(control='{ law = "mine", gian = 2 }', count=1, buffer=20, more=""))


def test_a_file_of_newer_toml_is_refused_where_it_names_a_law() -> None:
    text = LINK.format(control='"mine"', count=1, buffer=20, more="tcp = { initial_window = 4,\n delayed_ack = 2 }")
    with own_laws.declared(LAWS), pytest.raises(ScenarioError, match=r"the file must be TOML 1\.0"):
        Scenario.from_text(text)


# The command line.


def test_the_command_line_takes_laws_from_files(tmp_path: Path, command: Command) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(LINK.format(control='"mine"', count=2, buffer=20, more=""))
    law = ["--law", f"mine={EXAMPLES / 'mine.py'}:Mine"]
    done = command("run", scenario, *law, "--json")
    assert done.code == 0, done.err
    assert '"law": "mine"' in done.out
    sized = command("size", scenario, *law, "--target", "utilization=0.8", "--precision", "30%", "--quiet")
    assert sized.code == 0, sized.err
    assert [command(verb, scenario, *law).code for verb in ("lint", "estimate")] == [0, 0]
    without = command("run", scenario)
    assert without.code == 2
    assert 'unknown law "mine"' in without.err


def test_a_law_that_nothing_uses_is_refused(tmp_path: Path, command: Command) -> None:
    scenario, law = tmp_path / "s.toml", ["--law", f"mine={EXAMPLES / 'mine.py'}:Mine"]
    scenario.write_text(LINK.format(control='"reno"', count=2, buffer=20, more=""))
    over = ["--over", "links[0].buffer=9 packets", "--store", tmp_path / "store"]
    target = ["--target", "utilization=0.8"]
    said = "--law mine: nothing uses it; set flows[0].control=mine, or leave it out\n"
    for verb, more in (
        ("run", []),
        ("lint", []),
        ("estimate", []),
        ("compare", ["--no-testbed"]),
        ("size", target),
        ("size", [*target, "--laws", "reno,cubic"]),
        ("sweep", over),
    ):
        done = command(verb, scenario, *more, *law)
        assert (done.code, done.out, done.err) == (2, "", said), verb
    # A misspelt name is reported, not that the law is then not used.
    for verb, more in (
        ("size", [*target, "--laws", "minee,cubic"]),
        ("sweep", ["--over", "flows[0].control=cubic,minee", "--store", tmp_path / "store"]),
        ("estimate", ["--set", "flows[0].control=minee"]),
    ):
        done = command(verb, scenario, *more, *law)
        assert (done.code, done.out) == (2, ""), verb
        assert 'flows[0].control: unknown law "minee"; did you mean "mine"?' in done.err, verb
    # Used by one point, by a comparison, or by what is set.
    one = ["--over", "flows[0].control=reno,mine", "--store", tmp_path / "store", "--dry-run"]
    assert command("sweep", scenario, *one, *law).code == 0
    assert command("size", scenario, *target, "--laws", "reno,mine", "--precision", "50%", "-q", *law).code == 0
    assert command("lint", scenario, "--set", "flows.0.control=mine", *law).code == 0
    read = Scenario.from_file(scenario)
    laws = {"paced": Paced}
    for call in (
        lambda: elephan.run(read, laws=laws),
        lambda: elephan.size(read, "utilization=0.8", laws=laws),
        lambda: elephan.sweep(read, over={"seed": [1, 2]}, laws=laws, store=tmp_path / "store"),
        lambda: elephan.compare(read, laws=laws, real=False),
    ):
        with pytest.raises(InputError, match=r"laws paced: nothing uses it"):
            call()


def test_a_law_that_goes_wrong_is_exit_code_2(tmp_path: Path, command: Command) -> None:
    scenario, file = tmp_path / "s.toml", tmp_path / "bad.py"
    scenario.write_text(LINK.format(control='"bad"', count=2, buffer=20, more=""))
    file.write_text("class Bad:\n    cwnd = 30\n    def on_loss(self, event):\n        self.cwnd = -1\n")
    sweep = ["--over", "links[0].buffer=9 packets", "--store", tmp_path / "store"]
    for verb, more, code in (("run", [], 2), ("size", ["--target", "utilization=0.8"], 2), ("sweep", sweep, 1)):
        done = command(verb, scenario, *more, "--law", f"bad={file}:Bad")
        assert done.code == code, done
        assert "law bad: Bad.on_loss (bad.py, line 3): left an invalid window: cwnd is -1" in done.out + done.err
    for given, said in [
        ("bad", "must be NAME=FILE.py:CLASS"),
        (f"bad={tmp_path}/no.py:Bad", "no.py: no such file or directory; give the path of a Python file with a class"),
        (f"bad={file}:Worse", "has no class Worse"),
    ]:
        done = command("run", scenario, "--law", given)
        assert done.code == 2
        assert said in done.err


def test_every_study_takes_laws_and_refuses_one_that_is_not_used() -> None:
    base = Scenario.from_text(elephan.EXAMPLE).replace(
        {"flows[0].control": "mine", "duration": "8 s", "warmup": "2 s"}, laws={"mine": MINE}
    )
    studies: list[Callable[..., Any]] = [elephan.size, elephan.size_variants, elephan.size_limit, elephan.size_worst]
    studies += [elephan.run, elephan.attack, elephan.sweep, elephan.compare, elephan.Store.run]
    for study in studies:
        assert "laws" in inspect.signature(study).parameters, study
    other = {"other": MINE}
    with pytest.raises(InputError, match="other"):
        elephan.size_limit(base, "utilization=0.5", "rtt", replications=2, laws=other)
    with pytest.raises(InputError, match="other"):
        elephan.size_worst(base, "utilization=0.5", runs=50, laws=other)
    with pytest.raises(InputError, match="other"):
        elephan.attack("reno", runs=50, laws=other)
    found = elephan.attack("mine", "utilization", {"flows[0].rtt": "20..40 ms"}, runs=50, laws={"mine": MINE})
    assert found.law == "mine"
