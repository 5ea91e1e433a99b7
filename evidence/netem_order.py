"""Compares delays and order of Linux's netem with the simulator's, from tests/data/netem_order.json.

    sudo python evidence/netem_record.py FOLDER            # where the kernel has sch_netem, or in a virtual machine
    python evidence/netem_order.py --recording FOLDER      # keeps its statistics, then compares
    python evidence/netem_order.py                         # compares what is kept; exit code 1 if something is apart
    python evidence/netem_order.py --page                  # writes the tables into the guide, too

The same line of tc goes through `elephan import tc`, and datagrams at the same gaps cross the link that it gives.
Beside each are nulls: other lines, which must be apart in at least one statistic.

Tolerances. Means differ by chance: by less than 4.5 standard errors of both, from 40 batches, since neighbours in time
depend on each other; of a hundred comparisons one in 1500 would be outside. Distribution functions of delays differ by
less than 1.95 sqrt(1/n + 1/m) (Kolmogorov and Smirnov, 0.1 %), each time taken as known to the slack of the kernel's
timer, the range from 0.1 % to 99.9 % of the control `delay 20ms`, by which means of delays may differ, too.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import elephan
from elephan import traffic_control

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests" / "data" / "netem_order.json"
PAGE = ROOT / "docs" / "guide" / "traffic-and-topologies.md"

BEGIN, END = "<!-- begin: evidence/netem_order.py -->", "<!-- end: evidence/netem_order.py -->"

CONTROL = "delay 20ms"

BIN_S = 50e-6
"""Width of the bins in which delays are kept [s]."""

BATCHES = 40
PACKET_B = 1514
RTT_S = 0.0005
"""Base round-trip time of the path besides netem's delay, of which half is one way [s]."""

LINK_BPS = 5e8
"""Rate of the device: a datagram takes 24 µs."""

TIMES_LONGER = 5
"""Simulated datagrams for each recorded one, so that most of the chance is netem's."""


# The arithmetic of RFC 4737 and RFC 5236: arrays of one value for each arrival.


def extents(numbers: Ints) -> Ints:
    """Return the reordering extent of each arrival (RFC 4737, 4.2): 0 for a packet in order.

    Examples
    --------
    >>> extents(np.array([1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11])).tolist()
    [0, 0, 0, 0, 0, 0, 0, 4, 5, 6, 0]
    """
    highest = np.maximum.accumulate(numbers)
    first_above = np.searchsorted(highest, numbers, side="right")
    return np.where(numbers < highest, np.arange(numbers.size) - first_above, 0)


def n_reordering(numbers: Ints) -> Ints:
    """Return for each arrival the largest n for which it is n-reordered (RFC 4737, section 5).

    That is how many in a row before it have higher numbers. A sender takes it for lost after at most n duplicates.

    Examples
    --------
    >>> n_reordering(np.array([1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11])).tolist()
    [0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0]
    """
    found = np.zeros(numbers.size, dtype=np.int64)
    last_below: list[int] = []  # Arrivals with rising numbers, of which the last is the nearest with a lower number.
    for at, number in enumerate(numbers.tolist()):
        while last_below and numbers[last_below[-1]] > number:
            last_below.pop()
        found[at] = at - last_below[-1] - 1 if last_below else at
        last_below.append(at)
    return found


def displacements(numbers: Ints) -> Ints:
    """Return how many places later than in order each packet arrives (RFC 5236), lost ones left out.

    Examples
    --------
    >>> displacements(np.array([1, 2, 4, 5, 3, 7])).tolist()
    [0, 0, -1, -1, 2, 0]
    """
    order = np.empty(numbers.size, dtype=np.int64)
    order[np.argsort(numbers, kind="stable")] = np.arange(numbers.size)
    return np.arange(numbers.size) - order


