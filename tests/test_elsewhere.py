"""Runs in the formats of other tools are read by those tools' readers and by ours, with the numbers of the run."""

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import dpkt
import numpy as np
import pytest

import elephan as package
from conftest import Command
from elephan.inference import Answer, infer
from elephan.measurements import read
from elephan.runs.elsewhere import FORMATS, flent, iperf3
from elephan.runs.result import RunResult
from elephan.scenario import EXAMPLE

TEXT = (
    EXAMPLE
    + """
[[flows]]
name    = "ping"
path    = ["core"]
rtt     = "80 ms"
traffic = "ping"

[record]
every   = "100 ms"
trace   = ["bulk[0]", "bulk[1]"]
packets = [{ link = "core", from = "0 s", to = "4 s" }]
"""
)


@pytest.fixture(scope="module")
def result() -> RunResult:
    return package.run(package.Scenario.from_text(TEXT), series=True)


def test_iperf3s_document_adds_up_to_what_was_acknowledged(result: RunResult, tmp_path: Path) -> None:
    document = iperf3(result)
    # Samples up to 3.9 s; the flows start in the second half of the first interval, which is part of the next.
    assert len(document["intervals"]) == 38
    outcome = result.outcomes[0]
    for i, trace in enumerate(outcome.traces):
        streams = [interval["streams"][i] for interval in document["intervals"]]
        # The last sample is that at 3.9 s; what is delivered out of order counts, too.
        last = np.searchsorted(trace["time_s"], 3.9) - 1
        acked, flight = int(trace["una"][last]), int(trace["in_flight_segments"][last])
        assert 0 <= sum(one["bytes"] for one in streams) / 960 - acked <= flight
        # Every drop is repaired, those of the last round trips later.
        assert trace["drop_time_s"].size - 5 <= sum(one["retransmits"] for one in streams) <= trace["drop_time_s"].size
        # srtt in whole microseconds, and the window in bytes.
        assert streams[-1]["rtt"] == pytest.approx(1e6 * trace["srtt_s"][last], abs=1)
        assert streams[-1]["snd_cwnd"] == pytest.approx(trace["cwnd_segments"][last] * 960, abs=1)
        assert streams[-1]["rttvar"] > 0
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document))
    measured = read(path)
    assert len(measured.flows) == 2
    assert measured.flows[0].law == "reno"
    assert measured.flows[0].mss_bytes == 960


@pytest.mark.parametrize("start", ['"0 s"', '"5 s"', '{ from = "0 s", to = "5 s" }'])
def test_a_test_of_other_tools_begins_when_its_flow_starts(start: str, tmp_path: Path) -> None:
    text = f"""
title = "starts"
duration = "30 s"
warmup = "10 s"
[[links]]
name = "core"
rate = "60 Mbit/s"
buffer = "40 ms"
[[flows]]
name = "bulk"
path = ["core"]
rtt = "30 ms"
tcp = "linux"
start = {start}
[record]
every = "100 ms"
"""
    result = package.run(package.Scenario.from_text(text), replications=1, series=True)
    outcome = result.outcomes[0]
    document = iperf3(result)
    summed = document["end"]["sum_sent"]
    sent = int(outcome.samples["delivered_segments"][0, -1]) * 1448
    over_s = outcome.samples["time_s"][-1] - outcome.flows["start_s"][0]
    assert document["intervals"][0]["sum"]["start"] == summed["start"] == 0
    assert summed["seconds"] == document["start"]["test_start"]["duration"] == pytest.approx(over_s)
    assert summed["bits_per_second"] == pytest.approx(8 * sent / over_s)
    lengths = [interval["sum"]["seconds"] for interval in document["intervals"]]
    assert min(lengths) > 0.049
    assert max(lengths) < 0.151
    assert flent(result)["x_values"] == pytest.approx([interval["sum"]["end"] for interval in document["intervals"]])
    for name, made in (("run.json", document), ("run.flent", flent(result))):
        path = tmp_path / name
        path.write_text(json.dumps(made))
        answer = infer([read(path)])
        assert isinstance(answer, Answer)
        rate = answer.found["rate_bps"]
        # The link has 60 Mbit/s of packets; with the time before the flow a trained network found 62 to 77.
        assert rate.low < 60e6 < rate.high < 64e6


