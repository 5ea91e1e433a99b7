"""The testbed: its plan without privileges, and, with them, real transfers that leave nothing behind."""

import subprocess
import sys
from contextlib import ExitStack

import numpy as np
import pytest

import elephan
from elephan import _native, testbed
from elephan.comparisons import sawtooth_statistics
from elephan.errors import InputError
from elephan.runs.result import RunResult
from elephan.testbed.differences import ALWAYS, differences
from elephan.testbed.hosts import NetworkHost
from elephan.testbed.measured import outcome
from elephan.testbed.plan import BPF_LAWS, REAL_TIME, plan
from elephan.testbed.replication import LinkRelay
from elephan.testbed.traffic import Iperf3Report
from testbed_here import available, lawless, real

pytestmark = pytest.mark.slow

SCENARIO = """
title = "One flow"
duration = "6 s"
warmup = "3 s"
[[links]]
name = "bottleneck"
rate = "50 Mbit/s"
delay = "5 ms"
buffer = "42 packets"
[[flows]]
name = "flow"
path = ["bottleneck"]
rtt = "10 ms"
packet = "1500 B"
recovery = "rack"
control = { law = "LAW" }
"""


def scenario(law: str = "reno") -> elephan.Scenario:
    """The example under a law."""
    return elephan.Scenario.from_text(SCENARIO.replace("LAW", law))


def test_a_dry_run_prints_every_command_and_does_nothing() -> None:
    lines = plan(scenario("ghstcp")).lines()
    assert lines[0] == "# put el_ghstcp into the kernel until the end"
    text = "\n".join(lines)
    for part in (
        "unshare --net",
        "tcp_no_metrics_save=1",
        "mtu 1500 txqueuelen 20000 gso_max_segs 1 up",
        "rto_min 1000ms",
        "initcwnd 2",
        "iperf3 --server --one-off",
        "--congestion el_ghstcp --time 8",
    ):
        assert part in text, part
    # Only addresses that are kept for documents, on hosts of its own.
    assert not [line for line in lines if "iperf3" in line and not line.startswith("nsenter --net=")]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"flows[0].traffic": {"kind": "finite", "size": "1 MB"}}, "flows.traffic: on a testbed all is bulk"),
        ({"duration": "700 s"}, "duration: on a testbed a run lasts at most 600 s"),
        ({"links[0].rate": "10 Gbit/s"}, "links[0].rate: on a testbed the link has at most 2 Gbit/s"),
        ({"flows[0].count": 40}, "flows.count: on a testbed there are at most 32 flows, not 40"),
        ({"links[0].loss": {"random": 0.01}}, "links[0].loss: on a testbed nothing is lost on purpose"),
        ({"links[0].jitter": "1 ms"}, "links[0].delay: on a testbed the link has one delay"),
    ],
)
def test_what_a_testbed_cannot_do_is_said(change: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said.replace("[", r"\[").replace("]", r"\]")):
        plan(scenario().replace(change))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"flows[0].recovery": "sack"}, 'recovery: Linux recovers as "rack" does, not as "sack"'),
        ({"flows[0].access": {"rate": "1 Gbit/s"}}, "access: a testbed has none"),
        ({"flows[0].control": {"law": "reno", "slow_start": "limited"}}, 'Linux has "classic" under this law'),
        ({"flows[0].control": {"law": "reno", "decrease": 0.7}}, "control.decrease: Linux' reno has no parameters"),
        ({"flows[0].control": "bbr"}, "control: Linux has a bbr of its own; bbr1 is that"),
        ({"flows[0].control": {"law": "bbr1", "cwnd_gain": 1.5}}, "control.cwnd_gain: Linux' bbr1 has no parameters"),
        ({"flows[0].control": {"law": "cubic", "beta": 0.8}}, "control: Linux has a cubic of its own"),
        ({"flows[0].tcp": {"ecn": "l4s"}}, "tcp.ecn: Linux has classic ECN here"),
        ({"flows[0].tcp": {"delayed_ack": 2}}, "tcp.delayed_ack: Linux delays ACKs by rules of its own"),
        ({"flows[0].tcp": {"initial_ssthresh": 50}}, "tcp.initial_ssthresh: a testbed does not set it"),
        ({"flows[0].tcp": {"limited_transmit": False}}, "tcp.limited_transmit: a testbed does not set it"),
        ({"flows[0].tcp": {"send_jitter": "1 ms"}}, "tcp.send_jitter: a testbed does not set it"),
    ],
)
def test_where_linux_does_not_do_what_a_scenario_says_is_said(change: dict[str, object], said: str) -> None:
    (found,) = differences(scenario().replace(change), BPF_LAWS)
    assert found.startswith("flows[flow].")
    assert said in found


