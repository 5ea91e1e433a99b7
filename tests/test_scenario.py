"""Scenarios in Python: read, changed by path, and the messages when that fails."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elephan import InputError, Scenario, ScenarioError, _native, flow_files
from elephan.assignments import parse_assignment
from elephan.scenario import EXAMPLE


@pytest.fixture
def scenario() -> Scenario:
    return Scenario.from_text(EXAMPLE)


def test_the_same_scenario_said_otherwise_is_equal_and_has_the_same_id(scenario: Scenario) -> None:
    other = Scenario.from_text(EXAMPLE.replace('"10 Mbit/s"', '"10000 kbit/s"') + "\n# a remark\n", "elsewhere")
    assert other == scenario
    assert other.id == scenario.id
    assert scenario.replace(seed=2).id != scenario.id


def test_overrides_leave_the_original_alone(scenario: Scenario) -> None:
    before = scenario.canonical
    changed = scenario.replace({"links[0].buffer": "0.5 bdp", "flows[0].tcp.min_rto": "200 ms"})
    assert scenario.canonical == before
    assert changed.links[0]["buffer_limit_packets"] == 50
    assert changed.resolved["flows"][0]["tcp"]["min_rto_ps"] == 200_000_000_000


def test_a_changed_copy_reads_as_if_all_of_it_had_been_written() -> None:
    for path in sorted((Path(__file__).parent.parent / "scenarios").glob("*.toml")):
        scenario = Scenario.from_file(path)
        for changes in ({"seed": 9}, {"links[0].rate": "1 Gbit/s"}, {"record.every": "10 ms"}, {"title": '"] = [['}):
            # Twice: what was written for the first copy is used for the second.
            for changed in (scenario.replace(changes), scenario.replace(changes)):
                assert changed.text == flow_files.dumps(changed.source)
                assert (changed.id, changed.described) == (
                    _native.scenario_id(changed.canonical),
                    _native.describe(changed.canonical),
                )


def test_links_and_groups_can_be_called_by_name(scenario: Scenario) -> None:
    assert scenario.replace({"links[core].rate": "20 Mbit/s"}) == scenario.replace({"links[0].rate": "20 Mbit/s"})


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("links[3].buffer", "1 bdp", "scenario: links[3]: there is one, links[0]"),
        ("links[edge].buffer", "1 bdp", "scenario: links[edge]: there is none of this name; known: core"),
        ("seed.x", 1, "scenario: seed: is not a table, so it has no x"),
        ("links[0].", 1, 'scenario: "links[0]." is not a place in a scenario file; write for example links[0].buffer'),
        ("links[0].buffer[1]", 1, "scenario: links[0].buffer: is not a list, so it has no [1]"),
    ],
)
def test_places_that_do_not_exist_are_named(scenario: Scenario, place: str, value: object, message: str) -> None:
    if place == "seed.x":
        scenario = scenario.replace(seed=1)
    with pytest.raises(ScenarioError) as error:
        scenario.replace({place: value})
    assert str(error.value) == message


def test_wrong_values_are_refused_where_they_stand(scenario: Scenario) -> None:
    with pytest.raises(ScenarioError, match=r"^scenario: links\[0\]\.rate: "):
        scenario.replace({"links[0].rate": "10 mbps"})
    with pytest.raises(ScenarioError, match=r"^scenario: links\[0\]\.bufer: unknown key"):
        scenario.replace({"links[0].bufer": "1 bdp"})


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"nothing\.toml: no such file or directory; give the path"):
        Scenario.from_file(tmp_path / "nothing.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\x00")
    with pytest.raises(ScenarioError, match=r"binary\.toml: not a text file in UTF-8"):
        Scenario.from_file(tmp_path / "binary.toml")
    (tmp_path / "wide.toml").write_bytes(EXAMPLE.encode("utf-16"))
    with pytest.raises(ScenarioError, match=r"wide\.toml: is a text in UTF-16; give the path of a scenario file"):
        Scenario.from_file(tmp_path / "wide.toml")
    (tmp_path / "README.md").write_text("# A title\n\nsome words\n")
    with pytest.raises(ScenarioError, match=r"README\.md: line 3.*; give the path of a scenario file \(TOML\)$"):
        Scenario.from_file(tmp_path / "README.md")


def test_scenario_errors_are_input_errors_and_value_errors() -> None:
    assert issubclass(ScenarioError, InputError)
    assert issubclass(ScenarioError, ValueError)


def test_links_are_found_by_name(scenario: Scenario) -> None:
    assert scenario.link_index("core") == scenario.link_index(None) == 0
    with pytest.raises(ScenarioError, match=r'there is no link "edge"; links: core'):
        scenario.link_index("edge")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("seed=3", ("seed", 3)),
        ("warmup=10 s", ("warmup", "10 s")),
        ('warmup="10 s"', ("warmup", "10 s")),
        ('flows[0].path=["a", "b"]', ("flows[0].path", ["a", "b"])),
        ("links[0].loss={random = 1e-4}", ("links[0].loss", {"random": 1e-4})),
    ],
)
def test_assignments_are_toml_or_text(text: str, expected: tuple[str, object]) -> None:
    assert parse_assignment(text) == expected


def test_an_assignment_needs_an_equals_sign() -> None:
    with pytest.raises(ScenarioError, match=r"^--set: .* is not of the form place=value"):
        parse_assignment("seed")


@given(st.text(max_size=40), st.text(max_size=20))
def test_any_place_and_value_is_taken_or_refused_in_one_line(place: str, value: str) -> None:
    message = ""
    try:
        Scenario.from_text(EXAMPLE).replace({place: value})
    except ScenarioError as error:
        message = str(error)
    assert len(message.splitlines()) <= 1


def test_replacing_nothing_gives_the_same_scenario(scenario: Scenario) -> None:
    assert scenario.replace() is scenario.replace({}, seed=None) is scenario


@pytest.mark.parametrize(
    ("name", "place", "value", "table"),
    [
        ({"flows[0].tcp": "linux"}, "flows[0].tcp.delayed_ack", 1, {"profile": "linux", "delayed_ack": 1}),
        ({"flows[0].control": "cubic"}, "flows[0].control.beta", 0.5, {"law": "cubic", "beta": 0.5}),
        ({"flows[0].control": "cubic"}, "flows[0].control.law", "reno", {"law": "reno"}),
        ({"links[0].queue": "codel"}, "links[0].queue.target", "9 ms", {"discipline": "codel", "target": "9 ms"}),
        ({"flows[0].traffic": "elastic"}, "flows[0].traffic.load", 0.5, {"kind": "elastic", "load": 0.5}),
    ],
)
def test_a_key_can_be_set_beside_a_name_that_stands_for_a_table(
    name: dict[str, object], place: str, value: object, table: dict[str, object]
) -> None:
    base = Scenario.from_text(EXAMPLE).replace(name)
    assert base.replace({place: value}).id == base.replace({next(iter(name)): table}).id


def test_a_broken_inline_table_is_not_taken_as_text() -> None:
    with pytest.raises(ScenarioError, match=r"--set flows\[0\]\.tcp: not an inline table of TOML, which ends with }"):
        parse_assignment('flows[0].tcp={ profile = "linux"')
    with pytest.raises(ScenarioError, match=r"not an inline table of TOML \(Expected '='"):
        parse_assignment("flows[0].tcp={ profile: linux }")
