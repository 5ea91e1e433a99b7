"""One replication on real stacks: set up hosts and link, run senders and the relay, and remove all of them.

The relay is a thread that forwards packets between the TUN devices of the two hosts through the simulated link.
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack
from typing import IO, Any

from elephan import _native
from elephan.errors import InputError
from elephan.runs.outcome import ReplicationOutcome
from elephan.testbed.hosts import PATIENCE_S, NetworkHost, end
from elephan.testbed.measured import outcome
from elephan.testbed.plan import DEVICE, SenderFlow, TestbedPlan, as_toml
from elephan.testbed.traffic import complaint, read

Files = dict[int, IO[bytes]]

PRIORITY = 10
"""Real-time priority of the relay, above that of senders and receivers."""

FAST_BPS, QUANTUM_S = 2e8, 1e-4
"""Rate above which the relay wakes at fixed steps instead of for each packet [bit/s], and the length of a step [s]."""

SAMPLE_S = 1e-3
"""Time between samples of the backlog [s]."""

GRACE_S = 5.0
"""Time that senders and receivers get to end by themselves [s]."""

LOOK_S = 0.05
"""Time between two checks of the senders [s]."""


def replicate(plan: TestbedPlan) -> tuple[ReplicationOutcome, dict[str, Any]]:
    """Run one replication.

    Returns
    -------
    tuple of ReplicationOutcome and dict
        The outcome, and the relay's records.

    Raises
    ------
    InputError
        If this machine lacks something, or if a sender or receiver failed (with its error message).
    """
    with ExitStack() as stack:
        held = {control["law"]: _native.HeldLaw(as_toml(control)) for control in plan.laws}
        for law in held.values():
            stack.callback(law.release)
        client, server = stack.enter_context(NetworkHost("client")), stack.enter_context(NetworkHost("server"))
        relay = stack.enter_context(LinkRelay(plan, client, server))
        for host in (client, server):
            for command in plan.host(server=host is server):
                host.do(command)
        # Temporary files without names disappear when the process ends.
        received: Files = {flow.port: stack.enter_context(tempfile.TemporaryFile()) for flow in plan.flows}
        sent: Files = {flow.port: stack.enter_context(tempfile.TemporaryFile()) for flow in plan.flows}
        receivers = _serve(plan, server, received, stack)
        relay.start()
        _send(plan, client, relay, sent, stack)
        _wait_for_receivers(receivers)
        recorded = relay.stop()
        recorded["acks"] = _acks(client.counters())
        recorded["laws"] = {name: counted for name, law in held.items() if (counted := law.counters())}
        recorded["objection"] = strayed(recorded["laws"]) or recorded["objection"]
        reports = [read(_text(sent[flow.port]), _text(received[flow.port]), _name(flow)) for flow in plan.flows]
    firsts = zip(recorded["first_s"], plan.flows, strict=True)
    begun_s = [flow.start_s if first is None else first for first, flow in firsts]
    return outcome(plan, recorded, reports, begun_s), recorded


def strayed(laws: dict[str, dict[str, int]]) -> str:
    """Return an objection if the kernel did not call a law.

    The kernel then uses an undefined value from the stack as ssthresh, and a burst follows. This was observed on a
    vendor's kernel that does not run BPF programs of its users while process 1 is current, not even in interrupts.

    Parameters
    ----------
    laws : dict
        Counters of each law, by name.

    Returns
    -------
    str
        An objection; empty if there is none.

    Examples
    --------
    >>> strayed({"highspeed": {"strays": 0}, "ghstcp": {"strays": 1}})
    'ghstcp: 1 ssthresh that no law gave: the kernel passed over its program'
    """
    found = [f"{name}: {counted['strays']} ssthresh" for name, counted in laws.items() if counted["strays"]]
    return f"{', '.join(found)} that no law gave: the kernel passed over its program" if found else ""


class LinkRelay:
    """The link between two hosts, and the thread that forwards packets. Its devices are removed after the with block.

    Parameters
    ----------
    client, server : NetworkHost
        The two hosts; each gets a TUN device in its namespace.

    Raises
    ------
    InputError
        If the system refuses to create a device.
    """

    def __init__(self, plan: TestbedPlan, client: NetworkHost, server: NetworkHost) -> None:
        self.failed = False
        self._plan = plan
        self._found: dict[str, Any] = {}
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        try:
            ends = {"client": (client.namespace, DEVICE), "server": (server.namespace, DEVICE)}
            self._bottleneck: _native.Bottleneck | None = _native.Bottleneck(
                plan.scenario.canonical, plan.replication, **ends
            )
        except OSError as error:
            raise InputError(
                f"testbed: no TUN device: {(error.strerror or str(error)).lower()}; it needs root and /dev/net/tun"
            ) from None

    def __enter__(self) -> LinkRelay:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        # The devices disappear with this object. Delete the reference here, because a traceback that refers to the
        # relay would keep devices and namespaces.
        self._bottleneck = None

    def start(self) -> None:
        """Start the thread."""
        thread = threading.Thread(target=self._run, name="relay")
        # Store the thread before it runs, because Ctrl-C may come at any moment.
        self._thread = thread
        thread.start()

    def stop(self) -> dict[str, Any]:
        """Stop the relay.

        Returns
        -------
        dict
            The relay's records.

        Raises
        ------
        OSError
            If a device failed.
        """
        self._end()
        if self._error is not None:
            raise self._error
        return self._found

    def _end(self) -> None:
        if self._bottleneck is not None:
            self._bottleneck.stop()
        if self._thread is not None and self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        plan, bottleneck = self._plan, self._bottleneck
        if bottleneck is None:
            # Ctrl-C came while this thread was started; the devices are removed already.
            return
        fast = plan.scenario.links[0]["rate_bps"] > FAST_BPS
        try:
            self._found = bottleneck.run(
                warmup_s=plan.scenario.facts["warmup_s"],
                measured_s=plan.duration_s,
                longest_s=plan.duration_s + 4 * GRACE_S,
                every_s=SAMPLE_S,
                wires_s=plan.wires_s,
                first_port=plan.flows[0].port,
                quantum_s=QUANTUM_S if fast else 0.0,
                # At such rates the processors do not become idle anyway. A real-time thread that keeps them awake would
                # be interrupted for 50 ms in each second (the kernel's fair server).
                awake=not fast,
                priority=PRIORITY,
                limit_s=plan.limit_s,
                shaken_s=max(flow.rtt_s for flow in plan.flows) + min(plan.drain_s, 1.0),
            )
        except BaseException as error:  # `stop` raises it in the thread that waits.
            self._error = error
            self.failed = True


def _serve(plan: TestbedPlan, server: NetworkHost, files: Files, stack: ExitStack) -> list[subprocess.Popen[bytes]]:
    """Start the receivers, and wait until they listen, because connections would be refused before."""
    receivers = {flow.port: server.start(plan.serve(flow), stack, files[flow.port]) for flow in plan.flows}
    until = time.monotonic() + PATIENCE_S
    while missing := receivers.keys() - server.listening():
        for flow in plan.flows:
            if flow.port in missing and receivers[flow.port].poll() is not None:
                _raise(f"{_name(flow)}, receiver", receivers[flow.port], files[flow.port])
        if time.monotonic() > until:
            message = f"testbed: {len(missing)} of {len(receivers)} receivers do not listen after {PATIENCE_S:g} s"
            raise InputError(message)
        time.sleep(0.002)
    return list(receivers.values())


def _send(plan: TestbedPlan, client: NetworkHost, relay: LinkRelay, files: Files, stack: ExitStack) -> None:
    """Start each sender at its time, and wait for all, up to a time limit or the failure of a sender or the relay."""
    begun = time.monotonic()
    until = begun + plan.duration_s + 2 * GRACE_S
    later = sorted(plan.flows, key=lambda flow: flow.start_s, reverse=True)
    running: dict[SenderFlow, subprocess.Popen[bytes]] = {}
    while (later or running) and not relay.failed and (now := time.monotonic()) < until:
        while later and begun + later[-1].start_s <= now:
            flow = later.pop()
            running[flow] = client.start(plan.send(flow), stack, files[flow.port])
        for flow, process in list(running.items()):
            if process.poll() is not None:
                del running[flow]
                # With JSON output iperf3 exits with 0 even if it failed.
                if process.returncode or complaint(_text(files[flow.port])):
                    _raise(f"{_name(flow)}, sender", process, files[flow.port])
        if later or running:
            due = begun + later[-1].start_s if later else until
            time.sleep(min(LOOK_S, max(0.0, due - time.monotonic())))

    # The measurement is complete by now. Senders that still run print their reports when they are terminated.
    for process in running.values():
        end(process)


def _wait_for_receivers(receivers: list[subprocess.Popen[bytes]]) -> None:
    """Wait until receivers have printed their reports: they end a little later than their senders."""
    until = time.monotonic() + GRACE_S
    while any(process.poll() is None for process in receivers) and time.monotonic() < until:
        time.sleep(0.002)
    for process in receivers:
        end(process)


def _acks(counted: dict[str, int]) -> dict[str, int]:
    """Return the numbers of sent segments, received ACKs, and ACKs that Linux merged before a law processed them."""
    names = {"sent": "Tcp.OutSegs", "received": "Tcp.InSegs", "merged": "TcpExt.TCPBacklogCoalesce"}
    return {name: counted[theirs] for name, theirs in names.items()}


def _raise(name: str, process: subprocess.Popen[bytes], output: IO[bytes]) -> None:
    """Raise the error message of a sender or receiver."""
    why = complaint(_text(output)) or f"exit code {process.returncode}"
    raise InputError(f"testbed: {name}: iperf3: {why}")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _name(flow: SenderFlow) -> str:
    return f"flow {flow.group}.{flow.index}"
