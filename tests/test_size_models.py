"""Models before and beside a sizing: their immediate answers, the start of the search, and their errors."""

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import elephan as package
from conftest import SCENARIOS, Command
from elephan.accuracy import NearbyErrors
from elephan.errors import InputError
from elephan.scenario import EXAMPLE
from elephan.sizing import SizeAnswer
from elephan.sizing.models import ask, by_model, trusted
from elephan.sizing.targets import parse_targets
from elephan.theory import highspeed, synchronised

pytestmark = pytest.mark.slow

PAPER = SCENARIOS / "hstcp-1g.toml"
TARGET = "utilization=0.95"


@pytest.fixture(scope="module")
def answer() -> SizeAnswer:
    return package.size(package.Scenario.from_text(EXAMPLE), TARGET, replications=3)


def test_a_model_gives_its_smallest_buffer_to_two_per_cent() -> None:
    said = ask(package.Scenario.from_file(PAPER).network, 0, parse_targets(TARGET))["sawtooth"]
    assert said.buffer_packets is not None

    def used(buffer: float) -> float:
        return float(synchronised(highspeed(), 125_000, buffer, 0.12, 10).utilisation)

    # It is asked at buffers a third apart, between which its curve is a straight line over the logarithm.
    assert used(1.02 * said.buffer_packets) >= 0.95 > used(said.buffer_packets / 1.02)


@pytest.mark.parametrize("flows", [1, 7, 10])
def test_a_model_that_speaks_from_a_buffer_on_gives_that_buffer(flows: int) -> None:
    fast = package.Scenario.from_file(PAPER).replace({"flows[0].control": "fast", "flows[0].count": flows})
    said = ask(fast.network, 0, parse_targets(TARGET))["backlog-target"]
    # 200 packets of each flow (Jin2004); asked at buffers a fortieth of a third apart.
    assert said.buffer_packets == pytest.approx(200 * flows, rel=0.01)


def test_model_only_answers_without_a_run() -> None:
    found = package.size(PAPER, TARGET, model_only=True)
    document: Any = found.to_json()
    assert found.trusted is not None
    assert found.buffer_packets == found.models[found.trusted].buffer_packets
    assert document["simulated"] == {"runs": 0, "packets": 0}
    assert document["curve"] == []
    assert document["utilization"]["mean"] == pytest.approx(0.95, abs=0.01)
    assert document["utilization"]["ci95"] is None
    assert found.note == f"by the model {found.trusted}; nothing was simulated"
    json.dumps(document, allow_nan=False)


def test_a_delay_that_the_models_own_buffer_exceeds_is_said() -> None:
    found = package.size(PAPER, f"{TARGET},delay=1us", model_only=True)
    assert found.buffer_packets is None
    assert "violates delay <= 0.001 ms" in found.note
    assert found.to_json()["utilization"] is None


def test_the_model_that_was_nearest_to_simulation_is_trusted_and_the_unchecked_come_last() -> None:
    one = ask(package.Scenario.from_file(PAPER).network, 0, parse_targets(TARGET))["sawtooth"]
    near = {
        "unknown": NearbyErrors(math.nan, math.nan, 0, ""),
        "rough": NearbyErrors(20.0, 20.0, 8, ""),
        "good": NearbyErrors(-1.0, 1.0, 1, ""),
        "fair": NearbyErrors(0.5, 3.0, 8, ""),
    }
    said = {name: replace(one, near=found) for name, found in near.items()}
    assert trusted(said) == "good"
    said["good"] = replace(said["good"], buffer_packets=None)
    assert trusted(said) == "fair"
    assert trusted({name: said[name] for name in ("unknown", "rough")}) == "rough"
    assert trusted({"unknown": said["unknown"]}) == "unknown"


def test_what_no_model_can_speak_of_is_refused_with_every_reason() -> None:
    scenario = package.Scenario.from_text(EXAMPLE).replace({"flows[0].control": "bbr"})
    said = ask(scenario.network, 0, parse_targets(TARGET))
    assert trusted(said) is None
    buffer, note = by_model(said, None, parse_targets(TARGET))
    assert buffer is None
    assert re.search(r"no model says how large this buffer must be.*sawtooth, staggered: .*bbr", note)
    with pytest.raises(InputError, match="no model says how large this buffer must be"):
        package.size(scenario, TARGET, model_only=True)


