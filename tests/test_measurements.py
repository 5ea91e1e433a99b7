"""Readers of measurements: real files of each tool, units, and damage, which is one line each and never a traceback."""

import gzip
import json
import math
import random
import re
import resource
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conftest import Command
from elephan.errors import InputError
from elephan.inference import Observation, infer
from elephan.measurements import COLUMNS, Measurement, read
from elephan.measurements.series import differences, flow_of, number

HERE = Path(__file__).resolve().parent / "data" / "measurements"

Write = Callable[[str, bytes], Path]

MANY = 400
"""Damaged files that each run of the tests draws; `fuzz.measured` tried 40,000."""


@pytest.fixture
def file(tmp_path: Path) -> Write:
    def write(name: str, held: bytes) -> Path:
        (tmp_path / name).write_bytes(held)
        return tmp_path / name

    return write


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(path)
    said = str(caught.value)
    assert "\n" not in said
    assert said.startswith(f"{path}: ")
    return said.removeprefix(f"{path}: ")


def document(name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((HERE / name).read_text(encoding="utf-8"))
    return found


def test_iperf3_has_seconds_and_bytes_of_one_sender() -> None:
    found = read(HERE / "iperf.json")
    flow = found.flow
    assert (found.source, flow.law, flow.mss_bytes, len(found.flows)) == ("iperf3 3.12", "cubic", 1448.0, 1)
    assert flow.duration_s == pytest.approx(5.0, abs=0.05)
    assert flow.interval_s == pytest.approx(0.1, abs=0.005)
    # 3 Mbit/s, a window of 28 segments at the end, some 20 ms.
    assert np.nansum(flow.columns["bytes"]) * 8 / flow.duration_s == pytest.approx(3e6, rel=0.1)
    assert flow.columns["cwnd_bytes"][-1] == 28 * 1448
    assert 0.005 < np.median(flow.columns["srtt_s"]) < 0.05
    assert set(flow.columns) <= set(COLUMNS)


def test_parallel_and_bidirectional_streams_are_senders_of_this_host_without_what_was_omitted() -> None:
    found = read(HERE / "bidir.json")
    assert [flow.law for flow in found.flows] == ["reno", "reno"]
    assert found.omitted_s == 1.0
    assert "omitted" in found.notes[0]
    # Three seconds are left of four, in halves.
    assert all(flow.end_s.size == 6 for flow in found.flows)


def test_old_versions_lack_columns_and_those_of_31_do_not_say_who_sends(file: Write) -> None:
    old = document("iperf.json")
    for row in old["intervals"]:  # type: ignore[attr-defined]
        for key in ("snd_wnd", "rttvar", "pmtu", "sender"):
            row["streams"][0].pop(key)
    flow = read(file("old.json", json.dumps(old).encode())).flow
    assert set(flow.columns) == {"bytes", "retransmits", "cwnd_bytes", "srtt_s"}


def test_a_stream_of_events_is_the_same_as_one_document(file: Write) -> None:
    whole = document("iperf.json")
    lines = [json.dumps({"event": "start", "data": whole["start"]})]
    lines += [json.dumps({"event": "interval", "data": row}) for row in whole["intervals"]]  # type: ignore[attr-defined]
    lines.append(json.dumps({"event": "end", "data": whole["end"]}))
    found = read(file("events.json", "\n".join(lines).encode()))
    np.testing.assert_array_equal(found.flow.columns["srtt_s"], read(HERE / "iperf.json").flow.columns["srtt_s"])
    assert "line 5: is not an event" in refused(file("cut.json", "\n".join([*lines[:4], lines[4][:50]]).encode()))


def test_a_packed_file_is_unpacked(file: Write) -> None:
    packed = read(file("iperf.json.gz", gzip.compress((HERE / "iperf.json").read_bytes())))
    assert packed.flow.end_s.size == read(HERE / "iperf.json").flow.end_s.size


def test_ss_has_times_segments_and_counters() -> None:
    found = read(HERE / "ss.log")
    flow = found.flow
    assert (flow.law, flow.mss_bytes) == ("cubic", 1448.0)
    assert flow.columns["cwnd_bytes"][-1] == 28 * 1448
    assert flow.columns["srtt_s"][-1] == pytest.approx(0.020532)
    assert flow.columns["rttvar_s"][-1] == pytest.approx(43e-6)
    assert flow.columns["busy_s"][-1] == pytest.approx(2.14)
    line = [line for line in (HERE / "ss.log").read_text().splitlines() if "cwnd:28 " in line][-1]
    shown = dict(re.findall(r"(pacing_rate|delivery_rate) (\d+)bps", line) + re.findall(r"(delivered):(\d+)", line))
    assert flow.columns["pacing_rate_bps"][-1] == float(shown["pacing_rate"])
    assert flow.columns["delivery_rate_bps"][-1] == float(shown["delivery_rate"])
    assert flow.columns["delivered_segments"][-1] == float(shown["delivered"])
    # The connection that controls the test has hardly any data.
    assert "1 socket with less than 1 % of the data left out" in found.notes


def test_columns_of_tcp_info_have_the_names_of_samples() -> None:
    from elephan.runs.files import COUNTERS  # noqa: PLC0415 (Arrow is slow to import)

    ours = {"srtt_s", *(name for name in COUNTERS if not name.endswith("_limited"))}
    assert ours <= set(COLUMNS)
    assert ours <= set(read(HERE / "ss.log").flow.columns)


def socket_rows(limited: str, begun_ms: int = 0) -> list[tuple[int, str]]:
    """Ten seconds of a sender with data, of which `limited` grows by 60 ms in each 100 ms since the log began."""
    found = []
    for i in range(100):
        busy, by = begun_ms + 100 * i, 60 * i
        share = f" {limited}:{by}ms({100 * by / busy:.1f}%)" if by else ""
        found.append((i, f"busy:{busy}ms{share}" if busy else ""))
    return found


@pytest.mark.parametrize("name", ["rwnd_limited", "sndbuf_limited"])
def test_times_of_ss_count_from_the_start_of_the_connection_and_are_used_from_that_of_the_log(
    file: Write, name: str
) -> None:
    """The share in brackets is of the whole connection, as ss 6.1 prints it; here this began 438 s before the log."""
    for begun_ms in (0, 438_000):
        text = "".join(
            f"{1.7e9 + i / 10:.1f}\nESTAB 0 0 10.0.1.29:42314 10.0.1.37:5201\n\t cubic wscale:7,7 rto:204 "
            f"rtt:40.{i}/1.1 mss:1448 cwnd:45 bytes_acked:{10_000 * i} delivered:{7 * i} {words} "
            f"retrans:0/{i // 30} minrtt:40\n"
            for i, words in socket_rows(name, begun_ms)
        )
        flow = read(file("ss.log", text.encode())).flow
        grown, watched = flow.growth(f"{name}_s")
        busy, _ = flow.growth("busy_s")
        assert grown == pytest.approx(5.94)
        assert watched == pytest.approx(9.9)
        # Until the first data, ss prints no time.
        assert busy == pytest.approx(9.9 if begun_ms else 9.8)
        assert flow.growth("busy_s", 5.0)[0] == pytest.approx(4.8, abs=0.11)
        found = infer([read(file("ss.log", text.encode()))])
        assert isinstance(found, Observation)
        what = {"rwnd_limited": "the receive window", "sndbuf_limited": "the send buffer"}[name]
        assert re.match(f"{what} limits the sender for 6[01] % of the time", found.why)


def test_times_of_ndt_are_microseconds_from_the_start_of_the_connection(file: Write) -> None:
    def rows(busy: float, **limited: float) -> bytes:
        """Rows of ten seconds, from 60 s after the start of the connection."""
        found = [
            ROW
            | {"ElapsedTime": 100_000 * i, "BytesAcked": 70_000 * i, "RTT": 20_000 + i, "TotalRetrans": i // 30}
            | {"BusyTime": int(30e6 + busy * 1e5 * i)}
            | {name: int(2e6 + share * 1e5 * i) for name, share in limited.items()}
            for i in range(100)
        ]
        return json.dumps({"Download": {"ServerMeasurements": [{"TCPInfo": row} for row in found]}}).encode()

    for name, what in (("RWndLimited", "the receive window"), ("SndBufLimited", "the send buffer")):
        found = infer([read(file("ndt.json", rows(1.0, **{name: 0.5})))])
        assert isinstance(found, Observation)
        assert found.why.startswith(f"{what} limits the sender for 50 % of the time")
        # A fifth is less than what ends it, although it was a third of the connection before.
        why = infer([read(file("ndt.json", rows(1.0, **{name: 0.2})))])
        assert not isinstance(why, Observation) or not why.why.startswith(what)
    with pytest.raises(InputError, match=r"the application had data for 4\.95 of 9\.9 s only"):
        infer([read(file("ndt.json", rows(0.5)))])
    # Bit 0 is `tcpi_delivery_rate_app_limited`; bit 1 says that TCP Fast Open failed.
    for value, share in ((1, 1.0), (2, 0.0), (3, 1.0)):
        held = [ROW | {"ElapsedTime": 100_000 * i, "AppLimited": value} for i in range(5)]
        assert read(file("ndt.json", json.dumps([{"TCPInfo": row} for row in held]).encode())).flow.app_limited == share


def test_ss_without_times_needs_to_be_told_the_time_between_two(file: Write) -> None:
    assert "give --every 0.1s" in refused(HERE / "ss-oneline.log")
    found = read(HERE / "ss-oneline.log", every_s=0.1)
    assert found.flow.interval_s == pytest.approx(0.1)
    stamped = "\n".join(
        f"2026-11-28T01:41:{10 + i}.{i}00 ESTAB 0 0 10.0.0.1:5 10.0.0.2:6 cubic rto:204 rtt:{20 + i}/1 mss:1448 "
        f"cwnd:{10 + i} bytes_acked:{1000 * i} retrans:0/{i} delivered:1"
        for i in range(5)
    )
    flow = read(file("stamped.log", stamped.encode())).flow
    assert flow.columns["retransmits"][1:].tolist() == [1.0] * 4
    assert flow.columns["bytes"][1:].tolist() == [1000.0] * 4


def flent(**changes: object) -> bytes:
    held: dict[str, object] = {
        "version": 4,
        "metadata": {"EGRESS_INFO": {"tcp_cong_control": "cubic"}},
        "x_values": [0.2 * i for i in range(50)],
        "results": {
            "TCP upload": [None] * 25 + [10.0] * 25,
            "TCP upload::tcp_rtt": [None] * 25 + [40.0 + i for i in range(25)],
            "TCP upload::tcp_cwnd": [None] * 25 + [50.0] * 25,
            "Ping (ms) ICMP": [20.5] * 50,
        },
    }
    return json.dumps(held | changes).encode()


def test_flent_has_milliseconds_and_a_ping_before_the_test(file: Write) -> None:
    found = read(file("run.flent.gz", gzip.compress(flent())))
    assert (found.source, found.flow.law) == ("flent", "cubic")
    assert found.base_rtt_s == pytest.approx(0.0205)
    assert found.flow.columns["srtt_s"][0] == pytest.approx(0.04)
    assert found.flow.columns["bytes"][5] == pytest.approx(10e6 / 8 * 0.2)
    assert "--socket-stats" in refused(file("x.flent", flent(results={"TCP upload": [1.0] * 50})))


ROW = {
    "ElapsedTime": 0,
    "RTT": 20_000,
    "SndCwnd": 10,
    "SndMSS": 1400,
    "BytesAcked": 0,
    "TotalRetrans": 0,
    "MinRTT": 19_000,
}


def test_rows_of_tcp_info_are_found_in_ndt7_in_lines_and_in_parquet(file: Write, tmp_path: Path) -> None:
    rows = [ROW | {"ElapsedTime": 100_000 * i, "BytesAcked": 70_000 * i, "TotalRetrans": i // 2} for i in range(10)]
    ndt = {"Download": {"ServerMeasurements": [{"TCPInfo": row} for row in rows]}}
    lines = "\n".join(json.dumps({"TCPInfo": row}) for row in rows)
    parquet = pytest.importorskip("pyarrow.parquet")
    names = {
        "RTT": "tcpi_rtt",
        "SndCwnd": "tcpi_snd_cwnd",
        "BytesAcked": "tcpi_bytes_acked",
        "ElapsedTime": "elapsed_time",
    }
    table = pytest.importorskip("pyarrow").Table.from_pylist(
        [{to: row[name] for name, to in names.items()} for row in rows]
    )
    parquet.write_table(table, tmp_path / "rows.parquet")
    files = [file("ndt.json", json.dumps(ndt).encode()), file("lines.json", lines.encode()), tmp_path / "rows.parquet"]
    for each in files:
        flow = read(each).flow
        assert flow.columns["srtt_s"].tolist() == [0.02] * 10, each
        assert flow.columns["bytes"][1:].tolist() == [70_000.0] * 9, each
    assert read(files[0]).flow.columns["cwnd_bytes"][0] == 14_000.0


def test_columns_of_a_table_have_their_units_in_their_names(file: Write) -> None:
    table = b"time_ms;srtt_us;cwnd_segments;acked_bytes;retransmits\n" + b"".join(
        b"%d;%d;10;1000;0\n" % (100 * i, 20_000 + i) for i in range(1, 6)
    )
    flow = read(file("t.csv", table)).flow
    assert flow.columns["srtt_s"][0] == pytest.approx(0.020001)
    assert flow.end_s[-1] == pytest.approx(0.5)
    assert "has no column such as rtt_ms; it has time_s, colour" in refused(file("u.csv", b"time_s,colour\n1,2\n"))
    assert 'line 3: must be a number, not "x"' in refused(file("v.csv", b"time_s,rtt_ms,cwnd_bytes\n1,2,3\n2,x,3\n"))
    assert "line 3: has 2 fields, not 3" in refused(file("w.csv", b"time_s,rtt_ms,cwnd_bytes\n1,2,3\n2,3\n"))


@pytest.mark.parametrize("name", ["run.pcap", "run.pcapng"])
def test_a_capture_has_round_trip_times_of_every_ack(name: str) -> None:
    pytest.importorskip("dpkt")
    flow = read(HERE / name).flow
    assert flow.mss_bytes == 1448.0
    assert flow.columns["bytes"].sum() * 8 / flow.duration_s == pytest.approx(2.9e6, rel=0.1)
    assert 0 < flow.columns["srtt_s"][-1] < 0.02


def capture(packets: list[tuple[float, bytes]]) -> bytes:
    """A capture of raw IP packets."""
    found = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    for time_s, raw in packets:
        found += struct.pack("<IIII", int(time_s), round(time_s % 1 * 1e6), len(raw), len(raw)) + raw
    return found


def segment(
    *, back: bool = False, seq: int = 0, ack: int = 0, flags: int = 0x10, data: int = 0, ce: bool = False
) -> bytes:
    ends = (b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02")[:: -1 if back else 1]
    ports = (1000, 2000)[:: -1 if back else 1]
    tcp = struct.pack(">HHIIBBHHH", *ports, seq, ack, 5 << 4, flags, 1000, 0, 0)
    head = struct.pack(">BBHHHBBH", 0x45, 3 if ce else 2, 40 + data, 0, 0, 64, 6, 0)
    return head + ends[0] + ends[1] + tcp + bytes(data)


def conversation(rtt_s: float, at_receiver_s: float = 0.0) -> list[tuple[float, bytes]]:
    """A handshake and 20 segments of 1000 bytes, one each 50 ms; the fifth is sent twice, and the sixth is marked."""
    packets = [(1.0, segment(flags=2)), (1.0 + rtt_s, segment(back=True, flags=0x12, ack=1))]
    packets.append((1.0 + rtt_s + at_receiver_s, segment(seq=1, ack=1)))
    for i in range(20):
        at = 2.0 + 0.05 * i
        packets.append((at, segment(seq=1 + 1000 * i, data=1000, ce=i == 6)))
        if i == 5:
            packets.append((at + 0.01, segment(seq=1 + 1000 * i, data=1000)))
        packets.append((at + rtt_s, segment(back=True, ack=1001 + 1000 * i)))
    return packets


def test_a_capture_knows_the_handshake_retransmissions_and_marks(file: Write) -> None:
    pytest.importorskip("dpkt")
    found = read(file("c.pcap", capture(conversation(0.02))))
    assert found.base_rtt_s == pytest.approx(0.02, abs=1e-5)
    assert found.flow.columns["retransmits"].sum() == 1.0
    # Karn: the ACK of the segment that was sent twice gives no sample.
    assert found.flow.columns["srtt_s"] == pytest.approx(0.02, abs=1e-5)
    assert "1 data packets were marked with CE" in found.notes


def test_a_capture_at_the_receiver_is_refused_and_a_cut_one_is_read_to_its_end(file: Write) -> None:
    pytest.importorskip("dpkt")
    assert "was taken at the receiver" in refused(file("r.pcap", capture(conversation(0.0001, at_receiver_s=0.05))))
    whole = capture(conversation(0.02))
    found = read(file("cut.pcap", whole[:-30]))
    assert found.flow.duration_s > 0.5
    damaged = bytearray(whole)
    # The length of a packet in the middle says 2 GB.
    place = 24 + 30 * 16 + sum(len(raw) for _, raw in conversation(0.02)[:30])
    damaged[place + 8 : place + 16] = struct.pack("<II", 2**31, 2**31)
    notes = read(file("long.pcap", bytes(damaged))).notes
    assert any("damaged after 30 packets" in note for note in notes)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (b"", "is empty"),
        (b"{", "is damaged or cut off"),
        (b'{"a": 1}', "neither of iperf3, flent nor rows of TCP_INFO"),
        (b'{"error": "unable to connect"}', 'iperf3 failed: "unable to connect"'),
        (b'{"start": {}, "intervals": [], "end": {}}', "has no intervals"),
        (b'{"start": {"test_start": {"protocol": "UDP"}}, "intervals": [], "end": {}}', "is a test of UDP"),
        (b"[ ID] Interval           Transfer\n[  5]   0.00-1.00   sec  1 MBytes", "run it again with --json"),
        (b"\x89PNG\r\n", "not a text file"),
        (b"PAR1xxxx", "is a damaged Parquet file"),
        (b"\x1f\x8b\x08\x00garbage", "is a damaged gzip file"),
        (b"PK\x03\x04", "is a zip archive"),
        (b"# notes\n", "is none of iperf3"),
    ],
)
def test_other_files_are_refused_in_one_line(file: Write, held: bytes, said: str) -> None:
    if held.startswith(b"PAR1"):
        pytest.importorskip("pyarrow")
    assert said in refused(file("file", held))


def test_a_small_file_does_not_become_gigabytes(file: Write) -> None:
    """85 million empty lists in 260 kB of gzip took 7 GiB."""
    packed = gzip.compress(b"[" + b"[]," * (22 * 2**20) + b"[]]", 1)
    assert len(packed) < 400_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "of JSON; give a shorter measurement" in refused(file("x.json.gz", packed))
    # The text twice, as bytes and as characters, and what unpacking needs.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 * 1024


def test_the_command_line_refuses_with_exit_code_2(elephan: Command, file: Write) -> None:
    done = elephan("infer", file("x.json", b"{"))
    assert done.code == 2
    assert done.err.count("\n") == 1


def damaged(rng: random.Random, held: bytes) -> bytes:
    """Cut, overwrite, repeat or shuffle a part of a file, or change a number of a text."""
    made = bytearray(held)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(made) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            del made[at:]
        elif kind == 1:
            made[at : at + rng.randint(1, 30)] = rng.randbytes(rng.randint(0, 30))
        elif kind == 2:
            made[at:at] = made[at : at + rng.randint(1, 200)]
        elif kind == 3:
            del made[at : at + rng.randint(1, 200)]
        elif kind == 4:
            words = [b"-1", b"1e999", b"null", b"true", b"[]", b"{}", b'""', b"NaN", b"9" * 400, b"0"]
            made[at : at + 2] = rng.choice(words)
        else:
            for _ in range(rng.randint(1, 10)):
                if made:
                    made[rng.randrange(len(made))] = rng.randrange(256)
        if not made:
            break
    return bytes(made)


def samples(tmp_path: Path) -> list[bytes]:
    rows = [ROW | {"ElapsedTime": 100_000 * i, "BytesAcked": 70_000 * i} for i in range(10)]
    found = [(HERE / name).read_bytes() for name in ("iperf.json", "bidir.json", "ss.log", "run.pcap", "run.pcapng")]
    found += [flent(), json.dumps([{"TCPInfo": row} for row in rows]).encode(), capture(conversation(0.02))]
    found.append(b"time_s,rtt_ms,cwnd_bytes\n" + b"".join(b"%d,2,3\n" % i for i in range(9)))
    try:
        from pyarrow import Table, parquet  # noqa: PLC0415 (optional)

        parquet.write_table(Table.from_pylist(rows), tmp_path / "p")
        found.append((tmp_path / "p").read_bytes())
    except ModuleNotFoundError:
        pass
    return found


def read_or_refused(path: Path) -> Measurement | str:
    try:
        return read(path)
    except InputError as error:
        return str(error)


@pytest.mark.slow
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("dpkt")
    rng = random.Random()
    wholes = samples(tmp_path)
    for _ in range(MANY):
        held = damaged(rng, rng.choice(wholes))
        path = tmp_path / "damaged"
        path.write_bytes(held)
        try:
            found = read_or_refused(path)
        except BaseException:
            (Path.cwd() / "damaged.bin").write_bytes(held)
            raise
        if isinstance(found, str):
            assert found.startswith(str(path))
            assert "\n" not in found
        else:
            assert all(np.isfinite(flow.end_s).all() for flow in found.flows)
            assert all((values[np.isfinite(values)] < 1e19).all() for f in found.flows for values in f.columns.values())


def test_numbers_that_are_none_are_not_a_number() -> None:
    assert all(math.isnan(number(value)) for value in (None, "1", -1, True, 1e300, 10**400))
    assert number(3, 1e-3) == 0.003
    np.testing.assert_array_equal(differences([1.0, 3.0, 2.0, 5.0]), [math.nan, 2.0, math.nan, 3.0])
    with pytest.raises(ValueError, match="at least three are needed"):
        flow_of("x", [1.0, 1.0, 2.0], {})