def test_what_linux_can_do_is_no_difference() -> None:
    for control in (
        "reno",
        "bbr1",
        {"law": "highspeed", "high_decrease": 0.2},
        {"law": "ghstcp", "arithmetic": "kernel"},
    ):
        assert differences(scenario().replace({"flows[0].control": control}), BPF_LAWS) == ()
    sack = plan(scenario().replace({"flows[0].recovery": "sack"}))
    assert sack.lines()[0] == f"# not as the scenario says: {sack.differences[0]}"


def test_every_key_of_a_flow_is_done_by_a_testbed_refused_or_said() -> None:
    # Whoever adds a key decides here which of these a testbed does with it.
    flow = scenario().resolved["flows"][0]
    done = {"name", "count", "path", "rtt", "packet_bytes", "start_ps"}
    refused = {"return", "stop_ps", "traffic"}
    assert flow.keys() == done | refused | {"recovery", "access", "control", "tcp"}
    tcp_done = {"initial_window", "min_rto_ps", "ecn", "delayed_ack", "receive_window"}
    # The time of delayed ACKs belongs to the setting of delayed ACKs.
    assert flow["tcp"].keys() == tcp_done | ALWAYS.keys() | {"delayed_ack_timeout_ps"}


def test_two_groups_have_their_differences_each() -> None:
    sack = scenario().replace({"flows[0].recovery": "sack"})
    two = sack.replace(flows=[flow | {"name": name} for name, flow in zip("ab", 2 * sack.source["flows"], strict=True)])
    assert [said[:8] for said in differences(two, BPF_LAWS)] == ["flows[a]", "flows[b]"]


def test_a_law_that_the_kernel_lacks_is_refused_with_those_that_it_can_have() -> None:
    with pytest.raises(InputError, match=r"this kernel has no fast; it can have highspeed, ghstcp"):
        plan(scenario("fast"))


def test_draws_are_those_of_a_simulation() -> None:
    many = scenario().replace({"flows[0].count": 5, "flows[0].start": {"from": "0 s", "to": "2 s"}})
    simulated = elephan.run(many).outcomes[0].flows
    flows = plan(many).flows
    assert plan(many.replace({"flows[0].start": "1500 ms"})).flows[0].start_s == 1.5
    assert [flow.start_s for flow in flows] == simulated["start_s"].tolist()
    assert [flow.rtt_s for flow in flows] == simulated["base_rtt_s"].tolist()


def test_what_was_recorded_becomes_what_a_simulation_gives() -> None:
    one = plan(scenario())
    time_s = np.arange(0, 6, 0.001)
    counted = {"arrived": 12_510, "begun": 12_500, "begun_bytes": 18_750_000, "marked": 0, "waited_s": 62.5}
    recorded = {
        "link": counted | {"drops": [10, 0, 0, 0, 0], "most_packets": 42},
        "flows": [counted | {"drops": [10, 0, 0, 0, 0], "most_packets": 42}],
        "samples": {
            "time_s": time_s,
            "backlog_packets": np.full(6000, 21),
            "begun_bytes": (6.25e6 * time_s).astype(int),
        },
        # One before the measured time; three, each less than a round trip (10 ms) after the one before; a later one.
        "drops": {"time_s": np.array([1.0, 4.0, 4.007, 4.0135, 5.0]), "flow": np.zeros(5, dtype=int)},
    }
    ends = np.arange(0.1, 6.05, 0.1)
    said = Iperf3Report(
        ends, np.full(60, 60.0), np.full(60, 0.015), np.ones(60), ends, np.full(60, 603_333.3), 1448, np.full(60, 2e-3)
    )
    found = outcome(one, recorded, [said], [0.0])
    assert found.links["utilization"][0] == 1.0
    assert (found.links["loss_events"][0], found.links["flows_hit"][0]) == (2, 2)
    assert found.links["queueing_delay_s"][0] == 0.005
    assert found.flows["loss_events"].tolist() == [2]
    # 603,333 payload bytes in a tenth of a second are 50 Mbit/s of packets; half of the intervals are measured.
    assert found.flows["goodput_bps"][0] == pytest.approx(5e7, rel=1e-3)
    assert found.flows["retransmitted"][0] == 30
    # One in each tenth of a second: those of the intervals that ended until then, as ss counts them.
    time_s, again = found.samples["time_s"], found.samples["retrans_segments"][0]
    assert np.abs(again - 10 * time_s).max() <= 1
    assert found.samples["rttvar_s"][0, 5] == np.float32(2e-3)
    assert (
        RunResult(one.scenario, (found,), "testbed", 1.0).to_json().keys() == elephan.run(scenario()).to_json().keys()
    )
    assert found.histograms["backlog_packets"][0][21] == 3000


