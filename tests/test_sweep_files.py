"""Sweep files: lists, ranges, coupled values, cases; the order of the points; refusals."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elephan.errors import InputError
from elephan.scenario import EXAMPLE, Scenario
from elephan.sweeps import Sweep
from elephan.sweeps.lists import read_list, read_words

BASE = Scenario.from_text(EXAMPLE, "base.toml")


def labels(**what: Any) -> list[tuple[Any, ...]]:
    return [tuple(point.labels.values()) for point in Sweep.of(BASE, **what).points()]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("100..15000 packets:3log", ["100 packets", "1225 packets", "15000 packets"]),
        ("1..5 packets:9lin", ["1 packets", "2 packets", "3 packets", "4 packets", "5 packets"]),  # whole, none twice
        ("0..1 bdp:3lin", ["0 bdp", "0.5 bdp", "1 bdp"]),
        ("10 ms..1 s:3log", ["0.01 s", "0.1 s", "1 s"]),
        ("1..4:4lin", [1, 2, 3, 4]),
        ("0.5..1.5:3lin", [0.5, 1.0, 1.5]),
        ("0.01%..1%:3", ["0.01%", "0.1%", "1%"]),  # by ratio where nothing is said, as `elephan model --set`
        ("1.23456 ms..2 ms:3lin", ["1.23456 ms", "1.617 ms", "2 ms"]),  # ends keep their digits
    ],
)
def test_a_range_is_values_as_a_scenario_has_them(text: str, values: list[object]) -> None:
    assert read_list("here", text) == values
    # Types too: a whole number is none with a point.
    assert [type(value) for value in read_list("here", text)] == [type(value) for value in values]


@pytest.mark.parametrize("given", [range(1, 4), np.arange(1, 4), (np.int64(1), np.int32(2), 3)])
def test_ranges_of_python_and_arrays_are_lists(given: object) -> None:
    assert read_list("here", given) == [1, 2, 3]
    assert {type(value) for value in read_list("here", given)} == {int}


def test_a_command_line_may_leave_quotes_and_brackets_out() -> None:
    assert read_words("here", '["0.1 bdp", "1 bdp"]') == ["0.1 bdp", "1 bdp"]
    assert read_words("here", "0.1 bdp, 1 bdp") == ["0.1 bdp", "1 bdp"]
    assert read_words("here", "1,2,4..8:3lin") == [1, 2, 4, 6, 8]
    assert read_words("here", "true,false") == [True, False]
    assert read_words("here", '[{ law = "reno" }, { law = "cubic" }]') == [{"law": "reno"}, {"law": "cubic"}]


def test_the_last_axis_is_fastest_and_lists_that_go_together_are_one_axis() -> None:
    made = labels(
        over={"seed": [1, 2], "flows[0].count": [3, 4]},
        zip={"links[0].rate": ["10 Mbit/s", "20 Mbit/s"], "links[0].buffer": ["25 packets", "50 packets"]},
    )
    assert made[:5] == [
        (1, 3, "10 Mbit/s", "25 packets"),
        (1, 3, "20 Mbit/s", "50 packets"),
        (1, 4, "10 Mbit/s", "25 packets"),
        (1, 4, "20 Mbit/s", "50 packets"),
        (2, 3, "10 Mbit/s", "25 packets"),
    ]
    assert len(made) == 8


def test_the_order_is_that_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(EXAMPLE)
    file = tmp_path / "sweep.toml"
    file.write_text("""
base = "base.toml"
replications = 2
seed = 9
title = "Order"
set = { duration = "2 s" }

[[cases]]
name = "a"