def test_models_that_do_not_apply_for_one_reason_give_it_once(elephan: Command) -> None:
    done = elephan("size", SCENARIOS / "engset-16m.toml", "--target", TARGET, "--model-only")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.count("the link limits no long-lived TCP flow") == 1
    assert "sawtooth, staggered, " in done.err


def test_a_delay_alone_bounds_no_buffer_from_below(elephan: Command, tmp_path: Path) -> None:
    done = elephan("size", PAPER, "--target", "delay=10ms", "--model-only")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("target: delay alone is met by the smallest buffer there is")
    path = tmp_path / "example.toml"
    path.write_text(EXAMPLE)
    simulated = elephan("size", path, "--target", "delay=10ms", "--replications", "2", "--quiet")
    out = " ".join(simulated.out.split())
    # The smallest buffer that there is meets it; what is suggested would keep the link busy all the same.
    assert "No buffer can be suggested. delay <= 10 ms needs 1 packet (no target bounds it from below)" in out
    assert "1 packet is less than one for each of the 2 flows" in " ".join(out.split())
    assert "tc qdisc" not in out


def test_an_answer_far_from_anything_simulated_says_so() -> None:
    # 1000 flows: the survey ends at 100.
    found = package.size(package.Scenario.from_file(PAPER).replace({"flows[0].count": 1000}), TARGET, model_only=True)
    assert found.buffer_packets is None
    assert "none of them was compared with simulations of such links; leave out --model-only" in found.note
    document: Any = found.to_json()
    assert document["tc"] is None
    low, high = document["models_range_packets"]
    assert low < high
    assert f"{low:,}" in found.note
    assert f"{high:,}" in found.note
    assert package.size(PAPER, TARGET, model_only=True).to_json()["tc"] is not None


def test_transfers_beside_the_flows_are_not_called_datagrams(elephan: Command) -> None:
    done = elephan("size", SCENARIOS / "elastic-flows-50m.toml", "--target", TARGET, "--model-only")
    assert "1 flow (and 1 of other traffic)" in " ".join(done.out.split())


@pytest.mark.parametrize("offered", ["10 Mbit/s", "12 Mbit/s"])
@pytest.mark.parametrize("law", ["reno", "vegas"])
def test_a_link_that_datagrams_fill_is_simulated_all_the_same(law: str, offered: str) -> None:
    example = package.Scenario.from_text(EXAMPLE)
    noise: dict[str, object] = {"name": "noise", "path": ["core"], "rtt": "80 ms", "packet": "1000 B"}
    noise["traffic"] = {"kind": "cbr", "rate": offered}
    bulk = {**example.source["flows"][0], "control": law}
    full = package.Scenario.from_mapping({**example.source, "flows": [bulk, noise]})
    assert all(one.not_applicable for one in ask(full.network, 0, parse_targets(TARGET)).values())
    assert package.size(full, "utilization=0.5", replications=2).is_met


def test_a_model_that_has_no_number_for_a_link_does_not_apply() -> None:
    # 100 Gbit/s and 100 ms are 1.2 million packets of 1000 B, more states than the chain behind RED may have.
    fat = {"links[0].rate": "100 Gbit/s", "flows[0].rtt": "100 ms", "links[0].queue": "red"}
    said = ask(package.Scenario.from_text(EXAMPLE).replace(fat).network, 0, parse_targets(TARGET))
    assert said["red-fixed-point"].not_applicable.startswith("buffer: give 1 to 1000000 packets")
    assert said["sawtooth"].buffer_packets is not None


def test_where_no_model_applies_the_search_begins_at_the_bdp_over_the_root_of_the_flows() -> None:
    scenario = package.Scenario.from_text(EXAMPLE).replace({"flows[0].control": "bbr"})
    found = package.size(scenario, "utilization=0.5", replications=2)
    whole = package.size(scenario, "utilization=0.5", replications=2, whole_curve=True)
    assert found.trusted is None
    assert found.buffer_packets == whole.buffer_packets
    assert whole.curve.buffers[-1] >= 200
    assert found.runs < whole.runs


