"""Traces of rates and delays: mahimahi's format and tables, relative to the scenario, and errors in them."""

import json
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

import elephan
from elephan import Scenario, ScenarioError, trace_files

BASE = """
duration = "6 s"
warmup = "1 s"
[[links]]
name = "cell"
rate = RATE
delay = "10 ms"
buffer = "60 packets"
[[flows]]
path = ["cell"]
rtt = "40 ms"
packet = "1500 B"
"""

Trace = Callable[[bytes, str], Scenario]


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    def read(held: bytes, name: str = "cell.up") -> Scenario:
        (tmp_path / name).write_bytes(held)
        file = tmp_path / "s.toml"
        file.write_text(BASE.replace("RATE", f'{{ trace = "{name}" }}'))
        return Scenario.from_file(file)

    return read


def test_the_lines_of_a_trace_are_its_opportunities_and_what_is_kept_needs_the_file_no_more(
    trace: Trace, tmp_path: Path
) -> None:
    scenario = trace(b"1\n3\n3\r\n7", "cell.up")
    assert scenario == Scenario.from_text(BASE.replace("RATE", '{ opportunities = "1 3x2 7" }'))
    (tmp_path / "cell.up").unlink()
    assert Scenario.from_text(scenario.text) == scenario
    assert scenario.links[0]["rate_bps"] == round(4 * 1504 * 8 / 0.007)


def test_rows_of_a_table_are_steps(trace: Trace) -> None:
    scenario = trace(b"time_s,remark,rate_bps\n0,a,5e6\n1.5,b,0\n2.25,c,8000000\n", "rates.csv")
    steps = '{ steps = [["0 s", "5 Mbit/s"], ["1.5 s", "0 bit/s"], ["2.25 s", "8 Mbit/s"]] }'
    assert scenario == Scenario.from_text(BASE.replace("RATE", steps))


