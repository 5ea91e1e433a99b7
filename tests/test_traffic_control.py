"""Queues of Linux as tc shows or adds them: the scenario of a path, and what cannot be simulated."""

import json
from pathlib import Path

import pytest

from conftest import Command
from elephan import Scenario
from elephan.errors import InputError
from elephan.expectations import covered, expect
from elephan.lint import lint
from elephan.runs.outcome import simulate
from elephan.traffic_control import Around, is_tc, rate, read, scenario, size, time

HERE = Path(__file__).resolve().parent / "data" / "measurements"

NETEM = "qdisc netem 8001: dev eth0 root refcnt 2 limit 1000 delay 50ms loss 0.1% rate 100Mbit"
HTB = """\
qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0 direct_qlen 1000
qdisc fq_codel 10: dev eth0 parent 1:10 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms ecn drop_batch 64
class htb 1:1 root rate 50Mbit ceil 50Mbit burst 1600b cburst 1600b
class htb 1:10 parent 1:1 leaf 10: prio 0 rate 20Mbit ceil 100Mbit burst 15337b cburst 32Kb
class htb 1:20 parent 1:1 leaf 20: prio 0 rate 1Mbit ceil 1Mbit burst 15337b cburst 1600b
"""
MININET = """\
tc qdisc add dev h1-eth0 root handle 5:0 htb default 1
tc class add dev h1-eth0 parent 5:0 classid 5:1 htb rate 10.000000Mbit burst 15k
tc qdisc add dev h1-eth0 parent 5:1 handle 10: netem delay 20ms limit 100
"""


def link(text: str, **around: float) -> dict[str, object]:
    made = scenario(read(text, "x"), Around(**around), "x")  # type: ignore[arg-type]
    found: dict[str, object] = Scenario.from_text(made).resolved["links"][0]
    return found


@pytest.mark.parametrize(
    ("text", "bps"),
    [("100Mbit", 1e8), ("1kbps", 8e3), ("1mibit", 2**20), ("8000", 8e3), ("2.5Gbit", 2.5e9), ("1MBps", 8e6)],
)
def test_rates_are_in_powers_of_1000_and_bps_is_bytes(text: str, bps: float) -> None:
    assert rate(text.replace("MBps", "mbps")) == bps


def test_sizes_are_in_powers_of_1024_and_bare_times_in_microseconds() -> None:
    assert (size("32Kb"), size("1540b"), size("15k"), size("32kb/8")) == (32768, 1540, 15360, 32768)
    assert [time(text) for text in ("50ms", "50.0ms", "1s", "100")] == pytest.approx([0.05, 0.05, 1.0, 1e-4])


def test_netem_holds_the_packets_in_its_delay_within_its_limit() -> None:
    found = link(NETEM)
    # 50 ms at 100 Mbit/s are 413 packets of 1514 bytes.
    assert Scenario.from_text(scenario(read(NETEM, "x"), Around(), "x")).links[0]["buffer_limit_packets"] == 587
    assert found["loss"] is not None


def test_a_limit_below_what_the_delay_holds_is_a_policer_and_is_said() -> None:
    made = read(NETEM.replace("limit 1000", "limit 100"), "x")
    policed = Scenario.from_text(scenario(made, Around(), "x"))
    assert any("limit of 100 packets is below the 413" in note and "policer" in note for note in made.notes)
    # A bucket of 100 packets of 1514 bytes that fills in 50 ms.
    assert policed.resolved["links"][0]["policer"] == {"rate_bps": 24_224_000, "burst_bytes": 151_400}
    assert policed.links[0]["buffer_limit_packets"] == 100


