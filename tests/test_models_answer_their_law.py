"""Every parameter of every law and every setting of a sender: a model that knows the law responds to it, or doubts."""

import math
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elephan.accuracy import nearby
from elephan.catalog import CardParameter, catalog
from elephan.errors import ScenarioError
from elephan.scenario import Scenario
from elephan.theory.controls import kind, write
from elephan.theory.law_responses import SOURCES
from elephan.theory.models import MODELS, Bottleneck, bottleneck
from elephan.theory.models.senders import TAKEN, doubts
from elephan.theory.rules import RULES, LinkFacts, of_link

pytestmark = pytest.mark.slow

PREDICTING = {name: model for name, model in MODELS.items() if model.predict is not None}
BUFFERS = np.array([20.0, 300.0])

START = {
    "initial_window": "of the first round trips",
    "initial_ssthresh": "where the first slow start ends",
    "limited_transmit": "sends sooner what would have waited for a timeout",
    "min_rto": "of timeouts",
    "rto_granularity": "of timeouts",
    "delayed_ack_timeout": "of segments that nothing follows",
    "send_jitter": "breaks phases; windows are cut and grow as before",
}
"""Keys of ``tcp`` that do not change the sawtooth of long flows, and their subjects."""

OTHERS: dict[str, Any] = {"delayed_ack": 2, "ecn": "on", "receive_window": 20}
"""Other values of the keys that change it."""

SPECIAL: dict[tuple[str, str], Any] = {
    ("bpf", "object"): str(Path(__file__).resolve().parents[1] / "examples" / "law-in-bpf" / "gentle.bpf.o"),
    ("bpf", "name"): "el_htcp",
    ("tabulated", "increase"): [[1, 1], [38, 1], [1000, 9]],
    ("tabulated", "decrease"): [[1, 0.5], [1000, 0.2]],
    ("highspeed", "low_p"): 2e-3,
    ("highspeed", "high_p"): 2e-7,
}
"""Legal values for which `another` has no rule."""


def another(law: str, row: CardParameter) -> list[Any]:
    """Return other values of a parameter, one of which is legal."""
    name, value = row["name"], row["default"]
    if (law, name) in SPECIAL:
        return [SPECIAL[law, name]]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [0.6 * value, 1.5 * value, value + 1, 0.9 * value]
    number, _, unit = str(value).partition(" ")
    if unit:
        return [f"{1.5 * float(number):g} {unit}"]
    # One of the words on its card.
    return [word for word in re.findall(r"[\w-]+", row["meaning"]) if word != value]


def scenario(control: Any, flows: int = 10, **more: Any) -> Scenario:
    """Flows of 100 Mbit/s and about 100 ms, 1000 B: a product of 1250 packets, from 90 to 110 ms."""
    group = {
        "name": "bulk",
        "count": flows,
        "path": ["core"],
        "rtt": {"from": "90 ms", "to": "110 ms"} if flows > 1 else "100 ms",
        "access": {"rate": "1 Gbit/s"},
        "control": control,
        "recovery": "sack",
        "packet": "1000 B",
        "traffic": {"kind": "bulk"},
    }
    link = {"name": "core", "rate": "100 Mbit/s", "delay": "10 ms", "buffer": "300 packets"}
    written = {"duration": "60 s", "warmup": "20 s", "links": [link], "flows": [group | more]}
    return Scenario.from_mapping(written, "here")


def seen(found: Scenario) -> Bottleneck:
    link = bottleneck(found.network, 0)
    assert link is not None
    return link


@cache
def parameters() -> tuple[tuple[str, str, Any], ...]:
    """Return law, parameter and another legal value, for all laws of the catalogue."""
    cards = catalog("laws")
    return tuple((card["name"], row["name"], legal(card["name"], row)) for card in cards for row in card["parameters"])


def legal(law: str, row: CardParameter) -> Any:
    for value in another(law, row):
        try:
            scenario({"law": law, row["name"]: value})
        except ScenarioError:
            continue
        return value
    message = f"{law}.{row['name']}: none of {another(law, row)} is legal"
    raise AssertionError(message)


@cache
def usual_prediction(name: str, law: str, flows: int) -> Any:
    """Return a model's prediction with the defaults of a law; None if the model does not apply to the law."""
    link = seen(scenario(law, flows))
    model = PREDICTING[name]
    return None if model.unsuited(link) else predicted(name, link)


