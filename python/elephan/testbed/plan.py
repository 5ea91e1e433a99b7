"""What a scenario needs of a machine: hosts, routes, senders. Nothing is done here; ``--dry-run`` prints it.

*Source*: ip-route(8) for what a route can say of TCP; iperf3(1). The scenario's draws (round-trip times, starts) are
those of the same replication of a simulation.
"""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan import _native
from elephan.errors import InputError
from elephan.network import HEADER
from elephan.run.outcome import simulate
from elephan.testbed.differences import differences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elephan.scenario import Scenario

CLIENT, SERVER = "192.0.2.1", "192.0.2.2"
"""Addresses of the two hosts: such as are kept for documents (RFC 5737), inside namespaces of their own."""

DEVICE = "bottleneck"
FIRST_PORT = 5201
LARGEST_BURST_B = 65_215
"""Payload of the largest burst: the 64 KiB of a device without the room that Linux leaves for headers [bytes]."""

PACED_BPS = 1e11
"""Above every rate of a law: what iperf3 asks for as the highest rate only makes the socket pace [bit/s]."""

QUEUE = 20_000
"""Packets that a device may hold for the relay: enough that none is lost before it has been read."""

MOST_FLOWS, LONGEST_S, FASTEST_BPS = 32, 600.0, 2e9
"""What is run at most."""

LEAST_LIMIT_S = 5e-4
"""Lateness that is always let pass [s]."""

AFTER_S = 2
"""Senders go on after the measured time, so that their end is not part of it [s]."""

BPF_LAWS = {
    "highspeed": "el_highspeed",
    "ghstcp": "el_ghstcp",
    "nr-hstcp": "el_nrhstcp",
    "scalable": "el_scalable",
    "htcp": "el_htcp",
}
"""Laws that elephan brings along, as the kernel calls them."""

LOADED = (*BPF_LAWS, "bpf")
"""Laws that a testbed loads: these, and objects of somebody's own."""

KERNEL_LAWS = {
    name: name for name in ("reno", "cubic", "bic", "westwood", "vegas", "yeah", "illinois", "hybla", "dctcp")
} | {"bbr1": "bbr", "bbr3": "bbr"}
"""Laws that the kernel may have itself, as it calls them."""

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
BUFFER_B = 134_217_728
"""Of sockets, so that they never limit a window."""

SETTINGS = {
    "net.ipv6.conf.all.disable_ipv6": "1",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv4.tcp_congestion_control": "reno",
    "net.ipv4.tcp_rmem": f"4096 131072 {BUFFER_B}",
    "net.ipv4.tcp_wmem": f"4096 65536 {BUFFER_B}",
    "net.ipv4.tcp_fin_timeout": "1",
    # Sockets of a killed sender give up soon: until then their network namespace lives, though no process is in it.
    "net.ipv4.tcp_orphan_retries": "1",
}
"""Of both hosts. The default law is set, since that of the machine may pace."""

REAL_TIME = ("chrt", "--rr", "5")
"""Before a sender or receiver: it comes before the rest of the machine, in turns with its like, and after the relay."""

OWN_FILES = 'mount -t tmpfs none "${TMPDIR:=/tmp}" 2>/dev/null; export TMPDIR; exec "$@"'
OWN_MOUNTS = ("unshare", "--mount", "sh", "-c", OWN_FILES, "sh")
"""Before iperf3: it makes a file for temporary ones and removes it at once; killed in between, it would leave it."""

PROGRAMS = {
    "ip": "iproute2",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "unshare": "util-linux",
    "chrt": "util-linux",
    "sysctl": "procps",
    "iperf3": "iperf3",
}
"""What is called, and the package of Debian's that has it."""

SLOW = {"links[0].rate": "10 kbit/s", "links[0].buffer": "2 packets", "links[0].queue": {"discipline": "drop-tail"}}
"""Makes a simulation short whose draws are the same: hardly a packet passes."""

Command = tuple[str, ...]


@dataclass(frozen=True)
class SenderFlow:
    """A sender.

    Parameters
    ----------
    group, index : int
        As in a simulation.
    law : str
        In the kernel.
    start_s, rtt_s : float [s]
    port : int
        Of its server.
    """

    group: int
    index: int
    law: str
    start_s: float
    rtt_s: float
    port: int


