"""``elephan conform tcp --random`` and ``--live``: recorded connections, and scripts against the running kernel."""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from conftest import Command
from elephan_evidence.conform.live import host
from elephan_evidence.conform.live.receiver import Path as Wire
from elephan_evidence.conform.live.receiver import PathDraw, Receiver
from elephan_evidence.conform.live.recording import draw, record, shown
from elephan_evidence.conform.live.scripts import beside_kernel, judge_live
from elephan_evidence.conform.live.wire import ACK, SYN, Segment, build, parse
from elephan_evidence.conform.packetdrill import conform_scripts, judge_script
from elephan_evidence.conform.packetdrill.replay import is_recording, replay
from elephan_evidence.conform.packetdrill.script import read_script

if TYPE_CHECKING:
    from elephan_evidence.conform.packetdrill.judged import Verdict

RECORDED = sorted((Path(__file__).resolve().parent / "data" / "recorded").glob("*.pkt"))
ADDRESSES = ("192.0.2.2", "192.0.2.1")

needs_kernel = pytest.mark.skipif(host.missing() is not None, reason=str(host.missing()))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recorded_connections_agree(path: Path) -> None:
    found = replay(path)
    assert found.first == {}
    text = path.read_text(encoding="utf-8")
    assert found.segments == len(re.findall(r"> P?\. \d+:\d+\(1448\)", text)) > 60
    assert found.acks == text.count("%{") > 40
    assert judge_script(path).stopped is None, "it is a script as any other"


