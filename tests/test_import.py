"""`elephan import`: what a measured trace holds, and the scenario that follows it."""

import json
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Command
from elephan import Scenario
from elephan.errors import InputError
from elephan.importing import read

Write = Callable[[str, bytes], Path]

CELL = "1\n1\n3\n1500\n1500\n1500\n4000\n"
"""Seven opportunities in 4 s: three in the first second, three in the next, none in the third, one at the end."""


@pytest.fixture
def file(tmp_path: Path) -> Write:
    def write(name: str, held: bytes) -> Path:
        (tmp_path / name).write_bytes(held)
        return tmp_path / name

    return write


def test_opportunities_have_a_mean_and_rates_in_whole_seconds(file: Write) -> None:
    found = read(file("cell.up", CELL.encode()))
    bits = 8 * 1504
    assert (found.kind, found.count, found.span_s) == ("mahimahi", 7, 4.0)
    assert (found.mean, found.least, found.most) == (7 * bits / 4, 0.0, 3 * bits)
    # From 1.5 to 4 s.
    assert found.pause_s == 2.5


def test_rows_have_a_mean_over_time_and_no_part_in_it_of_the_last(file: Write) -> None:
    found = read(file("r.csv", b"time_s,rate_bps\n0,6e6\n1,0\n3,0\n4,9e6\n"))
    assert (found.kind, found.count, found.span_s, found.pause_s) == ("rates", 4, 4.0, 3.0)
    assert (found.mean, found.least, found.most) == (1.5e6, 0.0, 9e6)
    assert found.as_it_stands


@pytest.mark.parametrize("held", [b"ms;rtt\n1000;20\n1100;25.5\n1300;21\n", b"1000\t20\n1100\t25.5\n1300\t21"])
def test_units_are_said_where_the_columns_do_not(file: Write, held: bytes) -> None:
    found = read(file("m.txt", held), delay="ms", time="ms")
    assert (found.kind, found.begins_s, found.as_it_stands) == ("delays", 1.0, False)
    assert [pytest.approx(row, abs=1e-12) for row in found.rows] == [(0.0, 0.02), (0.1, 0.0255), (0.3, 0.021)]
    assert found.table().splitlines()[:3] == ["time_s,delay_s", "0.000000000,0.02", "0.100000000,0.0255"]


@pytest.mark.parametrize(
    ("held", "more", "key", "said"),
    [
        (CELL.encode(), [], "rate", {"opportunities": "1x2 3 1500x3 4000"}),
        (b"0,5\n1.5,7\n", ["--rate", "Mbit/s"], "rate", {"steps": [["0 s", "5 Mbit/s"], ["1.5 s", "7 Mbit/s"]]}),
        (b"0,5\n1.5,7\n", ["--delay", "ms"], "delay", {"steps": [["0 s", "5 ms"], ["1.5 s", "7 ms"]]}),
    ],
)
def test_the_scenario_that_is_written_follows_the_trace(
    file: Write, elephan: Command, held: bytes, more: list[str], key: str, said: object
) -> None:
    trace = file("held.txt", held)
    out = trace.parent / "scenarios" / "s.toml"
    out.parent.mkdir()
    done = elephan("import", trace, *more, "--out", out)
    assert done.code == 0
    assert len(done.out.splitlines()) <= 15
    scenario = Scenario.from_file(out)
    assert scenario == scenario.replace({f"links[0].{key}": said})
    # Nothing is written over.
    assert elephan("import", trace, *more, "--out", out).code == 2


@pytest.mark.parametrize(
    ("held", "more", "said"),
    [
        (b"", [], "is empty"),
        (b"5\n4\n", [], "line 2: 4 ms come before"),
        (b"\x7fELF\x02\x01\0\0\n", [], "line 1: must be a whole number"),
        (b"\x7fELF,\xff\x01\0\0\n", [], "not a text file in UTF-8"),
        (b"a,b\n0,5\n", [], "say what the second column is: --rate Mbit/s, or --delay ms (its columns: a, b)"),
        (b"a,b,c\n0,5,6\n", ["--delay", "ms"], "must have two columns"),
        (b"0,5\n2,7\n1,3\n", ["--rate", "Mbit/s"], "line 3: its time must be later"),
        (b"0,5\n2,-7\n", ["--rate", "Mbit/s"], 'line 2: must be numbers, none below 0, not "-7"'),
        (b"0,5\n2,nan\n", ["--delay", "ms"], 'not "nan"'),
        (b"0,5\n2,7\n", ["--rate", "mbps"], '--rate mbps: "1 mbps" is ambiguous'),
        (b"0,5\n2,7\n", ["--delay", "s", "--rate", "bit/s"], "give the one that the second column is"),
        (b"0,5\n2,7000\n", ["--delay", "s"], "line 2: is beyond what a link may have; is the unit right?"),
        (b"0,5\n2,0\n", ["--rate", "Mbit/s", "--out", "s.toml"], "must let something pass in the end"),
        (b"0,5\n2,7\n", ["--rate", "Mbit/s", "--out", "."], "is a folder; give the name of a scenario file"),
        (b"0,5\n2,7\n", ["--rate", "Mbit/s", "--out", ""], "is a folder; give the name of a scenario file"),
        (b"0,5\n2,7\n", ["--rate", "Mbit/s", "--out", "t.csv"], "must be a scenario (.toml)"),
        (b"1\n2\n", ["--time", "s"], "whose times are in milliseconds; leave --time out"),
    ],
)
def test_bad_traces_get_one_line(file: Write, elephan: Command, held: bytes, more: list[str], said: str) -> None:
    trace = file("bad.txt", held)
    done = elephan("import", trace, *(trace.parent / word if word == "s.toml" else word for word in more))
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1
    assert [path.name for path in trace.parent.iterdir()] == ["bad.txt"], "nothing is left behind"


def test_of_two_gigabytes_no_more_is_read_than_a_trace_may_have(file: Write) -> None:
    big = file("big", b"")
    with big.open("r+b") as opened:
        opened.truncate(2 * 2**30)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match="has more than"):
        read(big)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


def test_the_trace_itself_is_never_written_over(file: Write, elephan: Command) -> None:
    trace = file("s-trace.csv", b"0,5\n2,7\n")
    done = elephan("import", trace, "--delay", "ms", "--out", trace.parent / "s.toml", "--force")
    assert done.code == 2
    assert trace.read_bytes() == b"0,5\n2,7\n"


def test_the_document_has_what_the_screen_says(file: Write, elephan: Command) -> None:
    document = json.loads(elephan("import", file("cell.up", CELL.encode()), "--json").out)
    assert document["kind"] == "mahimahi"
    assert document["rate_bps"] == {"mean": 7 * 12032 / 4, "min": 0.0, "max": 36096.0}
    assert document["files"] == []