[over]
seed = [1, 2]
""")
    sweep = Sweep.from_file(file)
    assert [tuple(point.labels.items()) for point in sweep.points()] == [
        (("case", "a"), ("seed", 1)),
        (("case", "a"), ("seed", 2)),
    ]
    point = sweep.points()[0].scenario
    assert (sweep.title, point.replications, point.facts["duration_s"]) == ("Order", 2, 2.0)


def test_cases_nest_and_their_names_are_joined() -> None:
    deep: list[dict[str, Any]] = [
        {"name": "short", "set": {"links[0].buffer": "5 packets"}},
        {"name": "long", "over": {"seed": [7, 8]}},
    ]
    cases: list[dict[str, Any]] = [
        {"name": "red", "set": {"links[0].queue": {"discipline": "red"}}, "cases": deep},
        {"name": "plain"},
    ]
    points = Sweep.of(BASE, over={"flows[0].count": [1, 2]}, cases=cases).points()
    assert [point.labels for point in points[:4]] == [
        {"flows[0].count": 1, "case": "red/short"},
        {"flows[0].count": 1, "seed": 7, "case": "red/long"},
        {"flows[0].count": 1, "seed": 8, "case": "red/long"},
        {"flows[0].count": 1, "case": "plain"},
    ]
    assert len(points) == 8
    made = points[4].scenario.links[0]
    assert (made["discipline"], made["buffer_limit_packets"], made["flows"]) == ("red", 5, 2)


def test_cases_beside_cases_are_refused_as_their_names_would_not_tell_points_apart() -> None:
    first, second = ([{"name": name, "set": {place: 1}}] for name, place in (("a", "seed"), ("b", "replications")))
    with pytest.raises(InputError, match="nest the new ones"):
        Sweep.of(Scenario.from_text(EXAMPLE), cases=first).extended(cases=second)


def test_a_table_is_set_before_what_lies_in_it_and_is_one_line_as_a_label() -> None:
    over = {"links[0].queue.target": ["7 ms"], "links[0].queue": [{"discipline": "codel"}]}
    (point,) = Sweep.of(BASE, over=over).points()
    assert point.scenario.resolved["links"][0]["queue"]["target"] == "7 ms"
    assert point.labels["links[0].queue"] == '{ discipline = "codel" }'


def test_places_without_quotes_are_understood_where_toml_allows_them() -> None:
    assert labels(over={"record": {"every": ["10 ms", "20 ms"]}}) == [("10 ms",), ("20 ms",)]


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"ovr": {}}, "s.toml: unknown key `ovr`; did you mean `over`?"),
        ({"base": None}, 's.toml: base: missing; write base = "scenario.toml", or a table [base]'),
        ({"over": {"seed": 5}}, 's.toml: over."seed": must be a list or a range; write [5]'),
        ({"over": {"seed": []}}, 's.toml: over."seed": the list is empty'),
        ({"over": {"seed": "1..x:3"}}, 's.toml: over."seed": "1..x:3" is not a range'),
        ({"over": {"seed": "1..5:1"}}, 's.toml: over."seed": "1" is not a valid number of values'),
        ({"over": {"seed": "0..5:3log"}}, "its ends must be above 0"),
        ({"over": {"seed": "1 ms..5 MB:3"}}, "units of different kinds"),
        (
            {"zip": {"seed": [1, 2], "replications": [1]}},
            's.toml: zip: lists that go together have one length; here "s',
        ),
        ({"over": {"seed": [1]}, "zip": [{"seed": [2]}]}, 's.toml: zip: "seed" varies twice'),
        ({"over": {"seed": [1]}, "cases": [{"name": "a", "set": {"seed": 2}}]}, 's.toml: cases[0].set: "seed" varies'),
        ({"cases": [{"name": "a"}, {"name": "a"}]}, 's.toml: cases: two are called "a"'),
        ({"cases": [{"nam": "a"}]}, "cases[0]: unknown key `nam`; did you mean `name`?"),
        ({"cases": [{"name": "a", "over": {"seed": 1}}]}, 's.toml: cases[0].over."seed": must be a list'),
        ({"over": {"seed": "1..9999:9999lin", "flows[0].count": "1..9999:9999lin"}}, "99980001 points"),
        ({"precision": 1}, "s.toml: precision: must be text"),
        ({"max_replications": 1}, "s.toml: max_replications: must be a whole number, 2 or more"),
        ({"replications": 0}, "s.toml: replications:"),
        ({"base": "nowhere.toml"}, "s.toml: base: nowhere.toml: no such file"),
    ],
)
def test_what_is_wrong_is_said_in_a_line_with_the_key(mapping: dict[str, Any], message: str) -> None:
    whole = {"base": tomllib.loads(EXAMPLE), **mapping}
    if whole["base"] is None:
        del whole["base"]
    with pytest.raises(InputError) as refused:
        Sweep.from_mapping(whole, "s.toml")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"links[0].bufer": ["1 bdp"]}, "base.toml: over: links[0].bufer: unknown key; did you mean `buffer`?"),
        (
            {"links[cor].buffer": ["1 bdp"]},
            'base.toml: over: links[cor]: there is none of this name; did you mean "core"?',
        ),
        ({"seed": [1], "links[0].buffer": ["1 bpd", "2 bpd"]}, 'base.toml: over: links[0].buffer: unknown unit "bpd"'),
        ({"flows[0].control.law": ["rneo"]}, "base.toml: over: flows[0].control.law: unknown law"),
    ],
)
def test_a_sweep_without_a_single_scenario_is_a_mistake_in_the_file(over: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=r".") as refused:
        Sweep.of(BASE, over=over).points()
    assert message in str(refused.value)


def test_a_place_of_a_case_that_is_wrong_is_named_by_its_key() -> None:
    with pytest.raises(InputError, match=r"base.toml: cases\[0\].set: links\[9\]"):
        Sweep.of(BASE, cases=[{"name": "a", "set": {"links[9].buffer": "1 bdp"}}]).points()


def test_some_wrong_combinations_are_points_that_fail() -> None:
    points = Sweep.of(BASE, over={"links[0].buffer": ["1 bdp", "1 bpd"]}).points()
    assert points[0].error is None
    assert "unknown unit" in str(points[1].error)


def test_the_cost_is_what_links_can_serve() -> None:
    over = {"duration": ["4 s", "8 s"], "replications": [1, 3]}
    cost = [point.cost for point in Sweep.of(BASE, over=over).points()]
    # 10 Mbit/s for 4 s in packets of 1000 B: 5000; and 20000 that a replication takes besides.
    assert cost == [25_000, 75_000, 30_000, 90_000]


def test_an_unloaded_link_costs_nothing_and_datagrams_only_what_they_offer() -> None:
    poisson = {"traffic": {"kind": "poisson", "rate": "1 Mbit/s"}, "name": "d", "path": ["core"], "count": 2}
    idle = {"name": "idle", "rate": "100 Gbit/s", "delay": "1 ms", "buffer": "10 packets"}
    flows = [poisson | {"packet": "1000 B", "rtt": "80 ms"}]
    scenario = BASE.replace({"flows": flows, "links": [*BASE.source["links"], idle]})
    (point,) = Sweep.of(scenario, over={"seed": [1]}).points()
    assert point.cost == 20_000 + 2e6 * 4 / 8000