def test_streams_of_other_tools_last_as_long_as_their_flows(tmp_path: Path) -> None:
    text = """
title = "ends"
duration = "8 s"
warmup = "0 s"
[[links]]
name = "core"
rate = "40 Mbit/s"
buffer = "40 ms"
[[flows]]
name = "short"
count = 2
path = ["core"]
rtt = "30 ms"
tcp = "linux"
start = ["2.02 s", "1 s"]
traffic = { kind = "finite", size = "5 MB" }
[record]
every = "100 ms"
"""
    result = package.run(package.Scenario.from_text(text), replications=1, series=True)
    flows, document = result.outcomes[0].flows, iperf3(result)
    ends = [one["sender"] for one in document["end"]["streams"]]
    assert [one["start"] for one in ends] == pytest.approx([1.02, 0])
    # The last byte arrives at the finish, and its ACK within a round trip; samples are 0.1 s apart.
    for one, finished_s in zip(ends, flows["finished_s"].tolist(), strict=True):
        assert 0 < one["end"] - (finished_s - 1) < 0.2
    assert document["end"]["sum_sent"]["end"] == max(one["end"] for one in ends)
    # A stream has intervals only while its flow lasts, and they add up to what the test's end says.
    for one in ends:
        mine = [
            row for interval in document["intervals"] for row in interval["streams"] if row["socket"] == one["socket"]
        ]
        assert sum(row["bytes"] for row in mine) == one["bytes"] >= 5_000_000
        assert (mine[0]["start"], mine[-1]["end"]) == (one["start"], one["end"])
    path = tmp_path / "run.flent"
    path.write_text(json.dumps(flent(result)))
    assert len(read(path).flows) == 2


def test_flents_file_has_the_rates_of_iperf3s(result: RunResult, tmp_path: Path) -> None:
    document, other = flent(result), iperf3(result)
    for i in (0, 1):
        rates = [interval["streams"][i]["bits_per_second"] / 1e6 for interval in other["intervals"]]
        ours = document["results"][f"TCP upload::{i + 1}"]
        assert ours[10:] == pytest.approx(rates[10:])
    # Its own loader takes a file without raw values for an empty one.
    assert len(document["raw_values"]["TCP upload::1"]) > 30
    path = tmp_path / "run.flent"
    path.write_text(json.dumps(document))
    assert [flow.law for flow in read(path).flows] == ["reno", "reno"]


def test_a_capture_has_every_packet_with_its_time_and_sequence_number(result: RunResult, tmp_path: Path) -> None:
    [path] = FORMATS["pcapng"](result, tmp_path)
    assert path.name == "core.pcapng"
    outcome = result.outcomes[0]
    recorded = outcome.packets[0]
    flows: Counter[int] = Counter()
    data: list[tuple[float, int]] = []
    datagrams = acks = 0
    with path.open("rb") as file:
        for time_s, raw in dpkt.pcapng.Reader(file):
            frame = dpkt.ethernet.Ethernet(raw)
            packet = frame.data
            # A header with its checksum adds up to zero.
            assert dpkt.in_cksum(raw[14:34]) == 0
            if isinstance(packet.data, dpkt.udp.UDP):
                datagrams += 1
                assert packet.len == packet.data.ulen + 20
            elif packet.data.dport == 5201:
                flows[packet.data.sport - 40000] += 1
                if packet.data.sport == 40000:
                    data.append((float(time_s), packet.data.seq))
            else:
                acks += 1
    assert flows == Counter(recorded["flow"][recorded["flow"] < 2].tolist())
    assert datagrams == int((recorded["flow"] == 2).sum()) > 0
    assert acks > 1000
    mine = recorded["flow"] == 0
    assert [seq for _, seq in data] == (1 + 960 * recorded["segment"][mine].astype(int)).tolist()
    # To the nanosecond.
    assert np.allclose([time_s for time_s, _ in data], recorded["time_s"][mine], atol=1e-9, rtol=0)


