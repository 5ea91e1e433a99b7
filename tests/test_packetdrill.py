"""``elephan conform tcp``: scripts are read as by packetdrill, and a wrong expectation is detected."""

import json
import os
import re
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from elephan import _native
from elephan.catalog.elsewhere import program_elsewhere
from elephan.errors import InputError
from elephan.scenario import EXAMPLE, Scenario
from elephan_evidence.conform.packetdrill import JudgedScript, conform_scripts, judge_script
from elephan_evidence.conform.packetdrill.code import Assertions, FailedAssertionError, NotEvaluatedError
from elephan_evidence.conform.packetdrill.connection import Connection, PartialAckError
from elephan_evidence.conform.packetdrill.host import Host
from elephan_evidence.conform.packetdrill.script import SECOND, Call, Packet, Shell, When, read_script

DATA = Path(__file__).resolve().parent / "data"
OWN = DATA / "packetdrill"
AGREE = ["ecn", "fast-retransmit", "frto", "initial-window", "no-sack", "small-writes", "tail"]

OPEN = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
0 bind(3, ..., ...) = 0
0 listen(3, 1) = 0
0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,wscale 7>
0 > S. 0:0(0) ack 1 <...>
.1 < . 1:1(0) ack 1 win 514
.1 accept(3, ..., ...) = 4
"""
"""A connection of 100 ms, with SACK and a window of 65 segments."""


def script(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "script.pkt"
    path.write_text(text, encoding="utf-8")
    return path


def judged(tmp_path: Path, text: str, **changes: object) -> JudgedScript:
    return judge_script(script(tmp_path, OPEN + text), {f"flows[0].{key}": value for key, value in changes.items()})


@pytest.mark.parametrize("name", AGREE)
def test_scripts_that_pass_on_a_kernel_agree(name: str) -> None:
    found = judge_script(OWN / f"{name}.pkt")
    assert (found.verdict, found.left_out) == ("agrees", ())


EXPECTED = re.compile(r"(?P<head>^.*> (?:\[\w+\] )?[P.]+ )(?P<start>\d+):(?P<end>\d+)\((?P<length>[1-9]\d*)\)")
INTEGERS = re.compile(r"(?<=== )\d+")


@pytest.mark.parametrize("name", AGREE)
def test_every_expectation_is_held_against_what_happens(name: str, tmp_path: Path) -> None:
    """A script with another number in any expected segment or assertion differs at that line."""
    lines = (OWN / f"{name}.pkt").read_text(encoding="utf-8").split("\n")
    places = 0
    for n, line in enumerate(lines):
        if match := EXPECTED.match(line):
            start, end = int(match["start"]) + 1000, int(match["end"]) + 1000
            wrong = f"{match['head']}{start}:{end}({match['length']}) ack 1"
        elif "assert" in line and INTEGERS.search(line):
            wrong = INTEGERS.sub(lambda number: str(int(number[0]) + 1), line, count=1)
        else:
            continue
        places += 1
        found = judge_script(script(tmp_path, "\n".join([*lines[:n], wrong, *lines[n + 1 :]])))
        assert found.difference is not None, wrong
        # A block of code is one event, at its first line.
        assert 0 <= n + 1 - found.difference.line <= 4, wrong
    assert places >= 3


def test_what_leaves_too_late_or_too_early_differs(tmp_path: Path) -> None:
    sent = ".1 write(4, ..., 1000) = 1000\n.1 > P. 1:1001(1000) ack 1\n{} > P. 1:1001(1000) ack 1\n"
    # A single segment is probed when it would time out: after 100 ms and 200 ms.
    for when, verdict in (
        ("+.3", "agrees"),
        (".4", "agrees"),
        ("+.25~+.35", "agrees"),
        ("*", "agrees"),
        ("+.2", "differs"),
    ):
        assert judged(tmp_path, sent.format(when)).verdict == verdict, when
    late = judged(tmp_path, sent.format("+.2")).difference
    assert late is not None
    assert (late.expected, late.actual.split(" (")[0]) == ("1:1001 at 0.3 s", "nothing by 0.325 s")
    early = judged(tmp_path, sent.format("+.5")).difference
    assert early is not None
    assert early.actual == "1:1001 at 0.4 s"
    assert judged(tmp_path, sent.format("+.301")).verdict == "agrees", "packetdrill allows 4 ms"
    wide = "--tolerance_usecs=300000\n" + OPEN + sent.format("+.5")
    assert judge_script(script(tmp_path, wide)).verdict == "agrees"


def test_options_of_a_script_are_read(tmp_path: Path) -> None:
    sent = "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:901(900) ack 1\n+0 > P. 901:1001(100) ack 1\n"
    found = judge_script(script(tmp_path, "--mtu=940\n--wire_server\n" + OPEN + sent + "+.4 > P. 901:1001(100) ack 1"))
    assert (found.verdict, found.left_out) == ("differs", ((1, "--wire_server: no such option here"),))
    assert found.segments == 2
    wide = "--mtu=940\n--tolerance_percent=50\n" + OPEN + sent + "+.4 > P. 901:1001(100) ack 1"
    assert judge_script(script(tmp_path, wide)).verdict == "agrees"
    with pytest.raises(InputError, match=r"script.pkt: --mtu=1k: write a number$"):
        judge_script(script(tmp_path, "--mtu=1k\n" + OPEN))
    with pytest.raises(InputError, match=r"script.pkt:9: writes 999999999999 bytes; 100000 segments are the most$"):
        judged(tmp_path, "+0 write(4, ..., 1) = 999999999999\n")
    with pytest.raises(InputError, match=r"script.pkt:9: after 1000000000 s; a script may take a day$"):
        judged(tmp_path, f"{'9' * 5000} close(4) = 0\n")


def test_a_segment_that_nobody_expects_differs(tmp_path: Path) -> None:
    text = ".1 write(4, ..., 3000) = 3000\n.1 > . 1:1001(1000) ack 1\n.1 > P. 2001:3001(1000) ack 1\n"
    found = judged(tmp_path, text).difference
    assert found is not None
    assert (found.line, found.actual) == (11, "1001:2001 at 0.1 s")


def test_the_sender_may_be_another_one(tmp_path: Path) -> None:
    text = ".1 write(4, ..., 10000) = 10000\n.1 > P. 1:2001(2000) ack 1\n.2 < . 1:1(0) ack 2001 win 514\n"
    text += ".2 %{ assert tcpi_snd_cwnd == 4 }%\n"
    assert judged(tmp_path, text).verdict == "differs"
    other = judged(tmp_path, text, tcp={"initial_window": 2, "window_validation": "none"}, control="reno")
    assert (other.verdict, other.sender["law"], other.sender["rto"]) == ("agrees", "reno", "rfc6298")
    with pytest.raises(InputError, match=r"script.pkt: its sender: .*recovery"):
        judged(tmp_path, text, recovery="racks")


def test_a_law_compiled_for_the_kernel_does_not_hear_of_the_handshake() -> None:
    # It grows with every ACK, whatever limits the sender, and keeps 4/5 of the window after a loss, Reno a half.
    gentle = Path(__file__).resolve().parents[1] / "examples" / "law-in-bpf" / "gentle.bpf.o"
    changes = {"flows[0].control": {"law": "bpf", "object": str(gentle)}}
    found = judge_script(OWN / "fast-retransmit.pkt", changes)
    assert found.difference is not None
    assert (found.segments, found.difference.actual) == (13, "tcpi_snd_ssthresh is 8")


OWN_LAW = """class Slow:
    def __init__(self, gain=1.0):
        self.cwnd, self.gain = 4.0, gain

    def on_ack(self, ack):
        self.cwnd += self.gain * ack.acked

    def on_loss(self, event):
        self.cwnd = max(self.cwnd * 0.25, 1.0)
