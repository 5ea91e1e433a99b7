"""``elephan schema``: the schema allows everything that the parser accepts, and both refuse wrong types."""

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from conftest import SCENARIOS, Command
from elephan.assignments import assign
from elephan.errors import ScenarioError
from elephan.scenario import EXAMPLE, Scenario
from elephan.schema import KINDS, schema
from elephan.sweeps import axes, document
from elephan.templates import DEFAULTS, template

BENCHES = SCENARIOS.parent / "python" / "elephan" / "bench" / "scenarios"
FILES = [*sorted(SCENARIOS.glob("*.toml")), *sorted(BENCHES.glob("*.toml"))]


def validator(kind: str) -> Any:
    return jsonschema.Draft202012Validator(schema(kind))


@pytest.fixture(scope="module")
def scenarios() -> Any:
    return validator("scenario")


@pytest.fixture(scope="module")
def sweeps() -> Any:
    return validator("sweep")


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_one_and_needs_no_other(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(kind))
    text = json.dumps(schema(kind))
    assert text.count('"$ref": "') == text.count('"$ref": "#/$defs/')
    assert set(schema(kind)["$defs"]) >= {part.split('"')[0] for part in text.split('"$ref": "#/$defs/')[1:]}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_shipped_scenarios_are_valid(scenarios: Any, path: Path) -> None:
    assert [error.message for error in scenarios.iter_errors(tomllib.loads(path.read_text()))] == []


@pytest.mark.parametrize("kind", DEFAULTS)
def test_templates_are_valid(scenarios: Any, kind: str) -> None:
    assert [error.message for error in scenarios.iter_errors(tomllib.loads(template(kind, {})))] == []


