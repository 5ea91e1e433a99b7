"""FIFO or PIE by name on 960 public logs of `ss`, and what a classifier that knows each cell can tell.

python tools/judge_logs.py FOLDER    (with fabric-fifo-pie-{time,srtt,cwnd}.csv.gz; some minutes)

A column is a log; its name has the rate [Mbit/s], the base round-trip time [ms], the queue and the numbers of flows.
Columns with odd numbers judge. Queues hold twice the bandwidth-delay product; PIE's target is 10 ms.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.inference import Answer, Known, infer
from elephan.inference.paths import MSS_B, Hosts, PathModel, beside_group
from elephan.inference.simulated import measure
from elephan.measurements.series import Measurement, flow_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

RTTS_MS = (5, 10, 20, 50, 100)

WEIGHT = 0.42 / 0.14
"""FIFO queues in the training, for each of PIE (`SHARES` of `train_infer.py`)."""

COUNTS, RATES = (1, 5, 10, 25), (20, 50, 100, 150)
"""Flows of each law and rates [Mbit/s] of the simulated cells."""

RIDGE = 5.0


@dataclass(frozen=True)
class Log:
    """A log: number of its column, rate [Mbit/s], base round-trip time [ms], whether PIE, flows, series."""

    number: int
    rate: float
    rtt: float
    pie: bool
    flows: int
    time_s: Floats
    srtt_ms: Floats
    cwnd: Floats


def logs(folder: Path) -> Iterator[Log]:
    """Yield the logs of a folder."""
    tables = []
    for name in ("time", "srtt", "cwnd"):
        with gzip.open(folder / f"fabric-fifo-pie-{name}.csv.gz", "rt", encoding="utf-8") as file:
            tables.append(list(zip(*csv.reader(file), strict=True)))
    for number, columns in enumerate(zip(*tables, strict=True)):
        words = columns[0][0].split("_")
        at = words.index("pie") if "pie" in words else words.index("FIFO")
        rows = [row for row in zip(*(column[1:] for column in columns), strict=True) if all(row)]
        series = np.array(rows, dtype=float).T
        flows = sum(map(int, words[-4:-1]))
        yield Log(number, float(words[at - 2]), float(words[at - 1]), words[at] == "pie", flows, *series)


def ratio_of(log: Log) -> float:
    """Return the logarithm of PIE's share over FIFO's in an answer; NaN without one."""
    columns = {"srtt_s": log.srtt_ms / 1e3, "cwnd_bytes": log.cwnd * MSS_B}
    flow = flow_of("flow", list(log.time_s - log.time_s[0]), columns, mss_bytes=float(MSS_B), law="cubic")  # type: ignore[arg-type]
    ping = min(log.rtt, float(log.srtt_ms.min())) / 1e3
    answer = infer([Measurement(Path("log"), "ss", (flow,))], Known(rtt_s=ping))
    if not isinstance(answer, Answer):
        return float("nan")
    return float(np.log((answer.disciplines["pie"] + 1e-9) / (answer.disciplines["drop-tail"] + 1e-9)))


def features(log: Log) -> Floats:
    """Return statistics of queue and window in units of the cell, which is known."""
    late = log.time_s - log.time_s[0] > 3
    queue, cwnd = (log.srtt_ms[late] - log.rtt) / (2 * log.rtt), np.log(np.maximum(log.cwnd[late], 1))
    ends = np.quantile(queue, [0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])
    moved = np.diff(queue)
    return np.array(
        [
            *ends,
            queue.std(),
            moved.std(),
            float((queue[1:] * queue[:-1]).mean() - queue.mean() ** 2),
            np.median(cwnd),
            cwnd.std(),
            float((np.diff(cwnd) < -0.1).mean()),
            float((queue > 1.02).mean()),
            np.log(log.rate),
            np.log(log.flows),
        ]
    )


def simulated(rtt: int) -> Iterator[Log]:
    """Yield simulated logs of the cells of a round-trip time, with both queues."""
    hosts = Hosts(burst='"linux"', delayed_ack=2)
    start = 'start = { from = "2.8 s", to = "3.2 s" }'
    cells = product(RATES, COUNTS, COUNTS, ("drop-tail", "pie"))
    for seed, (rate, cubic, reno, queue) in enumerate(cells, 1):
        beside = tuple(
            beside_group(law, rtt / 1e3, f"count = {count}", start, 'tcp = "linux"', f'control = {{ law = "{law}" }}')
            for law, count in (("cubic", cubic), ("reno", reno))
        )
        path = PathModel(rate * 1e6, rtt / 1e3, 2e-3 * rtt, queue, "cubic", 0.010, beside, "flows", hosts)
        found = measure(path, 18.0, seed=seed, every_s=0.12)
        times = 0.12 * np.arange(found.rtt_s.size)
        flows = 1 + cubic + reno
        yield Log(seed, rate, rtt, queue == "pie", flows, times, found.rtt_s * 1e3, found.cwnd_segments)


def logistic(x: Floats, y: Floats) -> Any:
    """Return a logistic regression with a ridge, as a function of statistics."""
    mean, scale = x.mean(axis=0), x.std(axis=0) + 1e-9

    def standard(values: Floats) -> Floats:
        within: Floats = np.clip((values - mean) / scale, -4, 4)
        return np.column_stack([within, np.ones(len(values))])

    rows, weights = standard(x), np.zeros(x.shape[1] + 1)
    ridge = RIDGE * np.r_[np.ones(x.shape[1]), 1e-6]
    for _ in range(40):
        share = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (share - y) + ridge * weights
        curve = (rows * (share * (1 - share) + 1e-6)[:, None]).T @ rows + np.diag(ridge)
        weights = weights - np.linalg.solve(curve, slope)
    return lambda values: standard(values) @ weights > 0


def main() -> None:
    """Judge the logs of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    found = list(logs(parser.parse_args().folder))
    ratios, pie = np.array([ratio_of(log) for log in found]), np.array([log.pie for log in found])
    rtts, odd = np.array([log.rtt for log in found]), np.array([log.number % 2 == 1 for log in found])
    say = sys.stdout.write
    for half, mine in (("examined", ~odd), ("judged", odd)):
        for name, shift in (("as trained", 0.0), ("equal weights", np.log(WEIGHT))):
            right = ((ratios + shift > 0) == pie) & np.isfinite(ratios)
            by = ", ".join(f"{rtt} ms {100 * right[mine & (rtts == rtt)].mean():.0f}" for rtt in RTTS_MS)
            say(f"{half}, {name}: {100 * right[mine].mean():.1f} % right; {by}\n")
    for rtt in RTTS_MS[:2]:
        made = list(simulated(rtt))
        x, y = np.array([features(log) for log in made]), np.array([float(log.pie) for log in made])
        # Both queues of a cell are in the same half.
        part = np.arange(len(made)) // 2 % 2 == 0
        known = [logistic(x[here], y[here])(x[~here]) == y[~here] for here in (part, ~part)]
        share = 100 * np.concatenate(known).mean()
        say(f"classifier of simulations, {rtt} ms, on others: {share:.1f} % of {len(made)}\n")
        tells = logistic(x, y)
        for half, mine in (("examined", ~odd), ("judged", odd)):
            logged = [log for log, is_mine in zip(found, mine, strict=True) if is_mine and log.rtt == rtt]
            logged = [log for log in logged if log.time_s.size > 100]
            right = tells(np.array([features(log) for log in logged])) == np.array([log.pie for log in logged])
            say(f"classifier of simulations, {rtt} ms, {half}: {100 * right.mean():.1f} % of {len(logged)}\n")


if __name__ == "__main__":
    main()