def changed(text: str, tmp_path: Path) -> Path:
    path = tmp_path / "changed-losses.pkt"
    path.write_text(text, encoding="utf-8")
    return path


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """A recording with another number in one place, and what must notice it."""
    for kind, pattern, more in (
        ("snd_ssthresh", r"(tcpi_snd_ssthresh == )(\d+)", 1),
        ("snd_cwnd", r"(tcpi_snd_cwnd - )(\d+)", 3),
        ("ca_state", r"(tcpi_ca_state == )(\d+)", 1),
    ):
        places = list(re.finditer(pattern, text))
        for place in places[:: max(1, len(places) // 5)]:
            yield kind, f"{text[: place.start()]}{place[1]}{int(place[2]) + more}{text[place.end() :]}"
    places = list(re.finditer(r"> (P?\.) (\d+):(\d+)\(1448\)", text))
    for place in places[:: len(places) // 5]:
        start, end = int(place[2]) + 1448, int(place[3]) + 1448
        yield "segments", f"{text[: place.start()]}> {place[1]} {start}:{end}(1448){text[place.end() :]}"


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_another_number_anywhere_is_a_difference(path: Path, tmp_path: Path) -> None:
    count = 0
    for kind, text in mutants(path.read_text(encoding="utf-8")):
        found = replay(changed(text, tmp_path)).earliest
        assert found is not None
        assert found.kind == kind
        count += 1
    assert count >= 20


def test_other_senders_differ() -> None:
    for path in RECORDED:
        law = "reno" if "cubic" in path.stem else "cubic"
        for change in ({"flows[0].control": law}, {"flows[0].recovery": "sack"}, {"flows[0].tcp.initial_window": 8}):
            assert replay(path, change).first, (path.stem, change)


def test_the_document_counts_recordings(tmp_path: Path) -> None:
    wrong = RECORDED[0].read_text(encoding="utf-8").replace("tcpi_ca_state == 0", "tcpi_ca_state == 4")
    found = conform_scripts([*RECORDED, changed(wrong, tmp_path)]).to_json()
    assert (found["summary"], found["live"]) == ({"agrees": 3, "differs": 1, "not_expressible": 0}, None)
    counts = {kind["path"]: kind for kind in found["recordings"]}
    assert (counts["losses"]["count"], counts["losses"]["ca_state"], counts["losses"]["segments"]) == (3, 2, 3)
    assert [reason["count"] for reason in counts["losses"]["reasons"]] == [1]
    assert not is_recording(Path(__file__).resolve().parent / "data" / "packetdrill" / "tail.pkt")


def test_segments_are_the_same_on_the_wire() -> None:
    blocks = ((2**32 - 5, 10), (20, 30))
    for segment in (
        Segment((7, 8), 2**32 - 1, 5, SYN | ACK, 65_535, 0, 1460, 7, sack=True, timestamp=(1, 2)),
        Segment((7, 8), 1, 2, ACK, 100, 1448, timestamp=(2**32 - 1, 0), blocks=blocks, ecn=2),
    ):
        assert parse(build(segment, ADDRESSES)) == segment
    assert parse(b"\x60" + bytes(80)) is None
    # RFC 1071: with its checksum in it, a header sums up to ones.
    packet = build(Segment((7, 8), 1, 2, ACK, 100), ADDRESSES)
    words = [int.from_bytes(packet[at : at + 2], "big") for at in range(0, 20, 2)]
    assert sum(words) % 0xFFFF == 0


def test_the_receiver_reports_as_in_the_examples_of_rfc_2018_and_2883() -> None:
    receiver = Receiver((8, 7), per_ack=1, next=5000)
    # RFC 2018, Section 7, case 2: the first of eight segments of 500 bytes is lost.
    for n in range(1, 8):
        now, duplicate = receiver.take(5000 + 500 * n, 5500 + 500 * n, 1)
        assert (now, duplicate, receiver.held) == (True, None, [(5500, 6000 + 500 * (n - 1))])
    # RFC 2883, Section 4.1.3: the ACK of a copy names it first.
    assert receiver.take(5500, 6000, 1) == (True, (5500, 6000))
    assert receiver.take(5000, 5500, 1) == (True, None)
    assert (receiver.next, receiver.held) == (9000, [])
    assert receiver.take(5000, 5500, 1) == (True, (5000, 5500))
    ack = receiver.acknowledgement(2**32 - 1000, 3, (5000, 5500))
    assert shown(ack.after(0, 2**32 - 1000)) == ". 1:1(0) ack 9000 win 60000 <TS val 3 ecr 1,sack 5000:5500>"


def test_a_delayed_ack_is_for_two_segments() -> None:
    receiver = Receiver((8, 7), per_ack=2, next=1)
    assert [receiver.take(1 + 10 * n, 11 + 10 * n, n)[0] for n in range(2)] == [False, True]
    assert receiver.acknowledgement(0, 9, None).timestamp == (9, 0), "that of the first (RFC 7323, 4.3)"


def test_paths_lose_and_reorder_as_drawn() -> None:
    drawn = PathDraw(0.02, 0.001, loss=0.1, ack_loss=0.0, reorder=0.2, late_s=0.01, per_ack=1)
    wire = Wire(drawn, Random(1))
    arrivals = [wire.arrival(0.001 * n) for n in range(10_000)]
    lost = arrivals.count(None)
    # Four standard deviations of a binomial count.
    assert abs(lost - 1000) < 4 * 30
    late = sum(at is not None and at > 0.001 * (n + 1) + 0.02 + 1e-9 for n, at in enumerate(arrivals))
    assert abs(late - 0.2 * (10_000 - lost)) < 4 * 38
    assert draw(5, 7) == draw(5, 7)
    assert draw(5, 7) != draw(5, 8)


@needs_kernel
def test_connections_of_the_kernel_are_recorded_and_run_again(tmp_path: Path) -> None:
    devices = Path("/proc/net/dev").read_text(encoding="ascii").count(":")
    scripts = record(3, 1)
    assert list(scripts) == ["001-cubic-losses", "002-cubic-losses", "003-cubic-reordering"]
    for name, text in scripts.items():
        path = tmp_path / f"{name}.pkt"
        path.write_text(text, encoding="utf-8")
        assert is_recording(path)
        assert len(read_script(path).events) > 50
        # The first ten segments leave with the write, however fast this machine is.
        assert replay(path).segments >= 10
    assert Path("/proc/net/dev").read_text(encoding="ascii").count(":") == devices, "nothing is left"


ANY_TIME = """`sysctl -q net.ipv4.tcp_congestion_control=reno`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
0 bind(3, ..., ...) = 0
0 listen(3, 1) = 0
0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,wscale 7>
* > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 514
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 20000) = 20000
* > P. 1:10001(10000) ack 1
+.01 %{ assert tcpi_snd_cwnd == 10; assert tcpi_unacked == 10 }%
+.05 < . 1:1(0) ack 2001 win 514
* > P. 10001:14001(4000) ack 1
+.01 %{ assert tcpi_snd_cwnd == CWND }%
"""


@needs_kernel
def test_scripts_run_against_the_kernel(tmp_path: Path) -> None:
    cases: tuple[tuple[str, Verdict], ...] = (("12", "agrees"), ("13", "differs"))
    for cwnd, verdict in cases:
        path = tmp_path / f"{cwnd}.pkt"
        path.write_text(ANY_TIME.replace("CWND", cwnd), encoding="utf-8")
        found = judge_live(path)
        assert (found.verdict, found.segments) == (verdict, 14), found.difference
        both = beside_kernel(conform_scripts([path]))
        assert (both.scripts[0].verdict, both.live[verdict]) == (verdict, 1)


def test_mistakes_are_one_line(elephan: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(host, "missing", lambda: "root is needed")
    script = str(RECORDED[0])
    for arguments, message in (
        (["tcp", "--random", "3"], "--random: root is needed"),
        (["tcp", script, "--live"], "--live: root is needed"),
        (["tcp", script, "--random", "3"], "CASE: conform tcp --random has no such option"),
        (["tcp", script, "--out", str(tmp_path)], "--out: conform tcp without --random has no such option"),
        (["bbr", "--random", "3"], "--random: conform bbr has no such option"),
    ):
        done = elephan("conform", *arguments)
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
        assert message in done.err