@pytest.mark.parametrize("limit", [412, 413, 414, 415, 420, 500])
def test_a_limit_near_what_the_delay_holds_leaves_a_queue_for_slow_start(limit: int) -> None:
    for text in (NETEM.replace("1000", str(limit)), f"qdisc netem 1: dev e root limit {limit} delay 5ms"):
        made = read(text, "x")
        link = Scenario.from_text(scenario(made, Around(), "x")).links[0]
        # Slow start at twice the rate queues half of a window that netem holds.
        assert link["buffer_limit_packets"] == (limit if "policer" in "".join(made.notes) else limit // 2)


def _expected(elephan: Command, folder: Path, options: str, *more: str) -> dict[str, float]:
    (folder / "q.txt").write_text(f"tc qdisc add dev eth0 root netem {options}")
    done = elephan("expect", folder / "q.txt", "--rtt", "20 ms", "--replications", "3", "--json", *more)
    return {name: one["mean"] for name, one in json.loads(done.out)["expected"].items()}


def test_netem_without_a_rate_is_limited_by_its_limit_within_its_delay_alone(elephan: Command, tmp_path: Path) -> None:
    # 1,000 packets of 1,448 bytes of payload in 50 ms are 232 Mbit/s; a window of CUBIC that is cut to 0.7 at each loss
    # and fills no queue is between 0.7 and 1 of that. A link of that rate without a queue gave 0.39 Mbit/s.
    default = _expected(elephan, tmp_path, "delay 50ms")
    assert 0.7 * 232e6 < default["goodput_bps"] < 232e6
    # The receive window of Linux, 3 MiB in 70 ms, is 359 Mbit/s, and slow start takes its part of 10 s.
    for enough in ("delay 50ms limit 10000", "delay 50ms limit 2200"):
        free = _expected(elephan, tmp_path, enough)
        assert 0.9 * 359e6 < free["goodput_bps"] < 359e6
        assert free["retransmits"] == 0
    # Initial windows of many senders, 640 packets at once, lose nothing.
    short = 'flows[0].traffic={ kind = "finite", size = "14480 B" }'
    many = _expected(elephan, tmp_path, "delay 50ms", "--set", "flows[0].count=64", "--set", "flows[0].start=0 s",
                     "--set", short, "--time", "0.6 s")  # fmt: skip
    # 14,480 bytes in 0.6 s: all arrived.
    assert many["goodput_bps"] == pytest.approx(14480 * 8 / 0.6)
    assert many["retransmits"] == 0


@pytest.mark.parametrize(
    ("options", "least_s", "mean_s", "reorder"),
    [
        # `tfifo_enqueue` sorts by times to send; with a rate each of them is after the last one's.
        ("delay 10ms 5ms", 0.025, 0.030, "jitter"),
        ("delay 10ms 5ms rate 100mbit", 0.025, 0.030, "None"),
        ("delay 10ms", 0.030, 0.030, "None"),
        # One in four is sent at once; with a gap four are late, and four more tried on average: one in eight.
        ("delay 10ms reorder 25%", 0.020, 0.0275, "'early': 0.25"),
        ("delay 10ms reorder 25% 50% gap 5", 0.020, 0.02875, "'gap': 5"),
        ("delay 10ms reorder 100% gap 5", 0.020, 0.028, "'gap': 5"),
        ("delay 10ms 4ms reorder 25%", 0.020, 0.0285, "'early': 0.25"),
        ("delay 5ms 10ms", 0.020, 0.0275, "jitter"),
    ],
)
def test_netem_reorders_by_jitter_without_a_rate_and_by_reorder(
    options: str, least_s: float, mean_s: float, reorder: str
) -> None:
    made = read(f"tc qdisc add dev eth0 root netem {options}", "x")
    path = Scenario.from_text(scenario(made, Around(rtt_s=0.02, duration_s=5.0), "x"))
    link = path.resolved["links"][0]
    assert reorder in str(link.get("reorder"))
    outcome = simulate(path, 0, series=True)
    assert outcome.flows["base_rtt_s"][0] == pytest.approx(mean_s)
    # The least of thousands of draws; the simulator derives the rest of the path from its own mean. Packets of a window
    # that stay in order wait for the slowest before them: few have the least delay, but some less than the mean.
    least = outcome.samples["min_rtt_s"][0, -1]
    assert least_s <= least < (mean_s if "rate" in options else least_s + 0.0005)
    assert any("correlation of netem's reorder" in note for note in made.notes) == ("50%" in options)


@pytest.mark.parametrize("name", ["normal", "pareto", "paretonormal"])
def test_netems_distributions_are_equally_likely_delays_where_jitter_overtakes(name: str) -> None:
    line = "tc qdisc add dev eth0 root netem delay 20ms 4ms distribution"
    made = read(f"{line} {name}", "x")
    link = Scenario.from_text(scenario(made, Around(rtt_s=0.02, duration_s=5.0), "x")).resolved["links"][0]
    assert "jitter is uniform here" not in str(made.notes)
    assert len(link["reorder"]["paths_ps"]) == 200
    assert link["reorder"]["spray"] == "random"
    for other in (f"{line} experimental", f"{line} {name} rate 20mbit", f"{line} {name} reorder 25%"):
        plain = read(other, "x")
        assert any("jitter is uniform here" in note for note in plain.notes)
        assert "paths" not in scenario(plain, Around(), "x")


def test_netem_with_jitter_and_a_rate_delays_before_it_queues() -> None:
    # A queue in front of the jitter would hide it: what leaves evenly would arrive late by nearly all of it.
    made = read("tc qdisc add dev eth0 root netem delay 20ms 4ms rate 20mbit", "x")
    path = Scenario.from_text(scenario(made, Around(rtt_s=0.02), "x"))
    assert path.resolved["flows"][0]["path"] == ["jitter", "emulated"]
    links = {link["name"]: link for link in path.resolved["links"]}
    assert links["jitter"]["jitter_ps"] == 8e9
    assert "jitter_ps" not in links["emulated"]


def test_of_htb_the_default_leaf_counts_with_the_lowest_ceiling_above_it() -> None:
    made = read(HTB, "x")
    assert made.rate_bps == 50e6
    assert "fq-codel" in made.queue
    assert made.buffer == '"10240 packets"'


def test_an_htb_without_classes_needs_the_rate_of_the_link(elephan: Command, tmp_path: Path) -> None:
    # As `tc qdisc show dev eth0` prints them: neither the device, nor the classes with their rates.
    leaves = "".join(f"qdisc fq_codel 1{i}0: parent 1:{i}0 limit 10240p flows {512 * i}\n" for i in (1, 2))
    file = tmp_path / "q.txt"
    file.write_text("qdisc htb 1: root refcnt 2 r2q 10 default 0x10 direct_qlen 1000\n" + leaves)
    for verb in (["expect", file], ["import", "tc", file]):
        refused = elephan(*verb)
        assert (refused.code, refused.out) == (2, "")
        assert "line 1: htb 1: has no line of a class" in refused.err
        assert "tc class show dev DEV, or give --link-rate" in " ".join(refused.err.split())
    given = json.loads(elephan("import", "tc", file, "--link-rate", "40 Mbit/s", "--json").out)
    assert given["link"]["rate_bps"] == 40e6
    # The leaf of the default class.
    assert given["link"]["queue"]["flows"] == 512


def test_a_rate_that_no_line_states_is_said_to_be_assumed(elephan: Command, tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("qdisc netem 1: dev e root limit 1000 delay 5ms")
    made = elephan("import", "tc", tmp_path / "q.txt").out
    assert "no line limits the rate; the device is assumed to have 1 Gbit/s (--link-rate)" in " ".join(made.split())
    assert "assumed" not in elephan("import", "tc", tmp_path / "q.txt", "--link-rate", "2 Gbit/s").out


def test_a_scenario_of_tcs_lines_does_not_measure_slow_start() -> None:
    made = Scenario.from_text(scenario(read("qdisc pfifo 1: dev e root limit 99p", "x"), Around(duration_s=20), "x"))
    assert (made.facts["warmup_s"], made.facts["duration_s"]) == (5, 20)
    assert not [one for one in lint(made) if "warmup" in one.where]


def test_classes_of_queues_are_passed_over() -> None:
    shown = "class fq_codel 10:4f parent 10: \nclass tbf 8001:1 parent 8001: leaf 9:\n"
    assert read(HTB + shown, "x") == read(HTB, "x")


def test_lines_of_mininet_are_read() -> None:
    assert is_tc(MININET)
    made = read(MININET, "x")
    assert (made.rate_bps, made.delay_s, made.delay_limit, made.burst_b) == (10e6, 0.02, 100, 15360.0)


KATHARA = """ip address add 100.0.0.1/24 dev eth0
ip address add 200.0.0.1/24 dev eth1
ip route add default via 200.0.0.254 dev eth1
/etc/init.d/frr start

# 10 Mbit/s and 50 ms of buffer towards pc2
tc qdisc add dev eth1 root tbf rate 10mbit burst 32kbit latency 50ms
"""
"""The file r1.startup of a lab."""

LAB = """LAB_DESCRIPTION="A fixed delay"
LAB_VERSION=1.0

pc1[0]="A"
pc1[image]="kathara/base"
r1[0]="A"
r1[1]="B"
"""
"""The file lab.conf beside it."""


def test_a_lab_of_kathara_is_read(elephan: Command, tmp_path: Path) -> None:
    made = read(KATHARA, "r1.startup")
    assert (made.rate_bps, made.delay_s, made.burst_b) == (10e6, 0.0, 4096.0)
    assert made.buffer == '"66596 B"'
    both = KATHARA + "tc qdisc add dev eth0 root netem delay 10ms loss 10%\n"
    with pytest.raises(InputError, match="has queues of eth1, eth0; give the one that the data leaves by"):
        read(both, "r1.startup")
    assert read(both, "r1.startup", "eth0").delay_s == 0.01
    (tmp_path / "r1.startup").write_text(KATHARA, encoding="utf-8")
    assert "drop-tail, 10 Mbit/s, buffer 66.6 kB" in elephan("import", "tc", tmp_path / "r1.startup").out
    (tmp_path / "lab.conf").write_text(LAB, encoding="utf-8")
    refused = elephan("import", "tc", tmp_path / "lab.conf")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "has no line of tc; give the file NAME.startup of the host that shapes" in refused.err
    shaped = LAB + 'r1[exec]="tc qdisc add dev eth1 root netem rate 5mbit delay 20ms limit 100"\n'
    assert read(shaped, "lab.conf").rate_bps == 5e6


def test_hosts_of_a_script_have_devices_of_the_same_name() -> None:
    shapes, delays = "root tbf rate 40mbit burst 15k latency 25ms", "root netem delay 20ms"
    for a, b in (
        (f"docker exec a tc qdisc add dev eth0 {shapes}", f"docker exec -i b tc qdisc add dev eth0 {delays}"),
        (
            f"kathara exec -d /lab a 'tc qdisc add dev eth0 {shapes}'",
            f"kathara exec b -- tc qdisc add dev eth0 {delays}",
        ),
        (f'a[exec]="tc qdisc add dev eth0 {shapes}"', f'b[exec]="tc qdisc add dev eth0 {delays}"'),
        (f"ip netns exec a tc qdisc add dev eth0 {shapes}", f"ip netns exec b tc qdisc add dev eth0 {delays}"),
    ):
        assert is_tc(a)
        assert read(a, "f").rate_bps == 40e6
        with pytest.raises(InputError, match="has queues of a:eth0, b:eth0; give the one"):
            read(f"{a}\n{b}\n", "f")
        assert (read(f"{a}\n{b}", "f", "a:eth0").delay_s, read(f"{a}\n{b}", "f", "b:eth0").delay_s) == (0.0, 0.02)


@pytest.mark.parametrize(
    "line",
    [
        "tc qdisc add dev eth0 root cake bandwidth 10mbit rtt 50ms",
        "qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 10Mbit diffserv3 triple-isolate rtt 100ms raw overhead 0",
    ],
)
@pytest.mark.parametrize("verb", [("import", "tc"), ("expect",)])
def test_cake_is_reported_as_not_supported(elephan: Command, tmp_path: Path, line: str, verb: tuple[str, ...]) -> None:
    (tmp_path / "q").write_text(line + "\n", encoding="utf-8")
    refused = elephan(*verb, tmp_path / "q")
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert "line 1: cake cannot be simulated; set up tbf with fq_codel instead" in refused.err


def test_what_tc_shows_on_this_kernel_is_read() -> None:
    made = read((HERE / "tc.txt").read_text(encoding="utf-8"), "tc.txt")
    assert (made.rate_bps, made.buffer) == (3e6, '"60 packets"')


@pytest.mark.parametrize(
    ("line", "queue"),
    [
        ("qdisc codel 1: dev e root limit 1000p target 5ms interval 100ms", "codel"),
        ("qdisc pie 1: dev e root limit 1000p target 15.0ms tupdate 16.0ms alpha 2 beta 20", "pie"),
        ("qdisc red 1: dev e root limit 400000b min 30000b max 100000b ecn", "red"),
        ("qdisc sfq 1: dev e root limit 127p quantum 1514b depth 127 divisor 1024 perturb 10sec", "sfq"),
        ("qdisc fq 1: dev e root refcnt 2 limit 10000p flow_limit 100p", "fq"),
        ("qdisc bfifo 1: dev e root limit 150000b", "drop-tail"),
        ("tc qdisc add dev e root tbf rate 50mbit burst 32kb latency 50ms", "drop-tail"),
    ],
)
def test_each_kind_becomes_a_scenario(line: str, queue: str) -> None:
    text = scenario(read(line, "x"), Around(), "x")
    assert Scenario.from_text(text).links[0]["discipline"] == queue


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("qdisc cake 1: dev e root bandwidth 10Mbit", "line 1: cake cannot be simulated"),
        ("\nqdisc netem 1: dev e root delay banana", 'line 2: netem: "banana" is not a time of tc'),
        ("tc qdisc add dev e root tbf burst 1k", "line 1: tbf: has no rate"),
        ("tc qdisc add dev e root tbf rate 1mbit burst 1k", "has neither limit nor latency"),
        (NETEM + "\n" + NETEM.replace("eth0", "eth1"), "give the one that the data leaves by with --dev eth0"),
        ("tc qdisc add dev e root netem reorder 5%", "line 1: netem: has reorder without a delay"),
        ("tc qdisc add dev e root netem limit 0", "line 1: netem: limit 0 drops every packet"),
        ("tc qdisc add dev e root netem delay 5ms gap 5", "line 1: netem: has a gap without reorder"),
        ("nothing", "has no line of tc qdisc or tc class"),
        (HTB.partition("class")[0], "line 1: htb 1: has no line of a class, which has its rate; add the output of tc"),
        (MININET.splitlines()[0], "add the lines of tc class add dev h1-eth0, or give --link-rate"),
        (
            "#\ntc qdisc add dev e root netem delay 5ms limt 10",
            'line 2: netem: unknown word "limt"; did you mean "limit"?',
        ),
        ("tc qdisc add dev e root pfifo limt 20", 'line 1: pfifo: unknown word "limt"; did you mean "limit"?'),
        ("tc qdisc add dev e root pfifo_fast limit 20", 'unknown word "limit"; it has no options'),
        ("tc qdisc add dev e root fq_codel interwal 1ms", 'line 1: fq_codel: unknown word "interwal"'),
        ("tc qdisc add dev e root tbf rate 1mbit burst 1k limit 9k 9", 'unknown word "9" after "9k"'),
        ("tc qdisc add dev e root netem delay 5ms limit", 'line 1: netem: "limit" has no value'),
        ("tc class add dev e parent 1: classid 1:1 htb rte 1mbit", 'line 1: htb class: unknown word "rte"'),
        (
            "tc qdisc add dev e root pfifo &&\\\n tc qdisc add dev e root tbf rate 50 burst 9k limit 9k",
            'rate "50" is 50',
        ),
    ],
)
def test_what_cannot_be_is_said_with_its_line(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text, "f")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        "delay 10ms 5ms 25% distribution normal loss random 1% 5% corrupt 1% duplicate 1% reorder 5% 50% gap 5",
        "loss gemodel 1% 10% 70% 0.1% rate 5mbit 20 9 5 limit 50 ecn delay 1ms slot 800us 1ms packets 4 bytes 9000",
        "delay 1ms slot distribution normal 800us 200us seed 7 limit 50",
    ],
)
def test_all_that_netem_knows_passes(options: str) -> None:
    read(f"tc qdisc add dev e root netem {options}", "f")


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("root@h1:~# tc -s qdisc add dev e root tbf rate 5mbit burst 9k limit 9k  # a comment", 5e6),
        ("sudo ip netns exec a tc qdisc replace dev e root tbf rate 6mbit \\\n  burst 9k limit 9k", 6e6),
        ("x=1; /sbin/tc qdisc add dev e root handle 1: tbf rate 7mbit burst 9k limit 9k && tc qdisc show", 7e6),
    ],
)
def test_a_command_is_read_behind_a_prompt_and_over_lines(text: str, bps: float) -> None:
    assert is_tc(text)
    assert read(text, "f").rate_bps == bps


