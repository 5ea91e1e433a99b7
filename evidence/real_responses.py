"""Measures response times on a connection of Linux after pauses, and stores them for `tests/test_real_responses.py`.

    sudo -E python evidence/real_responses.py

It takes a minute for each of four cases. Writers and readers are sockets in two namespaces, with the testbed's relay
between them (40 Mbit/s, 40 ms, a buffer that loses nothing): a response is written when the one before has been
acknowledged and a pause is over; it has arrived when the reader has all of it. The test compares the kernel's
`tcp_slow_start_after_idle` with the simulator's `window_validation`, with the other rules beside it.
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import elephan
from elephan.testbed.hosts import NetworkHost
from elephan.testbed.plan import SERVER, plan
from elephan.testbed.replication import LinkRelay

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests" / "data" / "real_responses.json"

SEGMENTS = 120
"""Segments of a response: 10, 20, 40 and 50 in the rounds of slow start, on a path of 133."""

PAUSES_S = (0.1, 0.25, 0.45, 0.7, 1.0, 3.0)
RESPONSES = 8
"""Responses on the connection of each pause; the first does not follow a pause."""

CASES = {"reno": "1", "cubic": "1", "reno, kept": "0", "cubic, kept": "0"}
"""Law, and value of `tcp_slow_start_after_idle`."""

READER = """
import json, socket, sys, time
port, size, count = (int(word) for word in sys.argv[1:])
server = socket.create_server(("0.0.0.0", port))
print("ready", flush=True)
times, got = [], 0
while len(times) < count:
    peer, _ = server.accept()
    while data := peer.recv(1 << 16):
        got += len(data)
        while got >= size:
            got -= size
            times.append(time.monotonic())
print(json.dumps(times), flush=True)
"""

WRITER = """
import json, socket, struct, sys, time
host, port, size, each, law, *pauses = sys.argv[1:]
data, times = bytes(int(size)), []
def connected():
    peer = socket.socket()
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, law.encode())
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer.setsockopt(socket.SOL_SOCKET, 32, 4 << 20)  # SO_SNDBUFFORCE
    peer.connect((host, int(port)))
    return peer
def unacknowledged():
    return struct.unpack_from("<I", peer.getsockopt(socket.IPPROTO_TCP, 11, 104), 24)[0]
for pause in pauses:
    peer = connected()
    for i in range(int(each)):
        time.sleep(float(pause) if i else 0.0)
        times.append(time.monotonic())
        peer.sendall(data)
        while unacknowledged():
            time.sleep(2e-4)
    peer.close()
print(json.dumps(times), flush=True)
"""

SCENARIO = ROOT / "scenarios" / "testbed-senders.toml"
WIDE = {"links[0].buffer": "333 packets", "flows[0].start": "0 s", "flows[0].control": "reno"}


def ask(law: str, after_idle: str) -> list[list[float]]:
    """Return the response times [s], by pause."""
    testbed = plan(elephan.Scenario.from_file(SCENARIO).replace(WIDE))
    port, size, count = str(testbed.flows[0].port), SEGMENTS * (testbed.packet - 52), RESPONSES * len(PAUSES_S)
    with ExitStack() as stack:
        client, server = stack.enter_context(NetworkHost("client")), stack.enter_context(NetworkHost("server"))
        relay = stack.enter_context(LinkRelay(testbed, client, server))
        for host in (client, server):
            for command in testbed.host(server=host is server):
                host.do(command)
        client.do(("sysctl", "-q", "-w", f"net.ipv4.tcp_slow_start_after_idle={after_idle}"))
        read, written = stack.enter_context(tempfile.TemporaryFile()), stack.enter_context(tempfile.TemporaryFile())
        real_time = ("chrt", "--rr", "5", sys.executable, "-c")
        reader = server.start((*real_time, READER, port, str(size), str(count)), stack, read)
        while int(port) not in server.listening():
            time.sleep(0.01)
        relay.start()
        words = (SERVER, port, str(size), str(RESPONSES), law, *(str(pause) for pause in PAUSES_S))
        writer = client.start((*real_time, WRITER, *words), stack, written)
        writer.wait(timeout=testbed.duration_s)
        reader.wait(timeout=5)
        recorded = relay.stop()
        found = []
        for file in (written, read):
            file.seek(0)
            found.append(json.loads(file.read().splitlines()[-1]))
    if recorded["objection"]:
        sys.stderr.write(f"{recorded['objection']}\n")
    took = [end - begin for begin, end in zip(*found, strict=True)]
    return [took[i * RESPONSES : (i + 1) * RESPONSES] for i in range(len(PAUSES_S))]


def main() -> None:
    """Measure the missing cases."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    for name, after_idle in CASES.items():
        if name not in kept:
            times = ask(name.partition(",")[0], after_idle)
            kept[name] = {
                "kernel": platform.release().partition("-")[0],
                "completion_s": {str(pause): took for pause, took in zip(PAUSES_S, times, strict=True)},
            }
            KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
            sys.stderr.write(f"{name}: kept\n")


if __name__ == "__main__":
    main()
