"""Hosts, routes and senders that a scenario needs on a testbed. They are only planned here; ``--dry-run`` prints them.

*Source*: ip-route(8) for the TCP attributes of a route; iperf3(1). Random round-trip times and starts are those of the
same replication of a simulation.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elephan import _native
from elephan.errors import InputError
from elephan.network import HEADER
from elephan.runs.outcome import simulate
from elephan.scenario import Scenario
from elephan.testbed.differences import differences

CLIENT, SERVER = "192.0.2.1", "192.0.2.2"
"""Addresses of the two hosts, reserved for documentation (RFC 5737), inside their own namespaces."""

DEVICE = "bottleneck"
FIRST_PORT = 5201
LARGEST_BURST_B = 65_215
"""Payload of the largest burst: a device's limit of 64 KiB minus the space that Linux reserves for headers [bytes]."""

PACED_BPS = 1e11
"""Maximum pacing rate for iperf3, above the rate of every law: it only enables the socket's pacing [bit/s]."""

QUEUE = 20_000
"""Number of packets that a device may hold for the relay; it is large enough that no packet is lost there."""

MOST_FLOWS, LONGEST_S, FASTEST_BPS = 32, 600.0, 2e9
"""Maximum number of flows, duration [s] and rate [bit/s] of a scenario on a testbed."""

LEAST_LIMIT_S = 5e-4
"""Lateness that is always accepted [s]."""

AFTER_S = 2
"""Time for which senders continue after the measured time, so that their end is not part of it [s]."""

BPF_LAWS = {
    "highspeed": "el_highspeed",
    "ghstcp": "el_ghstcp",
    "nr-hstcp": "el_nrhstcp",
    "scalable": "el_scalable",
    "htcp": "el_htcp",
}
"""Laws that elephan has as BPF programs for the kernel, and their names in the kernel."""

LOADED = (*BPF_LAWS, "bpf")
"""Laws that a testbed loads into the kernel: `BPF_LAWS`, and the user's own BPF objects."""

KERNEL_LAWS = {
    name: name for name in ("reno", "cubic", "bic", "westwood", "vegas", "yeah", "illinois", "hybla", "dctcp")
} | {"bbr1": "bbr", "bbr3": "bbr"}
"""Laws that the kernel itself may have, and their names in the kernel."""

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
BUFFER_B = 134_217_728
"""Buffer size of sockets, large enough never to limit a window [bytes]."""

SETTINGS = {
    "net.ipv6.conf.all.disable_ipv6": "1",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv4.tcp_congestion_control": "reno",
    "net.ipv4.tcp_rmem": f"4096 131072 {BUFFER_B}",
    "net.ipv4.tcp_wmem": f"4096 65536 {BUFFER_B}",
    "net.ipv4.tcp_fin_timeout": "1",
    # Orphaned sockets of a killed sender keep their network namespace alive; they should give up soon.
    "net.ipv4.tcp_orphan_retries": "1",
}
"""sysctl settings of both hosts. The default law is set to Reno, because the machine's default may use pacing."""

REAL_TIME = ("chrt", "--rr", "5")
"""Prefix of senders and receivers: real-time priority above the rest of the machine and below the relay."""

OWN_FILES = 'mount -t tmpfs none "${TMPDIR:=/tmp}" 2>/dev/null; export TMPDIR; exec "$@"'
OWN_MOUNTS = ("unshare", "--mount", "sh", "-c", OWN_FILES, "sh")
"""Prefix that gives iperf3 its own mount for temporary files, so that a killed iperf3 does not leave any."""

PROGRAMS = {
    "ip": "iproute2",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "unshare": "util-linux",
    "chrt": "util-linux",
    "sysctl": "procps",
    "iperf3": "iperf3",
}
"""Programs that a testbed calls, and their Debian packages."""

SLOW = {"links[0].rate": "10 kbit/s", "links[0].buffer": "2 packets", "links[0].queue": {"discipline": "drop-tail"}}
"""Changes with which a simulation has the same random values but few packets, so that it is short."""

Command = tuple[str, ...]


