"""Utilization against the buffer for both links of the first paper: packets, its model, and one of bursts."""

import elephan

swept = {}
for name, file, bdp in (("1 Gbit/s", "hstcp-1g", 12_500), ("2.5 Gbit/s", "hstcp-2g5", 6_250)):
    buffers = [f"{share * bdp:.0f} packets" for share in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)]
    scenario = elephan.Scenario.from_file(f"scenarios/{file}.toml")
    swept[name] = elephan.sweep(scenario, over={"links[0].buffer": buffers}, replications=2)
figure = elephan.plots.xy(swept, models=["droptail-fixed-point", "sawtooth"])
figure.savefig("first-figure.png")
