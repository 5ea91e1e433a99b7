"""``elephan new``: every template is a scenario that runs and follows the choices."""

import json
import math
from pathlib import Path

import pytest

import elephan as package
from conftest import Command
from elephan.errors import InputError, ScenarioError
from elephan.lint import lint
from elephan.metrics import maxmin_shares
from elephan.scenario import Scenario
from elephan.templates import DEFAULTS, example_path, examples, template

SHORT: dict[str, object] = {"duration": "3 s", "warmup": "1 s", "replications": 2}


@pytest.mark.parametrize("kind", DEFAULTS)
def test_every_template_runs_and_gives_results(kind: str) -> None:
    # The fifth paper's flows start after what is left of the run.
    early = {"flows[short-rtt].start": "0 s", "flows[long-rtt].start": "0 s"} if kind == "two-hops" else {}
    scenario = Scenario.from_text(template(kind, {}), kind).replace(SHORT | early)
    document = package.run(scenario).to_json()
    assert all(link["utilization"]["mean"] > 0 for link in document["links"])
    assert all(group["goodput_bps"]["mean"] > 0 for group in document["groups"])
    assert 0 < document["fairness"]["jain_maxmin"]["mean"] <= 1


@pytest.mark.parametrize("kind", DEFAULTS)
def test_a_template_is_read_by_people(kind: str, elephan: Command) -> None:
    done = elephan("new", kind)
    assert done.code == 0
    assert done.out == template(kind, {})
    assert done.out.startswith("# ")
    assert "$" not in done.out
    assert "#:" not in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_senders_are_those_of_a_linux_host_of_today() -> None:
    # The two hops are a paper's experiment, whose senders its comment names.
    for kind in DEFAULTS.keys() - {"two-hops"}:
        for flow in Scenario.from_text(template(kind, {}), kind).source["flows"]:
            if "control" not in flow:
                assert flow["traffic"]["kind"] == "ping"
                continue
            tcp = flow["tcp"]
            assert (tcp if isinstance(tcp, str) else tcp["profile"]) == "linux", kind


def test_bufferbloat_shows_a_second_of_delay_that_a_good_queue_takes_away() -> None:
    base = Scenario.from_text(template("bufferbloat", {})).replace(replications=1)
    bloated, good = (
        package.run(each).to_json() for each in (base, base.replace({"links[0].queue.discipline": "fq-codel"}))
    )
    # A thousand packets of 1500 bytes at 10 Mbit/s take 1.2 s; CUBIC leaves them 70 % full at the least.
    assert 0.84 < bloated["links"][0]["queueing_delay_s"]["mean"] < 1.2
    # Its ping waits as long, and takes the round trip of the path besides.
    assert bloated["groups"][1]["rtt_s"]["mean"] > bloated["links"][0]["queueing_delay_s"]["mean"]
    # CoDel's target is 5 ms.
    assert good["links"][0]["queueing_delay_s"]["mean"] < 0.01
    assert good["groups"][0]["goodput_bps"]["mean"] > 0.95 * bloated["groups"][0]["goodput_bps"]["mean"]


def test_a_sawtooth_keeps_the_link_busy_behind_a_bdp_and_not_behind_a_quarter() -> None:
    base = Scenario.from_text(template("sawtooth", {})).replace(replications=1)
    full, quarter = (package.run(each).to_json() for each in (base, base.replace({"links[0].buffer": "0.25 bdp"})))
    # A tooth takes (2 BDP - BDP) segments times 100 to 200 ms: about 12.5 s, so 9 or 10 in 120 s.
    assert 8 <= full["groups"][0]["loss_events"]["mean"] <= 10
    assert full["links"][0]["utilization"]["mean"] > 0.999
    # From 0.625 of a BDP to 1.25: a line through 1 at three fifths of the time leaves about a tenth idle.
    assert 0.85 < quarter["links"][0]["utilization"]["mean"] < 0.93


def test_rtt_fair_shows_that_near_flows_get_more_and_a_fair_queue_that_they_need_not() -> None:
    base = Scenario.from_text(template("rtt-fair", {})).replace(replications=1)
    reno = base.replace({f"flows[{i}].control.law": "reno" for i in range(4)})
    unfair, fair = (
        package.run(each).to_json() for each in (reno, reno.replace({"links[0].queue.discipline": "fq-codel"}))
    )
    near, *_, far = (group["goodput_bps"]["mean"] for group in unfair["groups"])
    # Reno's throughput falls with the round-trip time: 240 ms against 20, both behind the same queue.
    assert near > 1.5 * far
    assert fair["fairness"]["jain"]["mean"] > unfair["fairness"]["jain"]["mean"]