"""


def test_a_law_in_python_may_be_the_sender(tmp_path: Path, elephan: Command) -> None:
    law = tmp_path / "slow.py"
    law.write_text(OWN_LAW, encoding="utf-8")
    text = ".1 write(4, ..., 10000) = 10000\n.1 > . 1:4001(4000) ack 1\n.2 < . 1:1(0) ack 2001 win 514\n"
    text += ".2 > P. 4001:{end}({length}) ack 1\n.2 %{{ assert tcpi_snd_cwnd == {cwnd} }}%\n"
    six = script(tmp_path, OPEN + text.format(end=8001, length=4000, cwnd=6))
    done = elephan("conform", "tcp", six, "--law", f"mine={law}:Slow", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["scripts"][0]["sender"]["law"] == "mine"
    # Four segments, and two for each of the two acknowledged ones.
    eight = script(tmp_path, OPEN + text.format(end=10001, length=6000, cwnd=8))
    faster = ["--set", 'flows[0].control={law="mine", gain=2.0}']
    assert elephan("conform", "tcp", eight, "--law", f"mine={law}:Slow", *faster).code == 0
    assert elephan("conform", "tcp", eight, "--law", f"mine={law}:Slow").code == 1
    wrong = tmp_path / "wrong.py"
    wrong.write_text(OWN_LAW.replace("self.gain * ack.acked", "ack.bytes"), encoding="utf-8")
    done = elephan("conform", "tcp", eight, "--law", f"mine={wrong}:Slow")
    assert (done.code, done.out) == (2, "")
    assert "law mine: Slow.on_ack (wrong.py, line 6): " in done.err


WINDOW = """.1 write(4, ..., 30000) = 30000
.1 > P. 1:10001(10000) ack 1
.1 %{ assert tcpi_snd_cwnd == 10 }%
.2 < . 1:1(0) ack 1 win 514 <sack 1001:2001,nop,nop>
.2 > . 10001:12001(2000) ack 1
.201 < . 1:1(0) ack 1 win 514 <sack 1001:4001,nop,nop>
.201 > . 1:1001(1000) ack 1
.201 %{ assert tcpi_snd_cwnd == 9; assert tcpi_snd_ssthresh == 9 }%
.201 %{ assert tcpi_ca_state == TCP_CA_Recovery }%
"""
"""Of a window of 13 a loss leaves 9.1 (RFC 8312, 4.5)."""


@pytest.mark.skipif(program_elsewhere() is None, reason="make quic builds elephan-quic")
def test_controls_of_quic_stacks_may_be_the_sender(tmp_path: Path) -> None:
    found = judged(tmp_path, WINDOW, control="noq/cubic")
    assert (found.verdict, found.segments, found.assertions) == ("agrees", 13, 3)
    assert found.left_out == ((17, "%{ }%: this sender has no tcpi_ca_state"),)
    # The nulls: NewReno gives up a half, and quinn sends nine of the ten segments.
    reno = judged(tmp_path, WINDOW, control="noq/reno").difference
    quinn = judged(tmp_path, WINDOW, control="quinn/cubic").difference
    assert reno is not None
    assert quinn is not None
    assert (reno.line, quinn.line) == (15, 10)
    assert "cwnd 10, 9 outstanding" in quinn.actual
    s2n = judged(tmp_path, WINDOW, control="s2n/cubic").difference
    assert s2n is not None
    assert (s2n.line, s2n.actual) == (16, "tcpi_snd_cwnd is 7"), "0.7 of 11: the ACK that shows a loss does not count"
    for line, why in (
        (".2 < . 1:1(0) ack 2001 win 10", "a receive window that limits"),
        (".2 < E. 1:1(0) ack 2001 win 514", "a congestion echo"),
        (".2 < . 1:1(0) ack 2001 win 514\n.2 write(4, ..., 1500) = 1500", "write: a short segment"),
    ):
        stopped = judged(tmp_path, "".join(WINDOW.splitlines(keepends=True)[:3]) + line, control="noq/cubic").stopped
        assert stopped is not None
        assert stopped[1].startswith(why)


@pytest.mark.skipif(program_elsewhere() is None, reason="make quic builds elephan-quic")
def test_controls_of_quic_stacks_are_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^--law quinn/bird: there is no such law; it is one of quinn/cubic"):
        judged(tmp_path, WINDOW, control="quinn/bird")
    with pytest.raises(InputError, match=r"^--set flows\[0\].recovery: noq/reno has its own transport"):
        judged(tmp_path, WINDOW, control="noq/reno", recovery="prr")
    with pytest.raises(InputError, match=r"a recorded connection of TCP, which noq/reno cannot replay"):
        conform_scripts([DATA / "recorded"], {"flows[0].control": "noq/reno"})


def test_controls_of_quic_stacks_need_their_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elephan.catalog.elsewhere.program_elsewhere", lambda: None)
    with pytest.raises(InputError, match=r"^--law quinn/reno: needs elephan-quic\. .*make quic"):
        judged(tmp_path, WINDOW, control="quinn/reno")


def test_settings_of_the_host_choose_the_sender(tmp_path: Path) -> None:
    (tmp_path / "defaults.sh").write_text(
        "#!/bin/bash\n# comment\nsysctl -q net.ipv4.tcp_slow_start_after_idle=0 # kept\nip link\n"
    )
    host = Host(tmp_path)
    host.run("./defaults.sh\nsysctl -q net.ipv4.tcp_congestion_control=reno net/ipv4/tcp_tso_win_divisor=100", 3)
    host.run("../common/set_sysctls.py /proc/sys/net/ipv4/tcp_ecn=1 \\\n  /proc/sys/net/ipv4/tcp_min_tso_segs=10", 4)
    host.run("tc qdisc replace dev tun0 root fq\nsysctl -q net.ipv4.tcp_pacing_ss_ratio=150 > /dev/null 2>&1", 5)
    assert host.law == "reno"
    assert host.sysctl("tcp_ecn", "2") == "1"
    assert host.tcp() == {
        "profile": "linux",
        "window_validation": "linux-kept",
        "undo": "always",
        "burst": "none",
        "pacing": {"slow_start": 1.5, "avoidance": 1.2},
    }
    assert host.left_out == [(3, "ip: interfaces and routes are not modelled")]
    host.run("sysctl -q net.ipv4.tcp_dsack=0", 5)
    assert "undo" not in host.tcp()
    host.run("sysctl -q net.ipv4.tcp_early_retrans=0; ./missing.sh; /tmp/restore_${PPID}.sh; echo 3 > /sys/x", 6)
    assert [why for line, why in host.left_out if line == 6] == [
        "ipv4.tcp_early_retrans=0: no such key here",
        "./missing.sh: is not beside the script; what it sets is unknown",
        "echo 3: no such setting here",
    ]
    assert host.stops is None
    host.run("tc qdisc replace dev tun0 root pfifo limit 0", 7)
    assert host.stops is not None


def test_the_language_is_read(tmp_path: Path) -> None:
    text = """--tolerance_usecs=500 // an option
