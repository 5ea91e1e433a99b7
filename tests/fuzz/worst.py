"""Worst cases of invariants: a search over networks for runs that lose packets, flows or monotony, or engines that
differ."""

import json
import random

from elephan.runs.outcome import ReplicationOutcome, simulate
from elephan.scenario import Scenario
from elephan.worst.laws import NETWORK
from elephan.worst.search import FEWEST_RUNS, Harm, WorstSearch
from elephan.worst.unknowns import read_unknowns
from fuzz.kinds import FoundError, Kind

LAWS = ("reno", "cubic", "highspeed", "scalable", "htcp", "bic", "vegas", "westwood", "illinois", "bbr1", "bbr3")

RANGES = (
    "links[0].rate=1..4 Mbit/s",
    "links[0].buffer=2..60 packets",
    "links[0].queue=drop-tail,red,codel,fq-codel,pie",
    "flows[0].rtt=5..100 ms",
    "flows[1].rtt=5..100 ms",
    "flows[0].count=1..4",
    "flows[1].start=0..2 s",
)
"""Networks of at most 6000 packets, some milliseconds in the reference engine."""

DURATION_S, WARMUP_S = 16, 8

FALL = 1 / (DURATION_S - WARMUP_S)
"""Largest loss of utilization from twice the buffer: a timeout of one second more, in which the link is idle."""

LONGER_S = 320
"""Duration after which no flow may be silent [s]: a timeout that starts at 0.2 s and doubles ten times fits."""


def check(scenario: Scenario, outcome: ReplicationOutcome) -> float:
    """Check the invariants of a run.

    Returns
    -------
    float
        What twice the buffer gains in utilization; the search makes it as small as it can.
    """
    balance = outcome.balance
    if balance["sent"] != balance["delivered"] + balance["dropped"] + balance["in_flight"]:
        message = f"packets are not conserved: {balance}"
        raise FoundError(message)
    if not all(outcome.flows["goodput_bps"] > 0):
        later = simulate(scenario.replace(duration=f"{LONGER_S} s"), 0).flows["goodput_bps"]
        if not all(later > 0):
            message = f"flow {int(later.argmin())} delivers nothing in {LONGER_S} s"
            raise FoundError(message)
    hashes = [simulate(scenario, 0, engine=engine, with_hash=True).hash for engine in ("window", "reference")]
    if hashes[0] != hashes[1]:
        message = f"engines differ: {hashes[0]} and {hashes[1]}"
        raise FoundError(message)
    buffer = round(scenario.network.links[0].buffer_packets or 1)
    larger = simulate(scenario.with_buffer(0, 2 * buffer), 0)
    gain = float(larger.links["utilization"][0] - outcome.links["utilization"][0])
    if gain < -FALL:
        message = f"{2 * buffer} packets of buffer give {-gain:.3f} less utilization than {buffer}"
        raise FoundError(message)
    return gain


class WorstKind(Kind):
    """A law and a seed: a search for the network on which a larger buffer helps least, each run with its invariants."""

    name = "worst"
    ending = ".json"

    def make(self, chance: random.Random) -> bytes:
        return json.dumps({"law": chance.choice(LAWS), "seed": chance.randrange(2**31)}).encode()

    def attempt(self, given: bytes) -> None:
        asked = json.loads(given)
        network = Scenario.from_text(NETWORK.substitute(law=asked["law"]))
        base = network.replace(duration=f"{DURATION_S} s", warmup=f"{WARMUP_S} s")
        harm = Harm("gain", check, "1", low_is_worse=True)
        WorstSearch(base, read_unknowns(base, RANGES), harm, 1, asked["seed"]).attack(FEWEST_RUNS)