@dataclass(frozen=True)
class Stream:
    """Numbers of datagrams in the order of their arrival, their delays [s], and how many were sent."""

    numbers: Ints
    delays_s: Floats
    sent: int

    def statistics(self) -> dict[str, tuple[float, float]]:
        """Return the means, and their standard errors by batches."""
        extent, row, moved = extents(self.numbers), n_reordering(self.numbers), displacements(self.numbers)
        arrived = np.zeros(self.sent)
        arrived[self.numbers] = 1.0
        one = np.ones(extent.size)
        reordered = (extent > 0).astype(float)
        return {
            "lost": mean(1.0 - arrived, np.ones(self.sent)),
            "delay_ms": mean(1e3 * self.delays_s, one),
            "reordered": mean(reordered, one),
            "extent": mean(extent.astype(float), reordered),
            "three_reordered": mean((row >= 3).astype(float), one),
            "in_place": mean((moved == 0).astype(float), one),
            "displacement": mean(np.abs(moved).astype(float), one),
        }

    def density(self) -> dict[int, float]:
        """Return the reorder density (RFC 5236): the share of each displacement."""
        places, counts = np.unique(displacements(self.numbers), return_counts=True)
        return dict(zip(places.tolist(), (counts / self.numbers.size).tolist(), strict=True))

    def bins(self) -> dict[int, int]:
        """Count the delays by bin, each around a multiple of its width."""
        places, counts = np.unique(np.rint(self.delays_s / BIN_S).astype(int), return_counts=True)
        return dict(zip(places.tolist(), counts.tolist(), strict=True))


def mean(values: Floats, weights: Floats) -> tuple[float, float]:
    """Return a ratio of sums, and its standard error by batches."""
    total = weights.sum()
    if total == 0:
        return 0.0, 0.0
    ratio = float(values.sum() / total)
    parts = [part.sum() for part in np.array_split(values - ratio * weights, BATCHES)]
    return ratio, float(np.std(parts, ddof=1) * np.sqrt(BATCHES) / total)


def distance(one: dict[int, int], other: dict[int, int], slack: int) -> float:
    """Return how far two distribution functions of bins are apart, each time known to some bins."""
    lowest = min(*one, *other) - slack - 1
    size = max(*one, *other) + slack + 2 - lowest

    def cumulated(bins: dict[int, int]) -> Floats:
        counts = np.bincount(np.array(list(bins)) - lowest, weights=list(bins.values()), minlength=size)
        return np.asarray(np.cumsum(counts) / counts.sum())

    first, second = cumulated(one), cumulated(other)
    if slack:
        early, late = second[slack * 2 :], second[: -slack * 2]
        first = first[slack:-slack]
        return float(max((first - early).max(), (late - first).max(), 0.0))
    return float(np.abs(first - second).max())


# The recording, and the same by the simulator.


@dataclass(frozen=True)
class Kept:
    """What is kept of a stream: statistics with standard errors, delays by bin, and the reorder density."""

    line: str
    arrived: int
    statistics: dict[str, tuple[float, float]]
    bins: dict[int, int]
    density: dict[int, float]

    @staticmethod
    def of(line: str, stream: Stream) -> Kept:
        """Take them from a stream."""
        return Kept(line, stream.numbers.size, stream.statistics(), stream.bins(), stream.density())

    @staticmethod
    def read(found: dict[str, Any]) -> Kept:
        """Take them from the file."""
        statistics = {name: (value, error) for name, (value, error) in found["statistics"].items()}
        bins = {int(place): count for place, count in found["bins"].items()}
        density = {int(place): share for place, share in found["density"].items()}
        return Kept(found["line"], found["arrived"], statistics, bins, density)

    def document(self) -> dict[str, Any]:
        """Return them for the file."""
        statistics = {name: [float(f"{each:.5g}") for each in pair] for name, pair in self.statistics.items()}
        density = {str(place): float(f"{share:.4g}") for place, share in self.density.items()}
        bins = {str(place): count for place, count in self.bins.items()}
        return {"line": self.line, "arrived": self.arrived, "statistics": statistics, "bins": bins, "density": density}


def recorded(file: Path, base_s: float) -> Stream:
    """Read a stream of a recording, whose delays are those of netem and `base_s`."""
    found = json.loads(file.read_text(encoding="utf-8"))
    numbers = np.array(found["number"], dtype=np.int64)
    delays = np.array(found["arrived_ns"], dtype=np.int64) - np.array(found["sent_ns"], dtype=np.int64)[numbers]
    return Stream(numbers, np.asarray(delays * 1e-9 - base_s, dtype=float), len(found["sent_ns"]))


