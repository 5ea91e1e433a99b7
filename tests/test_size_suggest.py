"""The buffer to deploy: refusals by guards, their messages, and no message for an unaffected link."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import elephan as package
from conftest import SCENARIOS, Command
from elephan.sizing import SizeAnswer, size_variants
from elephan.sizing.curve import BufferCurve
from elephan.sizing.suggest import BufferSuggestion, standard_buffers, suggest
from elephan.sizing.targets import BufferSample, GroupSample, parse_targets

MIX = """
title = "Two laws"
duration = "8 s"
warmup = "3 s"
replications = 3

[[links]]
name = "core"
rate = "100 Mbit/s"
buffer = "bdp"

[[flows]]
name = "first"
count = 50
path = ["core"]
packet = "1000 B"
rtt = "40 ms"
control = { law = "cubic" }

[[flows]]
name = "second"
count = 50
path = ["core"]
packet = "1000 B"
rtt = "40 ms"
control = { law = "bbr" }
"""
NETWORK = package.Scenario.from_text(MIX).network
"""100 flows; a BDP of 500 packets."""

USED = parse_targets("utilization=0.9")


def curve_of(rows: dict[int, tuple[float, float, float, float]]) -> BufferCurve:
    """Make a curve by buffer: utilization, delay [s], and the rates of a flow of each group [Mbit/s]; noise of a
    thousandth."""
    curve = BufferCurve()
    for buffer, (used, delay, first, second) in rows.items():
        for replication, noise in enumerate((-1e-3, 0.0, 1e-3)):
            shares = [first] * 50 + [second] * 50
            jain = sum(shares) ** 2 / (len(shares) * sum(x * x for x in shares))
            groups = (GroupSample(first * 1e6, 0.01), GroupSample(second * 1e6, 0.01))
            curve.add(buffer, replication, BufferSample(used + noise, 0.01, delay, jain, 2 * delay, groups))
    return curve


def suggested(
    rows: dict[int, tuple[float, float, float, float]], found: int | None, target: str = "utilization=0.9"
) -> BufferSuggestion:
    return suggest(curve_of(rows), parse_targets(target), found, NETWORK, 0)


def test_an_innocent_link_gets_its_smallest_buffer_and_no_word() -> None:
    found = suggested({120: (0.92, 0.004, 0.9, 1.0), 500: (0.99, 0.006, 0.9, 1.0)}, 120)
    assert (found.buffer_packets, found.why, found.dangers, found.advice) == (120, "", (), ())
    assert found.rows == {120: ("smallest", "suggested"), 500: ("BDP",)}


def test_a_suggestion_whose_interval_includes_a_miss_says_so_and_names_the_next_that_holds() -> None:
    # Student's t with two degrees of freedom is 4.303, and the deviation of the noise 0.001: half-widths of 0.0025.
    rows = {120: (0.9005, 0.004, 1.0, 1.0), 125: (0.9010, 0.004, 1.0, 1.0), 140: (0.9040, 0.005, 1.0, 1.0)}
    found = suggested(rows, 120)
    assert found.buffer_packets == 120
    assert found.dangers == ("utilization may be as low as 89.8 % (95 % interval); not so with 140 packets",)
    # Of several targets the one in doubt is named, and a larger buffer must hold all.
    found = suggested(rows, 120, "utilization=0.9,delay=4.4ms")
    assert found.dangers == ("utilization may be as low as 89.8 % (95 % interval)",)
    found = suggested({120: (0.92, 0.004, 1.0, 1.0), 125: (0.921, 0.004, 1.0, 1.0)}, 120, "utilization=0.9,loss=0.01")
    assert found.dangers == ()
    # One replication has no interval.
    single = BufferCurve()
    single.add(120, 0, curve_of(rows).samples(120)[1])
    assert suggest(single, USED, 120, NETWORK, 0).dangers == ()


def test_less_than_a_packet_for_each_flow_is_not_suggested() -> None:
    found = suggested({13: (0.92, 0.001, 1.0, 1.0), 100: (0.97, 0.003, 1.0, 1.0), 500: (0.99, 0.02, 1.0, 1.0)}, 13)
    assert found.buffer_packets == 100
    assert found.why == "13 packets are less than one for each of the 100 flows"
    assert found.dangers == ("13 packets are less than one for each of the 100 flows",)
    assert found.rows == {13: ("smallest",), 100: ("suggested", "1 per flow"), 500: ("BDP",)}


@pytest.mark.parametrize(("first", "is_said"), [(0.32, True), (0.35, False)])
def test_a_group_with_less_than_a_third_of_another_is_said_with_what_may_help(first: float, is_said: bool) -> None:
    rows = {120: (0.92, 0.004, first, 1.0), 500: (0.99, 0.02, first, 1.0)}
    found = suggested(rows, 120)
    assert bool(found.dangers) is is_said
    if is_said:
        assert found.dangers == ("first gets 320 kbit/s per flow, second 1 Mbit/s (Jain's index 0.79)",)
        assert found.advice[0] == "none of these buffers changes that: try --queues drop-tail,fq-codel"


def test_a_buffer_that_shares_better_is_named() -> None:
    found = suggested({120: (0.92, 0.004, 0.2, 1.0), 500: (0.99, 0.02, 0.8, 1.0)}, 120)
    assert found.advice[0] == (
        "with 500 packets shares are nearer to equal: first gets 800 kbit/s per flow, second 1 Mbit/s"
    )


def test_a_buffer_that_shares_better_and_misses_the_target_is_not() -> None:
    found = suggested({10: (0.2, 0.001, 1.0, 1.0), 120: (0.92, 0.004, 0.2, 1.0), 500: (0.99, 0.02, 0.2, 1.0)}, 120)
    assert "10 packets" not in found.advice[0]


def test_utilization_that_falls_again_is_said() -> None:
    found = suggested({120: (0.95, 0.004, 1.0, 1.0), 500: (0.85, 0.02, 1.0, 1.0)}, 120)
    assert found.dangers == ("larger buffers keep the link less busy: 85 % with 500 packets, below the target",)
    # A difference of less than a point is none.
    assert suggested({120: (0.955, 0.004, 1.0, 1.0), 500: (0.95, 0.02, 1.0, 1.0)}, 120).dangers == ()


def test_where_utilization_does_not_choose_what_does_is_said() -> None:
    found = suggested({100: (0.98, 0.001, 1.0, 1.0), 500: (0.99, 0.02, 1.0, 1.0)}, 100)
    assert found.advice == ("larger buffers add delay (1 ms to 20 ms), not utilization (98 to 99 %)",)
    assert suggested({100: (0.92, 0.001, 1.0, 1.0), 500: (0.99, 0.02, 1.0, 1.0)}, 100).advice == ()


def test_without_a_target_for_it_the_link_is_kept_busy_all_the_same() -> None:
    rows = {2: (0.73, 1e-4, 1.0, 1.0), 100: (0.9, 1e-3, 1.0, 1.0), 200: (0.96, 2e-3, 1.0, 1.0)}
    found = suggested(rows, 2, "loss=5%")
    assert found.buffer_packets == 200
    # If no buffer reaches the target, nearly the best utilization is sufficient.
    rows[200] = (0.905, 2e-3, 1.0, 1.0)
    assert suggested(rows, 2, "loss=5%").buffer_packets == 100


def test_a_packet_for_each_flow_that_breaks_another_target_is_not_suggested_either() -> None:
    rows = {13: (0.92, 0.001, 1.0, 1.0), 100: (0.97, 0.003, 1.0, 1.0), 500: (0.99, 0.02, 1.0, 1.0)}
    found = suggested(rows, 13, "utilization=0.9,delay=2ms")
    assert found.buffer_packets is None
    assert found.dangers[:2] == (
        "13 packets are less than one for each of the 100 flows",
        "with 100 packets delay <= 2 ms is not met",
    )


def test_no_answer_suggests_nothing_and_says_who_gets_what() -> None:
    found = suggested({120: (0.8, 0.004, 0.1, 1.0), 500: (0.85, 0.02, 0.1, 1.0)}, None)
    assert found.buffer_packets is None
    assert found.dangers[0].startswith("first gets 100 kbit/s per flow")


def test_senders_that_are_held_elsewhere_are_not_starved() -> None:
    held = package.Scenario.from_text(MIX).replace({"flows[0].access": {"rate": "200 kbit/s"}}).network
    curve = curve_of({120: (0.92, 0.004, 0.2, 1.0), 500: (0.99, 0.006, 0.2, 1.0)})
    assert not any("first gets" in text for text in suggest(curve, USED, 120, held, 0).dangers)


def test_a_link_that_its_senders_cannot_fill_has_no_buffer_to_suggest() -> None:
    slow = {"flows[0].access": {"rate": "500 kbit/s"}, "flows[1].access": {"rate": "1 Mbit/s"}}
    curve = curve_of({2: (0.75, 1e-6, 0.5, 1.0), 500: (0.75, 1e-6, 0.5, 1.0)})
    held = suggest(curve, parse_targets("loss=2%"), 2, package.Scenario.from_text(MIX).replace(slow).network, 0)
    assert held.buffer_packets is None
    assert held.dangers == (
        "the senders' own links carry 75 Mbit/s together, less than the 100 Mbit/s of this link: it is not a "
        "bottleneck, and this says nothing about its buffer",
    )
    # One of them could.
    slow["flows[1].access"] = {"rate": "2 Mbit/s"}
    free = suggest(curve, parse_targets("loss=2%"), 2, package.Scenario.from_text(MIX).replace(slow).network, 0)
    assert free.buffer_packets is not None


def test_standard_buffers_are_those_of_the_textbooks() -> None:
    assert standard_buffers(NETWORK.links[0]) == {"1 per flow": 100, "BDP/sqrt(n)": 50, "BDP": 500}


# --- on a simulated link


@pytest.fixture(scope="module")
def answer() -> SizeAnswer:
    return package.size(package.Scenario.from_text(MIX), "utilization=0.9")


@pytest.mark.slow
def test_the_document_has_each_group_beside_the_link_and_agrees_with_run(answer: SizeAnswer) -> None:
    document: Any = answer.to_json()
    suggested = document["suggested_packets"]
    assert suggested >= 100
    [row] = [row for row in document["table"] if "suggested" in row["is"]]
    ran: Any = package.run(
        package.Scenario.from_text(MIX).replace({"links[0].buffer": f"{suggested} packets"})
    ).to_json()
    for ours, theirs in zip(row["groups"], ran["groups"], strict=True):
        assert ours["name"] == theirs["name"]
        assert ours["goodput_per_flow_bps"] == pytest.approx(theirs["goodput_per_flow_bps"], rel=1e-12)
        assert ours["loss_ratio"] == pytest.approx(theirs["loss_ratio"], rel=1e-12)
    for ours, theirs in (("queueing_delay_p95_s",) * 2, ("jain", "jain")):
        where = ran["links"][0] if ours != "jain" else ran["fairness"]
        assert row[ours] == pytest.approx(where[theirs], rel=1e-12)
    json.dumps(document, allow_nan=False)


@pytest.mark.slow
def test_the_tc_line_is_that_of_the_suggested_buffer(answer: SizeAnswer) -> None:
    document: Any = answer.to_json()
    assert document["buffer_packets"] < document["suggested_packets"]
    assert document["tc"] == f"tc qdisc replace dev eth0 root pfifo limit {document['suggested_packets']}"
    assert not any(warned["rule"] == "buffer-under-burst" for warned in document["warnings"])


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 80])
def test_the_screen_has_fifteen_lines_and_cuts_no_number(
    elephan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    path = tmp_path / "mix.toml"
    path.write_text(MIX)
    done = elephan("size", path, "--target", "utilization=0.9", "-q")
    lines = done.out.splitlines()
    assert done.code == 0
    if columns == 80:
        assert len(lines) <= 15
    assert max(len(line) for line in lines if not line.startswith("Linux: ")) <= columns
    wide = elephan("size", path, "--target", "utilization=0.9", "--json", "-q")
    rows = json.loads(wide.out)["table"]
    shown = {line.split()[0]: line for line in lines if line.strip()}
    for row in rows:
        # On a narrow screen dangers take more lines, and the buffers beside the suggested one give way to them.
        if columns == 80 or "suggested" in row["is"]:
            assert f"{100 * row['utilization']['mean']:.3g} %" in shown[f"{row['buffer_packets']:,}"]
    assert "…" not in " ".join(lines)


@pytest.mark.slow
def test_unchecked_models_give_a_range_and_no_headline(elephan: Command, tmp_path: Path) -> None:
    made = tmp_path / "many.toml"
    assert (
        elephan("new", "dumbbell", "--rate", "10 Gbit/s", "--rtt", "40 ms", "--flows", "500", "--out", made).code == 0
    )
    done = elephan("size", made, "--target", "utilization=0.95", "--model-only", "-q")
    assert done.code == 1
    assert "tc qdisc" not in done.out
    assert "No answer for utilization >= 0.95: models say " in " ".join(done.out.split())
    document = json.loads(elephan("size", made, "--target", "utilization=0.95", "--model-only", "-q", "--json").out)
    assert document["buffer_packets"] is None
    low, high = document["models_range_packets"]
    assert high > 3 * low
    # A link of the survey has its headline.
    assert elephan("size", SCENARIOS / "hstcp-1g.toml", "--target", "utilization=0.95", "--model-only", "-q").code == 0


def test_a_model_far_outside_of_what_was_checked_is_no_answer(elephan: Command, tmp_path: Path) -> None:
    # One packet for 100 Gbit/s was such an answer.
    made = tmp_path / "science.toml"
    words = ("--rate", "100 Gbit/s", "--rtt", "90 ms", "--flows", "11")
    assert elephan("new", "dumbbell", *words, "--out", made).code == 0
    done = elephan("size", made, "--target", "utilization=0.95", "--model-only", "-q")
    assert done.code == 1
    assert "(by a model" not in done.out
    assert "tc qdisc" not in done.out


def test_beside_a_danger_of_heavy_loss_there_is_no_line_for_linux(elephan: Command, tmp_path: Path) -> None:
    path = tmp_path / "bbr.toml"
    path.write_text("""