def changed(place: str, value: object) -> dict[str, Any]:
    mapping = copy.deepcopy(tomllib.loads(EXAMPLE))
    assign(mapping, place, value)
    return mapping


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("duration", 4),
        ("duration", ["4 s"]),
        ("duration", "4"),
        ("duration", "4 weeks"),
        ("duration", "-4 s"),
        ("warmup", 1.5),
        ("title", 7),
        ("seed", "one"),
        ("seed", 1.5),
        ("replications", 0),
        ("replications", "3"),
        ("links", "core"),
        ("links", []),
        ("flows", []),
        ("links[0].name", 1),
        ("links[0].rate", 10),
        ("links[0].rate", "10 mbps"),
        ("links[0].rate", {}),
        ("links[0].delay", True),
        ("links[0].delay", {"uniform": ["1 ms"]}),
        ("links[0].buffer", 25),
        ("links[0].buffer", "25 cells"),
        ("links[0].buffer", "10 % of buffer"),
        ("links[0].queue", 3),
        ("links[0].queue", "rde"),
        ("links[0].queue", {"discipline": "red", "gentel": True}),
        ("links[0].queue", {"discipline": "red", "gentle": []}),
        ("links[0].queue", {"discipline": "red", "min_th": "5 elephants"}),
        ("links[0].queue", {"discipline": "red", "min_th": "bdp/sqrt(n)"}),
        ("links[0].loss", {"random": 2}),
        ("links[0].loss", {"every": 1.5}),
        ("links[0].loss", {"random": 0.1, "every": 10}),
        ("links[0].bufer", "25 packets"),
        ("flows[0].count", 0),
        ("flows[0].count", "2"),
        ("flows[0].path", "core"),
        ("flows[0].path", []),
        ("flows[0].return", "core"),
        ("flows[0].rtt", 80),
        ("flows[0].rtt", {"form": "1 ms", "to": "2 ms"}),
        ("flows[0].rtt", {"pareto": {"mean": "100 ms"}}),
        ("flows[0].packet", 1000),
        ("flows[0].packet", "1000"),
        ("flows[0].access", "10 Gbit/s"),
        ("flows[0].control", {"law": "renoo"}),
        ("flows[0].control", {"law": "reno", "low_window": 38}),
        ("flows[0].control", {"law": "reno", "slow_start": "slow"}),
        ("flows[0].control", {"law": "reno", "increase": "1"}),
        ("flows[0].recovery", "newrno"),
        ("flows[0].start", 0),
        ("flows[0].start", {"to": "1 s"}),
        ("flows[0].stop", 9),
        ("flows[0].traffic", {"kind": "poisson", "rate": 5}),
        ("flows[0].traffic", {"rate": "5 Mbit/s"}),
        ("flows[0].tcp", "windows"),
        ("flows[0].tcp", {"min_rto": 1}),
        ("flows[0].tcp", {"delayed_ack": 0}),
        ("flows[0].tcp", {"initial_window": 2.5}),
        ("flows[0].tcp", {"ecn": "maybe"}),
        ("flows[0].tcp", {"receive_window": "much"}),
        ("record", "100 ms"),
        ("record", {"every": 0.1}),
        ("record", {"trace": "bulk[0]"}),
        ("record", {"packets": [{"link": "core"}]}),
        ("record", {"delays": "yes"}),
    ],
)
def test_what_the_parser_refuses_by_its_type_the_schema_refuses(scenarios: Any, place: str, value: object) -> None:
    mapping = changed(place, value)
    assert not scenarios.is_valid(mapping)
    with pytest.raises(ScenarioError):
        Scenario.from_mapping(mapping)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("warmup", "auto"),
        ("links[0].rate", {"uniform": ["9 Mbit/s", "11 Mbit/s"]}),
        ("links[0].queue", {"discipline": "red", "min_th": 5, "gentle": True}),
        ("links[0].queue", {"discipline": "red", "min_th": "5 packets"}),
        ("links[0].loss", "none"),
        ("links[0].loss", {"random": 0}),
        ("links[0].buffer", "10 % bdp"),
        ("links[0].buffer", "10% of bdp"),
        ("links[0].buffer", "0.5 bdp / sqrt(n)"),
        ("links[0].buffer", "bdp"),
        ("links[0].buffer", "1.5e3 kB"),
        ("links[0].buffer", "unlimited"),
        ("links[0].queue", {"discipline": "red", "min_th": "10 % bdp", "max_th": "bdp"}),
        ("links[0].queue", {"discipline": "red", "min_th": "10 %", "max_th": "1 buffer"}),
        ("links[0].queue", {"discipline": "red", "min_th": "auto"}),
        ("flows[0].rtt", ["80 ms", "90 ms"]),
        ("flows[0].rtt", "auto"),
        ("flows[0].rtt", {"pareto": {"mean": "100 ms", "shape": 1.5}}),
        ("flows[0].control", {"slow_start": "limited"}),
        ("flows[0].control", {"law": "highspeed", "slow_start": {"kind": "limited", "max_ssthresh": 50}}),
        ("flows[0].start", {"from": "0 s", "every": "1 s"}),
        ("flows[0].stop", {"after": {"exponential": "3 s"}}),
        ("flows[0].tcp", {"ecn": True, "initial_ssthresh": 20, "receive_window": "none"}),
        ("flows[0].tcp", "linux"),
        ("record", {"every": "none", "trace": ["bulk[0]"], "delays": True}),
    ],
)
def test_what_the_parser_reads_the_schema_allows(scenarios: Any, place: str, value: object) -> None:
    mapping = changed(place, value)
    Scenario.from_mapping(mapping)
    assert [error.message for error in scenarios.iter_errors(mapping)] == []


@pytest.mark.parametrize(
    ("place", "units"),
    [
        ("warmup", ("ps", "ns", "us", "µs", "ms", "s", "sec", "min", "h")),
        (
            "links[0].rate",
            ("bit/s", "kbit/s", "Mbit/s", "gbit", "Gb/s", "Kbps", "Gbps", "GB/s", "MBps", "bits/s", "Tbit"),
        ),
        ("flows[0].packet", ("B", "bytes", "kB", "KB", "MB", "KiB")),
        ("links[0].buffer", ("packets", "packet", "p", "pkt", "B", "MiB", "ms", "% bdp", "of bdp", "bdp/sqrt(n)")),
    ],
)
def test_every_unit_that_the_parser_knows_is_in_the_pattern(scenarios: Any, place: str, units: tuple[str, ...]) -> None:
    for unit in units:
        for number in ("1", "+1", "1.5", ".5", "1e1", "1_000", " 1 "):
            mapping = changed(place, f"{number}{unit}")
            assert scenarios.is_valid(mapping), (number, unit)
            assert "unit" not in message(mapping), (number, unit)


def message(mapping: dict[str, Any]) -> str:
    """Return the parser's message about a scenario; empty if there is none."""
    try:
        Scenario.from_mapping(mapping)
    except ScenarioError as error:
        return str(error)
    return ""


def test_keys_say_what_they_mean_with_their_default(scenarios: Any) -> None:
    parts = scenarios.schema["$defs"]
    assert (
        parts["TcpTable"]["properties"]["min_rto"]["description"] == 'Smallest retransmission timeout. Default: "1 s".'
    )
    law = parts["Control"]["anyOf"][1]["properties"]
    assert law["decrease"]["description"] == "Share of the window given up on loss. Default: 0.5."
    assert law["slow_start"]["description"].endswith('Default: "classic".')