def predicted(name: str, link: Bottleneck) -> np.ndarray:
    predict = PREDICTING[name].predict
    assert predict is not None
    # A model of a target in the queue applies to buffers that hold it; half of the buffer waits in the Gaussian's.
    buffers = np.append(BUFFERS, 2500.0) if name in ("backlog-target", "gaussian") else BUFFERS
    return np.array([column for column in predict(link, buffers) if column is not None])


def differs(one: np.ndarray, other: np.ndarray) -> bool:
    return not np.allclose(one, other, rtol=1e-6, atol=0, equal_nan=True)


def flows_for(name: str) -> int:
    # The Gaussian sum applies to ten flows and more; what follows a few does it faster.
    return 10 if name == "gaussian" else 2


def ignored(name: str, asks: bool = True) -> tuple[list[str], list[str]]:
    """Return the parameters that neither change a model's prediction nor raise a doubt, and all tried ones.

    Without `asks` it is the null: a model that knows only the law's name, like models with formulas of their own.
    """
    model, found, tried = PREDICTING[name], [], []
    for law, parameter, value in parameters():
        usual = usual_prediction(name, law, flows_for(name))
        if usual is None:
            continue
        link = seen(scenario({"law": law, parameter: value}, flows_for(name)))
        if not asks:
            link = replace(link, laws=tuple(kind(one) for one in link.laws))
        said = [line for line in doubts(model, link) if f" {parameter} = " in line]
        tried.append(f"{law}.{parameter} = {value}")
        if not (model.unsuited(link) or said or differs(predicted(name, link), usual)):
            found.append(tried[-1])
    return found, tried


@pytest.mark.parametrize("name", [name for name in PREDICTING if name != "red-fixed-point"])
def test_every_parameter_of_every_law_moves_a_model_or_raises_a_doubt(name: str) -> None:
    found, tried = ignored(name)
    assert tried
    assert not found


@pytest.mark.parametrize("name", ["sawtooth", "gaussian", "backlog-target"])
def test_a_model_that_has_laws_by_name_alone_fails(name: str) -> None:
    found, tried = ignored(name, asks=False)
    # A table's two parameters stand for the law: without them it has none.
    assert set(tried) - set(found) <= {one for one in tried if one.startswith("tabulated.")}
    assert len(found) > len(tried) / 2


def test_the_fixed_point_behind_red_hears_them_too() -> None:
    model = PREDICTING["red-fixed-point"]
    assert model.predict is not None
    for law in ("reno", "cubic"):
        row = next(row for card in catalog("laws") if card["name"] == law for row in card["parameters"])
        both = [seen(scenario(control).replace({"links[0].queue": "red"})) for control in
                (law, {"law": law, row["name"]: legal(law, row)})]  # fmt: skip
        assert differs(*(np.array(model.predict(link, BUFFERS)[:3]) for link in both))


def test_what_a_parameter_does_not_move_is_doubted_and_what_it_moves_is_not() -> None:
    model = PREDICTING["sawtooth"]
    idle = seen(scenario({"law": "htcp", "reference_rtt": "50 ms"}))
    assert any("reference_rtt" in line for line in doubts(model, idle))
    assert not differs(predicted("sawtooth", idle), predicted("sawtooth", seen(scenario("htcp"))))
    busy = seen(scenario({"law": "htcp", "reference_rtt": "50 ms", "rtt_scaling": True}))
    assert not any("reference_rtt" in line for line in doubts(model, busy))
    assert differs(
        predicted("sawtooth", busy), predicted("sawtooth", seen(scenario({"law": "htcp", "rtt_scaling": True})))
    )


def settings() -> list[tuple[str, dict[str, Any]]]:
    """Return slow starts, recoveries and keys of ``tcp`` with another value, by the name that a doubt about them
    has."""
    starts = {card["name"] for card in catalog("slow-starts")} - {"classic"}
    recoveries = {card["name"] for card in catalog("recoveries")} - set(TAKEN["recovery"][0])
    return [
        *(("slow_start", {"control": {"law": "reno", "slow_start": name}}) for name in sorted(starts)),
        *(("recovery", {"recovery": name}) for name in sorted(recoveries)),
        *((key, {"tcp": {key: value}}) for key, value in OTHERS.items()),
    ]


def test_a_receive_window_that_never_binds_raises_no_doubt() -> None:
    """Two equal shares of what the path and the buffer hold; one segment less does."""
    link = seen(scenario(control="reno"))
    pipe = link.bdp * max(link.rtts_s) / link.mean_rtt_s
    assert link.buffer_packets is not None
    most = 2 * (pipe + link.buffer_packets) / link.flows
    for window, binds in ((int(most) + 1, False), (int(most) - 1, True)):
        found = doubts(PREDICTING["sawtooth"], seen(scenario(control="reno", tcp={"receive_window": window})))
        assert any("receive_window" in line for line in found) == binds