def test_rrul_loads_both_directions_and_its_ping_crosses_both(elephan: Command, tmp_path: Path) -> None:
    file = tmp_path / "rrul.toml"
    assert elephan("new", "rrul", "--out", file).code == 0
    done = elephan("run", file, "--replications", "1")
    lines = done.out.splitlines()
    assert len(lines) <= 15
    for name in ("up ", "down ", "download: 4 cubic", "upload: 4 cubic", "ping: round trip"):
        assert any(line.startswith(name) for line in lines), name
    links = package.run(Scenario.from_file(file).replace(replications=1)).to_json()["links"]
    assert all(link["utilization"]["mean"] > 0.9 for link in links)


def test_a_modern_page_is_its_document_and_then_ten_hosts_at_once() -> None:
    base = Scenario.from_text(template("web", {"flows": 1})).replace(replications=1)
    # One user, nothing drawn, half of the round trip there: a document of 13 segments, then ten hosts of one each.
    page = {"size": "1448 B", "law": "constant", "think": "1 s", "think_law": "constant"}
    alone = base.replace(
        {f"flows[web].traffic.{key}": value for key, value in page.items()}
        | {f"links[{name}].delay": "0 s" for name in ("server", "bottleneck", "client")}
        | {"flows[web].count": 1, "flows[web].rtt": "100 ms", "flows[web].start": "0 s"}
        | {"links[client].rate": "1 Gbit/s", "flows[long].start": "59 s"}
    )
    transfers = package.run(alone).to_json()["groups"][1]["transfers"]
    assert transfers is not None
    assert transfers["completed"]["mean"] / transfers["pages"]["mean"] == pytest.approx(11, abs=0.3)
    # Ten segments of the document leave at once, three more after a round trip; the requests for the rest take half
    # of one, as each segment does. Their times on the links are the rest.
    assert transfers["page_time_s"]["mean"] == pytest.approx(0.1 + 0.05 + 0.05 + 0.05, rel=0.01)


def test_what_is_chosen_stands_in_the_file(elephan: Command, tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    words = ["--rate", "2.5 Gbit/s", "--rtt", "60 ms", "--flows", "7", "--buffer", "100 packets"]
    assert elephan("new", "two-way", *words, "--out", out).code == 0
    scenario = Scenario.from_file(out)
    assert [link["rate_bps"] for link in scenario.links] == [2_500_000_000] * 2
    assert [link["mean_rtt_s"] for link in scenario.links] == [0.06] * 2
    assert [link["buffer_limit_packets"] for link in scenario.links] == [100] * 2
    assert [group["flows"] for group in scenario.groups] == [7] * 2


def test_programs_get_one_document(elephan: Command) -> None:
    document = json.loads(elephan("new", "web", "--json").out)
    assert document == {"format": 1, "kind": "web", "file": None, "text": template("web", {})}


def test_a_parking_lot_has_its_hops_and_cross_traffic_at_each() -> None:
    scenario = Scenario.from_text(template("parking-lot", {"hops": 5}))
    assert [group["path"] for group in scenario.groups] == [list(range(5)), *([i] for i in range(5))]
    # 10 ms a hop and 5 ms of access, there and back.
    assert [link["flows"] for link in scenario.links] == [4] * 5
    assert scenario.links[0]["min_rtt_s"] == pytest.approx(2 * (0.010 + 0.004))
    assert scenario.links[0]["max_rtt_s"] == pytest.approx(2 * (0.050 + 0.006))


def test_no_file_is_lost(elephan: Command, tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    out.write_text("precious")
    done = elephan("new", "dumbbell", "--out", out)
    assert (done.code, done.err) == (2, f"--out {out}: is there already; --force replaces it\n")
    assert out.read_text() == "precious"
    assert elephan("new", "dumbbell", "--out", out, "--force").code == 0
    assert out.read_text() == template("dumbbell", {})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["star"],
            'there is no kind "star"; kinds: dumbbell, two-way, parking-lot, two-hops, web, rrul, bufferbloat, ',
        ),
        (["hstcp-1G"], 'there is no kind "hstcp-1G"; did you mean "hstcp-1g"?'),
        (["hstcp-1g", "--rate", "2 Gbit/s"], "--rate: does not apply to hstcp-1g, a complete scenario"),
        (["web", "--hops", "3"], "--hops: web has no such choice; it has --rate, --flows, --buffer"),
        (["dumbbell", "--rtt", 'x"y'], "--rtt: must be a number with its unit, such as 80 ms"),
        (
            ["dumbbell", "--rtt", "80"],
            'dumbbell: flows[0].rtt: "80" has no unit; write for example "80 ms"',
        ),
        (["dumbbell", "--out", "no/such/place.toml"], "--out no/such/place.toml: no such file or directory"),
    ],
)
def test_wrong_words_get_one_line(words: list[str], message: str, elephan: Command) -> None:
    done = elephan("new", *words)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert done.err.startswith(message)