@dataclass(frozen=True)
class TestbedPlan:
    """All that is to be done.

    Parameters
    ----------
    scenario : Scenario
    replication : int
    flows : tuple of SenderFlow
    packet : int [B]
        On the wire.
    settings : dict of str to str
        Of both hosts.
    route : str
        What the route to the server says of TCP.
    back : str
        The same of the route to the client.
    segments : int
        That a sender may hand over at once.
    paced : bool
        Whether sockets pace, by TCP's own timer.
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
        """Of the scenario, warm-up included."""
        return float(self.scenario.facts["duration_s"])

    @property
    def wires_s(self) -> list[tuple[float, float]]:
        """One way behind the link, and back, of each flow."""
        return [(flow.rtt_s / 2, flow.rtt_s / 2) for flow in self.flows]

    @property
    def drain_s(self) -> float:
        """Of a full buffer; infinite for one without end."""
        link = self.scenario.links[0]
        packets, size = link["buffer_limit_packets"], link["buffer_limit_bytes"]
        size = packets * self.packet if packets is not None else size
        return math.inf if size is None else float(8 * size / link["rate_bps"])

    @property
    def limit_s(self) -> float:
        """How late a packet may be: a twentieth of a round trip or of a full buffer; half a millisecond always.

        A pause empties a buffer, or fills it with what came meanwhile, by as much as it lasts.
        """
        return max(min(*(flow.rtt_s for flow in self.flows), self.drain_s) / 20, LEAST_LIMIT_S)

    @property
    def laws(self) -> list[dict[str, Any]]:
        """Controls of the laws that it loads, each law once."""
        controls = {group["control"]["law"]: group["control"] for group in self.scenario.resolved["flows"]}
        return [control for law, control in controls.items() if law in LOADED]

    @property
    def differences(self) -> tuple[str, ...]:
        """Where Linux does not do what the scenario says."""
        return differences(self.scenario, LOADED)

    def host(self, *, server: bool) -> list[Command]:
        """Commands that set a host up, to be run inside of it.

        Parameters
        ----------
        server : bool
            Where data goes; else where it comes from.

        Returns
        -------
        list of tuple of str
        """
        own, other = (SERVER, CLIENT) if server else (CLIENT, SERVER)
        says = (self.back if server else self.route).split()
        mtu, segments = str(self.packet), str(self.segments)
        return [
            ("ip", "link", "set", "lo", "up"),
            *(("sysctl", "-q", "-w", f"{name}={value}") for name, value in self.settings.items()),
            ("ip", "address", "add", own, "peer", other, "dev", DEVICE),
            (
                "ip",
                "link",
                "set",
                DEVICE,
                "mtu",
                mtu,
                "txqueuelen",
                str(QUEUE),
                "gso_max_segs",
                segments,
                "up",
            ),
            ("ip", "route", "replace", other, "dev", DEVICE, "src", own, *says),
        ]

    def serve(self, flow: SenderFlow) -> Command:
        """Command of a flow's server."""
        options = ("--server", "--one-off", "--json", "--interval", "0.1", "--port", str(flow.port))
        return (*OWN_MOUNTS, *REAL_TIME, "iperf3", *options)

    def send(self, flow: SenderFlow) -> Command:
        """Command of a flow's sender."""
        seconds = math.ceil(self.duration_s - flow.start_s) + AFTER_S
        where = ("--client", SERVER, "--port", str(flow.port), "--connect-timeout", "5000")
        return (
            *OWN_MOUNTS,
            *REAL_TIME,
            "iperf3",
            *where,
            "--congestion",
            flow.law,
            "--time",
            str(seconds),
            "--interval",
            "0.1",
            *(("--fq-rate", f"{PACED_BPS:.0f}") if self.paced else ()),
            "--json",
        )

    def lines(self) -> list[str]:
        """All commands in their order, as one would type them, with what elephan does itself as comments."""
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
    """Say what a scenario needs, or why it cannot be had.

    Parameters
    ----------
    scenario : Scenario
        One link that all data crosses, nothing on the way back, bulk transfers.
    replication : int

    Returns
    -------
    TestbedPlan

    Raises
    ------
    InputError
        What a testbed cannot do.
    """
    _check(scenario)
    drawn = simulate(scenario.replace(SLOW), replication).flows
    groups = [group["control"] for group in scenario.resolved["flows"]]
    columns = (
        drawn["group"].tolist(),
        drawn["index"].tolist(),
        drawn["start_s"].tolist(),
        drawn["base_rtt_s"].tolist(),
    )
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
    """At how many windows per round-trip time Linux paces, if not at its own; in per cent."""
    pacing = tcp.get("pacing", "none")
    if not isinstance(pacing, dict):
        return {}
    shares = {"ss": pacing["slow_start"], "ca": pacing["avoidance"]}
    return {f"net.ipv4.tcp_pacing_{name}_ratio": str(round(100 * share)) for name, share in shares.items()}


def _memory(tcp: dict[str, Any]) -> dict[str, str]:
    """Receive buffers, if the scenario names those of Linux."""
    window = tcp["receive_window"]
    if not isinstance(window, dict):
        return {}
    return {"net.ipv4.tcp_rmem": f"4096 {window['initial_bytes']} {window['max_bytes']}"}


def _segments(tcp: dict[str, Any], payload_bytes: int) -> int:
    """Segments that a sender may hand over at once."""
    burst = tcp.get("burst", "none")
    if burst == "none":
        # Bursts of several would make round-trip times rise and fall within them.
        return 1
    if burst == "linux":
        return max(LARGEST_BURST_B // payload_bytes, 1)
    return int(burst["max_segments"] if isinstance(burst, dict) else burst)


def _check(scenario: Scenario) -> None:
    for is_wrong, place, reason in _conditions(scenario):
        if is_wrong:
            message = f"{scenario.origin}: {place}: on a testbed {reason}"
            raise InputError(message)


def _conditions(scenario: Scenario) -> Iterator[tuple[bool, str, str]]:
    """Yield whether something is wrong, where, and what would be right; what comes later relies on what came first."""
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
    yield scenario.links[0]["delay_varies"], "links[0].delay", "the link has one delay; give it one, and no jitter"
    for key in ("policer", "shaper", "batch_ps", "pool"):
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
    """A law as a scenario file says it; texts, numbers and truth values are the same in JSON and TOML."""
    named = {name: value for name, value in control.items() if name != "slow_start"}
    return "{ " + ", ".join(f"{name} = {json.dumps(value)}" for name, value in named.items()) + " }"


def _called(control: dict[str, Any]) -> str:
    """Name of a law in the kernel."""
    law = control["law"]
    if law in LOADED:
        return _native.kernel_name(as_toml(control))
    offered = AVAILABLE.read_text().split() if AVAILABLE.exists() else []
    if KERNEL_LAWS.get(law) in offered:
        return KERNEL_LAWS[law]
    known = [*LOADED, *(name for name, called in KERNEL_LAWS.items() if called in offered)]
    message = f"flows.control: this kernel has no {law}; it can have {', '.join(known)}"
    raise InputError(message)
