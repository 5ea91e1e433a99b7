"""The profile ``tcp = "linux"`` compared with a Linux 6.18 kernel on the same paths, and with RFCs.

The kernel's numbers were measured through a relay in user space that delays, queues and drops (sockets without
pacing); they are quoted here with the paths on which they were taken.
"""

from __future__ import annotations

from typing import Any

import pytest

import elephan
from elephan import Scenario

PATH = """
duration = "25 s"
[record]
trace = ["f[0]"]
[[links]]
name = "l"
rate = "10 Mbit/s"
buffer = "250 packets"
delay = "10 ms"
[[flows]]
name = "f"
path = ["l"]
rtt = "300 ms"
control = { law = "cubic", variant = "linux", slow_start = "hystart-linux" }
tcp = "linux"
"""


def outcome(**changes: Any) -> Any:
    """Run the path with changes by key of its link (``buffer``, ``loss``...) or flow: the first replication."""
    places = {
        name: f"links[0].{name}" if name in ("buffer", "delay", "rate", "loss", "queue") else f"flows[0].{name}"
        for name in changes
        if name not in ("duration",)
    }
    given = {places.get(name, name): value for name, value in changes.items()}
    return elephan.run(Scenario.from_text(PATH).replace(given), replications=1).outcomes[0]


def timeouts(run: Any) -> list[float]:
    """Return the times of the flow's retransmission timeouts [s]."""
    trace = run.traces[0]
    return [float(at) for at, is_timeout in zip(trace["time_s"], trace["timeout"], strict=True) if is_timeout]


@pytest.mark.parametrize(
    ("law", "rtt_ms", "kernel_resent"),
    [("cubic", 300, 224), ("reno", 300, None), ("reno", 600, None), ("bbr1", 200, None), ("bbr1", 800, None)],
)
def test_no_data_times_out_where_the_kernel_has_no_timeout(law: str, rtt_ms: int, kernel_resent: int | None) -> None:
    # One BDP of buffer. Timeouts of max(200 ms, srtt + 4 rttvar) with one sample a round trip were 1, 1, 1, 1 and 3.
    control = {"law": law} | ({"variant": "linux", "slow_start": "hystart-linux"} if law == "cubic" else {})
    buffer = f"{round(10e6 * rtt_ms / 1e3 / 12000)} packets"
    run = outcome(rtt=f"{rtt_ms} ms", buffer=buffer, control=control)
    assert timeouts(run) == []
    if kernel_resent:
        # One run of the kernel, whose relay jitters; a null of 20,137 sent and 209 lost had the timeout.
        assert int(run.flows["retransmitted"][0]) == pytest.approx(kernel_resent, rel=0.2)


def test_a_backoff_ends_when_a_retransmission_is_acknowledged() -> None:
    # The kernel, with outages of 5 to 7.9 s and 8.45 to 11 s on 100 ms: the last ACK at 8.54 s, a timeout at 8.90 s,
    # 0.36 s later, and no backoff left in `ss`. A doubled timeout that survives would be due seconds later.
    lost = {"during": [["5 s", "7.9 s"], ["8.45 s", "11 s"]]}
    run = outcome(rtt="100 ms", buffer="200 packets", loss=lost, control="reno", duration="12 s")
    first, second = [at for at in timeouts(run) if 8.45 < at < 11][:2]
    trace = run.traces[0]
    acked = max(float(at) for at, out in zip(trace["time_s"], trace["timeout"], strict=True) if not out and at < first)
    assert first - acked == pytest.approx(0.36, rel=0.1)
    assert second - first == pytest.approx(2 * (first - acked), rel=0.1), "doubled anew"


def test_a_probe_for_a_single_segment_comes_when_the_kernel_sends_it() -> None:
    # The kernel sends the last segment of a response on 20 ms again 256 to 303 ms after it was lost; 2 SRTT + 40 ms
    # are 80.
    text = """
    duration = "8 s"
    [record]
    packets = [{ link = "l", from = "5 s", to = "8 s" }]
    [[links]]
    name = "l"
    rate = "1 Gbit/s"
    buffer = "1000 packets"
    delay = "10 ms"
    loss = { during = [["5.1 s", "5.12 s"]] }
    [[flows]]
    name = "f"
    path = ["l"]
    rtt = "20 ms"
    access = { rate = "100 Mbit/s" }
    control = { law = "cubic", variant = "linux", slow_start = "hystart-linux" }
    tcp = "linux"
    traffic = { kind = "request-response", size = "1000 B", law = "constant", think = "1 s", think_law = "constant" }
    """
    run = elephan.run(Scenario.from_text(text), replications=1).outcomes[0]
    packets = run.packets[0]
    sent = [float(at) for at in packets["time_s"]]
    lost = next(i for i, dropped in enumerate(packets["dropped"]) if dropped)
    assert 0.2 < sent[lost + 1] - sent[lost] < 0.303