def keep(folder: Path) -> dict[str, Any]:
    """Reduce a recording to what is kept, and write it."""
    control = recorded(folder / "datagrams delay.json", 0.0)
    base_s = float(np.median(control.delays_s)) - 0.02
    low, high = np.quantile(control.delays_s, [0.001, 0.999])
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    about |= {
        "datagrams": control.sent,
        "base_us": round(1e6 * base_s, 1),
        "slack_us": round(1e6 * float(high - low), 1),
    }
    found: dict[str, Any] = {"about": about, "datagrams": {}, "flows": {}}
    for file in sorted(folder.glob("datagrams *.json")):
        line = json.loads(file.read_text(encoding="utf-8"))["line"]
        kept = Kept.of(line, recorded(file, base_s))
        found["datagrams"][file.stem.partition(" ")[2]] = kept.document()
    for file in sorted(folder.glob("flow *.json")):
        found["flows"][file.stem.partition(" ")[2]] = json.loads(file.read_text(encoding="utf-8"))
    KEPT.write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")
    return found


def scenario(line: str, link_bps: float, duration_s: float) -> tuple[str, list[str]]:
    """Return the scenario that `elephan import tc` makes of options of netem, and its notes."""
    made = traffic_control.read(f"tc qdisc add dev eth0 root netem {line}", "netem")
    around = traffic_control.Around(link_bps=link_bps, rtt_s=RTT_S, duration_s=duration_s)
    return traffic_control.scenario(made, around, line), made.notes


@cache
def simulated(line: str, gap_ns: int, count: int) -> Kept:
    """Send datagrams at equal gaps through the link of a line."""
    duration_s = count * gap_ns * 1e-9
    text, _ = scenario(line, LINK_BPS, duration_s)
    text += f'\n[[links]]\nname = "after"\nrate = "{LINK_BPS:.0f} bit/s"\nbuffer = "unlimited"\n'
    first = "jitter" if '"jitter", "emulated"' in text else "emulated"
    until = f'from = "0 s", to = "{duration_s:g} s"'
    records = ", ".join(f'{{ link = "{name}", {until} }}' for name in (first, "after"))
    text = text.replace("[record]", f"[record]\npackets = [{records}]").replace('"emulated"]', '"emulated", "after"]')
    changes = {
        "flows[0].traffic": {"kind": "cbr", "rate": f"{8e9 * PACKET_B / gap_ns:.3f} bit/s"},
        "flows[0].start": "0 s",
        "warmup": "0 s",
        "replications": 1,
    }
    entered, left = _packets(text, changes)
    service_s = 8 * PACKET_B / LINK_BPS
    sent_s = np.full(int(entered["segment"].max()) + 1, np.nan)
    sent_s[entered["segment"]] = entered["time_s"]
    # The last 50 ms are left out: what was sent in them may not have arrived at the end.
    sent = int(np.searchsorted(sent_s, duration_s - 0.05))
    numbers = np.asarray(left["segment"], dtype=np.int64)
    kept = numbers < sent
    numbers = numbers[kept]
    delays = np.asarray(left["time_s"])[kept] - sent_s[numbers] - service_s - RTT_S / 2
    return Kept.of(line, Stream(numbers, delays, sent))


