"""Misspelt names: one line with the nearest existing name, or all of them; exit code 2."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from elephan.cli import command
from elephan.errors import nearest, suggest
from elephan.scenario import EXAMPLE, Scenario
from elephan.store import Store

FILE = """
title    = "Two links"
duration = "4 s"

[[links]]
name   = "core"
rate   = "10 Mbit/s"
buffer = "unlimited"

[[links]]
name   = "back"
rate   = "10 Mbit/s"
buffer = "unlimited"

[[flows]]
name     = "bulk"
count    = 2
path     = ["core"]
return   = ["back"]
rtt      = "80 ms"
"""

WRONG = [
    # Verbs and options.
    ("siez", 'elephan: there is no verb "siez"; did you mean "size"?; see elephan --help'),
    ("Run", 'elephan: there is no verb "Run"; did you mean "run"?; see elephan --help'),
    ("modle", 'elephan: there is no verb "modle"; did you mean "model"?; see elephan --help'),
    ("benchmark", 'elephan: there is no verb "benchmark"; did you mean "bench"?; see elephan --help'),
    ("--versoin", "elephan: there is no option --versoin; did you mean --version?; see elephan --help"),
    ("run {file} --sed 3", "elephan run: there is no option --sed; did you mean --seed?; see elephan run --help"),
    ("run {file} --jsn", "elephan run: there is no option --jsn; did you mean --json?; see elephan run --help"),
    ("run --hlep", "elephan run: there is no option --hlep; did you mean --help?; see elephan run --help"),
    ("run {file} --colour", "elephan run: there is no option --colour; see elephan run --help"),
    (
        "size {file} --tarjet loss=1%",
        "elephan size: there is no option --tarjet; did you mean --target?; see elephan size --help",
    ),
    (
        "size {file} --model_only",
        "elephan size: there is no option --model_only; did you mean --model-only?; see elephan size --help",
    ),
    (
        "lint {file} --strickt",
        "elephan lint: there is no option --strickt; did you mean --strict?; see elephan lint --help",
    ),
    (
        "size {file} --worstcase",
        "elephan size: there is no option --worstcase; did you mean --worst-case?; see elephan size --help",
    ),
    # Options without their value, and flags with one.
    ("run {file} --out", "elephan run: --out needs a folder, as in --out DIR; see elephan run --help"),
    ("run {file} --seed", "elephan run: --seed needs a value; see elephan run --help"),
    ("run {file} --json=yes", "elephan run: --json takes no value; see elephan run --help"),
    ("run {file} --out --json", "--out needs a folder, and is followed by --json; write --out DIR --json"),
    (
        "run {file} --out --seed 1",
        'elephan run: unexpected "1"; --out needs a folder, as in --out DIR; see elephan run --help',
    ),
    (
        "size {file} --target",
        "elephan size: --target needs a value, as in --target NAME=VALUE; see elephan size --help",
    ),
    ("sweep {file} --store", "elephan sweep: --store needs a folder, as in --store DIR; see elephan sweep --help"),
    ("new dumbbell --out", "elephan new: --out needs a file, as in --out FILE; see elephan new --help"),
    ("store ls --store", "elephan store ls: --store needs a folder, as in --store DIR; see elephan store ls --help"),
    ("transfer 1MB --rtt", "elephan transfer: --rtt needs a time, as in --rtt TIME; see elephan transfer --help"),
    ("attac cubic", 'elephan: there is no verb "attac"; did you mean "attack"?; see elephan --help'),
    ("attack cubik", 'attack cubik: unknown law "cubik"; did you mean "cubic"?'),
    ("attack cubic --harm starving", '--harm: there is no "starving"; did you mean "starvation"?'),
    # What another verb, another form or another name does.
    (
        "compare one two",
        'elephan compare: unexpected "two"; to show two results side by side, use elephan report one two; '
        "see elephan compare --help",
    ),
    ("answer 6", 'there is no answer "6"; question 6 is access-call'),
    ("answer 99", 'there is no answer "99"; elephan answer lists all'),
    (
        "run {file} --precision 5",
        'precision: "5" is out of range; it lies above 0 and below 1, or below 100 %: write 5%',
    ),
    (
        "size {file} --target utilization=0.9 --precision 5",
        "precision: 5 is out of range; it lies between 0.001 and 1, or below 100 %: write 5%",
    ),
    (
        "run scenarios/operators/nosuch.toml",
        "scenarios/operators/nosuch.toml: no such file or directory; elephan answer ID --out DIR writes the files of "
        "an answer, and elephan new a scenario",
    ),
    # Kinds.
    ("list lwas", 'list: there is no "lwas"; did you mean "laws"?'),
    ("list law", 'list: there is no "law"; did you mean "laws"?'),
    ("list recovery", 'list: there is no "recovery"; did you mean "recoveries"?'),
    ("list slow-start", 'list: there is no "slow-start"; did you mean "slow-starts"?'),
    (
        "list birds",
        'list: there is no "birds"; use laws, slow-starts, recoveries, queues, traffic, profiles, models, metrics, '
        "columns, lints",
    ),
    ("new dumbell", 'there is no kind "dumbell"; did you mean "dumbbell"?'),
    ("new parkinglot", 'there is no kind "parkinglot"; did you mean "parking-lot"?'),
    ("new star", 'there is no kind "star"; kinds: dumbbell, two-way, parking-lot, two-hops, web'),
    ("run {file} --engine referense", '--engine: there is no "referense"; did you mean "reference"?'),
    # Models and their parameters.
    ("model sawtoth", 'model: there is no "sawtoth"; did you mean "sawtooth"?'),
    ("model drop-tail", 'model: there is no "drop-tail"; did you mean "droptail-fixed-point"?'),
    ("model sawtooth --set rt=3", "sawtooth: there is no parameter rt; did you mean rtt?"),
    ("model sawtooth --set flow=3", "sawtooth: there is no parameter flow; did you mean flows?"),
    ("model sawtooth --set law=rno", 'law: there is no "rno"; did you mean "reno"?'),
    ("model sawtooth --set law=hihgspeed", 'law: there is no "hihgspeed"; did you mean "highspeed"?'),
    ("model rules --set law=cubik", 'law: there is no "cubik"; did you mean "cubic"?'),
    ("model sawtooth --scenario {file} --link cor", '{file}: there is no link "cor"; did you mean "core"?'),
    # Targets, precision, links to size.
    ("size {file} --target utilizaton=0.9", 'target: there is no "utilizaton"; did you mean "utilization"?'),
    ("size {file} --target util=0.9", 'target: there is no "util"; did you mean "utilization"?'),
    ("size {file} --target los=1%", 'target: there is no "los"; did you mean "loss"?'),
    ("size {file} --target dleay=10ms", 'target: there is no "dleay"; did you mean "delay"?'),
    (
        "size {file} --target speed=1",
        'target: there is no "speed"; write for example utilization=0.95, loss=0.1%, delay=10ms, fairness=0.9, '
        "delay_p95=20ms, rtt_p95[ping]=50ms",
    ),
    ("size {file} --target loss=1% --link coer", '{file}: there is no link "coer"; did you mean "core"?'),
    ("size {file} --target loss=1% --link edge", '{file}: there is no link "edge"; links: core, back'),
    ("run {file} --precision utilisaton=1%", 'precision: there is no "utilisaton"; did you mean "utilization"?'),
    ("run {file} --precision godput=1%", 'precision: there is no "godput"; did you mean "goodput"?'),
    (
        "run {file} --precision speed=1%",
        'precision: there is no "speed"; use utilization, loss, delay, backlog, goodput',
    ),
    (
        "run {file} --precision loss[croe]=1%",
        'precision: loss[croe]: there is none of this name; did you mean "core"?',
    ),
    (
        "run {file} --precision goodput[balk]=1%",
        'precision: goodput[balk]: there is none of this name; did you mean "bulk"?',
    ),
    # Places.
    ("run {file} --set durtion=3", "{file}: durtion: unknown key; did you mean `duration`?"),
    ("run {file} --set seeds=3", "{file}: seeds: unknown key; did you mean `seed`?"),
    ("run {file} --set colour=3", "{file}: colour: unknown key; known here: "),
    ("run {file} --set link[0].rate=3", "{file}: link: unknown key; did you mean `links`?"),
    ("run {file} --set flow[bulk].count=3", "{file}: flow: unknown key; did you mean `flows`?"),
    ("run {file} --set recrod.every=3", "{file}: recrod: unknown key; did you mean `record`?"),
    ("run {file} --set record.evry=3", "{file}: record.evry: unknown key; did you mean `every`?"),
    ("run {file} --set links[cor].rate=3", '{file}: links[cor]: there is none of this name; did you mean "core"?'),
    ("run {file} --set links[x].rate=3", "{file}: links[x]: there is none of this name; known: core, back"),
    ("run {file} --set flows[blk].count=3", '{file}: flows[blk]: there is none of this name; did you mean "bulk"?'),
    ("run {file} --set links.core.rate=3", "{file}: links: is not a table, so it has no core; write links[core]"),
    ("run {file} --set links[0].bufer=3", "{file}: links[0].bufer: unknown key; did you mean `buffer`?"),
    ("run {file} --set flows[0].tcp.min_rtt=3", "{file}: flows[0].tcp.min_rtt: unknown key; did you mean `min_rto`?"),
    # Values: laws, queues, links of a path, flows of a trace.
    ("run {file} --set flows[0].control=renoo", '{file}: flows[0].control: unknown law "renoo"; did you mean "reno"?'),
    (
        "run {file} --set flows[0].recovery=newrno",
        '{file}: flows[0].recovery: unknown recovery "newrno"; did you mean "newreno"?',
    ),
    ("run {file} --set links[0].queue=rde", '{file}: links[0].queue: unknown discipline "rde"; did you mean "red"?'),
    ('run {file} --set flows[0].path=["coer"]', '{file}: flows[0].path[0]: unknown link "coer"; did you mean "core"?'),
    (
        'run {file} --set record.trace=["blk[0]"]',
        '{file}: record.trace[0]: unknown group "blk"; did you mean "bulk"?',
    ),
    ("lint {file} --set flows[0].traffic=bulck", "{file}: flows[0].traffic: "),
    (
        "size {file} --target loss=1% --laws reno,hihgspeed",
        '{file}: flows[0].control.law: unknown law "hihgspeed"; did you mean "highspeed"?',
    ),
    (
        "size {file} --target loss=1% --queues codle",
        '{file}: links[0].queue.discipline: unknown discipline "codle"; did you mean "codel"?',
    ),
    # Sweeps.
    (
        "sweep {file} --ovr seed=[1,2]",
        "elephan sweep: there is no option --ovr; did you mean --over?; see elephan sweep",
    ),
    ("sweep {sweep}", "{sweep}: unknown key `ovr`; did you mean `over`?"),
    ("bench --laws rneo", '--laws: there is no "rneo"; did you mean "reno"?'),
    ("bench --queues rde", '--queues: there is no "rde"; did you mean "red"?'),
    (
        "bench --workloads W99",
        '--workloads: there is no "W99"; use all, or some of W1,W2,W3,W4,W5,W6,W6-paced,W6-fq-codel,W7,W8,W8b,W9,W10',
    ),
]


@pytest.mark.parametrize(("words", "line"), WRONG, ids=[words for words, _ in WRONG])
def test_a_misspelt_name_gets_the_nearest(elephan: Command, tmp_path: Path, words: str, line: str) -> None:
    file = tmp_path / "two.toml"
    file.write_text(FILE)
    sweep = tmp_path / "sweep.toml"
    sweep.write_text('base = "two.toml"\n[ovr]\nseed = [1, 2]\n')
    done = elephan(*(word.format(file=file, sweep=sweep) for word in words.split()))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(line.format(file=file, sweep=sweep)), done.err
    assert done.err.count("\n") == 1


def test_case_does_not_matter_and_the_first_of_equals_is_meant() -> None:
    assert nearest("RENO", ["cubic", "reno"]) == "reno"
    assert nearest("Link", ["LINK", "link"]) == "LINK"


def test_a_beginning_means_a_name_if_no_other_begins_so() -> None:
    assert nearest("dup", ["duplicate-acknowledgements", "window"]) == "duplicate-acknowledgements"
    assert nearest("par", ["parking-lot", "parking-garage"]) is None
    assert nearest("pa", ["parking-lot"]) is None


def test_nonsense_gets_the_list() -> None:
    assert suggest("qqq", ["reno", "cubic"]) == "use reno, cubic"
    assert suggest("qqq", ["reno", "cubic"], "see the list") == "see the list"


MEASURED = "time_s,rtt_ms,cwnd_segments,acked_bytes,retransmits\n" + "".join(
    f"{i / 10},{20 + i % 40},{20 + i % 40},120000,{int(i % 40 == 39)}\n" for i in range(1, 121)
)
"""A measurement with losses and a queue."""

NOBODY = "nosuch"
"""A name that does not exist anywhere."""

SCENARIOS = ("run", "lint", "estimate", "compare", "size", "sweep")

VERBS = {
    "size": "size {file} --target utilization=0.9",
    "sweep": "sweep {file} --over seed=1,2 --store {store}",
    "compare": "compare {file} --no-testbed",
    "model": "model sawtooth",
    "import": "import {trace}",
    "judge": "judge l4s-classic-2020",
    "infer": "infer {measured} --control cubic",
    "expect": "expect {queues} --replications 3",
    "kernel load": "kernel load cubic",
    "conform": f"conform tcp {Path(__file__).parent}/data/packetdrill/no-sack.pkt",
    "new": "new dumbbell",
    **{verb: f"{verb} {{file}}" for verb in ("run", "lint", "estimate", "testbed run")},
    **{f"store {verb}": f"store {verb} --store {{store}}" for verb in ("ls", "list", "export", "gc")},
    "store show": "store show 0",
    "store query": "store query nothing",
    "transfer": "transfer 1MB --rtt 40ms --rate 10Mbit/s",
    "attack": "attack cubic",
    "why": "why {file}",
}
"""Words of a call without the tried option; other verbs need nothing else."""

OF_SCENARIOS = {
    "--set": ["nosuch=1", "links[nosuch].rate=3", "flows.0.control=nosuch"],
    "--law": ["nosuch={law}:Mine"],
}

STORED = ("ls", "list", "tables", "show", "query", "export", "gc", "verify")
"""Verbs of a store that must be there."""

NAMES: dict[str, list[str]] = {
    **{f"{verb} {option}": words for verb in SCENARIOS for option, words in OF_SCENARIOS.items()},
    # A testbed has one link, and the kernel's laws.
    "testbed run --set": ["nosuch=1", "links[nosuch].rate=3"],
    "model --set": ["nosuch=1"],
    "kernel load --set": ["nosuch=1"],
    "size --target": ["nosuch=1"],
    "size --link": ["nosuch"],
    "size --laws": ["nosuch", "reno,nosuch"],
    "size --queues": ["nosuch"],
    "size --find": ["nosuch"],
    "size --pacing": ["nosuch"],
    "size --range": ["nosuch=1..2 --worst-case"],
    "why run": ["nosuch", "nosuch.toml"],
    "why --link": ["nosuch"],
    "why --store": ["nosuch"],
    "attack law_name": ["nosuch"],
    "attack --harm": ["nosuch"],
    "attack --law": ["nosuch={law}:Mine"],
    "attack --range": ["nosuch=1..2", "links[nosuch].rate=1..2 Mbit/s"],
    "model --link": ["nosuch --scenario {file}"],
    "run --precision": ["nosuch=1%", "goodput[nosuch]=1%"],
    "sweep --precision": ["nosuch=1%", "goodput[nosuch]=1%"],
    "run --metric": ["nosuch", "recovery_time(nosuch=1)"],
    "sweep --metric": ["nosuch", "recovery_time(nosuch=1)"],
    "run --engine": ["nosuch"],
    "run --trace": ["nosuch", "nosuch[3]"],
    "sweep --over": ["nosuch=1,2", "links[nosuch].rate=1,2Mbit/s", "flows[0].control=nosuch"],
    "sweep --zip": ["nosuch=1,2;duration=2s,3s"],
    "sweep --columns": ["nosuch", "delay[nosuch]", "goodput[nosuch]"],
    "store export --columns": ["nosuch"],
    "store export --format": ["nosuch"],
    **{f"{verb} --tables": ["nosuch --out out"] for verb in ("run", "size", "sweep")},
    **{f"store {verb} --where": ["nosuch=1"] for verb in ("ls", "list", "export", "gc")},
    **{f"store {verb} --store": ["nosuch"] for verb in STORED},
    **{f"import --{column}": ["nosuch"] for column in ("rate", "delay")},
    "import --columns": ["nosuch,2 --rate Mbit/s"],
    "import --time": ["nosuch --rate Mbit/s"],
    **{f"bench --{what}": ["nosuch", "nosuch,all"] for what in ("laws", "queues", "workloads")},
    # Arguments, by their names.
    **{f"{verb} scenario": ["nosuch"] for verb in ("run", "lint", "compare", "testbed run")},
    "size scenario": ["nosuch --target loss=1%"],
    "estimate file": ["nosuch"],
    "sweep sweep_file": ["nosuch"],
    "model name": ["nosuch"],
    "model --scenario": ["nosuch"],
    "reproduce ids": ["nosuch"],
    "conform suite": ["nosuch"],
    "judge sets": ["nosuch"],
    "judge --held-out": ["nosuch"],
    "conform cases": ["bbr nosuch", "tcp nosuch"],
    "conform --law": ["nosuch"],
    "conform --set": ["nosuch=1", "links[nosuch].rate=3"],
    "new kind": ["nosuch"],
    "import trace": ["nosuch"],
    "import file": ["tc nosuch"],
    "infer files": ["nosuch"],
    **{f"infer --{option}": ["nosuch"] for option in ("rate", "rtt", "beside", "control", "every")},
    "run --also": ["nosuch"],
    "infer --what-if": ["nosuch", "nosuch=1", "queues=nosuch"],
    "expect path": ["nosuch"],
    **{f"expect --{option}": ["nosuch"] for option in ("measured", "time", "dev", "rtt", "link-rate")},
    "expect --set": ["nosuch=1", "links[nosuch].rate=3"],
    "report folders": ["nosuch"],
    "web --host": ["nosuch"],
    **{f"kernel {verb} law": ["nosuch"] for verb in ("load", "unload", "show")},
    "list kind": ["nosuch"],
    "schema kind": ["nosuch"],
    "store tables table": ["nosuch --store {store}"],
    "store show run": ["nosuch --store {store}"],
    "store query sql": ["'SELECT nosuch FROM results' --store {store}", "'SELECT * FROM nosuch' --store {store}"],
    "store merge others": ["nosuch --store {store}"],
    "completion shell": ["nosuch"],
    "answer ids": ["nosuch", "satellite nosuch"],
    "transfer --law": ["nosuch"],
}
"""Options and arguments that name something, with values that hold an unknown name."""

WRITTEN = "where something is written: it need not be there"
NUMBER = "a number, or a quantity with its unit: any may be right"
NO_NAMES = {
    **dict.fromkeys(
        (
            "--out",
            "--pages",
            "web --store",
            "web --export",
            "infer --plot",
            "run --store",
            "sweep --store",
            "reproduce --store",
            "answer --store",
            "store merge --store",
        ),
        WRITTEN,
    ),
    **dict.fromkeys(("--workers", "--seed", "--replications", "--max-replications", "--attempts", "--runs"), NUMBER),
    **dict.fromkeys(("new --rate", "new --rtt", "new --flows", "new --hops", "new --buffer"), NUMBER),
    **dict.fromkeys(
        (
            "store ls --limit",
            "store query --limit",
            "store list --limit",
            "store gc --older-than",
            "size --precision",
            "sweep --shard",
            "web --port",
            "conform --random",
            "why --replication",
            "why --forks",
            "transfer size",
            "transfer --rtt",
            "transfer --rate",
            "transfer --after",
            "transfer --buffer",
            "transfer --loss",
            "transfer --receive-window",
        ),
        NUMBER,
    ),
    "judge --testbed": WRITTEN,
    **dict.fromkeys(("import --dev", "import --rtt", "import --link-rate"), "of tc's lines: as expect has them"),
    "import --time-format": "a pattern: what it does not fit is refused with the line",
    "sweep --scheduler": "an address: who is there is asked over the network",
}
"""Options that cannot have an unknown name, and why."""


def _named() -> Iterator[str]:
    """Every option and argument of the command line that takes a value, as "verb --option"."""

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[str]:
        for name, verb in getattr(command, "commands", {}).items():
            yield from walk(verb, (*path, name))
        if not hasattr(command, "commands"):
            for each in command.params:
                if not getattr(each, "is_flag", False):
                    yield " ".join([*path, each.opts[0]])

    return walk(command(), ())


def test_every_option_with_a_value_is_tried_with_an_unknown_name_or_says_why_not() -> None:
    found = set(_named())
    listed = {each for each in found if each in NAMES or {each, each.split()[-1]} & NO_NAMES.keys()}
    assert sorted(found - listed) == []
    # Removed names are not listed either.
    assert sorted(NAMES.keys() - found) == []
    assert sorted(each for each in NO_NAMES if not any(one.endswith(each) for one in found)) == []


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files that commands work on: a scenario, a law, a trace, a store with a run."""
    folder = tmp_path_factory.mktemp("things")
    texts = {
        "file": ("two.toml", FILE),
        "queues": ("q.txt", "qdisc netem 1: dev eth0 root limit 1000 delay 20ms rate 10Mbit\n"),
        "measured": ("m.csv", MEASURED),
        "law": ("mine.py", "class Mine:\n    cwnd = 9.0\n    def on_loss(self, event):\n        pass\n"),
        "trace": ("trace.txt", "0,1\n1,5\n2,9\n"),
    }
    for name, text in texts.values():
        (folder / name).write_text(text, encoding="utf-8")
    with Store(folder / "store") as store:
        store.run(Scenario.from_text(EXAMPLE).replace(replications=1), labels={"seed": 1})
    return {**{key: folder / name for key, (name, _) in texts.items()}, "store": folder / "store"}


@pytest.mark.parametrize(("option", "value"), [(option, value) for option, values in NAMES.items() for value in values])
def test_a_name_that_nothing_has_is_reported(
    elephan: Command,
    things: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    option: str,
    value: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    verb, _, name = option.rpartition(" ")
    filled = shlex.split(value.format(**things))
    if name.startswith("--"):
        done = elephan(*VERBS.get(verb, verb).format(**things).split(), name, *filled)
    else:
        done = elephan(*verb.split(), *filled)
    assert (done.code, done.out) == (2, "")
    if "built without the kernel's laws" in done.err:
        pytest.skip(done.err)
    assert done.err.count("\n") == 1, done.err
    assert NOBODY in done.err
    assert not list(tmp_path.iterdir())