def test_started_from_a_model_the_answer_is_the_same_from_fewer_packets(answer: SizeAnswer) -> None:
    whole = package.size(package.Scenario.from_text(EXAMPLE), TARGET, replications=3, whole_curve=True)
    assert answer.buffer_packets == whole.buffer_packets
    assert answer.interval is not None
    # A buffer far away counts in the fit of its neighbours where noise has put them out of order: a per cent.
    assert answer.interval == pytest.approx(whole.interval, rel=0.02)
    assert answer.packets_simulated < whole.packets_simulated
    assert set(answer.curve.buffers) < set(whole.curve.buffers)


def test_the_verdict_is_the_models_curve_against_the_measured_one(answer: SizeAnswer) -> None:
    off: Any = answer.model_rows["sawtooth"]["off"]
    said = answer.models["sawtooth"]
    assert answer.buffer_packets is not None
    assert said.buffer_packets is not None
    measured = answer.curve.estimate(answer.buffer_packets, "utilization").mean
    [own] = np.atleast_1d(synchronised(package.theory.reno(), 1250, answer.buffer_packets, 0.08, 2).utilisation)
    # Its curve is interpolated between buffers 2 % apart near the answer, further off where it is flat.
    assert off["utilization_points"] == pytest.approx(100 * (float(own) - measured), abs=0.3)
    assert off["buffer_ratio"] == pytest.approx(said.buffer_packets / answer.buffer_packets)
    assert abs(off["worst_points"]) >= abs(off["utilization_points"])


def test_models_rules_and_their_broken_assumptions_are_printed(elephan: Command, tmp_path: Path) -> None:
    done = elephan("size", PAPER, "--target", TARGET, "--model-only", "--details", "--out", tmp_path)
    assert done.code == 0
    assert "by a model, not simulated" in done.out
    assert "assumes hundreds of unsynchronized flows" in " ".join(done.out.split())
    assert "simulated nothing, by models only" in " ".join(done.out.split())
    curves = pq.read_table(tmp_path / "models.parquet").to_pydict()
    assert set(curves) == {"model", "buffer_packets", "utilization", "loss_ratio", "queueing_delay_s", "held"}
    assert "sawtooth" in curves["model"]
    assert pq.read_table(tmp_path / "curve.parquet").num_rows == 0
    assert (tmp_path / "size.png").stat().st_size > 20_000


def test_a_model_is_not_quoted_where_it_does_not_hold(elephan: Command) -> None:
    said = ask(package.Scenario.from_file(PAPER).network, 0, parse_targets(TARGET))["fluid"]
    # At a hundredth of the product bursts and timeouts rule: 0.2 in simulations and ns-2, 0.86 by the fluid.
    assert not said.holds(150)
    assert said.holds(15_000)
    done = elephan("size", PAPER, "--target", TARGET, "--model-only", "--details")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert any(line.startswith("hundred 100 ") and line.endswith(" - -") for line in lines)
    assert any(line.startswith("max BDP 15,562 ") and " ~100 ~" in line for line in lines)


def test_queues_can_be_compared_by_models_alone() -> None:
    long = package.Scenario.from_file(PAPER)
    found = package.size_variants(long, [], ["drop-tail", "codel"], "utilization=0.95", model_only=True)
    assert found.recommended().queue == "drop-tail"
    assert not found.variants[1].answer.is_met


def test_a_curve_cannot_be_measured_without_simulating(elephan: Command) -> None:
    done = elephan("size", PAPER, "--target", TARGET, "--model-only", "--whole-curve")
    assert done.code == 2
    assert done.err.startswith("--whole-curve: is measured by simulation")


def test_model_only_loads_neither_arrow_nor_pictures() -> None:
    words = ["size", str(PAPER), "--target", TARGET, "--model-only"]
    script = f"""
import sys
from elephan.cli import main
try:
    main({words!r})
except SystemExit:
    sys.stderr.write(" ".join(sorted({{"matplotlib", "pyarrow"}} & set(sys.modules))))
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert "packets (by a model, not simulated)" in " ".join(done.stdout.split())
    assert not {"matplotlib", "pyarrow"} & set(done.stderr.split())
