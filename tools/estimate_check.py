"""Compares estimates with runs: packets, CPU time and memory of many scenarios, each in a process of its own.

    python tools/estimate_check.py [RANDOM [SEED]]

Prints a line for each scenario and, below, the factors within which nineteen of twenty estimates were right, beside
those of nulls, which assume the same memory for every sender and the same time for every packet.
`elephan.costs.FACTORS` holds the former, rounded up.
"""

import json
import math
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from elephan.bench.workloads import WORKLOADS
from elephan.catalog import catalog
from elephan.costs import FACTORS
from elephan.costs.machine import measure_ns_per_packet
from elephan.costs.memory import PROCESS, expected_memory
from elephan.costs.traffic import expected_traffic
from elephan.costs.work import expected_work
from elephan.errors import InputError
from elephan.scenario import Scenario

SCENARIOS = Path(__file__).resolve().parent.parent / "scenarios"

RANDOM, SEED = 60, 1
"""Number of random scenarios, and the seed of their choice."""

FILES_S = 10.0
"""Maximum simulated time of scenario files [s]."""

PACKETS = 1.5e6
"""Maximum number of packets in a random scenario, by the estimate: some tenths of a second."""

NULL_BYTES = 1100.0
"""Memory per sender in the null: a plain flow's measured share of a run of a million [bytes]."""

NULL_PACKETS = 4.0
"""CPU time per packet in the null, in packets of the probe: about the median of the runs."""

LARGE = 5e6
"""Memory growth above which the model itself is judged, not the interpreter around it [bytes]."""

ODD = frozenset({"packet-pair", "constant-rate", "tabulated"})
"""Laws that need a network or parameters of their own; under a plain network such a sender floods all others."""

CHILD = """
import json, sys, time
from elephan import _native
from elephan.bench.memory import forget_peak, peak_rss_mb
from elephan.scenario import EXAMPLE
canonical = sys.stdin.read()
_native.simulate(_native.resolve(EXAMPLE)[0], 0)
forget_peak()
before, begun = peak_rss_mb(), time.thread_time()
out = _native.simulate(canonical, 0)
took = time.thread_time() - begun
print(json.dumps([out["balance"]["sent"], took, (peak_rss_mb() - before) * 1e6]))
"""


class Compared(NamedTuple):
    """Ratios of estimates to measurements for one scenario."""

    packets: float
    cpu_s: float
    memory_bytes: float
    """Ratio for memory, the interpreter included."""
    growth: float | None
    null: float | None
    """Ratios for the memory growth alone, if it is large: for the model, and for the null."""
    cpu_null: float
    """Ratio for the null's CPU time, which depends only on the number of packets."""


def measure(scenario: Scenario) -> tuple[float, float, float]:
    """Return sent packets, CPU time [s] and growth of the peak memory [bytes] of one replication."""
    command = [sys.executable, "-c", CHILD]
    done = subprocess.run(command, input=scenario.canonical, capture_output=True, text=True, check=True)
    sent, took_s, growth = json.loads(done.stdout)
    return float(sent), float(took_s), float(growth)


def compare(scenario: Scenario, ns_per_packet: float) -> Compared:
    """Estimate and run one replication."""
    network = scenario.network
    traffic = expected_traffic(network)
    memory = expected_memory(network, traffic)
    sent, took_s, growth = measure(scenario)
    senders = sum(group.flows * group.places for group in network.groups)
    large = growth >= LARGE
    return Compared(
        packets=sum(traffic.sent) / max(sent, 1.0),
        cpu_s=expected_work(network, traffic, memory) * ns_per_packet * 1e-9 / max(took_s, 1e-6),
        memory_bytes=(PROCESS + memory.peak) / (PROCESS + growth),
        growth=memory.peak / growth if large else None,
        null=NULL_BYTES * senders / growth if large else None,
        cpu_null=NULL_PACKETS * sum(traffic.sent) * ns_per_packet * 1e-9 / max(took_s, 1e-6),
    )


def files() -> Iterator[tuple[str, Scenario]]:
    """Yield the speed workloads and the files in ``scenarios/``, shortened."""
    for name, workload in WORKLOADS.items():
        yield name, workload.scenario(workload.quick_s)
    for path in sorted(SCENARIOS.glob("*.toml")):
        scenario = Scenario.from_file(path)
        duration_s = min(float(scenario.facts["duration_s"]), FILES_S)
        yield path.stem, scenario.replace(duration=f"{duration_s} s", warmup="0 s")