--ip_version=ipv4
`first
second`
/* a comment
   of two lines */
0.000 ... 0.5 connect(3, {sa_family=AF_INET, port=htons(1)}, "a,)b") = -1 EINPROGRESS (Operation now in progress)
+0.1~+.2 > [ect0] FP. 1:1001 (1000)  ack 7 win 5 <nop,nop,TS val 1 ecr 2,sack 1:2 3:5> // ends here
* < 80 > 90 S. 4294967295:99(100) ack 0 win 0x
"""
    with pytest.raises(InputError, match=r"script.pkt:9: .*is no segment; write flags"):
        read_script(script(tmp_path, text))
    read = read_script(script(tmp_path, text.replace("win 0x", "").replace("99(100)", "99(100)")))
    shell, call, expected, injected = read.events
    assert read.options == {"tolerance_usecs": "500", "ip_version": "ipv4"}
    assert isinstance(shell, Shell)
    assert (shell.line, shell.text) == (3, "first\nsecond")
    assert isinstance(call, Call)
    assert (call.line, call.name, call.result) == (7, "connect", -1)
    assert call.arguments == ("3", "{sa_family=AF_INET, port=htons(1)}", '"a,)b"')
    assert isinstance(expected, Packet)
    assert (expected.line, expected.expected, expected.flags, expected.ip) == (8, True, "FP.", ("ect0",))
    assert (expected.start, expected.end, expected.ack, expected.window) == (1, 1001, 7, 5)
    assert (expected.options.timestamp, expected.options.blocks) == ((1, 2), ((1, 2), (3, 5)))
    assert expected.when == When("relative", SECOND // 10, SECOND // 5)
    assert isinstance(injected, Packet)
    assert (injected.expected, injected.when.kind, injected.start) == (False, "any", 4294967295)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("soon write(4, ..., 1) = 1", "'soon' is no time; write 0.1, +.1, +.1~+.2 or *"),
        ("0 write(4, ..., 1)", "write: has no result; write = and a number behind it"),
        ("0 write(4, ..., 1 = 1", "a parenthesis is not closed"),
        ("0 %{ assert 1 ", "%{ is not closed; write }% behind it"),
        ("0 `sysctl ", "` is not closed; write ` behind it"),
        ("0 < . 1:1(1) ack 1", "1:1 has 0 bytes, and not 1"),
        ("0 < . 1:1(0) ack 1 <sack 5:5>", "sack 5:5: ends before it begins"),
        ("0 < Q 1:1(0) ack 1", "'Q 1:1(0) ack 1' is no segment; write flags, first:last(length), ack, win, <options>"),
        ("0 = 3", "'=' is no packet (< or >), no system call, no `command` and no %{ code }%"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(line: str, why: str, tmp_path: Path, elephan: Command) -> None:
    path = script(tmp_path, f"// one\n{line}")
    done = elephan("conform", "tcp", path)
    assert (done.code, done.out, done.err.strip()) == (2, "", f"{path}:2: {why}")


def test_code_is_evaluated_and_not_run() -> None:
    assertions = Assertions()
    fields = {"tcpi_snd_cwnd": 7, "tcpi_lost": None}

    def run(text: str) -> list[bool]:
        return [assertions.run(each, fields) for each in assertions.statements(text)]

    assert run("cwnd = 3; cwnd += 4; print(tcpi_snd_cwnd); assert tcpi_snd_cwnd == cwnd, 'cwnd=%d' % cwnd") == [
        False
    ] * 3 + [True]
    assert run("\n  assert 1 < min(cwnd, 9) <= 7 and not -cwnd > 0\n") == [True]
    with pytest.raises(FailedAssertionError, match=r"^tcpi_snd_cwnd is 7$"):
        run("assert tcpi_snd_cwnd == cwnd + 1")
    for text, why in (
        ("import os", "import os: only assertions"),
        ("assert open('x')", "only assertions"),
        ("assert (1).real == 1", "only assertions"),
        ("assert 'a' * 9 == 1", "no number"),
        ("assert 2 ** 9 == 512", "Pow is not evaluated"),
        ("assert 1 / 0", "division by zero"),
        ("assert tcpi_nothing == 1", "there is no tcpi_nothing here"),
        ("assert tcpi_lost == 1", "this sender has no tcpi_lost"),
        ("assert ]", "is no Python"),
        ("(" * 9999, "is no Python"),
    ):
        with pytest.raises(NotEvaluatedError, match=re.escape(why)):
            run(text)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        (".2 < . 1:1(0) ack 501 win 514", 11, "acknowledges a part of a segment; segments are whole here"),
        (".2 < . 1:1(0) ack 3001 win 514", 11, "acknowledges what the sender has not sent"),
        (".2 < . 1:1(0) ack 1 win 514 <sack 1001:3001,nop,nop>", 11, "acknowledges what the sender has not sent"),
        (".2 < . 1:1(0) ack 1001 win 0\n.2 write(4, ..., 9000) = 9000", 12, "data waits behind a window"),
        (".2 `tc qdisc replace dev tun0 root pfifo limit 0`", 11, "tc: a queue of the host that drops"),
        (".2 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0", 11, "setsockopt(4, SOL_TCP, TCP_CORK"),
        (".2 send(4, ..., 10, MSG_MORE) = 10", 11, "MSG_MORE"),
        (".2 < icmp unreachable frag_needed mtu 1200 [1:1001(1000)]", 11, "icmp unreachable"),
        (".2 < S 0:0(0) win 65535 <mss 1000>", 11, "a second connection"),
    ],
)
def test_what_cannot_be_expressed_is_said(text: str, line: int, why: str, tmp_path: Path) -> None:
    found = judged(tmp_path, ".1 write(4, ..., 2000) = 2000\n.1 > P. 1:2001(2000) ack 1\n" + text)
    assert found.verdict == "not expressible"
    assert found.stopped is not None
    assert found.stopped[0] == line
    assert found.stopped[1].startswith(why)
    assert found.segments == 2, "what comes before is judged"


def test_what_does_not_matter_is_passed_over_and_said(tmp_path: Path) -> None:
    text = """.1 write(4, ..., 2000) = 2000