duration = "3 s"
warmup = "1 s"
replications = 2

[[links]]
name = "core"
rate = "100 Mbit/s"
buffer = "100 packets"

[[flows]]
count = 8
path = ["core"]
rtt = "2 ms"
control = "bbr1"
start = { from = "0 s", to = "0.2 s" }
""")
    words = ("size", path, "--target", "utilization=0.8", "--precision", "20%", "-q")
    shown = " ".join(elephan(*words).out.split())
    assert re.search(r"! [\d.]+ % of the packets are lost", shown)
    assert re.search(r"Linux: no line, since [\d.]+ % of the packets are lost with", shown)
    assert json.loads(elephan(*words, "--json").out)["tc"] is None
    # A target that says which loss is accepted is not in doubt.
    accepted = elephan(*words, "--target", "loss=60%").out
    assert "Linux: tc qdisc replace" in accepted


def test_a_buffer_below_one_burst_is_behind_one_with_a_line_of_tc() -> None:
    # A home uplink with a call: drop-tail meets the delay with fewer packets than an initial window only.
    home = package.Scenario.from_text("""
title = "home"
duration = "40 s"
warmup = "10 s"
replications = 2
[[links]]
name = "up"
rate = "10 Mbit/s"
buffer = "200 ms"
[[flows]]
name = "uploads"
count = 2
path = ["up"]
rtt = "40 ms"
tcp = "linux"
start = { from = "0 s", to = "1 s" }
[[flows]]
name = "call"
path = ["up"]
rtt = "40 ms"
packet = "1250 B"
traffic = { kind = "cbr", rate = "1.5 Mbit/s" }
""")
    targets = "utilization=0.9,delay_p95[call]=30ms"
    found = size_variants(home, [], ["drop-tail", "fq-codel"], targets, precision=0.3)
    tail, fair = found.variants
    assert tail.candidate.meets
    assert tail.tc is None
    assert "less than the initial window of 10 in one burst" in tail.candidate.dangers[0]
    # It has less delay, and would win by the other steps of the rule.
    assert tail.candidate.mean("queueing_delay_s") < fair.candidate.mean("queueing_delay_s")
    assert found.recommended() is fair
    assert fair.tc is not None
    assert "but room for" in found.recommendation.otherwise
    # Without another variant it remains, and what forbids its line is said there.
    alone = size_variants(home, [], ["drop-tail"], targets, precision=0.3)
    assert alone.recommended().tc is None