def drawn(count: int, seed: int) -> Iterator[tuple[str, Scenario]]:
    """Yield random scenarios from the whole catalogue, none too long."""
    chance = random.Random(seed)
    laws = [card["name"] for card in catalog("laws") if card["name"] not in ODD]
    queues = [card["name"] for card in catalog("queues")]
    found = 0
    while found < count:
        text = _text(chance, laws, queues)
        try:
            scenario = Scenario.from_text(text)
        except InputError:
            continue
        if 2e4 < sum(expected_traffic(scenario.network).sent) < PACKETS:
            found += 1
            yield f"random {found}", scenario


def _text(chance: random.Random, laws: list[str], queues: list[str]) -> str:
    def between(low: float, high: float) -> float:
        return math.exp(chance.uniform(math.log(low), math.log(high)))

    rate, members = between(2e6, 2e9), chance.choice([1, 1, 1, 1, round(between(2, 500))])
    lines = [
        f'duration = "{between(1, 20):.3g} s"',
        f'[[links]]\nname = "a"\ncount = {members}\nrate = "{rate / members:.0f} bit/s"\ndelay = "1 ms"',
        f'buffer = "{between(0.05, 2):.3g} bdp"\nqueue = "{chance.choice(["drop-tail", chance.choice(queues)])}"',
    ]
    kinds = ["bulk", "bulk", "bulk", "elastic", "engset", "web", "cbr", "poisson"]
    for group in range(chance.choice([1, 1, 2])):
        kind = chance.choice(kinds)
        flows = round(between(1, 20_000 if kind == "bulk" else 200))
        low = between(5, 200)
        path = '"a[*]"' if members > 1 else '"a"'
        lines.append(
            f'[[flows]]\nname = "g{group}"\ncount = {flows}\npath = [{path}]\n'
            f'packet = "{round(between(200, 1500))} B"\n'
            f'rtt = {{ from = "{low:.3g} ms", to = "{low * chance.uniform(1, 3):.3g} ms" }}\n'
            f'start = {{ from = "0 s", to = "{chance.choice([0.1, 1])} s" }}'
        )
        if kind in ("cbr", "poisson"):
            lines.append(f'traffic = {{ kind = "{kind}", rate = "{0.3 * rate / flows + 1000:.0f} bit/s" }}')
            continue
        lines.append(f'traffic = "{kind}"\ncontrol = "{chance.choice(laws)}"')
        lines.append(chance.choice(['recovery = "sack"', 'recovery = "newreno"', 'recovery = "rack"', 'tcp = "linux"']))
    return "\n".join(lines) + "\n"


def within(ratios: list[float], share: float = 0.95) -> float:
    """Return the factor within which this share of the ratios is 1."""
    off = sorted(max(ratio, 1 / ratio) if ratio > 0 else math.inf for ratio in ratios)
    return off[min(len(off) - 1, math.ceil(share * len(off)) - 1)]


def summary(rows: Mapping[str, Compared]) -> dict[str, float]:
    """Return the factors of each quantity, of the memory model for large growth, and of the nulls."""
    factors = {name: within([getattr(row, name) for row in rows.values()]) for name in FACTORS}
    for name in ("growth", "null", "cpu_null"):
        factors[name] = within([ratio for row in rows.values() if (ratio := getattr(row, name)) is not None])
    return factors


def main() -> None:
    """Compare all scenarios."""
    count, seed = [int(word) for word in sys.argv[1:]] + [RANDOM, SEED][len(sys.argv) - 1 :]
    ns_per_packet = measure_ns_per_packet()
    rows = {}
    for name, scenario in [*files(), *drawn(count, seed)]:
        row = rows[name] = compare(scenario, ns_per_packet)
        shown = "  ".join(f"{key} {value:6.2f}" for key, value in row._asdict().items() if value is not None)
        sys.stdout.write(f"{name:24} {shown}\n")
        sys.stdout.flush()
    factors = "  ".join(f"{name} {factor:.2f}" for name, factor in summary(rows).items())
    sys.stdout.write(f"{len(rows)} scenarios, nineteen of twenty within: {factors}\n")


if __name__ == "__main__":
    main()
