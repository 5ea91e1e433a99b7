"""The guided experiments of `elephan web`: each explanation rests on checks, and runs agree with them."""

from collections.abc import Mapping
from typing import Any

import pytest

import elephan
from elephan.scenario import Scenario

pytest.importorskip("starlette", reason="starlette is not installed: the extra web")

from elephan.web.cards import lessons

Documents = Mapping[str, Mapping[str, Any]]


def quantity(name: str, documents: Documents) -> float:
    """Return a number, or of variant ``a`` or ``b`` a quantity of the link, or of a group: ``a.goodput.near``."""
    variant, _, rest = name.partition(".")
    if variant not in documents:
        return float(name)
    kind, _, group = rest.partition(".")
    document = documents[variant]
    if group:
        row = next(each for each in document["groups"] if each["name"] == group)
        return float(row[{"goodput": "goodput_per_flow_bps", "rtt": "rtt_p95_s"}[kind]]["mean"])
    key = {"utilization": "utilization", "loss": "loss_ratio", "delay": "queueing_delay_s"}[kind]
    return float(document["links"][0][key]["mean"])


def test_there_are_eight_with_a_right_choice_each() -> None:
    assert len(lessons()) == 8
    for lesson in lessons().values():
        assert 0 <= lesson.right < len(lesson.choices)
        assert len(lesson.variants) == 2
        assert lesson.checks


@pytest.mark.slow
@pytest.mark.parametrize("name", lessons())
def test_runs_agree_with_the_explanation(name: str) -> None:
    lesson = lessons()[name]
    base = Scenario.from_text(lesson.text, name)
    runs = (elephan.run(base.replace(dict(variant.set))) for variant in lesson.variants)
    documents: Documents = {letter: dict(run.to_json()) for letter, run in zip("ab", runs, strict=True)}
    for left, sign, right, factor in lesson.checks:
        one, other = quantity(left, documents), factor * quantity(right, documents)
        assert one < other if sign == "<" else one > other, (left, one, sign, right, other)