@pytest.mark.parametrize("tcp", ["linux", {}], ids=["linux", "rfc"])
def test_a_path_longer_than_the_first_timeout_meets_none(tcp: Any) -> None:
    # RFC 6298, 5.7: the SYN timed out after a second, so that data waits three. 300 kB on 1.1 s take about 4.5 round
    # trips.
    run = outcome(
        rtt="1100 ms", buffer="1000 packets", control="reno", tcp=tcp, traffic={"kind": "finite", "size": "300 kB"}
    )
    assert int(run.flows["timeouts"][0]) == 0
    if tcp:
        assert run.transfers[0]["duration_sum_s"] == pytest.approx(5.0, rel=0.05)


def test_new_transfers_behind_a_second_of_queue_meet_no_timeout() -> None:
    text = PATH.replace('"10 Mbit/s"', '"2 Mbit/s"').replace('"250 packets"', '"1.3 s"').replace('"25 s"', '"60 s"')
    text = (
        text.replace('"300 ms"', '"50 ms"')
        + """
[[flows]]
name = "new"
count = 13
path = ["l"]
rtt = "50 ms"
control = { law = "cubic", variant = "linux", slow_start = "hystart-linux" }
tcp = "linux"
start = { from = "20 s", to = "50 s" }
traffic = { kind = "finite", size = "30 kB" }
"""
    )
    run = elephan.run(Scenario.from_text(text), replications=1).outcomes[0]
    assert int(run.flows["timeouts"][1:].sum()) == 0


def test_an_echoed_mark_cuts_the_window_before_it_grows() -> None:
    # RFC 3168, 6.1.2: from 77 to 38.5, and it stays there for a round trip.
    queue = {"discipline": "drop-tail", "ecn_threshold": 20}
    run = outcome(rtt="20 ms", buffer="500 packets", queue=queue, control="reno", tcp={"ecn": "on"}, duration="2 s")
    window = run.traces[0]["cwnd_segments"].tolist()
    cut = next(i for i in range(1, len(window)) if window[i] < window[i - 1])
    assert window[cut - 1] == 2 * window[cut]
    assert set(window[cut : cut + 38]) == {window[cut]}


@pytest.mark.parametrize(("tcp", "least", "most_waiting"), [({"ecn": "on"}, 1, 20), ("linux", 2, 130)])
def test_lasting_marks_leave_one_segment_or_two_in_linux(tcp: Any, least: int, most_waiting: float) -> None:
    # Sixty flows on 2 Mbit/s: RFC 3168, 6.1.2 keeps the queue near its threshold of ten; two segments each are 120.
    tcp = {"profile": "linux", "ecn": "on"} if tcp == "linux" else tcp
    queue = {"discipline": "drop-tail", "ecn_threshold": 10}
    scenario = Scenario.from_text(PATH).replace(
        {
            "duration": "60 s",
            "warmup": "10 s",
            "links[0].rate": "2 Mbit/s",
            "links[0].buffer": "2000 packets",
            "links[0].queue": queue,
            "flows[0].count": 60,
            "flows[0].rtt": {"uniform": ["10 ms", "30 ms"]},
            "flows[0].control": "reno",
            "flows[0].tcp": tcp,
        }
    )
    run = elephan.run(scenario, replications=1)
    backlog = float(run.links["backlog_packets"][0])
    trace = run.outcomes[0].traces[0]
    assert float(trace["cwnd_segments"][trace["time_s"] > 10].min()) == least, "after the losses of the start"
    assert backlog < most_waiting
    assert least == 1 or backlog > 90, "a sender of RFC 3168 would leave 11"


INCAST = """
duration = "150 ms"
warmup = "0 s"
links = [{ name = "port", rate = "10 Gbit/s", buffer = "250 packets" }]
[[flows]]
name = "server"
count = 40
path = ["port"]
rtt = "100 us"
tcp = "linux"
traffic = { kind = "finite", size = "256 kB" }
"""


def test_transfers_that_the_end_of_the_run_cuts_off_are_counted() -> None:
    """Whole windows are lost: as in Linux the flows wait for some 200 ms, not for a second."""
    short, whole = (elephan.run(elephan.Scenario.from_text(INCAST).replace({"duration": d})) for d in ("150 ms", "1 s"))
    (warned,) = [one for one in short.warnings if one.rule == "unfinished-transfers"]
    done, times = (run.to_json()["groups"][0]["transfers"] for run in (short, whole))
    assert done is not None
    assert times is not None
    completed = done["completed"]["mean"]
    assert completed is not None
    assert warned.message.startswith(f"{40 - completed:.0f} of 40 transfers of server had not ended")
    assert not any(one.rule == "unfinished-transfers" for one in whole.warnings)
    assert times["completed"]["mean"] == 40
    assert 0.2 < times["completion_time_p95_s"]["mean"] < 0.25