def test_prose_about_tc_is_no_line_of_it(elephan: Command, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("A page.\nLinux: tc qdisc replace dev eth0 root pfifo limit 1975\nclass a b: c\n")
    refused = elephan("expect", tmp_path / "page.md")
    assert (refused.code, refused.out) == (2, "")
    assert "has no lines of tc qdisc or tc class" in refused.err


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        (
            "tc qdisc add dev e root netem delay 50",
            ['line 1: "50" after "delay" has no unit, so it is 50 us, as in tc'],
        ),
        ("tc qdisc add dev e root netem delay 0", []),
        ("qdisc codel 1: dev e root limit 9p target 5 interval 9ms", ['line 1: "5" after "target" has no unit']),
        ("qdisc codel 1: dev e root limit 9p tarjet 5ms", ["line 1: not known, and left out: tarjet"]),
        (
            "tc qdisc add dev e root handle 1: tbf rate 9mbit burst 9k latency 5ms\n"
            "tc qdisc add dev e parent 1:1 handle 2: netem delay 5ms",
            ["line 1: the latency of tbf does not count, since netem below it holds its packets (default limit)"],
        ),
        ("tc qdisc add dev e root handle 1: tbf rate 9mbit burst 9k latency 5ms", []),
        (HTB, []),
        (NETEM, []),
    ],
)
def test_what_may_surprise_is_noted(text: str, noted: list[str]) -> None:
    notes = read(text, "f").notes
    assert len(notes) == len(noted)
    assert all(note.startswith(start) for note, start in zip(notes, noted, strict=True))