def test_rows_of_a_table_of_delays_are_steps_that_hold(tmp_path: Path) -> None:
    (tmp_path / "passes.csv").write_bytes(b"time_s,delay_s\n0,0.01\n1.5,0.0253\n")
    text = BASE.replace("RATE", '"8 Mbit/s"').replace('"10 ms"', '{ trace = "passes.csv", period = "3 s" }')
    (tmp_path / "s.toml").write_text(text)
    said = '{ steps = [["0 s", "10 ms"], ["1.5 s", "25.3 ms"]], period = "3 s" }'
    scenario = Scenario.from_file(tmp_path / "s.toml")
    assert scenario == Scenario.from_text(BASE.replace("RATE", '"8 Mbit/s"').replace('"10 ms"', said))
    assert scenario.links[0]["delay_s"] == pytest.approx((0.01 + 0.0253) / 2, abs=1e-12)
    document = json.loads(json.dumps(elephan.run(scenario).to_json()))
    (link,) = document["links"]
    assert link["propagation_min_s"]["mean"] == 0.01
    # A step down finds 15.3 ms of packets on their way, that wait in order: a hundredth of the time at most.
    assert link["propagation_s"]["mean"] == pytest.approx(0.01765, rel=0.1)
    assert (
        "propagation_s" not in elephan.run(Scenario.from_text(BASE.replace("RATE", '"8 Mbit/s"'))).to_json()["links"][0]
    )


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (b"", "must have one column time_s and one delay_s; its columns: none"),
        (b"time_s,rate_bps\n0,5\n", "must have one column time_s and one delay_s; its columns: time_s, rate_bps"),
        (b"time_s,delay_s\n", "has no rows; each is a time and what holds from then on"),
        (b"time_s,delay_s\n0,0.1\n2,0.2\n1,0.3\n", "line 4: time_s must be later than in the line above, not 1"),
        (b"time_s,delay_s\n0,-0.1\n", 'line 2: delay_s must be a number from 0 to 3600, not "-0.1"'),
        (b"\x01\x02ELF\x02\x01\0\0", "its columns: not readable"),
    ],
)
def test_what_is_no_table_of_delays_is_refused_in_one_line(tmp_path: Path, held: bytes, said: str) -> None:
    (tmp_path / "passes.csv").write_bytes(held)
    (tmp_path / "s.toml").write_text(BASE.replace("RATE", '"8 Mbit/s"').replace('"10 ms"', '{ trace = "passes.csv" }'))
    with pytest.raises(ScenarioError, match=r"links\[0\]\.delay\.trace: ") as error:
        Scenario.from_file(tmp_path / "s.toml")
    assert said in str(error.value)
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (b"", "is empty; a trace has a time in milliseconds on each line"),
        (b"\n", "is empty; a trace has a time in milliseconds on each line"),
        (b"1\n\n2\n", 'line 2: must be a whole number of milliseconds, not ""'),
        (b"5\n4\n", "line 2: 4 ms come before the line above, 5 ms; sort them"),
        (b"1\n-4\n", 'line 2: must be a whole number of milliseconds, not "-4"'),
        (b"1\n2\n4.5\n", 'line 3: must be a whole number of milliseconds, not "4.5"'),
        (b"1\n99999999999999999999999\n", "line 2: must be a whole number of milliseconds, not"),
        (b"0\n0\n", "line 2: the last time must lie between 1 and 1000000000 ms, not 0"),
        (b"\x01\x02ELF\x02\x01\0\0", 'line 1: must be a whole number of milliseconds, not "'),
        (b"\xff\xfe1\0\n", "is a text in UTF-16, no trace; save it in UTF-8"),
    ],
)
def test_what_is_no_trace_is_refused_in_one_line_that_says_where(trace: Trace, held: bytes, said: str) -> None:
    with pytest.raises(ScenarioError) as error:
        trace(held, "cell.up")
    message = str(error.value)
    assert "links[0].rate.trace: " in message
    assert said in message
    assert "\n" not in message
    assert message.isprintable()


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (b"", "must have one column time_s and one rate_bps; its columns: none"),
        (b"time_s,rate_bps\n", "has no rows"),
        (b"time_s,rate_bps\n1,5\n", "line 2: time_s must begin at 0, not at 1"),
        (b"time_s,rate_bps\n0,5e6\n0,6e6\n", "line 3: time_s must be later than in the line above, not 0"),
        (b"time_s,rate_bps\n0,-5\n", 'line 2: rate_bps must be a number from 0 to 1e+15, not "-5"'),
        (b"time_s,rate_bps\n0,nan\n", 'line 2: rate_bps must be a number from 0 to 1e+15, not "nan"'),
        (b"time_s,rate_bps\n0,5e6,7\n", "line 2: has 3 fields, not 2"),
        (b"\xff\xfe\0", "is a text in UTF-16, no trace; save it in UTF-8"),
        (b"\xff\0", "not a text file in UTF-8"),
    ],
)
def test_what_is_no_table_of_rates_is_refused_in_one_line(trace: Trace, held: bytes, said: str) -> None:
    with pytest.raises(ScenarioError, match=r"rate\.trace: ") as error:
        trace(held, "rates.csv")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_of_a_file_of_two_gigabytes_no_more_is_read_than_a_trace_may_have(tmp_path: Path) -> None:
    with (tmp_path / "big.up").open("wb") as file:
        file.truncate(2 * 2**30)
    (tmp_path / "s.toml").write_text(BASE.replace("RATE", '{ trace = "big.up" }'))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ScenarioError, match=r"has more than 67\.1 MB|has more than 64 MiB"):
        Scenario.from_file(tmp_path / "s.toml")
    # The contents of the file, and at most one copy of it.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


def test_a_long_trace_is_read() -> None:
    lines = "".join(f"{ms}\n" * 3 for ms in range(1, 100_001))
    held = trace_files._opportunities(lines.encode())
    assert held.startswith("1x3 2x3")
    assert held.count(" ") == 99_999


def test_results_say_what_a_link_could_carry_where_its_rate_changes() -> None:
    steps = '{ steps = [["0 s", "4 Mbit/s"], ["2 s", "9 Mbit/s"]] }'
    document = elephan.run(Scenario.from_text(BASE.replace("RATE", steps))).to_json()
    (link,) = json.loads(json.dumps(document))["links"]
    # A second at 4 and four at 9 Mbit/s.
    assert link["capacity_bps"]["mean"] == pytest.approx(8e6)
    # Over the whole run.
    assert link["rate_bps"] == round((2 * 4e6 + 4 * 9e6) / 6)
    assert 0.8 < link["utilization"]["mean"] <= 1.001
    document = elephan.run(Scenario.from_text(BASE.replace("RATE", '"8 Mbit/s"'))).to_json()
    assert "capacity_bps" not in document["links"][0]