def test_teeth_of_a_window_that_is_cut_to_seven_tenths() -> None:
    time_s = np.arange(0, 60, 0.05)
    found = sawtooth_statistics(time_s, 70 + 30 * (time_s % 6) / 6, 0.1)
    # A sample before the cut, and three round trips after it.
    assert found.period_s == pytest.approx(6.0)
    assert found.high == pytest.approx(100, abs=0.3)
    assert found.low == pytest.approx(71.5, abs=0.3)
    assert np.isnan(sawtooth_statistics(time_s, np.full(time_s.size, 5.0), 0.1).period_s)


SIZE_B = 100_000_000
RECEIVER = """
import hashlib, socket
s = socket.create_server(("192.0.2.2", 5201))
s.settimeout(60)
print("ready", flush=True)
c, _ = s.accept()
c.settimeout(60)
h, n = hashlib.sha256(), 0
while block := c.recv(1 << 20):
    h.update(block)
    n += len(block)
print(h.hexdigest(), n)
"""
SENDER = """
import hashlib, random, socket, sys
s = socket.socket()
s.settimeout(60)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
s.connect(("192.0.2.2", 5201))
data = random.Random(1).randbytes(int(sys.argv[2]))
s.sendall(data)
s.shutdown(socket.SHUT_WR)
s.recv(1)  # Until all is there: a socket that nobody holds is soon given up.
law = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
print(hashlib.sha256(data).hexdigest(), len(data), law.rstrip(bytes(1)).decode())
"""


@real
@pytest.mark.parametrize("law", ["reno", *BPF_LAWS])
def test_every_law_moves_100_mb_intact(law: str) -> None:
    called = BPF_LAWS.get(law, law)
    if law in BPF_LAWS and lawless():
        pytest.skip(f"laws cannot be loaded: {lawless()}")
    if law in BPF_LAWS and called in available():
        pytest.skip(f"somebody else has {called} loaded")
    # Half of a bandwidth-delay product of buffer, so that each law loses.
    change = {"duration": "60 s", "links[0].rate": "1 Gbit/s", "links[0].buffer": "400 packets"}
    one = plan(scenario(law).replace(change))
    with ExitStack() as stack:
        held = _native.HeldLaw(f"{{ law = '{law}' }}") if law in BPF_LAWS else None
        if held is not None:
            stack.callback(held.release)
        client, server = stack.enter_context(NetworkHost("client")), stack.enter_context(NetworkHost("server"))
        relay = stack.enter_context(LinkRelay(one, client, server))
        for host in (client, server):
            for command in one.host(server=host is server):
                host.do(command)
        relay.start()
        python = [*REAL_TIME, sys.executable, "-c"]
        receiver = stack.enter_context(
            subprocess.Popen(server.inside([*python, RECEIVER]), stdout=subprocess.PIPE, text=True)
        )
        stack.callback(receiver.kill)
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "ready\n"
        sending = client.inside([*python, SENDER, called, str(SIZE_B)])
        sent = subprocess.run(sending, capture_output=True, text=True, check=True, timeout=70).stdout.split()
        received = receiver.communicate(timeout=70)[0].split()
        recorded = relay.stop()
        counted = held.counters() if held is not None else None
    assert sent[1:] == [str(SIZE_B), called]
    assert received == sent[:2]
    # Something was lost and sent again.
    assert recorded["drops"]["time_s"].size > 0
    assert counted is None or (counted["connections"] >= 1 and counted["losses"] >= 1)


@real
def test_a_run_has_the_document_of_a_simulation_and_is_about_as_fast() -> None:
    tested = testbed.run(scenario("cubic" if "cubic" in available() else "reno"))
    document = tested.to_json()
    assert document["origin"] == "testbed"
    assert document["links"][0].keys() == elephan.run(scenario()).to_json()["links"][0].keys()
    if not tested.valid:
        pytest.skip(f"this machine was too busy: {tested.objections}")
    # Each segment is acknowledged, but for those that a busy receiver answers at once; what is sent again is not in it
    (acks,) = tested.acks
    assert acks["sent"] / 4 < acks["received"] < 1.1 * acks["sent"]
    assert 0 <= acks["merged"] < acks["received"]
    # With a buffer of a bandwidth-delay product the link is full; packets of a slow start's overshoot are before it.
    assert document["links"][0]["utilization"]["mean"] > 0.9
    assert document["groups"][0]["goodput_bps"]["mean"] > 4.2e7