.1 > P. 1:2001(2000) ack 1
.2 < P. 1:101(100) ack 1001 win 514
.2 > . 2001:2001(0) ack 101
.2 < . 101:101(0) ack 2001 win 514 <sack 1:1001,nop,nop>
.3 close(4) = 0
.3 > F. 2001:2001(0) ack 101
.4 < F. 101:101(0) ack 2002 win 514
.4 > . 2002:2002(0) ack 102
"""
    found = judged(tmp_path, text)
    assert (found.verdict, found.segments) == ("agrees", 2)
    assert [(line, why.split(";")[0]) for line, why in found.left_out] == [
        (11, "data that the host receives is not modelled"),
        (14, "close: the end of a connection is not modelled"),
        (15, "the end of a connection is not modelled"),
    ]


@pytest.mark.parametrize(
    ("injected", "verdict"), [("1:1(0) ack 1 win 514", "agrees"), ("1:101(100) ack 1 win 514", "differs")]
)
def test_only_an_ack_that_says_nothing_else_is_a_duplicate(injected: str, verdict: str, tmp_path: Path) -> None:
    text = OPEN.replace("sackOK,nop,", "") + ".1 write(4, ..., 4000) = 4000\n.1 > P. 1:4001(4000) ack 1\n"
    third = f".2 < . {injected}\n+0 > . 1:1001(1000) ack 1\n"
    duplicates = ".2 < . 1:1(0) ack 1 win 514\n" * 2
    assert judge_script(script(tmp_path, text + duplicates + third)).verdict == verdict
    update = ".2 < . 1:1(0) ack 1 win 515\n"
    assert judge_script(script(tmp_path, text + duplicates + update + third)).verdict == "differs"


def test_a_window_that_opens_lets_segments_leave(tmp_path: Path) -> None:
    text = OPEN.replace("win 514", "win 16") + ".1 write(4, ..., 4000) = 4000\n.1 > . 1:2001(2000) ack 1\n"
    assert (
        judge_script(script(tmp_path, text + ".2 < . 1:1(0) ack 1 win 514\n+0 > P. 2001:4001(2000) ack 1\n")).verdict
        == "agrees"
    )
    assert (
        judge_script(script(tmp_path, text + ".2 < . 1:1(0) ack 1 win 24\n+0 > P. 2001:4001(2000) ack 1\n")).verdict
        == "differs"
    )


def test_timestamps_say_which_copy_arrived(tmp_path: Path) -> None:
    head = OPEN.replace("sackOK", "sackOK,TS val 1 ecr 0")
    text = (
        head
        + """.1 write(4, ..., 988) = 988
