"""How the first paper's answers move when the same ten HighSpeed flows are paced: utilization against the buffer."""

import elephan

BDP = 12_500
"""Of 1 Gbit/s and 100 ms, as the paper counts it [packets]."""

buffers = [f"{share * BDP:.0f} packets" for share in (0.002, 0.008, 0.02, 0.05, 0.1, 0.2, 0.5)]
over = {"links[0].buffer": buffers, "flows[0].tcp.pacing": ["none", "linux", "quic"]}
swept = elephan.sweep("scenarios/hstcp-1g.toml", over=over, replications=3)
figure = elephan.plots.xy(swept, by="flows[0].tcp.pacing", title="Ten HighSpeed flows on 1 Gbit/s, 120 ms")
figure.savefig("pacing.png")
