"""Events of a traced sender: losses, recoveries, timeouts, probes and undone reductions, in all that shows them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elephan
from conftest import Command
from elephan.cli.run_events import HEADS, event_lines, flow_name
from elephan.runs.qlog import encode_qlog
from elephan.runs.result import RunResult

TEXT = """
duration = "4 s"
warmup = "0 s"
replications = 1
[record]
trace = ["one[0]"]
[[links]]
name = "core"
rate = "10 Mbit/s"
buffer = "100 packets"
LINK
[[flows]]
name = "one"
path = ["core"]
rtt = "40 ms"
packet = "1500 B"
control = "reno"
start = "0 s"
FLOW
"""
"""A packet takes 1.2 ms at the link."""

FILE = 'traffic = { kind = "finite", size = "30 kB" }\ntcp = { initial_window = 10, initial_ssthresh = 10.0 }'
"""A file of 21 segments."""

Told = list[tuple[str, str, str]]


def made(link: str, flow: str, rtt: str = "40 ms") -> RunResult:
    text = TEXT.replace("LINK", link).replace("FLOW", flow).replace("40 ms", rtt)
    return elephan.run(elephan.Scenario.from_text(text))


def told(result: RunResult) -> Told:
    """Event, reason and state of each event."""
    events = result.outcomes[0].traces[0]["events"]
    return list(zip(*(events[name].tolist() for name in ("event", "reason", "ca_state")), strict=True))


def during(begin_ms: float, end_ms: float) -> str:
    return f'loss = {{ during = [["{begin_ms} ms", "{end_ms} ms"]] }}'


def test_one_drop_is_a_loss_and_a_recovery() -> None:
    # Segment 11 of 21 is the only one lost; 12, 13 and 14 are SACKed, and the repair ends when all is acknowledged.
    result = made(during(62, 62.5), FILE + "\nrecovery = 'sack'")
    assert told(result) == [
        ("ca_state", "sack", "Disorder"),
        ("lost", "dup_thresh", "Disorder"),
        ("ca_state", "dup_thresh", "Recovery"),
        ("ca_state", "recovered", "Open"),
    ]
    [trace] = result.outcomes[0].traces
    events = trace["events"]
    assert events["segment"].tolist() == [11, 11, 11, 21]
    assert trace["drop_segment"].tolist() == [11]
    assert events["cwnd_segments"][2] == events["cwnd_before_segments"][2] / 2 == events["ssthresh_segments"][2]
    # The third SACK comes two packets after the first.
    assert events["time_s"][2] - events["time_s"][0] == pytest.approx(2 * 1.2e-3)


def test_one_timeout_has_its_backoff_and_all_that_is_lost_by_it() -> None:
    result = made(during(0, 1050), FILE + "\nrecovery = 'sack'")
    first = [("rto", "rto", "Open"), *[("lost", "rto", "Open")] * 10, ("ca_state", "rto", "Loss")]
    again = [("rto", "rto", "Loss"), ("lost", "rto", "Loss"), ("ca_state", "rto", "Loss")]
    assert told(result) == [*first, *again, ("ca_state", "recovered", "Open")]
    events = result.outcomes[0].traces[0]["events"]
    expired = events["event"] == "rto"
    # RFC 6298: a second before there is a sample, and twice that.
    assert events["rto_s"][expired].tolist() == [1.0, 2.0]
    assert events["backoff"][expired].tolist() == [1, 2]
    assert events["time_s"][expired].tolist() == [1.0, 3.0]
    assert events["backoff"][-1] == 0


def test_one_probe_is_the_last_segment() -> None:
    result = made(during(80, 110), FILE + "\nrecovery = 'rack'")
    assert told(result) == [("tlp", "last_segment", "Open")]
    assert result.outcomes[0].traces[0]["events"]["segment"].tolist() == [20]


def test_rack_says_whether_an_ack_or_its_timer_found_a_loss() -> None:
    by_ack = made(during(62, 62.5), FILE + "\nrecovery = 'rack'")
    assert told(by_ack)[1:3] == [("lost", "rack", "Disorder"), ("ca_state", "rack", "Recovery")]
    by_timer = made(during(70, 72), FILE + "\nrecovery = 'rack'")
    assert told(by_timer)[1:4] == [
        ("reo_timer", "reo_timer", "Disorder"),
        ("lost", "reo_timer", "Disorder"),
        ("ca_state", "reo_timer", "Recovery"),
    ]


SPIKE = 'delay = { steps = [["0 s", "10 ms"], ["1 s", "600 ms"], ["1.5 s", "10 ms"]] }'
"""A delay beyond the timeout, for half a second."""


def spurious() -> RunResult:
    flow = 'tcp = { profile = "linux", undo = "always", receive_window = 20 }'
    return made(SPIKE, flow, rtt="200 ms")


def test_one_undo_says_what_proved_the_timeout_spurious() -> None:
    result = spurious()
    assert [event for event in told(result) if event[0] != "lost"] == [
        ("tlp", "last_segment", "Open"),
        ("rto", "rto", "Open"),
        ("ca_state", "rto", "Loss"),
        ("undo", "timestamp", "Loss"),
        ("ca_state", "undo", "Open"),
    ]
    events = result.outcomes[0].traces[0]["events"]
    undone = events["event"] == "undo"
    assert (events["cwnd_before_segments"][undone], events["cwnd_segments"][undone]) == (1, 40)
    assert np.isinf(events["ssthresh_segments"][undone]).all()
    assert undone.sum() == result.outcomes[0].flows["spurious_timeouts"][0]


def test_a_mark_is_a_reduction_without_a_loss() -> None:
    result = made("queue = { discipline = 'red', ecn = true }", 'tcp = { ecn = "on" }')
    states = [event for event in told(result) if event[1] == "ecn"]
    assert states[:2] == [("ca_state", "ecn", "CWR"), ("ca_state", "ecn", "Open")]


@pytest.mark.parametrize("recovery", ["tahoe", "reno", "newreno", "sack", "prr", "rack"])
def test_events_of_any_recovery_agree_with_the_counters_and_both_engines(recovery: str) -> None:
    text = TEXT.replace("LINK", "loss = { random = 0.01 }").replace("FLOW", f'recovery = "{recovery}"')
    scenario = elephan.Scenario.from_text(text)
    result = elephan.run(scenario)
    [outcome], [other] = result.outcomes, elephan.run(scenario, engine="reference").outcomes
    [trace], [same] = outcome.traces, other.traces
    for name, values in trace["events"].items():
        np.testing.assert_array_equal(values, same["events"][name], err_msg=name)
    events = trace["events"]
    assert (events["event"] == "rto").sum() == outcome.flows["timeouts"][0]
    entered = events["ca_state"][events["event"] == "ca_state"].tolist()
    assert entered.count("Recovery") + entered.count("Loss") >= outcome.flows["loss_events"][0] > 0
    lost = (events["event"] == "lost").sum()
    assert trace["drop_time_s"].size - 3 <= lost, "what is lost at the end is not known yet"
    assert np.all(np.diff(events["time_s"]) >= 0)


def test_a_table_and_the_screen_have_them(elephan: Command, tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    text = TEXT.replace("LINK", during(62, 62.5)).replace("FLOW", FILE).replace('trace = ["one[0]"]', "")
    file.write_text(text, encoding="utf-8")
    done = elephan("run", str(file), "--trace", "one", "--out", str(tmp_path / "out"), "-q")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "one[0]: 1 segment declared lost (by dup_thresh 1), 1 recovery, 0 timeouts, 0"
    assert [line.split()[1:4] for line in lines if "dup_thresh" in line][1:] == [
        ["lost", "dup_thresh", "Disorder"],
        ["ca_state", "dup_thresh", "Recovery"],
    ]
    import pyarrow.parquet as pq  # noqa: PLC0415 (slow to import)

    table = pq.read_table(tmp_path / "out" / "events.parquet")
    assert table["event"].to_pylist() == ["ca_state", "lost", "ca_state", "ca_state"]
    assert {"replication", "flow", "time_s", "reason", "segment", "ca_state", "rto_s"} <= set(table.column_names)
    done = elephan("run", str(file), "--trace", "one[0]", "--json", "-q")
    found = json.loads(done.out)["events"]
    assert [event["reason"] for event in found] == ["sack", "dup_thresh", "dup_thresh", "recovered"]
    assert {event["flow"] for event in found} == {"one[0]"}
    done = elephan("run", str(file), "--trace", "one", "--details", "-q")
    assert sum("Disorder" in line for line in done.out.splitlines()) == 2


def test_many_events_leave_a_screen_of_fifteen_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ("cwnd_before_segments", "cwnd_segments", "ssthresh_before_segments", "ssthresh_segments", "rto_s")
    rest: dict[str, Any] = dict.fromkeys(columns, 123.456) | {"replication": 0, "ca_state": "Recovery", "backoff": 1}
    rules = ("rack", "reo_timer")
    events = [
        {"time_s": 1.0 + number // 3, "event": "lost", "reason": rules[number // 6 % 2], "segment": number, **rest}
        for number in range(300)
    ]
    for width in (40, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = event_lines(events, "a")
        assert len(lines) <= 15
        assert max(map(len, lines)) <= width
    assert lines[0].startswith("a[0]: 300 segments declared lost (by rack 150, reo_timer 150), 0 recoveries")
    assert lines[4].split()[-4:-1] == ["0..5", "(6)", "123"], "two instants"
    assert lines[-1].startswith("(40 more events: --details")
    assert len(event_lines(events, "a", details=True)) == 2 + HEADS + 100
    assert event_lines([], "a") == [
        "a[0]: 0 segments declared lost, 0 recoveries, 0 timeouts, 0 tail-loss probes, 0",
        "undone.",
    ]


def test_a_flow_that_is_not_there_or_not_tcp_is_refused(elephan: Command, tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    poisson = (
        '[[flows]]\nname = "udp"\npath = ["core"]\nrtt = "40 ms"\ntraffic = { kind = "poisson", rate = "1 Mbit/s" }\n'
    )
    file.write_text(TEXT.replace("LINK", "").replace("FLOW", "") + poisson, encoding="utf-8")
    for name, said in (
        ("nosuch", '--trace: there is no flow "nosuch[0]"; use for example one[0]'),
        ("one[7]", '--trace: there is no flow "one[7]"; did you mean "one[0]"?'),
        ("udp", "--trace: udp[0] sends datagrams, which are not acknowledged; name a flow of TCP"),
    ):
        done = elephan("run", str(file), "--trace", name)
        assert done.code == 2
        assert done.err.startswith(said), done.err
        assert done.err.count("\n") == 1
    assert (flow_name("a"), flow_name("a[3]")) == ("a[0]", "a[3]")


def test_qlog_has_them_by_the_names_of_the_draft() -> None:
    def named(result: RunResult, name: str) -> list[dict[str, Any]]:
        records = [json.loads(part) for part in encode_qlog(result).split(b"\x1e")[1:]]
        return [each["data"] for each in records if each.get("name") == name]

    # draft-ietf-quic-qlog-quic-events-13, QUICPacketLost, QUICCongestionStateUpdated and QUICTimerUpdated.
    one = made(during(62, 62.5), FILE + "\nrecovery = 'sack'")
    assert named(one, "quic:packet_lost") == [
        {
            "header": {"packet_type": "1RTT", "packet_number": 11},
            "trigger": "reordering_threshold",
            "rule": "dup_thresh",
        }
    ]
    states = [each for each in named(one, "quic:congestion_state_updated") if "state_machine" in each]
    assert [(each["old"], each["new"], each["trigger"]) for each in states] == [
        ("Open", "Disorder", "sack"),
        ("Disorder", "Recovery", "dup_thresh"),
        ("Recovery", "Open", "recovered"),
    ]
    late = spurious()
    [probe, expired] = named(late, "quic:timer_updated")
    assert (probe["timer_type"], probe["timer"], probe["reason"]) == ("pto", "tlp", "last_segment")
    assert (expired["event_type"], expired["timer"], expired["backoff"]) == ("expired", "rto", 1)
    assert {each["trigger"] for each in named(late, "quic:packet_lost")} == {"pto_expired"}
    assert {"type": "undo", "message": "timestamp: cwnd from 1 to 40 segments"} in named(late, "simulation:marker")
