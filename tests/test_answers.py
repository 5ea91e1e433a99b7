"""``elephan answer``: verdicts decided by intervals, records, pages, and scenarios of a default host."""

import json
import math
import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import elephan as package
from conftest import Command
from elephan.errors import InputError
from elephan_evidence.answers import STAYS, Answer, Record, answer, answers, asking, find, record, repeats, simulators
from elephan_evidence.answers.near import nearest
from elephan_evidence.answers.shown import filled, is_on_screen, not_on_screen
from elephan_evidence.answers.values import Claim, Values
from elephan_evidence.report.answers import write_pages

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "python" / "elephan" / "examples" / "operators"
OF_THE_QUESTION = {"ecn", "receive_window", "send_jitter", "burst"}
"""Settings that a scenario may have besides the profile: marks, windows and bursts for a question, and jitter against
phase effects."""

OWN = """
topic = "sizing"
order = 1
question = "Is A less than B on 10 Mbit/s?"
command = "elephan sweep scenarios/operators/own.toml --over 'links[0].buffer=10 packets,40 packets' --store runs"
answer = "A waits {time(delay(0))}, B {time(delay(where('40 packets')))}."
claims = [["A waits less", "delay(0)", "<", "delay(1)"]]
stays = ["len(d['points'])"]
senders = "Reno."
changes = "More flows."
judged = "tofino-2021"
picture = { says = "Delay [ms]", per = 1e-3, rows = { A = "delay(0)", B = "delay(1)" } }
"""
SCENARIO = """
title = "Own"
duration = "8 s"
warmup = "2 s"
replications = 3
[[links]]
name = "link"
rate = "10 Mbit/s"
buffer = "10 packets"
[[flows]]
name = "flows"
count = 2
path = ["link"]
rtt = "20 ms"
packet = "1000 B"
start = { from = "0 s", to = "1 s" }
"""


def measured(mean: float, ci95: float) -> dict[str, float]:
    return {"mean": mean, "ci95": ci95}