.1 > P. 1:989(988) ack 1 <nop,nop,TS val 100 ecr 1>
+.3 > P. 1:989(988) ack 1 <nop,nop,TS val 400 ecr 1>
+.05 < . 1:1(0) ack 989 win 514 <nop,nop,TS val 1 ecr {}>
+0 %{{ assert tcpi_rtt == {}, tcpi_rtt }}%
"""
    )
    # A first sample of 100 ms, and an eighth of the way to 50 ms or to 350 ms.
    for echo, rtt in ((400, 93_750), (100, 131_250)):
        found = judge_script(script(tmp_path, text.format(echo, rtt))).difference
        # A packet takes a microsecond to arrive.
        assert found is None or abs(int(found.actual.removeprefix("tcpi_rtt is ")) - rtt) <= 2


def test_short_segments_wait_and_records_end() -> None:
    canonical = (
        Scenario.from_text(EXAMPLE).replace({"flows[0].tcp": {"profile": "linux", "receive_window": "none"}}).canonical
    )
    connection = Connection(_native.TcpSender(canonical), 1000, (0, SECOND // 10), 10**6, nodelay=False)

    def sent() -> list[tuple[int, int]]:
        connection.advance(0)
        found = [(each.start, each.end) for each in connection.sent]
        connection.sent.clear()
        return found

    def ack(ms: int, byte: int) -> None:
        connection.acknowledge(ms * SECOND // 1000, byte, [], window=10**6)

    connection.write(SECOND // 10, 1500)
    assert sent() == [(1, 1001), (1001, 1501)]
    connection.write(SECOND // 10, 300)
    assert sent() == [], "another short one is not acknowledged"
    ack(200, 1001)
    assert sent() == []
    ack(201, 1501)
    assert sent() == [(1501, 1801)]
    with pytest.raises(PartialAckError):
        ack(202, 1601)
    connection.nodelay = True
    connection.write(SECOND * 203 // 1000, 100, ends_record=True)
    connection.write(SECOND * 203 // 1000, 100)
    assert sent() == [(1801, 1901), (1901, 2001)]
    assert connection.written == 2001


def test_a_sender_takes_nothing_that_cannot_be() -> None:
    sender = _native.TcpSender(Scenario.from_text(EXAMPLE).canonical)
    with pytest.raises(ValueError, match="no timer runs"):
        sender.on_timer()
    sender.write(10, 2)
    assert [each[1:] for each in sender.take_sent()] == [(0, False, False), (1, False, False)]
    for call in (
        partial(sender.on_ack, 9, 1),
        partial(sender.on_ack, 11, 3),
        partial(sender.on_ack, 11, 1, [(0, 2)]),
        partial(sender.on_ack, 11, 0, [(1, 3)]),
        partial(sender.write, 2**61, 1),
        partial(sender.write, 11, 2**33),
    ):
        with pytest.raises(ValueError, match=r"^(now_ps|on_ack|segments): "):
            call()
    sender.on_ack(10**9, 2)
    assert sender.state()["outstanding"] == 0
    sender = _native.TcpSender(Scenario.from_text(EXAMPLE).canonical)
    sender.open(0, 10**9, receive_window=9)
    with pytest.raises(ValueError, match="open: the connection is open"):
        sender.open(10**9, 10**9, receive_window=9)


def test_the_command_answers_first(elephan: Command) -> None:
    done = elephan("conform", "tcp", OWN)
    assert done.code == 1
    assert done.out.startswith("9 scripts: 7 agree, 1 differs, 1 cannot be expressed.")
    assert "differs.pkt:11 differs\n   expected 1:1001 at 3.1 s; found 1:1001 at 0.4 s" in done.out
    assert len(done.out.splitlines()) <= 15
    details = elephan("conform", "tcp", OWN, "--details")
    assert "line 2 left out: ethtool: interfaces and routes are not modelled" in details.out
    assert "by Linux 6.12, tcp_set_rto" in details.out
    assert elephan("conform", "tcp", OWN / "tail.pkt", OWN / "ecn.pkt").code == 0


def test_the_command_as_json(elephan: Command) -> None:
    done = elephan("conform", "tcp", OWN / "differs.pkt", "--json")
    document = json.loads(done.out)
    assert (done.code, document["summary"]) == (1, {"agrees": 0, "differs": 1, "not_expressible": 0})
    assert document["scripts"][0]["difference"] == {
        "line": 11,
        "expected": "1:1001 at 3.1 s",
        "actual": "1:1001 at 0.4 s",
        "rule": "Linux 6.12, tcp_set_rto: srtt + rttvar of at least 200 ms",
    }
    assert document == {"format": 1, **conform_scripts([OWN / "differs.pkt"]).to_json()}
    other = elephan(
        "conform", "tcp", OWN / "differs.pkt", "--json", "--law", "reno", "--set", "flows[0].tcp.min_rto=3 s"
    )
    assert json.loads(other.out)["scripts"][0]["verdict"] == "agrees"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tcp",), "conform tcp: give packetdrill scripts, or folders of them"),
        (("tcp", OWN, "--pages", "x"), "--pages: conform tcp has no such option"),
        (("bbr", "--law", "reno"), "--law: conform bbr has no such option"),
        (
            ("tcp", OWN / "ecn.pkt", "--law", "renu"),
            f"{OWN / 'ecn.pkt'}: its sender: flows[0].control.law: unknown law",
        ),
        (
            ("tcp", OWN / "ecn.pkt", "--set", "flows[1].count=2"),
            f"{OWN / 'ecn.pkt'}: its sender: flows[1]: there is one",
        ),
        (("tcp", "nowhere.pkt"), "nowhere.pkt: "),
    ],
)
def test_wrong_input_gets_one_line(words: tuple[Any, ...], message: str, elephan: Command) -> None:
    done = elephan("conform", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)
    assert len(done.err.splitlines()) == 1


PUBLIC = tomllib.loads((DATA / "packetdrill.toml").read_text(encoding="utf-8"))
FOLDER = "ELEPHAN_PACKETDRILL"
"""The folder of the environment that has checkouts of google/packetdrill and ligurio/packetdrill-testcases."""


def public(name: str) -> Path:
    folder = os.environ.get(FOLDER)
    if not folder:
        pytest.skip(f"{FOLDER} names no folder with packetdrill's scripts")
    found = sorted(Path(folder).rglob(name))
    assert len(found) == 1, f"{name}: {found}"
    return found[0]


@pytest.mark.parametrize("row", PUBLIC["scripts"], ids=lambda row: row["name"])
def test_public_scripts_have_the_verdict_of_the_table(row: dict[str, Any]) -> None:
    found = judge_script(public(row["name"]), row.get("set"))
    place = found.difference.line if found.difference else found.stopped[0] if found.stopped else None
    assert (found.verdict, place) == (row["verdict"], row.get("line"))


def test_the_table_explains_what_does_not_agree() -> None:
    rows = PUBLIC["scripts"]
    assert len(rows) == 42
    assert len({row["name"] for row in rows}) == 42
    for row in rows:
        assert ("why" in row, "line" in row) == (row["verdict"] != "agrees",) * 2, row["name"]