def test_links_of_an_array_are_one_in_fair_shares() -> None:
    scenario = Scenario.from_text(template("web", {}))
    fair = scenario.facts["fair"]
    # 200 servers, the bottleneck, 500 clients of 275 Mbit/s in the mean.
    assert fair["rates_bps"] == [200e9, 1e9, 137.5e9]
    assert fair["paths"] == [[1], [0, 1, 2]]
    # Sessions come and go: beside flows that stay they have no share of their own.
    assert fair["caps_bps"] == [None, 0.0]
    shares = maxmin_shares(fair["rates_bps"], fair["paths"], [5, 500], [math.inf, 0.0])
    assert shares == pytest.approx([1e9 / 5, 0.0])


def test_only_single_links_are_sized() -> None:
    scenario = Scenario.from_text(template("web", {}), "web.toml")
    assert scenario.link_index(None) == 1
    with pytest.raises(ScenarioError, match=r"web.toml: client are 500 links; only a single link can be sized"):
        package.size(scenario, "loss=1%", link="client")


@pytest.mark.parametrize("kind", DEFAULTS)
def test_templates_have_no_faults_that_lint_knows(kind: str) -> None:
    assert [str(warning) for warning in lint(Scenario.from_text(template(kind, {}), kind))] == []


def test_names_in_a_template_are_not_taken_for_choices() -> None:
    with pytest.raises(InputError, match="has no such choice"):
        template("dumbbell", {"i": 3})


@pytest.mark.parametrize("name", examples())
def test_every_scenario_that_comes_along_is_written_as_it_is_and_can_be_read(
    elephan: Command, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "mine.toml"
    assert elephan("new", name, "--out", out).code == 0
    assert out.read_text(encoding="utf-8") == example_path(name).read_text(encoding="utf-8")
    assert Scenario.from_file(out).title == examples()[name]
    # Comments fit a terminal; values are not broken.
    assert all(len(line) <= 80 for line in out.read_text(encoding="utf-8").splitlines() if "# " in line)


@pytest.mark.parametrize(
    ("rate", "users"),
    [("20 Mbit/s", 10), ("100 Mbit/s", 50), ("300 Mbit/s", 150), ("1 Gbit/s", 500), ("40 Gbit/s", 5000)],
)
def test_users_of_the_web_are_as_many_as_the_link_has_room_for(rate: str, users: int) -> None:
    scenario = Scenario.from_text(template("web", {"rate": rate}), "web")
    assert {group["name"]: group["flows"] for group in scenario.groups}["web"] == users
    assert "overload" not in [warned.rule for warned in lint(scenario)]


def test_more_users_than_a_link_has_room_for_are_warned_of() -> None:
    crowded = Scenario.from_text(template("web", {}), "web").replace({"links[bottleneck].rate": "300 Mbit/s"})
    (message,) = [warned.message for warned in lint(crowded) if warned.rule == "overload"]
    assert "of 300 Mbit/s" in message


def test_a_rate_that_cannot_be_read_is_named_after_its_option() -> None:
    with pytest.raises(InputError, match=r'^--rate: unknown unit "MB"'):
        template("web", {"rate": "10 MB"})


def test_a_law_is_not_a_scenario(elephan: Command) -> None:
    for name in ("law", "laws"):
        done = elephan("new", name)
        assert (done.code, len(done.err.splitlines())) == (2, 1)
        assert "docs/guide/law-in-python.md" in done.err


def test_the_option_of_a_law_says_which_verbs_take_it(elephan: Command) -> None:
    done = elephan("new", "dumbbell", "--law", "mine=mine.py:Mine")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    said = "size, run, sweep and 4 other verbs take --law NAME=FILE, a law of your own: docs/guide/law-in-python.md"
    assert said in done.err
    # Other verbs have options of this name that mean something else.
    assert "conform" not in done.err
    assert (
        "it is an option of elephan size, run, sweep and 5 other verbs" in elephan("list", "laws", "--set", "a=1").err
    )