@dataclass(frozen=True)
class SenderFlow:
    """A flow's sender.

    Parameters
    ----------
    group, index : int
        Indices of the group, and of the flow in it, as in a simulation.
    law : str
        Name of the law in the kernel.
    start_s, rtt_s : float [s]
    port : int
        Port of its server.
    """

    group: int
    index: int
    law: str
    start_s: float
    rtt_s: float
    port: int


@dataclass(frozen=True)
class TestbedPlan:
    """Plan of one replication on a testbed.

    Parameters
    ----------
    scenario : Scenario
    replication : int
    flows : tuple of SenderFlow
    packet : int [B]
        Packet size on the wire.
    settings : dict of str to str
        sysctl settings of both hosts.
    route : str
        TCP attributes of the route to the server.
    back : str
        TCP attributes of the route to the client.
    segments : int
        Maximum number of segments in a packet that TCP passes to the device (gso_max_segs).
    paced : bool
        Whether sockets pace, with TCP's own timer.
    """

    scenario: Scenario
    replication: int
    flows: tuple[SenderFlow, ...]
    packet: int
    settings: dict[str, str]
    route: str
    back: str
    segments: int
    paced: bool

    @property
    def duration_s(self) -> float:
        """Duration of the scenario, including the warm-up [s]."""
        return float(self.scenario.facts["duration_s"])

    @property
    def wires_s(self) -> list[tuple[float, float]]:
        """Propagation delay of each flow from the link to the receiver, and back to the sender [s]."""
        return [(flow.rtt_s / 2, flow.rtt_s / 2) for flow in self.flows]

    @property
    def drain_s(self) -> float:
        """Time to drain a full buffer [s]; infinite for an unlimited buffer."""
        link = self.scenario.links[0]
        packets, size = link["buffer_limit_packets"], link["buffer_limit_bytes"]
        size = packets * self.packet if packets is not None else size
        return math.inf if size is None else float(8 * size / link["rate_bps"])

    @property
    def limit_s(self) -> float:
        """Accepted lateness of a packet [s]: 1/20 of the smallest RTT or of the buffer's drain time, at least 0.5 ms.

        A pause of the relay changes the contents of a buffer by the data of its duration.
        """
        return max(min(*(flow.rtt_s for flow in self.flows), self.drain_s) / 20, LEAST_LIMIT_S)

    @property
    def laws(self) -> list[dict[str, Any]]:
        """Controls of the distinct laws that the plan loads into the kernel."""
        controls = {group["control"]["law"]: group["control"] for group in self.scenario.resolved["flows"]}
        return [control for law, control in controls.items() if law in LOADED]

    @property
    def differences(self) -> tuple[str, ...]:
        """Differences between the scenario and the behaviour of Linux."""
        return differences(self.scenario, LOADED)

    def host(self, *, server: bool) -> list[Command]:
        """Return the commands that set up a host, to be run on it.

        Parameters
        ----------
        server : bool
            Whether the host is the receiver of data; otherwise it is the sender.

        Returns
        -------
        list of tuple of str
        """
        own, other = (SERVER, CLIENT) if server else (CLIENT, SERVER)
        says = (self.back if server else self.route).split()
        device = f"ip link set {DEVICE} mtu {self.packet} txqueuelen {QUEUE} gso_max_segs {self.segments} up"
        return [
            ("ip", "link", "set", "lo", "up"),
            *(("sysctl", "-q", "-w", f"{name}={value}") for name, value in self.settings.items()),
            ("ip", "address", "add", own, "peer", other, "dev", DEVICE),
            tuple(device.split()),
            ("ip", "route", "replace", other, "dev", DEVICE, "src", own, *says),
        ]

    def serve(self, flow: SenderFlow) -> Command:
        """Return the command of a flow's server."""
        options = ("--server", "--one-off", "--json", "--interval", "0.1", "--port", str(flow.port))
        return (*OWN_MOUNTS, *REAL_TIME, "iperf3", *options)

    def send(self, flow: SenderFlow) -> Command:
        """Return the command of a flow's sender."""
        seconds = math.ceil(self.duration_s - flow.start_s) + AFTER_S
        where = ("--client", SERVER, "--port", str(flow.port), "--connect-timeout", "5000")
        how = ("--congestion", flow.law, "--time", str(seconds), "--interval", "0.1")
        paced = ("--fq-rate", f"{PACED_BPS:.0f}") if self.paced else ()
        return (*OWN_MOUNTS, *REAL_TIME, "iperf3", *where, *how, *paced, "--json")

    def lines(self) -> list[str]:
        """Return all commands in order, as for a shell, with elephan's own steps as comments."""
        rate, queue = self.scenario.links[0]["rate_bps"], self.scenario.links[0]["discipline"]
        found = [f"# not as the scenario says: {difference}" for difference in self.differences]
        found += [f"# put {_called(control)} into the kernel until the end" for control in self.laws]
        found += ["# two hosts, each a network namespace of a process that ends with this one"]
        found += ["unshare --net sleep infinity  # client", "unshare --net sleep infinity  # server"]
        found += [f"# TUN device {DEVICE} in each; between them {rate / 1e6:g} Mbit/s, {queue}"]
        for name in ("client", "server"):
            inside = f"nsenter --net=/proc/{name.upper()}/ns/net"
            found += [f"{inside} {shlex.join(command)}" for command in self.host(server=name == "server")]
        found += [f"nsenter --net=/proc/SERVER/ns/net {shlex.join(self.serve(flow))}" for flow in self.flows]
        for flow in sorted(self.flows, key=lambda flow: flow.start_s):
            command = f"nsenter --net=/proc/CLIENT/ns/net {shlex.join(self.send(flow))}"
            found.append(f"{command}  # at {flow.start_s:.3f} s, {1e3 * flow.rtt_s:g} ms")
        return found