def test_dropped_packets_are_on_an_interface_of_their_own(result: RunResult, tmp_path: Path) -> None:
    [path] = FORMATS["pcapng"](result, tmp_path)
    content = path.read_bytes()
    assert b"core (dropped)" in content
    at, interfaces = 0, Counter[int]()
    while at < len(content):
        kind, total = np.frombuffer(content, "<u4", 2, at).tolist()
        if kind == 6:
            interfaces[int(np.frombuffer(content, "<u4", 1, at + 8)[0])] += 1
        # Blocks end with their length again.
        assert np.frombuffer(content, "<u4", 1, at + total - 4)[0] == total
        at += total
    assert interfaces[1] == int(result.outcomes[0].packets[0]["dropped"].sum()) > 0


OPTIONS = """
title = "options"
duration = "6 s"
warmup = "0 s"
[[links]]
name = "core"
rate = "20 Mbit/s"
delay = "10 ms"
buffer = "60 packets"
queue = { discipline = "red", ecn = true, max_p = 0.02 }
reorder = { late = 0.005, by = "3 ms" }
[[flows]]
name = "bulk"
path = ["core"]
rtt = "40 ms"
packet = "1500 B"
control = "cubic"
tcp = { profile = "linux", ecn = "on", undo = "always" }
[record]
trace = ["bulk[0]"]
packets = [{ link = "core", from = "0 s", to = "6 s" }]
"""
"""Marks, late segments, timestamps and duplicates; some packets find the buffer full."""


@pytest.fixture(scope="module")
def options() -> RunResult:
    return package.run(package.Scenario.from_text(OPTIONS), replications=1)


