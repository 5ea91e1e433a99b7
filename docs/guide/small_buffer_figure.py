"""A buffer of a few packets under 500 Reno flows, unpaced and paced, beside the model small-buffer."""

import elephan

FLOWS = """
duration = "80 s"
warmup = "30 s"
replications = 3

[[links]]
name = "core"
rate = "500 Mbit/s"
buffer = "10 packets"

[[flows]]
name = "reno"
count = 500
path = ["core"]
rtt = { from = "96 ms", to = "144 ms" }
packet = "1000 B"
access = { rate = "5 Gbit/s" }
start = { from = "0 s", to = "1 s" }
tcp = { initial_ssthresh = 15 }
"""
"""15 segments a flow fill the link."""

buffers = [f"{packets} packets" for packets in (3, 4, 5, 7, 10, 14, 20, 28, 40, 56)]
over = {"links[0].buffer": buffers, "flows[0].tcp.pacing": ["none", "linux", "quic"]}
swept = elephan.sweep(elephan.Scenario.from_text(FLOWS), over=over)
title = "500 Reno flows on 500 Mbit/s, 120 ms"
figure = elephan.plots.xy(swept, by="flows[0].tcp.pacing", models=["small-buffer"], title=title)
figure.savefig("small-buffer.png")