@pytest.mark.parametrize("name", [name for name in PREDICTING if name not in ("backlog-target", "red-fixed-point")])
def test_every_setting_of_a_sender_that_changes_a_sawtooth_raises_a_doubt(name: str) -> None:
    for key, more in settings():
        given: dict[str, Any] = {"control": "reno", **more}
        link = seen(scenario(**given))
        assert any(key in line for line in doubts(PREDICTING[name], link)), more
    plain = seen(scenario("reno"))
    assert not any(key in line for key in TAKEN for line in doubts(PREDICTING[name], plain))


def test_every_key_of_tcp_is_known_to_change_a_sawtooth_or_not_to() -> None:
    keys = {key.removesuffix("_ps") for key in scenario("reno").resolved["flows"][0]["tcp"]}
    assert keys == START.keys() | OTHERS.keys()
    assert set(TAKEN) == OTHERS.keys() | {"slow_start", "recovery"}


def surveyed(control: Any = "reno", **more: Any) -> Bottleneck:
    """A link on the grid of the survey."""
    return seen(scenario(control, 10, **more))


def test_what_was_run_is_spoken_for() -> None:
    assert nearby("sawtooth", surveyed(), 125).checked
    # It was the start alone that the survey left out.
    assert nearby("sawtooth", surveyed(tcp={"initial_ssthresh": 50}), 125).checked


@pytest.mark.parametrize("law", ["reno", "highspeed", "cubic", "nr-hstcp", "vegas", "fast"])
def test_a_parameter_that_no_run_had_is_not_checked(law: str) -> None:
    rate = {"links[0].rate": "1 Gbit/s"} if law not in ("reno", "vegas") else {}
    usual = scenario(law).replace(rate)
    names = [name for name, model in PREDICTING.items() if not model.unsuited(seen(usual))]
    assert any(nearby(name, seen(usual), 2500).checked or nearby(name, seen(usual), 125).checked for name in names)
    for other, parameter, value in parameters():
        if other == law:
            link = seen(scenario({"law": law, parameter: value}).replace(rate))
            for name in names:
                found = nearby(name, link, 125)
                assert not found.checked
                assert math.isnan(found.largest)
                assert f"no run had {law} with {parameter} = " in found.sentence


def test_a_setting_that_no_run_had_is_not_checked() -> None:
    keys = {key.removesuffix("_ps"): key for key in scenario("reno").resolved["flows"][0]["tcp"]}
    times = dict.fromkeys(("min_rto", "rto_granularity", "delayed_ack_timeout", "send_jitter"), "77 ms")
    values = OTHERS | times | {"initial_window": 10, "limited_transmit": False}
    assert values.keys() == keys.keys() - {"initial_ssthresh"}
    for key, value in values.items():
        found = nearby("sawtooth", surveyed(tcp={key: value}), 125)
        assert (found.checked, key in found.sentence) == (False, True), key
    for card in catalog("recoveries"):
        assert nearby("sawtooth", surveyed(recovery=card["name"]), 125).checked == (card["name"] == "sack")
    for card in catalog("slow-starts"):
        control = {"law": "reno", "slow_start": card["name"]}
        assert nearby("sawtooth", surveyed(control), 125).checked == (card["name"] == "classic")


def test_the_rule_of_the_decrease_follows_the_cut_of_the_law() -> None:
    def rule(control: Any) -> tuple[float, LinkFacts]:
        known = of_link(scenario(control, 1).network, 0)
        return RULES["decrease_bdp"].packets(known), known

    for beta in (0.3, 0.7, 0.9):
        # BDP b / (1 - b), with b = 1 - beta.
        assert rule({"law": "cubic", "beta": beta})[0] == pytest.approx(1250 * (1 - beta) / beta, rel=1e-3)
    assert rule({"law": "reno", "decrease": 0.2})[0] == pytest.approx(312.5)
    for law in SOURCES:
        for name, value in ((row[1], row[2]) for row in parameters() if row[0] == law):
            packets, known = rule({"law": law, name: value})
            assert packets > 0
            assert [kind(one) for one in known.laws] == [law]
            assert known.laws == (write(scenario({"law": law, name: value}).resolved["flows"][0]["control"]),)
