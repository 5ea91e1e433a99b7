"""``elephan conform``: each case is judged, a fault in law or judge is detected, the page is that of this version."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Command
from elephan.errors import InputError
from elephan.runs import run
from elephan_evidence.conform import Conformance, conform
from elephan_evidence.conform.adapting import ADAPTING
from elephan_evidence.conform.amounts import evaluate, filled
from elephan_evidence.conform.case import Observation, Suite
from elephan_evidence.conform.judge import JudgedCase, JudgedObservation, judge
from elephan_evidence.conform.lawtrace import LawTrace
from elephan_evidence.conform.measures import MEASURES
from elephan_evidence.papers.accept import AcceptedBand
from elephan_evidence.papers.measures import parse
from elephan_evidence.report.conform import page

DOCS = Path(__file__).resolve().parent.parent / "docs" / "conformance"
SUITE = Suite.read("bbr")
NUMBERS = [case.number for case in SUITE.cases]


@cache
def whole() -> Conformance:
    return conform("bbr")


@cache
def case(number: int) -> JudgedCase:
    return next(each for each in whole().cases if each.case.number == number)


def trace(number: int, run: str) -> LawTrace:
    return case(number).paths[0].runs[run].trace


def with_gauge(of: LawTrace, name: str, change: Callable[[Any], Any]) -> LawTrace:
    """The same trace with a changed gauge."""
    gauges = {**of.columns["gauges"], name: change(of.gauge(name))}
    return replace(of, columns={**of.columns, "gauges": gauges})


def observation(number: int, name: str) -> Observation:
    return next(each for each in case(number).case.seen if each.id == name)


def test_all_22_cases_are_run() -> None:
    assert list(range(1, 23)) == NUMBERS
    assert all(each.paths and each.seen and each.stimulus for each in SUITE.cases)


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_every_observation_is_made_or_a_run_shows_why_not(number: int) -> None:
    judged = case(number)
    assert [seen.observation.id for seen in judged.every if not seen.holds] == []
    # Observations that are met by now have no explanation any more.
    contradicted = {seen.observation.id for seen in judged.every if seen.verdict == "contradicted"}
    assert contradicted == {name for each in judged.case.explained for name in each.seen}


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_no_null_passes(number: int) -> None:
    passed = [
        (each.path.name, seen.observation.id)
        for each in case(number).paths
        for seen in each.seen
        if seen.null is not None and seen.observation.accept.holds(seen.null)
    ]
    assert passed == []


def test_the_data_is_whole() -> None:
    for each in SUITE.cases:
        assert set(each.paths) <= SUITE.paths.keys()
        assert {name for one in each.explained for name in one.seen} <= {seen.id for seen in each.seen}
        for seen in each.seen:
            assert {seen.run, seen.null} <= each.runs.keys(), seen.id
            assert (seen.run, seen.measure) != (seen.null, seen.null_measure), seen.id
            assert all(parse(text)[0] in MEASURES for text in (seen.measure, seen.null_measure))
            assert seen.reason
        assert {one.run for one in each.explained} <= each.runs.keys()


# A fault in the law: what its gauges would then show must not pass.
FAULTS: Mapping[str, tuple[int, str, str, Callable[[Any], Any]]] = {
    "one round too soon": (1, "rounds", "full_bw_now", lambda now: np.roll(now, -60)),
    "3 % too much bandwidth": (1, "max_bw", "max_bw", lambda rate: 1.03 * rate),
    "full_bw_reached is forgotten": (2, "reached", "full_bw_reached", lambda flag: 0 * flag),
    "Drain is left with a segment too much": (3, "inflight", "inflight", lambda volume: volume + 2),
    "PROBE_DOWN at another gain": (8, "gain", "pacing_gain", lambda gain: gain - 0.15),
    "cwnd_gain as elsewhere": (10, "gain", "cwnd_gain", lambda gain: 0 * gain + 2),
    "idle_restart is not set": (11, "restart", "idle_restart", lambda flag: 0 * flag),
    "aggregation in thousandths": (12, "extra_acked", "extra_acked", lambda extra: 1.001 * extra),
    "max_bw follows limited samples": (22, "kept", "max_bw", lambda rate: rate * (1 - 1e-6 * np.arange(rate.size))),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_law_is_seen(fault: str) -> None:
    number, name, gauge, change = FAULTS[fault]
    of = observation(number, name)
    right = trace(number, of.run)
    assert of.accept.holds(MEASURES.of(of.measure, right))  # type: ignore[arg-type]
    found = MEASURES.of(of.measure, with_gauge(right, gauge, change))
    assert found is None or not of.accept.holds(found)


def test_a_fault_in_the_judge_is_seen() -> None:
    # A judge that accepted anything would accept the null as well, and say so.
    of = observation(1, "max_bw")
    judged = [JudgedObservation(of, found, null) for found, null in ((1.0, 0.5), (0.9, 0.5), (1.0, 1.0), (None, None))]
    assert [each.verdict for each in judged] == ["met", "contradicted", "uninformative", "undecided"]
    assert [each.holds for each in judged] == [True, False, False, False]


@pytest.mark.slow
def test_a_judge_that_accepts_anything_calls_nothing_met(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AcceptedBand, "holds", lambda _band, _found: True)
    found = judge(SUITE, SUITE.cases[2])
    assert found.verdict == "uninformative"
    assert not found.holds


def test_an_explanation_counts_only_while_it_is_shown() -> None:
    of, why = observation(4, "inflight"), case(4).case.explained[0]
    shown = [JudgedObservation(of, -1.0, None, why, shown) for shown in (2.0, -2.0, None)]
    assert [each.holds for each in shown] == [True, False, False]


def test_the_law_with_another_constant_does_not_pass() -> None:
    # Not a null of the data: a BBR that never probes for less than half a second's worth of rounds.
    wrong = replace(SUITE, scenario={**SUITE.scenario, "flows": [_with(startup_pacing_gain=1.2)]})
    found = judge(wrong, SUITE.cases[0])
    assert found.verdict != "met"
    assert not found.holds


def _with(**control: float) -> dict[str, Any]:
    [flow] = SUITE.scenario["flows"]
    return {**flow, "control": {"law": "bbr3", **control}}


def test_both_engines_show_the_same_gauges() -> None:
    made = case(21).paths[0].runs["lossy"].result
    [window] = made.outcomes[0].traces
    [reference] = run(made.scenario, engine="reference").outcomes[0].traces
    assert window["gauges"].keys() == reference["gauges"].keys()
    for name, values in window["gauges"].items():
        np.testing.assert_array_equal(values, reference["gauges"][name], name)


def test_expressions_fill_texts() -> None:
    names = {"rate": 1e7, "rtt": 0.04}
    assert filled({"a": ["${rate / 3} bit/s", 2], "b": "${ceil(rate * rtt / 12000)}"}, names) == {
        "a": ["3333333.333333333489 bit/s", 2],
        "b": 34,
    }
    for wrong in ("rat", "rate +", "rate ** 2", "__import__('os')", "'a'", "rate if rtt else 1"):
        with pytest.raises(ValueError, match="not an expression"):
            evaluate(wrong, names)


def test_aggregation_is_what_a_hand_computes() -> None:
    # 10 segments a second, ACKs of 10 each second: 10 are expected and 10 come, so each begins an interval with 10.
    time = np.array([1.0, 2.0, 3.0, 4.0])
    gauges = {
        "state": [0.0] * 4,
        "bw": [10.0] * 4,
        "round_count": [1.0, 2.0, 3.0, 4.0],
        "full_bw_reached": [0.0] * 4,
        "extra_acked": [10.0] * 4,
    }
    columns = {"time_s": time, "una": np.array([10, 20, 30, 40]), "cwnd_segments": np.full(4, 100.0), "gauges": gauges}
    of = LawTrace(columns, {}, is_bbr=True)
    assert ADAPTING.of("extra_acked_error", of) == 0
    # If 5 were expected each second no interval would end: 40 less 15 in the end, 15 more than 10.
    assert ADAPTING.of("extra_acked_error of=0.5", of) == pytest.approx(1.5)


@pytest.mark.slow
def test_the_page_is_that_of_this_version() -> None:
    # `elephan conform bbr --pages docs/conformance` writes it.
    text = page(whole())
    assert (DOCS / "bbr.md").read_text(encoding="utf-8") == text
    drawn = {f"case-{number:02}.svg" for number in NUMBERS}
    assert set(re.findall(r"\(pictures/(.*?)\)", text)) == drawn


def test_the_answer_is_one_screen(elephan: Command) -> None:
    done = elephan("conform", "bbr", "drain-time", "18", "19", "-q")
    assert done.code == 0
    assert len(done.out.splitlines()) <= 15
    assert done.out.startswith("3 test cases of draft-ietf-ccwg-bbr-06: 2 met, 1 contradicted.")
    details = elephan("conform", "bbr", "4", "--details", "-q").out
    assert "Inflight(1.0)" in details
    assert "The stimulus cannot do it" in details


def test_json_lists_and_files(elephan: Command, tmp_path: Path) -> None:
    done = elephan("conform", "bbr", "startup-probe-rtt", "--json", "-q", "--out", str(tmp_path))
    document = json.loads(done.out)
    assert document["summary"]["met"] == 1
    assert json.loads((tmp_path / "conform.json").read_text(encoding="utf-8"))["cases"] == document["cases"]
    assert {path.name for path in (tmp_path / "traces").iterdir()} == {
        f"20-startup-probe-rtt-{run}.{ending}" for run in ("limited", "bulk") for ending in ("sqlog", "toml")
    }
    listed = json.loads(elephan("conform", "bbr", "--list", "--json").out)
    assert [each["number"] for each in listed] == NUMBERS


def test_wrong_names_get_one_line(elephan: Command, tmp_path: Path) -> None:
    for words, said in (
        (("conform", "bbr2"), 'conform: no suite "bbr2"; did you mean "bbr"?'),
        (("conform", "bbr", "drain-tim"), 'conform: no case "drain-tim"; did you mean "drain-time"?'),
        (("conform", "bbr", "23"), 'conform: no case "23"; elephan conform bbr --list says which there are'),
        (("conform", "bbr", "4", "--pages", str(tmp_path)), "--pages: the page is about the whole suite"),
    ):
        done = elephan(*words)
        assert done.code == 2
        assert said in done.err
    with pytest.raises(InputError, match="no case"):
        conform("bbr", 0)
