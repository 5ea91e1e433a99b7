"""Damaged measurements: `elephan infer` on files of every reader, which gives an answer or a refusal in one line,
and no warnings of NumPy.

One recorded transfer of 15 s, which gets an answer, is written in each format; captures are of a simulated one.
"""

import gzip
import io
import json
import random
import tempfile
import warnings
from contextlib import redirect_stdout
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import elephan
from elephan.cli.infer import infer
from elephan.errors import InputError
from elephan.runs.pcapng import write_pcapng
from elephan.scenario import Scenario
from fuzz import mutate
from fuzz.kinds import ROOT, FoundError, Kind, output

DATA = ROOT / "tests" / "data"

CAPTURED = """duration = "7 s"
warmup = "1 s"
replications = 1
[record]
packets = [{ link = "core", from = "0 s", to = "7 s" }]
trace = ["senders[0]"]
[[links]]
name = "core"
rate = "300 kbit/s"
buffer = "8 packets"
[[flows]]
name = "senders"
path = ["core"]
rtt = "80 ms"
tcp = "linux"
"""

WORDS = (b"-1", b"1e999", b"1e-320", b"null", b"true", b"[]", b"{}", b'""', b"NaN", b"9" * 400, b"0", b"4e9", b"\xff")
"""Values in the place of two bytes."""


def rows() -> list[dict[str, float]]:
    """Return the intervals of a recorded transfer, with counts since the start."""
    document = json.loads(gzip.decompress((DATA / "paths" / "1-005.json.gz").read_bytes()))
    streams = [row["streams"][0] for row in document["intervals"]]
    acked = retransmitted = 0
    found = []
    for i, row in enumerate(streams, 1):
        acked, retransmitted = acked + row["bytes"], retransmitted + row["retransmits"]
        held = {
            "t": i / 10,
            "lost": row["retransmits"],
            "rtt": row["rtt"],
            "cwnd": row["snd_cwnd"] // 1448,
            "acked": acked,
        }
        found.append(held | {"interval": row["bytes"], "retrans": retransmitted})
    return found


def captures() -> dict[str, bytes]:
    """Return a simulated transfer as pcapng and as pcap."""
    import dpkt  # noqa: PLC0415 (an optional package)

    result = elephan.run(Scenario.from_text(CAPTURED))
    with tempfile.TemporaryDirectory() as folder:
        [path] = write_pcapng(result, Path(folder))
        held = path.read_bytes()
    reader, old = dpkt.pcapng.Reader(io.BytesIO(held)), io.BytesIO()
    writer = dpkt.pcap.Writer(old, linktype=reader.datalink())
    for time_s, packet in reader:
        writer.writepkt(packet, float(time_s))
    return {"pcapng": held, "pcap": old.getvalue()}


def formats() -> dict[str, bytes]:
    """Return one transfer as a file of each reader, by name."""
    recorded = gzip.decompress((DATA / "paths" / "1-005.json.gz").read_bytes())
    document, held = json.loads(recorded), rows()
    events = [("start", document["start"]), *(("interval", row) for row in document["intervals"])]
    events.append(("end", document["end"]))
    infos = [
        {"ElapsedTime": r["t"] * 1e6, "RTT": r["rtt"], "SndCwnd": r["cwnd"], "SndMSS": 1448, "BytesAcked": r["acked"]}
        | {"TotalRetrans": r["retrans"], "BusyTime": r["t"] * 1e6, "RWndLimited": 0, "SndBufLimited": 0}
        for r in held
    ]
    table = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(infos), table)
    at = [None, *range(len(held))]
    flent = {
        "version": 4,
        "metadata": {"EGRESS_INFO": {"tcp_cong_control": "cubic"}},
        "x_values": [i / 10 for i in range(len(at))],
        "results": {
            "TCP upload": [None if i is None else held[i]["interval"] * 80e-6 for i in at],
            "TCP upload::tcp_rtt": [None if i is None else held[i]["rtt"] / 1e3 for i in at],
            "TCP upload::tcp_cwnd": [None if i is None else held[i]["cwnd"] for i in at],
            "Ping (ms) ICMP": [78.5] * len(at),
        },
    }
    sockets = "".join(
        f"{1.7e9 + r['t']:.1f}\nESTAB 0 0 10.0.0.1:5000 10.0.0.2:5201\n\t cubic wscale:7,7 rto:244 "
        f"rtt:{r['rtt'] / 1e3}/1.2 mss:1448 cwnd:{r['cwnd']} bytes_acked:{r['acked']} busy:{100 * i}ms "
        f"rwnd_limited:{i}ms(1.0%) retrans:0/{r['retrans']} delivered:{r['acked'] // 1448} minrtt:20.1\n"
        for i, r in enumerate(held, 1)
    )
    lines = "".join(f"{r['t']},{r['rtt'] / 1e3},{r['cwnd']},{r['interval']},{r['lost']}\n" for r in held)
    return {
        "iperf3": json.dumps({key: document[key] for key in ("start", "intervals", "end")}).encode(),
        "iperf3-stream": "\n".join(json.dumps({"event": key, "data": data}) for key, data in events).encode(),
        "iperf3-gzip": gzip.compress(recorded, mtime=0),
        "bidir": (DATA / "measurements" / "bidir.json").read_bytes(),
        "ss": sockets.encode(),
        "ss-real": (DATA / "measurements" / "ss.log").read_bytes(),
        "flent": json.dumps(flent).encode(),
        **captures(),
        "ndt": json.dumps({"Download": {"ServerMeasurements": [{"TCPInfo": row} for row in infos]}}).encode(),
        "ndt-lines": "\n".join(json.dumps({"TCPInfo": row}) for row in infos).encode(),
        "parquet": table.getvalue(),
        "csv": f"time_s,rtt_ms,cwnd_segments,acked_bytes,retransmits\n{lines}".encode(),
    }


class MeasuredKind(Kind):
    """Damaged measurements of every reader."""

    name = "measured"
    ending = ".bin"

    @cached_property
    def corpus(self) -> list[bytes]:
        """Whole files."""
        return [*formats().values(), *self.found_before]

    def make(self, chance: random.Random) -> bytes:
        whole = chance.choice(self.corpus)
        made = bytearray(mutate.raw(chance, [whole]) if chance.random() < 0.5 else whole)
        for _ in range(chance.choice((0, 1, 2, 5, 40))):
            at = chance.randrange(len(made) + 1)
            # A place of a digit in a text, so that its structure stays.
            digits = [i for i in range(at, min(at + 80, len(made))) if 48 <= made[i] < 58]
            at = digits[0] if digits and chance.random() < 0.7 else at
            made[at : at + chance.randrange(3)] = chance.choice(WORDS)
        return bytes(made)

    def attempt(self, given: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "measured"
            path.write_bytes(given)
            try:
                # The verb without the parser of its options, which takes longer than the rest.
                with redirect_stdout(output()), warnings.catch_warnings(action="error"):
                    infer([path])
            except InputError as error:
                if "\n" in str(error) or not str(error).startswith(f"{path}: "):
                    message = f"not one line that names the file: {error}"
                    raise FoundError(message) from None