def example(**more: Any) -> Answer:
    return Answer("own", "sizing", 1, "Is it so?", "elephan size x.toml", "A answers.", "Reno.", "More flows.", **more)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let one answer of the test be the only one; return its file."""
    home, scenarios = tmp_path / "asked", tmp_path / "examples"
    home.mkdir()
    (scenarios / "operators").mkdir(parents=True)
    (home / "own.toml").write_text(OWN)
    (scenarios / "operators" / "own.toml").write_text(SCENARIO)
    for module in (answer, record):
        monkeypatch.setattr(module, "HOME", home)
    monkeypatch.setattr(asking, "EXAMPLES", scenarios)
    monkeypatch.chdir(tmp_path)
    answers.cache_clear()
    yield home / "own.toml"
    answers.cache_clear()


@pytest.mark.parametrize(
    ("left", "sign", "right", "state"),
    [
        (measured(10, 3), "<", measured(15, 3), "holds"),
        (measured(10, 3), ">", measured(15, 3), "does not hold"),
        (measured(10, 4), "<", measured(15, 4), "not decided"),
        (measured(0.97, 0.01), ">", 0.95, "holds"),
        (measured(0.97, 0.03), ">", 0.95, "not decided"),
        ((200, [190, 210]), "<", (240, [215, 250]), "holds"),
        ((200, [190, 235]), "<", (240, [215, 250]), "not decided"),
        ((200, [190, 210]), "<", (math.inf, [math.inf, math.inf]), "holds"),
        (measured(1, 0), "<", measured(1, 0), "not decided"),
    ],
)
def test_a_claim_holds_where_the_interval_of_the_difference_excludes_the_opposite(
    left: Any, sign: str, right: Any, state: str
) -> None:
    assert Claim.of("it is so", left, sign, right).state == state


def test_what_is_not_decided_says_how_long_a_run_would_decide() -> None:
    # Intervals shrink with the root of the time: a difference of 1 in an interval of 3 needs nine times as much.
    asked = example(claims=(("A is less", "d['a']", "<", "d['b']"),))
    unsure = {"a": measured(10, 3), "b": measured(11, 0)}
    assert asked.sentence(unsure) == (
        "A answers. It is **not decided** whether A is less: about 9 times the simulated time would decide it."
    )
    sure = {"a": measured(10, 0.3), "b": measured(11, 0)}
    assert asked.sentence(sure) == "A answers."
    assert "Decided by 95 % intervals: A is less" in asked.certainty(sure)
    wrong = {"a": measured(12, 0.3), "b": measured(11, 0)}
    assert asked.sentence(wrong) == "A answers. This does **not** hold: A is less."
    claim = ("A is less", "d['a']", "<", "d['b']", "A is more")
    assert example(claims=(claim,)).sentence(wrong) == "A answers. A is more."
    first, second = (Record.of(asked, asking.Outcome("", 1.0, document)) for document in (sure, unsure))
    assert first.differences(second) == "A is less: holds, then not decided"
    assert first.differences(first) == STAYS


def test_what_was_sized_stays_where_intervals_overlap() -> None:
    asked = example(stays=("buffer()",))
    documents = ({"buffer_packets": n, "buffer_interval_packets": [n - 5, n + 5]} for n in (100, 108, 120))
    first, near, far = (Record.of(asked, asking.Outcome("", 1.0, document)) for document in documents)
    assert first.differences(near) == STAYS
    assert first.differences(far) == "100 (95 to 105), then 120 (115 to 125)"


def test_a_point_is_found_by_its_labels() -> None:
    labels = [{"law": "cubic", "queue": '{ discipline = "pie", profile = "linux" }'}, {"law": "cubic", "queue": "red"}]
    values = Values({"points": [{"labels": each} for each in labels]})
    assert [values.where("pie"), values.where("red", "cubic")] == [0, 1]
    with pytest.raises(KeyError, match="no point with codel"):
        values.where("codel")


def test_each_answer_says_for_whom_it_is_how_sure_and_what_is_near() -> None:
    assert len(answers()) >= 30
    assert len({each.order for each in answers()}) == len(answers())
    for each in answers():
        assert each.claims or each.sure, each.id
        found = Record.read(each)
        assert found is not None, f"{each.id}: elephan answer {each.id} --ask --bless"
        # A verdict of which nothing holds answers nothing, unless the sentence says that it is not decided.
        assert "holds" in found.claims.values() or not each.claims or "**not decided**" in found.sentence, each.id
        # What is known comes first.
        assert not found.sentence.startswith(("**", "It is **not", "This does **not")), each.id
        # A screen is at most 15 lines of 80 columns, but for the line for tc, which is copied.
        lines = found.screen.splitlines()
        assert len(lines) <= 15, each.id
        assert max(len(line) for line in lines if not line.startswith("Linux: ")) <= 80, each.id
        for file in asking.sources(each):
            assert file.exists()
        # What is drawn is what the present file asks for.
        assert [name for name, _ in found.drawn] == list(each.picture.rows if each.picture else ())
        assert len(found.stays) == len(each.stays)
        assert len(found.claims) == len(each.claims)


def test_every_number_of_an_answer_is_on_its_screen_or_named_as_not_being_there(elephan: Command) -> None:
    for each in answers():
        found = Record.read(each)
        assert found is not None
        parts = filled(each, found.sentence)
        # The expressions of the sentence are all found again, so that no value is left out.
        assert len(parts) == len([part for _, part, _, _ in Formatter().parse(each.answer) if part is not None])
        others = not_on_screen(each, found)
        for expression, text in parts:
            formula = expression.startswith(("window(", "held("))
            assert (
                formula
                or text.strip() in others
                or is_on_screen(text, f"{found.screen} {each.question} {each.command}")
            )
        shown = " ".join(elephan("answer", each.id, "--details").out.split())
        assert ("The command's table rounds or lacks these values" in shown) == bool(others)
        page = (ROOT / "docs" / "answers" / f"{each.id}.md").read_text()
        assert all(value in page.rpartition("```")[2] for value in others)
    assert {"20 ms", "126 ms", "207 ms"} <= set(not_on_screen(find("satellite"), Record.read(find("satellite"))))  # type: ignore[arg-type]


def test_an_answer_has_at_most_15_lines_on_a_terminal(elephan: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for each in answers():
        done = elephan("answer", each.id)
        # A word in quotes is not broken, so that the command can be copied; the terminal breaks it.
        rows = sum(-(-len(line) // 80) for line in [*done.out.splitlines(), *done.err.splitlines()])
        assert rows <= 15, each.id
        # A reader must see a limit of the answer without an option.
        assert "Would change it:" in done.out, each.id
        assert "Valid for:" in " ".join(elephan("answer", each.id, "--details").out.split())


def test_the_list_has_each_question_on_a_line(elephan: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = elephan("answer").out.splitlines()
    assert max(map(len, lines)) <= 80
    for each in answers():
        (line,) = (line for line in lines if line.startswith(f"  {each.id} "))
        shown = line.removeprefix(f"  {each.id}").strip()
        assert shown == each.question or each.question.startswith(shown.removesuffix(" ..."))
        assert len(shown) > 40 or shown == each.question


def test_an_arbitrary_number_is_rarely_taken_for_one_of_a_screen() -> None:
    """The null of the check: three digits that no run gave, against all screens of the answers."""
    screens = [record.screen for each in answers() if (record := Record.read(each)) is not None]
    tried = [is_on_screen(f"{number} ms", screen) for number in range(101, 1000, 37) for screen in screens]
    # A screen has some fifty numbers, most with two or three digits, each in five units.
    assert sum(tried) / len(tried) < 0.1
    assert is_on_screen("1,975 packets", "  1,975    2 MB")
    assert not is_on_screen("1,975 packets", "1,898 to 1,985")


def test_an_answer_is_asked_recorded_repeated_and_compared(own: Path, elephan: Command, tmp_path: Path) -> None:
    done = elephan("answer", "own", "--ask", "--store", "kept", "-q")
    assert done.code == 1
    assert "own: was not published yet" in done.err
    assert elephan("answer", "own", "--ask", "--bless", "--store", "kept", "-q").code == 0
    assert elephan("answer", "own", "--ask", "--store", "kept", "-q").code == 0
    shown = elephan("answer", "own")
    assert "A waits" in shown.out
    assert "Valid for: Reno." in shown.out
    assert len(shown.out.splitlines()) <= 15
    found = json.loads(elephan("answer", "own", "--json").out)[0]
    assert found["claims"] == {"A waits less": "holds"}
    assert elephan("answer", "own", "--repeat", "--bless", "--store", "kept", "-q").code == 0
    again = json.loads(elephan("answer", "own", "--json").out)[0]
    assert (again["longer"], again["seed"]) == (STAYS, STAYS)
    # The opposite claim is a difference.
    own.write_text(OWN.replace('"<"', '">"'))
    answers.cache_clear()
    other = elephan("answer", "own", "--ask", "--store", "kept", "-q")
    assert other.code == 1
    assert "A waits less: holds, then does not hold" in other.err
    # Repetitions of the former answer do not vouch for this one.
    assert elephan("answer", "own", "--ask", "--bless", "--store", "kept", "-q").code == 0
    assert json.loads(elephan("answer", "own", "--json").out)[0]["longer"] is None
    # Pages have the answer, its picture and its command.
    written = write_pages(tmp_path / "pages")
    assert {path.name for path in written} == {"README.md", "own.md"}
    page = (tmp_path / "pages" / "own.md").read_text()
    assert "**Answer.**" in page
    assert "pictures/own.svg" in page
    assert (tmp_path / "pages" / "pictures" / "own.svg").exists()
    files = elephan("answer", "own", "--out", "mine")
    assert files.code == 0
    assert "elephan sweep own.toml" in (tmp_path / "mine" / "ask.sh").read_text()
    assert (tmp_path / "mine" / "own.toml").read_text() == SCENARIO


@pytest.mark.usefixtures("own")
def test_a_shortened_run_notices_another_simulation(elephan: Command) -> None:
    assert elephan("answer", "own", "--ask", "--bless", "--store", "kept", "-q").code == 0
    assert elephan("answer", "--quick", "--bless", "--store", "kept", "-q").code == 0
    same = elephan("answer", "--quick", "--store", "kept", "-q")
    assert (same.code, "0 of them changed" in same.err) == (0, True)
    scenario = asking.EXAMPLES / "operators" / "own.toml"
    scenario.write_text(SCENARIO.replace("20 ms", "21 ms"))
    moved = elephan("answer", "--quick", "--store", "kept", "-q")
    assert moved.code == 1
    assert "short runs changed: own" in moved.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["satelite"], 'there is no answer "satelite"; did you mean "satellite"?'),
        (["--bless"], "--bless: records new results; give --ask, --repeat or --quick, too"),
        (["--ask", "--quick"], "--ask, --repeat, --quick: choose one"),
        (["--quick", "--json"], "--json: shows published answers; leave out --ask, --repeat and --quick"),
        (["--replications", "2"], "--replications: shortens --ask, so its results are not published; add --ask"),
        (["--quick", "--replications", "2"], "not published; leave out --repeat, --quick and --bless"),
        (["--out", "x"], "--out: name one answer; elephan answer lists all"),
    ],
)
def test_wrong_words_are_refused_in_a_line(elephan: Command, words: list[str], said: str) -> None:
    done = elephan("answer", *words)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("senders =", "sender =", 'own.toml: unknown key "sender"; did you mean "senders"?'),
        ('senders = "Reno."\n', "", "own.toml: missing 1 required positional argument: 'senders'"),
    ],
)
def test_a_wrong_file_names_its_key(own: Path, old: str, new: str, said: str) -> None:
    own.write_text(OWN.replace(old, new))
    with pytest.raises(InputError, match=said.replace("?", r"\?")):
        Answer.read(own)


@pytest.mark.parametrize("file", sorted(SCENARIOS.glob("*.toml")), ids=lambda file: file.stem)
def test_senders_are_those_of_a_default_host(file: Path) -> None:
    for flows in tomllib.loads(file.read_text(encoding="utf-8")).get("flows", []):
        if flows.get("traffic", {}).get("kind") in ("cbr", "ping", "poisson"):
            continue
        tcp = flows["tcp"]
        profile, more = (tcp, set()) if isinstance(tcp, str) else (tcp["profile"], set(tcp) - {"profile"})
        assert profile == "linux"
        assert more <= OF_THE_QUESTION
        assert not {"recovery", "start_threshold"} & set(flows)


@pytest.mark.parametrize(
    ("name", "cited"),
    [
        ("access-call", "access-call"),
        ("fixed-buffer", "fixed-buffer"),
        ("highspeed", "highspeed-pacing"),
        ("policer", "policer"),
        ("root-of-n", "root-of-n"),
        ("satellite", "satellite"),
        ("shared-memory", "shared-memory"),
        ("transit-mix", "transit-mix"),
        ("web-elephants", "web-beside-elephants"),
        # Transfers of a given size have no answer about buffers.
        ("after-silence", None),
    ],
)
def test_a_size_cites_the_answer_nearest_to_it(name: str, cited: str | None) -> None:
    file = Path(package.__file__).parent / "examples/operators" / f"{name}.toml"
    scenario = package.Scenario.from_file(file)
    assert nearest(scenario, scenario.link_index(None)) == cited


def test_a_size_without_the_answers_cites_none(elephan: Command, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("size", small, "--target", "utilization=0.8", "--model-only")
    assert re.search(r"see elephan\s+answer\s+root-of-n", elephan(*asked).out)
    monkeypatch.setattr("elephan.plugins.entry_points", lambda **_: ())
    assert "see elephan" not in elephan(*asked).out


def test_a_changed_number_of_claims_is_a_difference() -> None:
    before = Record.read(answers()[0])
    assert before is not None
    first = next(iter(before.claims))
    now = replace(before, claims={name: state for name, state in before.claims.items() if name != first})
    assert before.differences(now) == (
        f"{len(before.claims)} claims and {len(before.stays)} values, "
        f"then {len(now.claims)} claims and {len(now.stays)} values"
    )


def test_a_repeated_value_is_read_from_what_a_simulator_prints() -> None:
    lines = [f"utilization 0.9 goodput {each}e6 goodput2 2e6" for each in (2, 4)]
    asked = answer.Repeat("A", "n=1", "goodput/goodput2")
    # Student's t with one degree of freedom: 12.7062 times the standard error, 0.5.
    assert repeats.value(asked, lines) == pytest.approx((1.5, 1.5 - 6.3531, 1.5 + 6.3531), rel=1e-4)
    with pytest.raises(InputError, match="A: an interval needs two runs at least"):
        repeats.value(asked, lines[:1])
    with pytest.raises(InputError, match='ns-2 prints no "goodput3"; did you mean "goodput"'):
        repeats.value(replace(asked, quantity="goodput3"), lines)
    with pytest.raises(InputError, match='no simulator "ns-4"; did you mean "ns-3"'):
        simulators.simulator("ns-4")


@pytest.mark.parametrize(
    ("name", "options", "key"),
    [("ns-2", r"array set o \{(.*?)\}", r"(\w+) \S+"), ("ns-3", r"options = \{(.*?)\n\};", r'\{"(\w+)", "')],
)
def test_a_simulator_knows_the_arguments_of_its_points(name: str, options: str, key: str) -> None:
    script = simulators.simulator(name).script.read_text(encoding="utf-8")
    found = re.search(options, script, re.DOTALL)
    assert found is not None
    asked = [of for each in answers() for of in each.repeats if of.by == name]
    runs = [run for of in asked for run in (of.run, of.alike.run if of.alike else "")]
    assert runs
    assert {word.split("=")[0] for words in runs for word in words.split()} <= set(re.findall(key, found[1]))


@pytest.mark.parametrize(
    ("name", "command", "message"),
    [
        ("ns-2", "ns", "ns-2 is not installed: no command ns"),
        ("ns-3", "g++", r"ns-3 needs a compiler: no command g\+\+"),
        ("ns-3", "", "ns-3 is not installed: no headers or libraries of it"),
    ],
)
def test_a_simulator_that_is_not_installed_is_named(
    name: str, command: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "g++").write_text("#!/bin/sh\necho ns3/core-module.h: No such file or directory >&2\nexit 1\n")
    (tmp_path / "g++").chmod(0o755)
    if command:
        (tmp_path / "g++").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(InputError, match=message):
        simulators.simulator(name).run("n=1", 1)


def test_a_value_with_settings_made_alike_is_that_of_the_changed_scenario(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(package.EXAMPLE, encoding="utf-8")
    alike = answer.Alike(str(tmp_path / "a.toml"), {"links[core].buffer": "25 packets"}, replications=2)
    asked = answer.Repeat("A", "n=1", "delay", alike=alike)
    link = package.run(package.Scenario.from_text(package.EXAMPLE).replace(alike.set), replications=2).links
    mean, half = link["queueing_delay_s"][0], link["queueing_delay_s_ci95"][0]
    assert repeats.here(asked) == pytest.approx((mean, mean - half, mean + half))
    group = package.run(package.Scenario.from_text(package.EXAMPLE).replace(alike.set), replications=2).groups
    assert repeats.here(replace(asked, quantity="goodput")).mid == pytest.approx(group["goodput_per_flow_bps"][0])
    goodput = repeats.here(replace(asked, quantity="goodput/goodput"))
    assert goodput.low <= goodput.mid == 1 <= goodput.high
    waits = replace(alike, set={**alike.set, "record.delays": True})
    assert repeats.here(replace(asked, quantity="wait95", alike=waits)).mid > mean
    with pytest.raises(InputError, match='A: cannot be made alike: "idlest" is none of utilization, delay, loss'):
        repeats.here(replace(asked, quantity="idlest"))


def test_two_points_of_each_answer_are_repeated_or_its_page_says_why_not() -> None:
    for each in answers():
        assert (len(repeats.repeated(each)) < 2) == bool(each.not_repeated), each.id
        page = (ROOT / "docs" / "answers" / f"{each.id}.md").read_text(encoding="utf-8")
        assert not each.not_repeated or f"Not repeated by another simulator: {each.not_repeated}" in page


def test_a_formula_is_drawn_beside_what_it_is_about() -> None:
    drawn = [each for each in answers() if each.picture and each.picture.formula]
    assert [each.id for each in drawn] == ["elastic"]
    for each in drawn:
        assert each.picture is not None
        assert each.picture.formula.keys() <= each.picture.rows.keys()
        assert all(0 < value < 1 for _, value in each.theory())


def test_each_difference_from_another_simulator_has_a_reason_and_each_value_is_of_a_point() -> None:
    for each in answers():
        assert {of.point for of in each.repeats} <= set(each.picture.rows if each.picture else ())
        for point in repeats.repeated(each):
            assert point.agrees or point.why, f"{each.id}: {point.text()}"
    found = json.loads(repeats.FOUND.read_text(encoding="utf-8"))
    points = {each.id: sorted(of.point for of in each.repeats) for each in answers() if each.repeats}
    assert {name: sorted(values) for name, values in found.items()} == points
    assert {
        (each.id, of.point) for each in answers() for of in each.repeats if "alike" in found[each.id][of.point]
    } == {(each.id, of.point) for each in answers() for of in each.repeats if of.alike}
    number, agreeing, alike, null = repeats.scores()
    assert sum(number.values()) == sum(map(len, points.values()))
    assert agreeing > null
    assert 0 <= alike <= sum(number.values()) - agreeing
