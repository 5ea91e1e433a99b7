"""`elephan import`: the content of a measured trace, and the scenario that follows it."""

import bz2
import gzip
import io
import json
import lzma
import re
import resource
import struct
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Command
from elephan import Scenario
from elephan.errors import InputError
from elephan.importing import TableForm, read
from elephan.scenario import EXAMPLE

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
    found = read(file("m.txt", held), TableForm(delay="ms", time="ms"))
    assert (found.kind, found.begins_s, found.as_it_stands) == ("delays", 1.0, False)
    assert [pytest.approx(row, abs=1e-12) for row in found.rows] == [(0.0, 0.02), (0.1, 0.0255), (0.3, 0.021)]
    assert found.table().splitlines()[:3] == ["time_s,delay_s", "0.000000000,0.02", "0.100000000,0.0255"]


@pytest.mark.parametrize(
    ("held", "more", "key", "said"),
    [
        (CELL.encode(), [], "rate", {"opportunities": "1x2 3 1500x3 4000"}),
        (
            b"0,5\n1.5,7\n",
            ["--rate", "Mbit/s"],
            "rate",
            {"steps": [["0 s", "5 Mbit/s"], ["1.5 s", "7 Mbit/s"]], "period": "3 s"},
        ),
        # One that is as long as a run is followed once; a shorter one begins again.
        (b"0,5\n90,7\n", ["--rate", "Mbit/s"], "rate", {"steps": [["0 s", "5 Mbit/s"], ["90 s", "7 Mbit/s"]]}),
        (b"0,5\n1.5,7\n", ["--delay", "ms"], "delay", {"steps": [["0 s", "5 ms"], ["1.5 s", "7 ms"]], "period": "3 s"}),
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
    # No file is overwritten.
    assert elephan("import", trace, *more, "--out", out).code == 2


@pytest.mark.parametrize(
    ("held", "more", "said"),
    [
        (b"", [], "is empty"),
        (b"5\n4\n", [], "line 2: 4 ms come before"),
        (b"\x01\x02ELF\0\0\n", [], "line 1: must be a whole number"),
        (b"a,\xff\x01\0\0\n", [], "not a text file in UTF-8"),
        (b"a,b\n0,5\n", [], 'say what the column "b" is: --rate Mbit/s, or --delay ms (its columns: a, b)'),
        (b"0 5\n1 6\n", [], "say what the second column is: --rate Mbit/s, or --delay ms (it has no header)"),
        (b"a,b,c\n0,5,6\n", ["--delay", "ms"], "has 3 columns; say which two to read, such as --columns a,c (its"),
        (
            b"0 5 6\n1 6 7\n",
            ["--delay", "ms"],
            "has 3 columns; say which two to read, such as --columns 1,2 (it has no",
        ),
        (b"0 5\n1 6 7\n", ["--delay", "ms"], "line 1: has 2 fields, not 3"),
        (b"a,b\n0,5\n", ["--columns", "a", "--rate", "bit/s"], "--columns a: must be two, of times and of what holds"),
        (b"a,b\n0,5\n", ["--columns", "a,1", "--rate", "bit/s"], "--columns a,1: both are one column"),
        (b"a,b\n0,5\n", ["--columns", "a,rate", "--rate", "bit/s"], 'there is no column "rate"; its columns: a, b'),
        (
            b"0,5\n",
            ["--columns", "1,3", "--rate", "bit/s"],
            'no column "3"; it has no header; give numbers from 1 to 2',
        ),
        (b"a,b,b\n0,5,6\n", ["--columns", "a,b", "--rate", "bit/s"], '2 columns are called "b"; count from 1 on: 2'),
        (b"noon,5\n", ["--rate", "bit/s"], 'line 1: "noon" is no time that is known; say how times are written'),
        (
            b"1/2/22,5\n",
            ["--rate", "bit/s", "--time-format", "%d-%m"],
            'line 1: "1/2/22" is not of the form %d-%m; say',
        ),
        (
            b"0,5\n",
            ["--rate", "bit/s", "--time-format", "seconds"],
            "--time-format seconds: must say where days and hours",
        ),
        (b"0,5\n", ["--rate", "bit/s", "--time-format", "%S", "--time", "s"], "--time, --time-format: give the one"),
        (b"2022-01-01,5\n", ["--rate", "bit/s", "--time", "s"], "is no number, as --time s has it"),
        (b"2022-01-01,5\nsoon,6\n", ["--rate", "bit/s"], 'line 2: "soon" is not a time of the form ISO 8601'),
        (b"0,5\n2,7\n1,3\n", ["--rate", "Mbit/s"], "line 3: its time must be later"),
        (b"0,5\n2,-7\n", ["--rate", "Mbit/s"], 'line 2: must be numbers, none below 0, not "-7"'),
        (b"0,5\n2,inf\n", ["--delay", "ms"], 'not "inf"'),
        (b"0,nan\n2,-\n", ["--delay", "ms"], "has no rows"),
        (b"0,5\n2,7\n", ["--rate", "mbps"], '--rate: "mbps" is ambiguous'),
        (b"0,5\n2,7\n", ["--delay", "s", "--rate", "bit/s"], "give the one that the second column is"),
        (b"0,5\n2,7000\n", ["--delay", "s"], "line 2: is beyond what a link may have; is the unit right?"),
        (b"0,5\n200,0\n", ["--rate", "Mbit/s", "--out", "s.toml"], "ends with a rate of 0, which would last for ever"),
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


FIVE_G = b"""Timestamp,Longitude,Latitude,Operatorname,NetworkMode,DL_bitrate,UL_bitrate,State,PINGAVG
2019.12.14_10.16.30,-8.394,51.885,B,5G,0,12,I,-
2019.12.14_10.16.31,-8.394,51.885,B,5G,52000,700,D,31
2019.12.14_10.16.31,-8.394,51.885,B,5G,48000,700,D,-
2019.12.14_10.16.33,-8.395,51.886,B,LTE,8000,90,D,44
"""
"""Format of G-NetTrack in the 4G and 5G traces of Raca and others (MMSys 2018, 2020): kbit/s, a time twice."""

STARLINK = b"""timestamp,rtt,uplink,downlink
1700000000000000000,34.1,15.2,18.9
1700000000010000000,-1,0,0
1700000000020000000,33.0,-1,-1
1700000000030000000,35.5,16.0,19.5
"""
"""Format of LENS (Zhao and Pan, MMSys 2024) with irtt's results over Starlink: nanoseconds, milliseconds, -1 if
lost."""


@pytest.mark.parametrize("columns", ["Timestamp,DL_bitrate", "timestamp, dl_bitrate", "1,6"])
def test_5g_as_published_is_read_by_the_names_of_its_columns(file: Write, elephan: Command, columns: str) -> None:
    trace = file("5g.csv", FIVE_G)
    out = trace.parent / "5g.toml"
    done = elephan("import", trace, "--columns", columns, "--rate", "kbit/s", "--out", out)
    assert (done.code, done.out.replace("\n  ", " ").splitlines()[1:]) == (
        0,
        [
            "mean 33.3 Mbit/s, from 0 bit/s to 50 Mbit/s",
            "nothing passes for 1 s at the longest",
            "times begin at 0, not at 2019.12.14_10.16.30",
            "1 row has the time of the row above: the mean of those of one time holds",
        ],
    )
    steps = [["0 s", "0 bit/s"], ["1 s", "50 Mbit/s"], ["3 s", "8 Mbit/s"]]
    assert Scenario.from_file(out) == Scenario.from_file(out).replace(
        {"links[0].rate": {"steps": steps, "period": "5 s"}}
    )


def test_starlink_as_published_is_read_without_what_was_lost(file: Write, elephan: Command) -> None:
    words = ["--columns", "timestamp,downlink", "--time", "ns", "--delay", "ms", "--json"]
    document = json.loads(elephan("import", file("lens.csv", STARLINK), *words).out)
    assert (document["count"], document["rows_without_value"], document["span_s"]) == (3, 1, 0.03)
    assert (document["delay_s"]["min"], document["delay_s"]["max"]) == (0.0, 0.0195)


@pytest.mark.parametrize(
    ("held", "form"),
    [
        (b"0 5\n0.5   6.5\n2\t7\n", {}),
        (b"# time rate\n0 5\n# a handover\n0.5 6.5\n2 7\n", {}),
        (b"time rate\n1648000000.25 5\n1648000000.75 6.5\n1648000002.25 7\n", {}),
        (b"when;what\n2022-03-23T01:46:40.250+00:00;5\n2022-03-23T01:46:40.750Z;6.5\n2022-03-23T01:46:42.250Z;7\n", {}),
        (b"2022-03-23 01:46:40.25,5\n2022-03-23 01:46:40.75,6.5\n2022-03-23 01:46:42.25,7\n", {}),
        (
            b"at day hour Mbps\nx 23/03/22 01:46:40.0 5\nx 23/03/22 01:46:40.5 6.5\nx 23/03/22 01:46:42.0 7\n",
            {"time_format": "%d/%m/%y %H:%M:%S.%f", "columns": "day,Mbps"},
        ),
        (
            b"time rate\n23/03/22 01:46:40.0 5\n23/03/22 01:46:40.5 6.5\n23/03/22 01:46:42.0 7\n",
            {"time_format": "%d/%m/%y %H:%M:%S.%f"},
        ),
        (
            b"23/03/22 01:46:40.0 5\n23/03/22 01:46:40.5 6.5\n23/03/22 01:46:42.0 7\n",
            {"time_format": "%d/%m/%y %H:%M:%S.%f", "columns": "1,3"},
        ),
    ],
)
def test_times_and_columns_may_stand_as_measurements_have_them(file: Write, held: bytes, form: dict[str, str]) -> None:
    found = read(file("held.txt", held), TableForm(rate="Mbit/s", **form))
    assert list(found.rows) == [(0.0, 5e6), (0.5, 6.5e6), (2.0, 7e6)]


def test_calendar_times_do_not_depend_on_where_they_are_read(file: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    # A night in which clocks of Berlin skip an hour.
    trace = file("night.csv", b"2022-03-27 01:59:59,5\n2022-03-27 03:00:01,6\n")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        assert [at for at, _ in read(trace, TableForm(rate="Mbit/s")).rows] == [0.0, 3602.0]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_what_gzip_packed_is_read_by_import_and_by_links(file: Write, elephan: Command) -> None:
    for name, held, key in (
        ("rates.csv.gz", b"time_s,rate_bps\n0,5e6\n2,7e6\n", "steps"),
        ("c.up.gz", b"1\n3\n", "opp"),
    ):
        trace = file(name, gzip.compress(held))
        out = trace.parent / f"{name}.toml"
        assert elephan("import", trace, "--out", out).code == 0
        assert f'trace = "{name}"' in out.read_text(), "the link reads the same file"
        assert any(kind.startswith(key) for kind in Scenario.from_file(out).source["links"][0]["rate"])


PACKED = io.BytesIO()
with zipfile.ZipFile(PACKED, "w") as archive:
    archive.writestr("rates.csv", "0,5\n")


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (PACKED.getvalue(), "is a zip archive, no trace; unpack it"),
        (lzma.compress(b"1\n3\n"), "is an xz file, no trace; unpack it (unxz)"),
        (bz2.compress(b"1\n3\n"), "is a bzip2 file, no trace; unpack it (bunzip2)"),
        (gzip.compress(b"1\n3\n")[:-9], "is a damaged gzip file"),
        (gzip.compress(PACKED.getvalue()), "is a zip archive, no trace"),
        (struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1), "is a packet capture (pcap), no trace; give times"),
        (struct.pack(">IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1), "is a packet capture (pcap), no trace"),
        (struct.pack("<III", 0x0A0D0D0A, 28, 0x1A2B3C4D), "is a packet capture (pcapng), no trace"),
        (b'\xef\xbb\xbf\n {"intervals": []}', "is a JSON document, no trace; give times in milliseconds"),
        (b"[\n  [0, 5]\n]", "is a JSON document, no trace"),
        (b"<!DOCTYPE html>\n<html>", "is a page of HTML or XML, no trace"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS, no trace; fetch the file itself"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
@pytest.mark.parametrize("name", ["t.up", "t.csv"])
def test_files_of_other_kinds_are_named_for_what_they_are(
    file: Write, elephan: Command, held: bytes, said: str, name: str
) -> None:
    trace = file(name, held)
    done = elephan("import", trace)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"{trace}: {said}")
    scenario = EXAMPLE.replace('rate   = "10 Mbit/s"', f'rate = {{ trace = "{name}" }}')
    (trace.parent / "s.toml").write_text(scenario)
    with pytest.raises(InputError, match=re.escape(said)):
        Scenario.from_file(trace.parent / "s.toml")


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (PACKED.getvalue(), "is a zip archive; give the path of a scenario file (TOML)"),
        (b'{"links": []}', "is a JSON document; give the path of a scenario file (TOML)"),
    ],
)
def test_what_is_no_scenario_is_named_for_what_it_is(file: Write, elephan: Command, held: bytes, said: str) -> None:
    done = elephan("run", file("s.toml", held))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err


def test_a_gzip_bomb_ends_where_traces_end(file: Write) -> None:
    bomb = file("bomb.gz", gzip.compress(bytes(65 * 2**20), 1))
    with pytest.raises(InputError, match=r"holds more than 67\.1 MB"):
        read(bomb)


@pytest.mark.parametrize(
    ("held", "form", "buffer"),
    [
        (b"0,0.4\n2,0.5\n", TableForm(rate="Mbit/s"), 10),
        (b"0,0.4\n2,50\n", TableForm(rate="Mbit/s"), 84),
        (b"0,0.1\n2,0.1\n", TableForm(delay="ms"), 10),
    ],
)
def test_the_buffer_that_is_written_holds_ten_packets(file: Write, held: bytes, form: TableForm, buffer: int) -> None:
    found = read(file("slow.csv", held), form)
    (file("slow-trace.csv", found.table().encode())).with_name("s.toml").write_text(found.scenario("slow-trace.csv"))
    links = Scenario.from_file(found.path.with_name("s.toml")).links
    assert links[0]["buffer_limit_packets"] == buffer


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


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        ("b/s", "a rate is 10 bit/s, as --rate b/s has it; a link has 0 or at least 1 kbit/s"),
        ("MB", '--rate: unknown unit "MB"; rates are in'),
        ("10Mbps", '--rate: "10Mbps" is not a unit; write one without a number, such as Mbit/s'),
        ("kbps", '--rate: "kbps" is ambiguous'),
        ("", '--rate: "" is not a unit'),
    ],
)
def test_a_unit_that_no_link_has_is_refused_in_its_own_words(
    file: Write, elephan: Command, unit: str, said: str
) -> None:
    done = elephan("import", file("t.csv", b"time_s,rate\n0,10\n1,20\n"), "--rate", unit)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert '"1 ' not in done.err.replace('"1 kbit/s"', "").replace('"1 kB/s"', "")


@pytest.mark.parametrize(
    ("option", "unit", "doubted"),
    [
        ("--rate", "kbit/s", "20 kbit/s"),
        ("--rate", "Tbit/s", "20 Tbit/s"),
        ("--rate", "Mbit/s", ""),
        ("--delay", "s", "20 s"),
        ("--delay", "ms", ""),
    ],
)
def test_a_unit_that_is_hardly_meant_is_doubted(
    file: Write, elephan: Command, option: str, unit: str, doubted: str
) -> None:
    done = elephan("import", file("t.csv", b"0,10\n1,20\n"), option, unit)
    assert done.code == 0
    said = f"the largest value is {doubted}; if this is wrong, give the unit with {option}"
    assert (said in done.err) is bool(doubted)
    assert bool(done.err) is bool(doubted)


NAMED = """
duration = "5 s"
links = [{ name = "a", rate = { trace = "t.csv"%s }, buffer = "20 packets" }]
flows = [{ name = "f", path = ["a"], rtt = "20 ms" }]
"""


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        ("0,1e7\n1,2e7\n2,2e7\n", ', period = "1 s"', "links[0].rate.period: must be longer than the trace t.csv"),
        ("0,1e7\n1,0\n", "", "links[0].rate.trace: t.csv ends with a rate of 0"),
        ("0,10\n1,20\n", "", "t.csv: line 2: rate_bps must be 0 or at least 1000, not 10"),
    ],
)
def test_what_is_wrong_with_a_trace_is_said_by_the_keys_of_the_file(
    file: Write, elephan: Command, rows: str, more: str, said: str
) -> None:
    trace = file("t.csv", f"time_s,rate_bps\n{rows}".encode())
    scenario = trace.with_name("s.toml")
    scenario.write_text(NAMED % more)
    done = elephan("lint", scenario)
    assert done.code == 2
    assert said in done.err
    assert "steps" not in done.err