def plan(scenario: Scenario, replication: int = 0) -> TestbedPlan:
    """Plan a replication of a scenario.

    Parameters
    ----------
    scenario : Scenario
        Scenario of bulk transfers with a single link, which all data crosses, and without links on the return path.
    replication : int

    Returns
    -------
    TestbedPlan

    Raises
    ------
    InputError
        If the scenario needs something that a testbed does not support.
    """
    _check(scenario)
    drawn = simulate(scenario.replace(SLOW), replication).flows
    groups = [group["control"] for group in scenario.resolved["flows"]]
    columns = (drawn[name].tolist() for name in ("group", "index", "start_s", "base_rtt_s"))
    flows = tuple(
        SenderFlow(group, index, _called(groups[group]), start_s, rtt_s, FIRST_PORT + number)
        for number, (group, index, start_s, rtt_s) in enumerate(zip(*columns, strict=True))
    )
    tcp = scenario.resolved["flows"][0]["tcp"]
    settings = SETTINGS | {"net.ipv4.tcp_ecn": "1" if tcp["ecn"] != "off" else "0"} | _factors(tcp) | _memory(tcp)
    route = f"initcwnd {tcp['initial_window']} rto_min {round(tcp['min_rto_ps'] / 1e9)}ms"
    back = "quickack 1" if tcp["delayed_ack"] == 1 else ""
    packet, paced = scenario.groups[0]["packet_bytes"], tcp.get("pacing", "none") != "none"
    segments = _segments(tcp, packet - tcp.get("header_bytes", HEADER))
    return TestbedPlan(scenario, replication, flows, packet, settings, route, back, segments, paced)


def _factors(tcp: dict[str, Any]) -> dict[str, str]:
    """Return the settings of Linux's pacing ratios [%], if the scenario states them."""
    pacing = tcp.get("pacing", "none")
    if not isinstance(pacing, dict):
        return {}
    shares = {"ss": pacing["slow_start"], "ca": pacing["avoidance"]}
    return {f"net.ipv4.tcp_pacing_{name}_ratio": str(round(100 * share)) for name, share in shares.items()}


def _memory(tcp: dict[str, Any]) -> dict[str, str]:
    """Return the settings of receive buffers, if the scenario's receive window grows as in Linux."""
    window = tcp["receive_window"]
    if not isinstance(window, dict):
        return {}
    return {"net.ipv4.tcp_rmem": f"4096 {window['initial_bytes']} {window['max_bytes']}"}