def _packets(text: str, changes: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a scenario, and return the packets that arrived at its two links."""
    for name in ("tcp", "control"):
        text = "\n".join(each for each in text.splitlines() if not each.startswith(f"{name} "))
    found = elephan.run(elephan.Scenario.from_text(text).replace(changes)).outcomes[0].packets
    return list(found)


NULLS: dict[str, dict[str, str]] = {
    "gap": {
        "no reorder": "delay 20ms",
        "gap 4": "delay 20ms reorder 25% gap 4",
        "gap 1": "delay 20ms reorder 25%",
        "opposite": "delay 20ms reorder 75% gap 5",
    },
    "reorder": {
        "no reorder": "delay 20ms",
        "gap 2": "delay 20ms reorder 25% gap 2",
        "opposite": "delay 20ms reorder 75%",
    },
    "gap 2": {"gap 1": "delay 20ms reorder 25%", "gap 3": "delay 20ms reorder 25% gap 3"},
    "opposite": {"opposite": "delay 20ms reorder 25%"},
    "uniform": {"normal": "delay 20ms 4ms distribution normal", "in order": "delay 20ms 4ms rate 50mbit"},
    "normal": {"uniform": "delay 20ms 4ms", "pareto": "delay 20ms 4ms distribution pareto"},
    "pareto": {
        "normal": "delay 20ms 4ms distribution normal",
        "paretonormal": "delay 20ms 4ms distribution paretonormal",
    },
    "paretonormal": {
        "pareto": "delay 20ms 4ms distribution pareto",
        "normal": "delay 20ms 4ms distribution normal",
    },
    "rate": {"overtaking": "delay 20ms 4ms"},
    "limit": {"no limit": "delay 20ms", "limit 12": "delay 20ms limit 12"},
}
"""Wrong lines for each case, which must be apart."""

LISTED = ("delay", *NULLS)
"""Cases in the order of the table."""

CHANCE = 4.5
"""Standard errors by which means may differ."""

PERIOD = 10 / 20.5 - 10 / 21
"""Tolerance of the share lost at `limit 10`: there a place is free again at the next datagram, after 21 gaps and not
20.5; the policer of `elephan import tc` fills at any time."""


@dataclass(frozen=True)
class Gap:
    """A statistic of netem, that of the simulator, and the tolerance of their difference."""

    name: str
    theirs: float
    ours: float
    tolerance: float

    @property
    def excess(self) -> float:
        """How many tolerances they are apart."""
        gap = abs(self.theirs - self.ours)
        return gap / self.tolerance if self.tolerance else (0.0 if gap == 0 else float("inf"))


def gaps(theirs: Kept, ours: Kept, slack_s: float) -> list[Gap]:
    """Compare two streams in every statistic."""
    found = []
    floor = {"delay_ms": 1e3 * slack_s, "lost": PERIOD if "limit" in theirs.line else 0.0}
    for name, (value, error) in theirs.statistics.items():
        other, its = ours.statistics[name]
        found.append(Gap(name, value, other, floor.get(name, 0.0) + CHANCE * float(np.hypot(error, its))))
    ks = 1.95 * float(np.sqrt(1 / theirs.arrived + 1 / ours.arrived))
    apart = distance(theirs.bins, ours.bins, int(np.ceil(slack_s / BIN_S)))
    return [*found, Gap("distribution", 0.0, apart, ks)]


def worst(found: Sequence[Gap]) -> Gap:
    """Return the gap of most tolerances."""
    return max(found, key=lambda each: each.excess)


# Flows of TCP.

QUEUE_BPS, QUEUE_PACKETS, BACK_S = 10e6, 50, 0.03
"""The queue in front of the line, and the delay of the way back, as `netem_record.py` sets them."""

SEEDS = 30

COUNTS = ("retransmitted", "dsack_dups")
"""Counters by their name in the recording and in results, which have duplicates where a link reorders."""


@cache
def flows(line: str, seconds: float, changes: tuple[tuple[str, Any], ...] = ()) -> dict[str, tuple[float, float]]:
    """Return mean and deviation over seeds of a CUBIC flow as Linux has it: its goodput, and its counters."""
    made = traffic_control.read(f"tc qdisc add dev eth0 root netem {line}", "netem")
    around = traffic_control.Around(link_bps=QUEUE_BPS, rtt_s=BACK_S + RTT_S, duration_s=seconds)
    settings: dict[str, Any] = {
        "links[0].buffer": f"{QUEUE_PACKETS} packets",
        "flows[0].start": "0 s",
        "flows[0].tcp.receive_window": "none",
        # Its receiver reads each segment at once, and what is read is acknowledged (`tcp_cleanup_rbuf`).
        "flows[0].tcp.delayed_ack": 1,
        "replications": SEEDS,
        "warmup": f"{seconds / 5} s",
    }
    path = elephan.Scenario.from_text(traffic_control.scenario(made, around, line)).replace(settings | dict(changes))
    found = {"goodput_bps": [float(each.flows["goodput_bps"][0]) for each in elephan.run(path).outcomes]}
    whole = elephan.run(path.replace({"warmup": "0 s"})).outcomes
    found |= {name: [float(each.flows[name][0]) if name in each.flows else 0.0 for each in whole] for name in COUNTS}
    return {name: (float(np.mean(values)), float(np.std(values, ddof=1))) for name, values in found.items()}


FLOW_NULL = (("flows[0].recovery", "sack"), ("flows[0].tcp.dup_thresh", 3), ("flows[0].tcp.undo", "none"))
"""A sender that takes three duplicates for a loss, and that undoes nothing."""

GOODPUT = 0.03
"""Tolerance of goodput besides chance: two runs of the kernel over `delay 20ms 4ms` differed by 2.6 %."""

HEADER_B = 66
"""Bytes of headers, which count as goodput in results of the simulator."""


@dataclass(frozen=True)
class Row:
    """A case: the recorded stream, the simulated one, their gaps, and those to each null."""

    theirs: Kept
    ours: Kept
    gaps: list[Gap]
    nulls: dict[str, Gap]

    @property
    def holds(self) -> bool:
        """Whether nothing is apart but the nulls."""
        return worst(self.gaps).excess < 1 and all(each.excess > 1 for each in self.nulls.values())

    def cells(self) -> list[str]:
        """Return the columns of the table: kernel, simulator."""
        pairs = [(self.theirs.statistics[name][0], self.ours.statistics[name][0]) for name in self.theirs.statistics]
        lost, delay, reordered, extent, row, _, moved = pairs
        nearest = min(self.nulls, key=lambda name: self.nulls[name].excess, default="")
        null = f"{nearest}: {self.nulls[nearest].excess:.1f}" if nearest else "-"
        if max(lost) > 0:
            null += f"; {100 * lost[0]:.1f}, {100 * lost[1]:.1f} % lost"
        return [
            f"`{self.theirs.line}`",
            f"{delay[0]:.2f}, {delay[1]:.2f}",
            f"{100 * reordered[0]:.1f}, {100 * reordered[1]:.1f}",
            f"{extent[0]:.1f}, {extent[1]:.1f}",
            f"{100 * row[0]:.1f}, {100 * row[1]:.1f}",
            f"{moved[0]:.2f}, {moved[1]:.2f}",
            f"{worst(self.gaps).excess:.2f}",
            null,
        ]


def rows(kept: dict[str, Any]) -> dict[str, Row]:
    """Compare every recorded stream with the simulator, and with its nulls."""
    found = {}
    gap_ns, slack_s = kept["about"]["gap_ns"], kept["about"]["slack_us"] * 1e-6
    for name in LISTED:
        theirs = Kept.read(kept["datagrams"][name])
        count = TIMES_LONGER * kept["about"]["datagrams"]
        ours = simulated(theirs.line, gap_ns, count)
        nulls = {
            null: worst(gaps(theirs, simulated(line, gap_ns, count), slack_s))
            for null, line in NULLS.get(name, {}).items()
        }
        found[name] = Row(theirs, ours, gaps(theirs, ours, slack_s), nulls)
    return found


@dataclass(frozen=True)
class FlowRow:
    """Flows of TCP over a line: the kernel's runs, the simulator's, and those of a sender with three duplicates."""

    line: str
    theirs: dict[str, list[float]]
    ours: dict[str, tuple[float, float]]
    null: dict[str, tuple[float, float]]

    def _apart(self, name: str, found: dict[str, tuple[float, float]]) -> bool:
        """Whether a mean of the simulator is apart from that of the kernel's runs, which vary as much as its own."""
        real, (value, deviation) = self.theirs[name], found[name]
        chance = CHANCE * deviation * float(np.sqrt(1 / len(real) + 1 / SEEDS))
        return abs(value - float(np.mean(real))) > chance + (GOODPUT * value if name == "goodput_bps" else 0.0)

    @property
    def holds(self) -> bool:
        """Whether nothing is apart but the null's goodput where packets overtake others."""
        ours = any(self._apart(name, self.ours) for name in self.theirs if name in self.ours)
        return not ours and (self.line == CONTROL or self._apart("goodput_bps", self.null))

    def cells(self) -> list[str]:
        """Return the columns of the table."""
        sides = (self.ours, self.null)
        rates = [float(np.mean(self.theirs["goodput_bps"])), *(side["goodput_bps"][0] for side in sides)]
        found = [f"`{self.line}`", ", ".join(f"{each / 1e6:.2f}" for each in rates)]
        for name in COUNTS:
            shown = [f"{side[name][0]:.0f}±{side[name][1]:.0f}" for side in sides]
            found.append(f"{' '.join(f'{each:.0f}' for each in self.theirs[name])}; {', '.join(shown)}")
        return [*found, f"{np.max(self.theirs['reordering']):.0f}"]


def flow_rows(kept: dict[str, Any]) -> dict[str, FlowRow]:
    """Compare every recorded flow with the simulator, and with the null."""
    found = {}
    for name in [each for each in LISTED if each in kept["flows"]]:
        runs, line = kept["flows"][name]["runs"], kept["flows"][name]["line"]
        theirs = {key: [float(run[key]) for run in runs] for key in runs[0]}
        for count in COUNTS:
            theirs[count] = list(map(sum, zip(theirs[count], theirs[f"{count}_start"], strict=True)))
        theirs["goodput_bps"] = [each * PACKET_B / (PACKET_B - HEADER_B) for each in theirs["goodput_bps"]]
        seconds = kept["about"]["seconds"]
        found[name] = FlowRow(line, theirs, flows(line, seconds), flows(line, seconds, FLOW_NULL))
    return found


def tables(kept: dict[str, Any], streams: dict[str, Row], of_tcp: dict[str, FlowRow]) -> list[str]:
    """Return the lines of both tables."""
    about = kept["about"]

    def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
        rule = ["---", *(["--:"] * (len(head) - 1))]
        return ["| " + " | ".join(row) + " |" for row in (head, rule, *body)]

    datagrams = (
        f"{about['datagrams']} datagrams of {PACKET_B} bytes, one every {1e-6 * about['gap_ns']:.3f} ms, "
        f"Linux {about['kernel'].partition('-')[0]}, whose timer has a slack of {about['slack_us']:.0f} µs:"
    )
    runs = max(len(each["runs"]) for each in kept["flows"].values())
    of_flows = (
        f"A CUBIC flow of {about['seconds']:g} s through {QUEUE_BPS / 1e6:g} Mbit/s and a buffer of {QUEUE_PACKETS} "
        "packets, with 30 ms on the way back. Goodput is that of the kernel, of elephan and of the wrong model, "
        f"without the first {about['seconds'] / 5:g} s. Counts are those of the kernel's {runs} runs, then of elephan "
        f"and of the wrong model (mean and deviation of {SEEDS} seeds). `tcpi_reordering` is the kernel's largest:"
    )
    streams_head = (
        *("delay [ms]", "reordered [%]", "extent", "3-reordered [%]", "displacement", "distance"),
        "nearest wrong line",
    )
    flows_head = ("goodput [Mbit/s]", "sent again", "DSACKs", "`tcpi_reordering`")
    return [
        datagrams,
        "",
        *table(("netem", *streams_head), [row.cells() for row in streams.values()]),
        "",
        of_flows,
        "",
        *table(("netem", *flows_head), [row.cells() for row in of_tcp.values()]),
    ]


def write_page(lines: Sequence[str]) -> None:
    """Insert the tables at their place on the page."""
    head, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    text = "\n".join([head + BEGIN, "", *lines, "", END]) + rest.split(END)[1]
    PAGE.write_text(text, encoding="utf-8")


def main() -> int:
    """Keep a recording, compare, and write the tables; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recording", type=Path, metavar="FOLDER", help="of evidence/netem_record.py, to be kept")
    parser.add_argument("--page", action="store_true", help="write the tables into the guide")
    asked = parser.parse_args()
    if asked.recording is not None and not (asked.recording / "about.json").exists():
        sys.stderr.write(f"--recording {asked.recording}: has no about.json; evidence/netem_record.py makes one\n")
        return 2
    kept = keep(asked.recording) if asked.recording else json.loads(KEPT.read_text(encoding="utf-8"))
    streams, of_tcp = rows(kept), flow_rows(kept)
    lines = tables(kept, streams, of_tcp)
    sys.stdout.write("\n".join(lines) + "\n")
    if asked.page:
        write_page(lines)
    apart = [name for found in (streams, of_tcp) for name, row in found.items() if not row.holds]
    if apart:
        sys.stderr.write(f"apart beyond their tolerance, or a null is not: {', '.join(apart)}\n")
    return 1 if apart else 0


if __name__ == "__main__":
    sys.exit(main())