def test_what_no_scenario_takes_names_the_file_of_tc(elephan: Command, tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("tc qdisc add dev e root pfifo limit 99999999999")
    for words in (("expect", "q.txt"), ("import", "tc", "q.txt")):
        refused = elephan(*words[:-1], tmp_path / words[-1])
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert "q.txt, as a scenario: links[0].buffer: " in refused.err


@pytest.mark.parametrize("words", [("--rtt", "20"), ("--link-rate", "20"), ("--time", "5")])
def test_a_value_without_a_unit_names_its_option(elephan: Command, tmp_path: Path, words: tuple[str, str]) -> None:
    (tmp_path / "q.txt").write_text(NETEM)
    refused = elephan("expect", tmp_path / "q.txt", *words)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert refused.err.startswith(f'{words[0]}: "{words[1]}" has no unit')


def test_of_several_flows_the_first_is_named_and_tables_have_no_blank_ends(elephan: Command, tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text(NETEM)
    quick = ("--replications", "3", "--time", "1 s")
    one = elephan("expect", tmp_path / "q.txt", *quick).out.splitlines()
    several = elephan("expect", tmp_path / "q.txt", *quick, "--set", "flows[0].count=3").out
    assert "q.txt, 3 runs of 1 s" in " ".join(" ".join(one).split())
    assert "q.txt, the first of 3 flows of sender, 3 runs of 1 s" in " ".join(several.split())
    assert all(line.strip() for line in one)


def test_import_tc_writes_a_scenario(elephan: Command, tmp_path: Path) -> None:
    queues, out = tmp_path / "q.txt", tmp_path / "path.toml"
    queues.write_text(NETEM)
    done = elephan("import", "tc", queues, "--out", out)
    assert (done.code, out.exists()) == (0, True)
    assert Scenario.from_file(out).links[0]["rate_bps"] == 1e8
    assert json.loads(elephan("import", "tc", queues, "--json").out)["link"]["name"] == "emulated"
    for words, said in (
        (("import", "tc"), "give a file"),
        (("import", queues, "--dev", "eth0"), "--dev: belongs to"),
        (("import", "tc", queues, "--columns", "a,b"), "belong to traces"),
    ):
        refused = elephan(*words)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert said in refused.err


def test_intervals_hold_the_share_of_fresh_runs_that_they_state() -> None:
    lossy = read("qdisc netem 1: dev e root rate 20mbit loss 1% delay 10ms 5ms", "x")
    # With an RTT of its own the path's least one is 25 ms: 30 ms without the jitter.
    path = Scenario.from_text(scenario(lossy, Around(rtt_s=0.02, duration_s=3.0), "x"))
    intervals = [expect(path.replace({"seed": seed})) for seed in range(1, 101)]
    fresh = [expect(path.replace({"seed": seed}), replications=1).quantities for seed in range(1001, 2001)]
    assert {one.coverage for one in intervals} == {0.9}
    assert min(one.quantities["rtt_s"].low for one in intervals) > 0.025

    def share(name: str, width: float) -> float:
        """Return the share of fresh runs within intervals of a part of the width, about the same middles."""
        held = []
        for interval in (one.quantities[name] for one in intervals):
            middle, half = (interval.low + interval.high) / 2, width * (interval.high - interval.low) / 2
            held += [abs(run[name].mean - middle) <= half * (1 + 1e-12) for run in fresh]
        return sum(held) / len(held)

    for name in ("goodput_bps", "rtt_s", "rtt_max_s", "cwnd_bytes"):
        # What one interval holds is beta(18, 2): the mean of 100 has a standard deviation of 0.0065. That of the share
        # of 1,000 fresh runs is 0.0095. Three of both together: 0.035.
        assert abs(share(name, 1.0) - 0.9) < 0.035, name
        assert share(name, 0.5) < 0.7, name


@pytest.mark.parametrize(("runs", "order", "coverage"), [(3, 1, 0.5), (12, 1, 11 / 13), (19, 1, 0.9), (99, 5, 0.9)])
def test_the_share_that_order_statistics_hold(runs: int, order: int, coverage: float) -> None:
    assert covered(runs)[0] == order
    assert covered(runs)[1] == pytest.approx(coverage)


def test_a_value_that_all_runs_have_is_shown_without_an_interval(elephan: Command, tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("tc qdisc add dev eth0 root netem delay 50ms limit 10000")
    shown = elephan("expect", tmp_path / "q.txt", "--rtt", "20 ms", "--replications", "5", "--time", "2 s").out
    assert "67 % of runs" in shown
    row = next(line.split() for line in shown.splitlines() if "retransmits" in line)
    assert row == ["retransmits", "0", "0"]


@pytest.mark.slow
def test_expect_finds_a_measurement_of_its_own_path_inside_and_says_what_would_explain_another(
    elephan: Command, tmp_path: Path
) -> None:
    (tmp_path / "q.txt").write_text("qdisc tbf 1: dev e root rate 10Mbit burst 1600b limit 90840b")
    measured = tmp_path / "m.csv"

    def write(goodput_bps: float, rtt_ms: float, cwnd: float, lost: int) -> None:
        rows = [f"{0.1 * i:.1f},{rtt_ms},{cwnd * 1448},{goodput_bps / 80},{lost * (i == 50)}" for i in range(1, 101)]
        measured.write_text("time_s,rtt_ms,cwnd_bytes,acked_bytes,retransmits\n" + "\n".join(rows) + "\n")

    path = (tmp_path / "q.txt", "--rtt", "20 ms", "--replications", "4", "--json")
    said = json.loads(elephan("expect", *path, "--time", "10 s").out)["expected"]
    # 1,448 of 1,514 bytes, but for the first round trips.
    assert 0.93 * 9.56e6 < said["goodput_bps"]["mean"] < 9.6e6
    write(said["goodput_bps"]["mean"], 1e3 * said["rtt_s"]["mean"], said["cwnd_bytes"]["mean"] / 1448, 20)
    inside = json.loads(elephan("expect", *path, "--measured", measured).out)["expected"]
    assert [inside[name]["place"] for name in ("goodput_bps", "rtt_s")] == ["inside", "inside"]
    write(4e6, 21.0, 7.0, 400)
    other = json.loads(elephan("expect", *path, "--measured", measured).out)
    assert other["expected"]["goodput_bps"]["place"] == "below"