def _segments(tcp: dict[str, Any], payload_bytes: int) -> int:
    """Return the maximum number of segments in a packet that TCP passes to the device (gso_max_segs)."""
    burst = tcp.get("burst", "none")
    if burst == "none":
        # Without bursts in the scenario, each packet has a single segment, so that RTTs do not vary within a burst.
        return 1
    if burst == "linux":
        return max(LARGEST_BURST_B // payload_bytes, 1)
    return int(burst["max_segments"] if isinstance(burst, dict) else burst)


def _check(scenario: Scenario) -> None:
    for is_wrong, place, reason in _conditions(scenario):
        if is_wrong:
            raise InputError(f"{scenario.origin}: {place}: on a testbed {reason}")


def _conditions(scenario: Scenario) -> Iterator[tuple[bool, str, str]]:
    """Yield for each condition whether it is violated, its place, and what would be right.

    Later conditions may rely on earlier ones.
    """
    facts, links, groups, resolved = scenario.facts, scenario.links, scenario.groups, scenario.resolved
    yield len(links) != 1 or links[0]["count"] != 1, "links", "there is one link; leave the others out"
    yield any(group["path"] != [0] for group in groups), "flows.path", "all flows cross the link; give its name"
    yield any(group["return"] for group in groups), "flows.return", "the way back only delays; leave return out"
    yield any(group["traffic"] != "bulk" for group in groups), "flows.traffic", "all is bulk; leave traffic out"
    count = sum(group["flows"] for group in groups)
    yield count > MOST_FLOWS, "flows.count", f"there are at most {MOST_FLOWS} flows, not {count}"
    yield facts["duration_s"] > LONGEST_S, "duration", f"a run lasts at most {LONGEST_S:g} s"
    yield links[0]["rate_bps"] > FASTEST_BPS, "links[0].rate", f"the link has at most {FASTEST_BPS / 1e9:g} Gbit/s"
    link = resolved["links"][0]
    yield link["loss"] is not None, "links[0].loss", "nothing is lost on purpose; leave loss out"
    yield scenario.links[0]["rate_changes"], "links[0].rate", "the link has one rate; give it a rate such as its mean"
    # The relay supports only exponential jitter.
    jitter = link.get("jitter_ps")
    jitters = isinstance(jitter, dict) and "exponential_ps" in jitter and isinstance(link["delay_ps"], int)
    varies = scenario.links[0]["delay_varies"] and not jitters
    yield varies, "links[0].delay", 'the link has one delay; give it one, and no jitter but { exponential = "1 ms" }'
    yield link.get("reorder") is not None, "links[0].reorder", "packets stay in order; leave reorder out"
    for key in ("shaper", "batch_ps", "pool"):
        yield key in link, f"links[0].{key.removesuffix('_ps')}", "there is none; leave it out"
    flows = resolved["flows"]
    for name in ("packet_bytes", "tcp"):
        place = f"flows.{name.removesuffix('_bytes')}"
        yield any(flow[name] != flows[0][name] for flow in flows), place, "all flows have the same"
    window = flows[0]["tcp"]["receive_window"]
    yield isinstance(window, int), "flows.tcp.receive_window", 'it is the kernel\'s; give "linux" or "none"'
    yield any(flow["stop_ps"] is not None for flow in flows), "flows.stop", "flows go on to the end; leave stop out"
    controls = [flow["control"] for flow in flows]
    unlike = any(one["law"] == other["law"] and one != other for one in controls for other in controls)
    yield unlike, "flows.control", "a law has the same parameters in all groups; give one of them another law"


def as_toml(control: dict[str, Any]) -> str:
    """Format a law as in a scenario file; strings, numbers and booleans are written alike in JSON and TOML."""
    named = {name: value for name, value in control.items() if name != "slow_start"}
    return "{ " + ", ".join(f"{name} = {json.dumps(value)}" for name, value in named.items()) + " }"


def _called(control: dict[str, Any]) -> str:
    """Return the name of a law in the kernel."""
    law = control["law"]
    if law in LOADED:
        return _native.kernel_name(as_toml(control))
    offered = AVAILABLE.read_text().split() if AVAILABLE.exists() else []
    if KERNEL_LAWS.get(law) in offered:
        return KERNEL_LAWS[law]
    known = [*LOADED, *(name for name, called in KERNEL_LAWS.items() if called in offered)]
    raise InputError(f"flows.control: this kernel has no {law}; it can have {', '.join(known)}")