def test_a_capture_has_the_options_marks_and_flags_of_each_packet(options: RunResult, tmp_path: Path) -> None:
    [path] = FORMATS["pcapng"](options, tmp_path)
    outcome = options.outcomes[0]
    recorded, trace = outcome.packets[0], outcome.traces[0]
    data: list[tuple[int, bool, int, int]] = []
    acks: list[tuple[int, bool, list[int]]] = []
    echoes = []
    with path.open("rb") as file:
        for _, raw in dpkt.pcapng.Reader(file):
            packet = dpkt.ethernet.Ethernet(raw).data
            tcp = packet.data
            assert dpkt.in_cksum(raw[14:34]) == 0
            found = dict(dpkt.tcp.parse_opts(tcp.opts))
            value, echo = np.frombuffer(found[dpkt.tcp.TCP_OPT_TIMESTAMP], ">u4").tolist()
            if tcp.dport == 5201:
                # Sequence numbers are apart by the payload that the lengths of the headers leave.
                assert packet.len - 20 - 4 * tcp.off == 1448
                data.append((tcp.seq, bool(tcp.flags & dpkt.tcp.TH_CWR), packet.tos & 3, value))
            else:
                blocks = np.frombuffer(found.get(dpkt.tcp.TCP_OPT_SACK, b""), ">u4").tolist()
                acks.append((tcp.ack, bool(tcp.flags & dpkt.tcp.TH_ECE), blocks))
                echoes.append(echo)
    expected = zip(
        (1 + 1448 * recorded["segment"].astype(int)).tolist(),
        recorded["cwr"].tolist(),
        np.where(recorded["marked"], 3, recorded["ecn"]).tolist(),
        (1 + np.floor(1e3 * recorded["time_s"] + 1e-6)).astype(int).tolist(),
        strict=True,
    )
    assert data == list(expected)
    # The run counts the same marks; a retransmission of RFC 3168 is not ECN-capable.
    assert int(recorded["marked"].sum()) == int(outcome.links["marks_early"][0] + outcome.links["marks_forced"][0]) > 0
    assert set(recorded["ecn"][recorded["retransmission"]]) == {0}
    assert int(recorded["retransmission"].sum()) == int(outcome.flows["retransmitted"][0]) > 0
    # Blocks in bytes, a duplicate's first: no edge of another lies below the number that the ACK has.
    rows = np.flatnonzero((trace["time_s"] <= recorded["time_s"][-1]) & ~trace["timeout"])
    blocks_of: dict[int, list[int]] = {}
    for row, start, end in zip(trace["sack_row"], trace["sack_start"], trace["sack_end"], strict=True):
        blocks_of.setdefault(int(row), []).extend((1 + 1448 * int(start), 1 + 1448 * int(end)))
    assert [(ack, ece, blocks) for ack, ece, blocks in acks] == [
        (1 + 1448 * int(trace["una"][row]), bool(trace["ece"][row]), blocks_of.get(int(row), [])) for row in rows
    ]
    duplicates = sum(bool(blocks) and blocks[0] < ack for ack, _, blocks in acks)
    assert duplicates == int(trace["dsack"][rows].sum()) > 0
    assert duplicates == pytest.approx(float(outcome.flows["dsack_dups"][0]), abs=1), "the last may be under way"
    # Echoes never fall, and are of segments sent before.
    assert echoes == sorted(echoes)
    assert set(echoes) <= {value for *_, value in data}


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_counts_what_the_run_counted(options: RunResult, tmp_path: Path) -> None:
    [path] = FORMATS["pcapng"](options, tmp_path)
    outcome = options.outcomes[0]
    recorded, trace = outcome.packets[0], outcome.traces[0]

    def count(of: str) -> int:
        command = ("tshark", "-n", "-r", str(path), "-Y", of, "-T", "fields", "-e", "frame.number")
        return len(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())

    rows = np.flatnonzero((trace["time_s"] <= recorded["time_s"][-1]) & ~trace["timeout"])
    assert count("_ws.malformed or ip.checksum.status == 0") == 0
    assert count("tcp.options.timestamp.tsval") == recorded["time_s"].size + rows.size
    assert count("ip.dsfield.ecn == 3") == int(recorded["marked"].sum())
    assert count("tcp.flags.ece == 1") == int(trace["ece"][rows].sum()) > 0
    assert count("tcp.flags.cwr == 1") == int(recorded["cwr"].sum()) > 0
    assert count("tcp.options.sack_le") == np.isin(rows, trace["sack_row"]).sum() > 0
    # One that follows within 3 ms of the segment after it counts as out of order.
    again = "tcp.analysis.retransmission or tcp.analysis.out_of_order"
    assert count(again) == int(recorded["retransmission"].sum()) > 0


def test_the_command_writes_each_and_refuses_what_is_not_recorded(elephan: Command, tmp_path: Path) -> None:
    file, out = tmp_path / "net.toml", tmp_path / "out"
    file.write_text(TEXT)
    also = [word for name in FORMATS for word in ("--also", name)]
    assert elephan("run", file, "--out", out, *also, "-q").code == 0
    assert {"run.iperf3.json", "run.flent", "core.pcapng", "bulk-0.sqlog"} <= {path.name for path in out.iterdir()}
    for words, said in (
        (("--also", "pcap"), '--also: there is no format "pcap"; did you mean "pcapng"?'),
        (("--also", "qlog", "--set", "record.trace=[]"), "--also qlog: no flow is recorded ACK by ACK; give --set"),
        (("--also", "pcapng", "--set", "record.packets=[]"), "--also pcapng: no packet is recorded; give --set"),
    ):
        done = elephan("run", file, "--out", tmp_path / "none", *words)
        assert done.code == 2
        assert done.err.startswith(said)
        assert not (tmp_path / "none").exists()