@pytest.mark.parametrize(
    "text",
    [
        'base = "base.toml"',
        'base = "base.toml"\n[over]\n"links[0].buffer" = ["0.1 bdp", "1 bdp"]\n"flows[0].count" = [2, 5]',
        'base = "b.toml"\nprecision = ["1%"]\nmax_replications = 50',
        'base = "b.toml"\n[over]\n"links[0].buffer" = "100..1500 packets:5log"',
        'base = "b.toml"\n[over]\nrecord.every = ["1 s", "2 s"]',
        'base = "b.toml"\n[[zip]]\n"links[0].rate" = ["1 Gbit/s"]\n"links[0].buffer" = ["1 bdp"]',
        'base = "b.toml"\n[[cases]]\nname = "red"\nset = { "links[0].queue" = "red" }\n[cases.over]\nseed = [1, 2]',
        'base = "b.toml"\n[[cases]]\nname = "outer"\n[[cases.cases]]\nname = "inner"\nset = { seed = 3 }',
    ],
)
def test_sweeps_are_valid(sweeps: Any, text: str) -> None:
    assert [error.message for error in sweeps.iter_errors(tomllib.loads(text))] == []


@pytest.mark.parametrize("path", sorted((SCENARIOS / "sweeps").glob("*.toml")), ids=lambda path: path.name)
def test_shipped_sweeps_are_valid(sweeps: Any, path: Path) -> None:
    assert [error.message for error in sweeps.iter_errors(tomllib.loads(path.read_text()))] == []


def test_the_keys_are_those_that_a_sweep_reads(sweeps: Any) -> None:
    assert set(sweeps.schema["properties"]) == set(document._KEYS)
    assert set(sweeps.schema["$defs"]["Case"]["properties"]) == {"name", "set", *axes.KEYS}


def test_a_sweep_may_hold_its_scenario(sweeps: Any) -> None:
    base = tomllib.loads(EXAMPLE)
    assert sweeps.is_valid({"base": base, "over": {"seed": [1, 2]}})
    base["links"][0]["rate"] = 10
    assert not sweeps.is_valid({"base": base, "over": {"seed": [1, 2]}})


@pytest.mark.parametrize(
    "text",
    [
        "[over]\nseed = [1]",
        "base = 3",
        'base = "b.toml"\nover = ["links[0].buffer"]',
        'base = "b.toml"\n[over]\nseed = 3',
        'base = "b.toml"\n[over]\nseed = []',
        'base = "b.toml"\n[ovr]\nseed = [1]',
        'base = "b.toml"\n[[cases]]\nset = { seed = 3 }',
        'base = "b.toml"\n[[cases]]\nname = "a"\nsets = { seed = 3 }',
        'base = "b.toml"\nreplications = 0',
    ],
)
def test_what_is_no_sweep_is_refused(sweeps: Any, text: str) -> None:
    assert not sweeps.is_valid(tomllib.loads(text))


def test_the_verb_prints_or_writes_it(elephan: Command, tmp_path: Path) -> None:
    assert json.loads(elephan("schema").out) == schema()
    out = tmp_path / "elephan.schema.json"
    done = elephan("schema", "sweep", "--out", out)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith(f"{out} is written")
    assert json.loads(out.read_text()) == schema("sweep")
    again = elephan("schema", "--out", out)
    assert (again.code, again.err) == (2, f"--out {out}: is there already; --force replaces it\n")
    assert elephan("schema", "--out", out, "--force").code == 0
    assert json.loads(out.read_text()) == schema()


def test_a_new_file_names_the_schema_that_lies_beside_it(elephan: Command, tmp_path: Path) -> None:
    assert elephan("new", "dumbbell", "--out", tmp_path / "alone.toml").code == 0
    assert not (tmp_path / "alone.toml").read_text().startswith("#:schema")
    (tmp_path / "elephan.schema.json").write_text("{}")
    assert elephan("new", "dumbbell", "--out", tmp_path / "mine.toml").code == 0
    assert (tmp_path / "mine.toml").read_text() == f"#:schema ./elephan.schema.json\n{template('dumbbell', {})}"
    assert elephan("run", tmp_path / "mine.toml", "--set", "duration=2 s", "--set", "warmup=1 s", "-q").code == 0
