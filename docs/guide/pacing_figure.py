"""How the first paper's answers move when its flows are paced or send in bursts: utilization against the buffer."""

import elephan

BDP = 12_500
"""Of 1 Gbit/s and 100 ms, as the paper counts it [packets]."""

OFFLOAD = {
    "flows[0].tcp.burst": "linux",
    "flows[0].tcp.receive_offload": {"segments": 44},
    "flows[0].tcp.abc_limit": "none",
}
"""What interfaces do today: bursts by segmentation offload, and an ACK for what the receiver's merges."""

senders = {
    "unpaced": {},
    "unpaced, offload": OFFLOAD,
    "Linux's pace": {"flows[0].tcp.pacing": "linux"},
    "Linux's pace, offload": {"flows[0].tcp.pacing": "linux", **OFFLOAD},
    "QUIC's pace": {"flows[0].tcp.pacing": "quic"},
}
buffers = [f"{share * BDP:.0f} packets" for share in (0.002, 0.008, 0.02, 0.05, 0.1, 0.2, 0.5)]
cases = [{"name": name, "set": changes} for name, changes in senders.items()]
swept = elephan.sweep("scenarios/hstcp-1g.toml", over={"links[0].buffer": buffers}, cases=cases, replications=3)
figure = elephan.plots.xy(swept, by="case", title="Ten HighSpeed flows on 1 Gbit/s, 120 ms")
figure.savefig("pacing.png")
