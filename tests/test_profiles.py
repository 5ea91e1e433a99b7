"""The "linux" profiles: the keys of a host, the parameters of queues, and their places in Linux."""

import json
import tomllib
from typing import Any

import pytest

import elephan as package
from conftest import Command
from elephan.profiles import SOURCES, profiled_queues, profiles
from elephan.scenario import EXAMPLE, Scenario
from elephan.sizing.comparison import size_variants

LINUX = Scenario.from_text(EXAMPLE).replace({"flows[0].tcp": "linux"})


def control(given: Any) -> dict[str, Any]:
    resolved: dict[str, Any] = LINUX.replace({"flows[0].control": given}).resolved["flows"][0]["control"]
    return resolved


def test_every_key_of_a_profile_has_its_place_in_linux() -> None:
    host, *queues = profiles()
    missing = [row["name"] for row in host["parameters"] if not row["source"]]
    assert not missing, f"elephan.profiles.SOURCES says nothing of {missing}"
    assert (
        {"abc_limit", "control", "recovery", "min_rto"} <= {row["name"] for row in host["parameters"]} <= set(SOURCES)
    )
    for queue in queues:
        assert all(row["source"] and row["meaning"] for row in queue["parameters"]), queue["name"]
    said = {row["name"]: row["default"] for row in host["parameters"]}
    # Linux 6.12: TCP_INIT_CWND, TCP_RTO_MIN = HZ/5, TCP_DELACK_MIN = HZ/25, DEFAULT_TCP_CONG.
    assert (said["initial_window"], said["min_rto"], said["delayed_ack_timeout"]) == (10, "200 ms", "40 ms")
    assert (said["abc_limit"], said["control"]) == ("none", "cubic, linux, hystart-linux")
    # TCP_MAX_QUICKACKS; tcp_rmem, as a scenario has it: the card's text can be copied into a file.
    assert (said["quick_acks"], said["burst"], said["rto"], said["ecn_floor"]) == (16, "linux", "linux", 2)
    table = tomllib.loads(f"window = {said['receive_window']}")["window"]
    assert LINUX.replace({"flows[0].tcp": {"profile": "linux", "receive_window": table}}).canonical == LINUX.canonical


def test_they_are_shown_in_fifteen_lines_and_their_sources_with_details(
    elephan: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    short = elephan("list", "profiles").out.splitlines()
    assert len(short) <= 15
    assert max(map(len, short)) <= 80
    text = "\n".join(short)
    for word in ("pie/linux", "BQL", "driver rings", "TSQ", "F-RTO", "DSACK", "--details"):
        assert word in text
    long = elephan("list", "profiles", "--details").out
    for word in ("TCP_DELACK_MIN", "tcp_slow_start", "pie_params_init", "red_parse_opt", "tcp_sk_init"):
        assert word in long


def test_a_law_of_python_is_linuxs_unless_it_says_otherwise() -> None:
    assert control(package.laws.cubic) == control("cubic") == control(package.laws.cubic())
    cubic = control(package.laws.cubic())
    assert (cubic["variant"], cubic["slow_start"]["kind"]) == ("linux", "hystart-linux")
    kept = control(package.laws.cubic(variant="rfc9438"))
    assert (kept["variant"], kept["slow_start"]["kind"]) == ("rfc9438", "classic")
    assert control(package.laws.cubic(slow_start="limited"))["slow_start"]["kind"] == "limited"
    # The law of a name is the host's, the object is version 3 wherever it stands.
    assert (control("bbr")["law"], control(package.laws.bbr3())["law"]) == ("bbr1", "bbr3")
    assert control(package.laws.bbr3(loss_thresh=0.1))["loss_thresh"] == 0.1
    assert package.laws.bbr is package.laws.bbr3


ANY = package.size(Scenario.from_text(EXAMPLE), "utilization=0.8", model_only=True)
"""An answer, for tests that do not look at it."""


def test_laws_are_compared_as_linux_runs_them() -> None:
    controls: list[dict[str, Any]] = []

    def note(changed: Scenario) -> Any:
        controls.append(changed.resolved["flows"][0]["control"])
        return ANY

    found = size_variants(LINUX, ["cubic", "bbr", "bbr3"], (), note)
    assert [variant.law for variant in found.variants] == ["cubic", "bbr1", "bbr3"]
    assert controls[0]["variant"] == "linux"


def test_a_queue_of_linux_is_sized_beside_others_of_linux() -> None:
    text = EXAMPLE.replace('buffer = "25 packets"', 'queue = { discipline = "pie", profile = "linux" }')
    scenario = Scenario.from_text(text)
    assert scenario.links[0]["tc"] == "tc qdisc replace dev eth0 root pie"
    assert scenario.resolved["links"][0]["buffer"] == {"packets": 1000}
    queues: list[dict[str, Any]] = []

    def note(changed: Scenario) -> Any:
        queues.append(changed.resolved["links"][0]["queue"])
        return ANY

    size_variants(scenario, (), ["pie", "codel"], note)
    assert (queues[0]["ecn"], queues[0]["decay_when_empty"], queues[1]["discipline"]) == (False, True, "codel")
    assert scenario.replace({"links[0].queue": package.queues.pie(profile="linux")}) == scenario


def test_the_queues_that_have_one_are_those_of_the_cards(elephan: Command) -> None:
    cards = json.loads(elephan("list", "profiles", "--json").out)
    assert [card["name"] for card in cards] == ["linux", *(f"{name}/linux" for name in profiled_queues())]
    # The kernel's words: drop probability in PIE is by a sixteenth, 2 and 20.
    pie = next(card for card in cards if card["name"] == "pie/linux")
    said = {row["name"]: row["default"] for row in pie["parameters"]}
    assert (said["limit"], float(said["alpha"]) * 16, float(said["beta"]) * 16) == ("1000 packets", 2, 20)
