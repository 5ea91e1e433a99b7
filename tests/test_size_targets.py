"""Targets in their written form."""

import pytest

from elephan import TargetError
from elephan.size.targets import parse_targets, targets_json

FORMS = "utilization=0.95, loss=0.1%, delay=10ms, fairness=0.9"


def test_all_spellings_say_the_same() -> None:
    expected = parse_targets("utilization=0.95,loss=0.001,delay=10ms")
    assert parse_targets(["utilization=95%", "loss=0.1%", "delay=10 ms"]) == expected
    assert parse_targets({"utilization": 0.95, "loss": "0.1%", "delay": 0.01}) == expected
    assert parse_targets("Utilisation = 0.95 , loss=.001, delay=10000us") == expected
    assert targets_json(expected) == {"utilization": 0.95, "loss": 0.001, "delay_s": 0.01}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"target: none given; write for example {FORMS}"),
        ("utilization", f'target: "utilization" has no value; write for example {FORMS}'),
        (
            "speed=3",
            f'target: there is no "speed"; write for example {FORMS}',
        ),
        (
            "utilization=95",
            "target: utilization: 95 is out of range; it lies above 0 and below 1, or below 100 %: write 95%",
        ),
        ("utilization=nan", "target: utilization: nan is out of range; it lies above 0 and below 1"),
        ("loss=0", "target: loss: 0 is out of range; it lies above 0 and below 1"),
        ("delay=0s", "target: delay: 0s is out of range; it lies above 0 s"),
        ("utilization=high", 'target: utilization: "high" is not a share; write for example 0.95 or 95%'),
        ("utilization=0.9,utilization=0.8", "target: utilization is given twice"),
    ],
)
def test_wrong_targets_are_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(TargetError) as error:
        parse_targets(text)
    assert str(error.value) == message


def test_a_delay_needs_its_unit() -> None:
    with pytest.raises(TargetError, match=r"^target: delay: .*10"):
        parse_targets("delay=10")
