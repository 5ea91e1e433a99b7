"""The networks of `elephan infer`: simulate paths of the prior, train, calibrate, and judge on paths kept apart.

    export OPENBLAS_NUM_THREADS=1
    python tools/train_infer.py simulate FOLDER --runs 26000 --seed 7    (about 10 minutes of one core)
    python tools/train_infer.py simulate FOLDER/policers --runs 30000 --seed 8 --only policer    (2 minutes)
    python tools/train_infer.py fit FOLDER --level fine     (a minute; then coarse and windows)
    python tools/train_infer.py merge FOLDER                (writes model.npz)
    python tools/train_infer.py judge FOLDER                (coverage and widths)

To calibrate the bursts again without training, `--parts 89` simulates a fifth of the runs, and `calibrate FOLDER` takes
the place of `fit` and `merge`.

Of the simulations eight tenths train, one tenth calibrates and one tenth judges, by their number. The same seed gives
the same simulations, and the same network on the same kind of processor.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.inference.network import (
    GROUPS,
    LEVELS,
    MODEL,
    OF_INTERVALS,
    QUANTILES,
    TARGETS,
    Level,
    bases_of,
    group_of,
    level,
)
from elephan.inference.paths import (
    BESIDE,
    BUFFER_BDP,
    DISCIPLINES,
    LAWS,
    LEAST_BUFFER,
    MOST_QUEUE_S,
    PACKET_B,
    RATE_BPS,
    RTT_S,
    PathModel,
    draw_beside,
    draw_hosts,
    log_uniform,
)
from elephan.inference.simulated import EVERY_S, Samples, measure
from elephan.inference.statistics import LONGEST_S, base, statistics

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[Any]

CHUNK = 500
HIDDEN = (108, 72)
EPOCHS, BATCH, RATE, DECAY = 150, 512, 3e-3, 0.3
HERE = Path(__file__).resolve().parent.parent / "python" / "elephan" / "inference"

HELD = {"fine": 0.91, "coarse": 0.93, "windows": 0.93}
"""Share of the calibrating runs whose intervals hold: more than is said where some strata are harder than others."""

HELD_BURST = 0.93
"""The same of the bursts of policers, where flows beside and BBR are harder."""

POLICERS, BURST = "policers", TARGETS.index("burst_s")
"""Folder of more policers, of which a tenth of all runs are too few for each group; and the place of the burst."""

LOSSES = -30
"""Place of the number of loss episodes among the statistics."""

HELD_SMALL = 0.95
"""The same of groups with small predicted buffers, whose members are the most unlike."""

FEWEST = 40
"""Fewest runs that calibrate a group."""


SHARES = {"drop-tail": 0.42, "red": 0.09, "codel": 0.11, "fq-codel": 0.12, "pie": 0.14, "policer": 0.12}
"""Shares of the disciplines among the drawn paths."""

SLOW_BPS = 1.2e8
"""Rate up to which runs are cheap; most of the draws are below [bit/s]."""


def say(*words: object) -> None:
    """Print a line."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def draw(rng: Generator) -> PathModel:
    """Draw a path from the prior.

    Examples
    --------
    >>> draw(np.random.default_rng(1)).discipline in DISCIPLINES
    True
    """
    low, high = RATE_BPS
    rate = log_uniform(rng, low, SLOW_BPS) if rng.random() < 0.82 else log_uniform(rng, SLOW_BPS, high)
    rtt = log_uniform(rng, *RTT_S)
    discipline = str(rng.choice(DISCIPLINES, p=[SHARES[name] for name in DISCIPLINES]))
    law = str(rng.choice(LAWS, p=[0.55, 0.15, 0.3]))
    path = PathModel(rate, rtt, _buffer(rng, rate, rtt, discipline), discipline, law)
    path = replace(path, target_s=_target(rng, path), hosts=draw_hosts(rng), jitter_s=_jitter(rng, rtt))
    if discipline == "policer":
        path = replace(path, fast=log_uniform(rng, 1.5, 20.0))
    elif discipline == "drop-tail" and rng.random() < 0.2:
        path = replace(path, fast=log_uniform(rng, 2.0, 20.0), shaper_b=int(log_uniform(rng, 1600, 64_000)))
    return replace(path, **draw_beside(rng, path))


def _buffer(rng: Generator, rate: float, rtt: float, discipline: str) -> float:
    if discipline == "policer":
        return max(log_uniform(rng, 0.003, 1.0), 3 * 8 * PACKET_B / rate)
    if discipline not in ("drop-tail", "red") and rng.random() < 0.7:
        # As it comes with Linux: 1000 packets, or 10240 of FQ-CoDel.
        return float(rng.choice([1000, 10240])) * 8 * PACKET_B / rate
    low, high = BUFFER_BDP
    bdp = log_uniform(rng, low, 4.0) if rng.random() < 0.72 else log_uniform(rng, 4.0, high)
    return float(np.clip(bdp * rtt, LEAST_BUFFER * 8 * PACKET_B / rate, MOST_QUEUE_S))


def _target(rng: Generator, path: PathModel) -> float:
    if path.discipline == "red":
        return path.buffer_s * float(rng.uniform(0.05, 0.3))
    usual = 0.015 if path.discipline == "pie" else 0.005
    return usual if rng.random() < 0.5 else log_uniform(rng, 0.3 * usual, 5 * usual)


def _jitter(rng: Generator, rtt: float) -> float:
    return log_uniform(rng, 2e-5, min(0.003, 0.1 * rtt)) if rng.random() < 0.3 else 0.0


def simulate(folder: Path, runs: int, seed: int, parts: str = "0123456789", only: str = "") -> None:
    """Simulate paths of the prior, and write their samples in chunks; chunks that exist are kept.

    Parameters
    ----------
    parts : str
        Last digits of the numbers of the runs that are simulated: 8 calibrate, 9 judge, the others train.
    only : str
        The discipline of the runs that are simulated; empty for all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for chunk in range(runs // CHUNK):
        file = folder / f"{seed}-{chunk:03d}.npz"
        if file.exists():
            continue
        rows, truth = [], []
        for number in range(chunk * CHUNK, (chunk + 1) * CHUNK):
            if str(number % 10) not in parts:
                continue
            rng = np.random.default_rng([seed, number])
            path = draw(rng)
            if only not in ("", path.discipline):
                continue
            duration = float(rng.uniform(8, 30)) if path.rate_bps < SLOW_BPS else float(rng.uniform(8, 20))
            found = measure(path, duration, seed=int(rng.integers(1, 2**31)))
            rows.append(
                np.array([found.rtt_s, found.cwnd_segments, found.delivered_bytes, found.retransmits], np.float32)
            )
            names = ("rate_bps", "rtt_s", "buffer_s", "buffer_packets", "discipline", "law", "kind", "shaper_b")
            truth.append({"n": number, **{name: getattr(path, name) for name in names}, "window": path.hosts.window})
        arrays = {"data": np.concatenate(rows, axis=1), "length": np.array([row.shape[1] for row in rows])}
        np.savez_compressed(file, truth=json.dumps(truth), **arrays)  # type: ignore[arg-type]
        say(file.name)


def at_level(samples: Samples, name: str) -> Samples:
    """Return samples as a level has them."""
    if name == "windows":
        return samples.without_counts()
    return samples.merged(10) if LEVELS[name] == 1.0 else samples


def load(folder: Path) -> tuple[list[dict[str, Any]], list[Samples]]:
    """Read the simulations of a folder."""
    truths, found = [], []
    for file in sorted(folder.glob("*.npz")):
        with np.load(file) as arrays:
            data, truth = arrays["data"].astype(float), json.loads(str(arrays["truth"]))
            ends = np.cumsum(arrays["length"])
        for one, part in zip(truth, np.split(data, ends[:-1], axis=1), strict=True):
            truths.append(one)
            found.append(Samples(EVERY_S, part[0], part[1], part[2], part[3]))
    return truths, found


@dataclass(frozen=True)
class Prepared:
    """Simulations at a level.

    Parameters
    ----------
    x : ndarray, shape (runs, 2, statistics)
        Without and with a known base round-trip time.
    bases : ndarray, shape (runs, 2, targets)
        Estimates by theory.
    truths : list of dict
    """

    x: Floats
    bases: Floats
    truths: list[dict[str, Any]]

    def variant(self, known: int) -> tuple[Floats, Floats, tuple[Any, ...]]:
        """Return statistics, estimates, and answers without (0) or with (1) a known base round-trip time."""
        return self.x[:, known], self.bases[:, known], answers(self.truths, self.bases[:, known])

    def of_part(self, *numbers: int) -> NDArray[np.bool_]:
        """Return which simulations have these last digits."""
        return np.isin(np.array([truth["n"] for truth in self.truths]) % 10, numbers)

    @property
    def is_bbr(self) -> NDArray[np.bool_]:
        """Which senders use BBR."""
        return np.array([truth["law"] == LAWS[2] for truth in self.truths])


def prepared(folder: Path, name: str) -> Prepared:
    """Return the simulations at a level, each without and with a known base round-trip time."""
    cached = folder / f"{name}.stats"
    truths, runs = load(folder)
    x: list[Floats] = []
    bases: list[Floats] = []
    if cached.exists():
        with np.load(cached) as old:
            x, bases = list(old["x"]), list(old["bases"])
    for truth, samples in list(zip(truths, runs, strict=True))[len(x) :]:
        # Three of five are counted by iperf3, the others by the kernel (ss).
        rng = np.random.default_rng([truth["n"], 1])
        counted = samples.written(float(rng.uniform(1.0, 2.5))) if rng.random() < 0.6 else samples
        seen = at_level(noisy(rng, counted), name)
        # A ping is up to 2 % above the base round-trip time.
        pings = None, truth["rtt_s"] * float(np.exp(rng.uniform(0, 0.02)))
        x.append(np.array([statistics(seen, truth["law"], (None, ping, None)) for ping in pings]))
        bases.append(np.array([bases_of(base(seen.first(LONGEST_S), ping)) for ping in pings]))
    found = Prepared(np.array(x), np.array(bases), truths)
    with cached.open("wb") as file:
        np.savez(file, x=found.x, bases=found.bases)
    return found


def noisy(rng: np.random.Generator, samples: Samples) -> Samples:
    """Return samples of a host whose timers and interrupts delay ACKs: up to half a millisecond, log-uniform."""
    scale = float(np.exp(rng.uniform(np.log(1e-6), np.log(5e-4))))
    # Smoothed as srtt is: some samples of the interval's last ACKs have weight.
    late = np.convolve(rng.exponential(scale, samples.rtt_s.size + 2), (0.5, 0.3, 0.2), mode="valid")
    return replace(samples, rtt_s=samples.rtt_s + late)


def answers(truths: list[dict[str, Any]], bases: Floats) -> tuple[Floats, Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Return what the network should say: logarithms of ratios, which of them count, disciplines, traffic beside."""
    columns = ("rate_bps", "rtt_s", "buffer_s", "buffer_packets", "buffer_s")
    y = np.log(np.array([[truth[name] for name in columns] for truth in truths]) / bases)
    kind = np.array([DISCIPLINES.index(truth["discipline"]) for truth in truths])
    counts = np.ones_like(y)
    counts[:, 2:4] = (kind == 0)[:, None]
    counts[:, 4] = kind == DISCIPLINES.index("policer")
    return y, counts, kind, np.array([BESIDE.index(truth["kind"]) for truth in truths])


def with_facts(rng: np.random.Generator, x: Floats, y: Floats, beside: NDArray[np.int64], often: float = 0.2) -> Floats:
    """Return statistics with the rate and the traffic beside known of some, drawn for each row."""
    x = x.copy()
    rate = (rng.random(len(x)) < often).astype(float)
    x[:, -4], x[:, -3] = rate, rate * y[:, 0]
    x[:, -1] = (rng.random(len(x)) < often) * np.where(beside == 0, 1.0, -1.0)
    return x


def joined(variants: list[tuple[Floats, Floats, tuple[Any, ...]]], rows: NDArray[Any]) -> tuple[Any, ...]:
    """Return rows of both variants, one after the other: statistics, estimates, and answers."""
    x, bases = (np.concatenate([one[i][rows] for one in variants]) for i in (0, 1))
    return x, bases, tuple(np.concatenate([one[2][i][rows] for one in variants]) for i in range(4))


def initial(rng: np.random.Generator, sizes: list[int]) -> list[Floats]:
    """Return weights and biases to begin with (He et al., 2015)."""
    found: list[Floats] = []
    for before, after in pairwise(sizes):
        found += [rng.normal(0, np.sqrt(2 / before), (before, after)), np.zeros(after)]
    found[-2] *= 0.1
    return found


def softmax(values: Floats) -> Floats:
    """Return shares."""
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    found: Floats = powers / powers.sum(axis=1, keepdims=True)
    return found


def gradients(
    weights: list[Floats], x: Floats, y: Floats, counts: Floats, kind: NDArray[np.int64], beside: NDArray[np.int64]
) -> tuple[float, list[Floats]]:
    """Return the loss of a batch and its gradients: pinball loss of the quantiles, cross-entropy of the names."""
    size = len(x)
    layers = [x]
    for i in range(0, len(weights) - 2, 2):
        layers.append(np.maximum(layers[-1] @ weights[i] + weights[i + 1], 0.0))
    out = layers[-1] @ weights[-2] + weights[-1]
    shares = np.array(QUANTILES, dtype=out.dtype)
    quantiles = out[:, :OF_INTERVALS].reshape(size, len(TARGETS), len(QUANTILES))
    error = np.clip(y, -6, 6)[:, :, None] - quantiles
    pinball = np.maximum(shares * error, (shares - 1) * error) * counts[:, :, None]
    slope = -np.where(error > 0, shares, shares - 1) * counts[:, :, None]
    weight = np.array([1.0, 1.5, 3.0, 2.0, 1.0], dtype=out.dtype)[None, :, None]
    loss = float((pinball * weight).sum() / size)
    delta = np.empty_like(out)
    delta[:, :OF_INTERVALS] = (slope * weight).reshape(size, -1) / size
    rows = np.arange(size)
    for begin, end, truth, factor in (
        (OF_INTERVALS, OF_INTERVALS + len(DISCIPLINES), kind, 0.3),
        (OF_INTERVALS + len(DISCIPLINES), out.shape[1], beside, 0.3),
    ):
        part = softmax(out[:, begin:end])
        loss += factor * float(-np.log(part[rows, truth] + 1e-12).mean())
        part[rows, truth] -= 1
        delta[:, begin:end] = factor * part / size
    found: list[Floats] = []
    for i in range(len(weights) - 2, -1, -2):
        found = [layers[i // 2].T @ delta, delta.sum(axis=0), *found]
        if i:
            delta = (delta @ weights[i].T) * (layers[i // 2] > 0)
    return loss, found


def trained(x: Floats, mean: Floats, scale: Floats, parts: tuple[Any, ...], seed: int) -> list[Floats]:
    """Train by Adam with a falling rate."""
    y, counts, kind, beside = parts
    # In single precision, which takes half of the time.
    y, counts = y.astype(np.float32), counts.astype(np.float32)
    rng = np.random.default_rng(seed)
    sizes = [x.shape[1], *HIDDEN, OF_INTERVALS + len(DISCIPLINES) + len(BESIDE)]
    weights: list[Floats] = [one.astype(np.float32) for one in initial(rng, sizes)]
    first: list[Floats] = [np.zeros_like(w) for w in weights]
    second: list[Floats] = [np.zeros_like(w) for w in weights]
    steps = EPOCHS * (len(x) // BATCH)
    step = 0
    for epoch in range(EPOCHS):
        told = np.clip((with_facts(rng, x, y, beside) - mean) / scale, -6, 6).astype(np.float32)
        order = rng.permutation(len(x))
        total = 0.0
        for begin in range(0, len(x) // BATCH * BATCH, BATCH):
            chosen = order[begin : begin + BATCH]
            loss, slopes = gradients(weights, told[chosen], y[chosen], counts[chosen], kind[chosen], beside[chosen])
            total += loss
            step += 1
            rate = float(RATE * 0.5 * (1 + np.cos(np.pi * step / steps)))
            for i, slope in enumerate(slopes):
                first[i] = 0.9 * first[i] + 0.1 * slope
                second[i] = 0.999 * second[i] + 0.001 * slope**2
                moved = first[i] / (1 - 0.9**step) / (np.sqrt(second[i] / (1 - 0.999**step)) + 1e-8)
                weights[i] = weights[i] - rate * (moved + DECAY * weights[i] * (i % 2 == 0))
        if epoch % 10 == 9:
            say(f"  epoch {epoch + 1}: loss {total / (len(x) // BATCH):.4f}")
    return weights


def scores(raw: Floats, y: Floats, i: int) -> Floats:
    """Return by how much of its width each interval of a target must be widened to hold the truth."""
    low, high = raw[:, i * len(QUANTILES)], raw[:, (i + 1) * len(QUANTILES) - 1]
    found: Floats = np.maximum(low - y[:, i], y[:, i] - high) / np.maximum(high - low, 1e-6)
    return found


def widened(score: Floats, group: NDArray[np.int64], held: float) -> Floats:
    """Return the widening of each group.

    A group with few runs is calibrated with its like, small or large buffers, and that with all.
    """
    found = np.zeros(GROUPS)
    for number in range(GROUPS):
        like = score[group // (GROUPS // 4) == number // (GROUPS // 4)]
        mine = next(s for s in (score[group == number], like, score) if s.size >= FEWEST)
        share = HELD_SMALL if number // (GROUPS // 4) % 2 else held
        found[number] = np.quantile(mine, min(share * (1 + 1 / mine.size), 1.0), method="higher")
    return found


def widened_bursts(folder: Path, name: str, network: Level) -> Floats:
    """Return the widening of the bursts of policers: of the runs that calibrate, and of those in ``policers``."""
    held, groups = [], []
    for runs, rows in ((prepared(folder, name), (8,)), (prepared(folder / POLICERS, name), range(9))):
        for known in (0, 1):
            x, bases, (y, counts, _, _) = runs.variant(known)
            chosen = np.flatnonzero(runs.of_part(*rows) & (counts[:, BURST] > 0))
            raw = network.raw(x[chosen])
            held.append(scores(raw, y[chosen], BURST))
            groups.append(group_of(raw, runs.is_bbr[chosen], bases[chosen], known))
    return widened(np.concatenate(held), np.concatenate(groups), HELD_BURST)


def calibrate(folder: Path, out: Path) -> None:
    """Calibrate the bursts of the networks in a file again, without training."""
    with np.load(out) as old:
        arrays = {key: old[key] for key in old.files}
    for name in LEVELS:
        arrays[f"{name}_widening"][:, BURST] = widened_bursts(folder, name, level(name))
    np.savez(out, **arrays)


def calibrated(raw: Floats, parts: tuple[Any, ...], group: NDArray[np.int64], held: float) -> tuple[Floats, Floats]:
    """Return the widening of the intervals by group, and the thresholds of the sets."""
    y, counts, kind, beside = parts
    widening = np.zeros((GROUPS, len(TARGETS)))
    for i in range(len(TARGETS)):
        counted = counts[:, i] > 0
        widening[:, i] = widened(scores(raw, y, i)[counted], group[counted], held)
    thresholds = []
    for begin, truth, names in ((OF_INTERVALS, kind, DISCIPLINES), (OF_INTERVALS + len(DISCIPLINES), beside, BESIDE)):
        for number in range(len(names)):
            mine = raw[truth == number, begin + number]
            thresholds.append(np.quantile(mine, max(0.1 * (1 - 1 / mine.size), 0.0), method="lower"))
    return widening, np.array(thresholds)


def fit(folder: Path, name: str, seed: int) -> None:
    """Train and calibrate the network of a level, and write it beside the simulations."""
    begun = time.process_time()
    runs = prepared(folder, name)
    say(f"{name}: {len(runs.x)} runs, statistics {time.process_time() - begun:.0f} s")
    variants = [runs.variant(known) for known in (0, 1)]
    x, _, parts = joined(variants, np.flatnonzero(runs.of_part(*range(8))))
    told = with_facts(np.random.default_rng(seed), x, parts[0], parts[3])
    mean, scale = told.mean(axis=0), np.maximum(told.std(axis=0), 1e-3)
    weights = trained(x, mean, scale, parts, seed)
    weights = [w.astype(np.float16).astype(float) for w in weights]
    mean, scale = mean.astype(np.float32).astype(float), scale.astype(np.float32).astype(float)
    empty = np.zeros((GROUPS, len(TARGETS))), np.zeros(len(DISCIPLINES) + len(BESIDE))
    network = Level(mean, scale, tuple(weights[::2]), tuple(weights[1::2]), *empty)
    rows = np.flatnonzero(runs.of_part(8))
    x, bases, parts = joined(variants, rows)
    raw = network.raw(x)
    group = group_of(raw, np.tile(runs.is_bbr[rows], 2), bases, np.repeat([0, 1], rows.size))
    widening, thresholds = calibrated(raw, parts, group, HELD[name])
    widening[:, BURST] = widened_bursts(folder, name, network)
    arrays = {f"{name}_mean": mean.astype(np.float32), f"{name}_scale": scale.astype(np.float32)}
    for i in range(0, len(weights), 2):
        arrays |= {f"{name}_w{i}": weights[i].astype(np.float16), f"{name}_b{i}": weights[i + 1].astype(np.float16)}
    arrays |= {f"{name}_widening": widening.astype(np.float32), f"{name}_thresholds": thresholds.astype(np.float32)}
    with (folder / f"{name}.network").open("wb") as file:
        np.savez(file, **arrays)
    say(f"{name}: {time.process_time() - begun:.0f} s")


def merge(folder: Path, out: Path) -> None:
    """Write the networks of all levels as one file."""
    arrays: dict[str, Any] = {}
    for name in LEVELS:
        with np.load(folder / f"{name}.network") as part:
            arrays |= {key: part[key] for key in part.files}
    np.savez(out, **arrays)
    say(out, out.stat().st_size, "bytes")


def main() -> None:
    """Run a step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["simulate", "fit", "calibrate", "merge", "judge"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=26_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--parts", default="0123456789", help="of simulate: last digits of the runs, 89 to recalibrate")
    parser.add_argument("--only", default="", choices=["", *DISCIPLINES], help="of simulate: paths of this discipline")
    parser.add_argument("--level", choices=list(LEVELS), default="fine", help="of fit")
    parser.add_argument("--out", type=Path, default=HERE / MODEL)
    asked = parser.parse_args()
    if asked.step == "simulate":
        simulate(asked.folder, asked.runs, asked.seed, asked.parts, asked.only)
    elif asked.step == "fit":
        fit(asked.folder, asked.level, asked.seed)
    elif asked.step == "calibrate":
        calibrate(asked.folder, asked.out)
    elif asked.step == "merge":
        merge(asked.folder, asked.out)
    else:
        judge(asked.folder)


def judge(folder: Path) -> None:
    """Print coverage and widths on the simulations kept apart."""
    for name, known in ((name, known) for name in LEVELS for known in (0, 1)):
        runs, more = prepared(folder, name), prepared(folder / POLICERS, name)
        # Of the policers beside, only the bursts are judged.
        own = np.flatnonzero(runs.of_part(9))
        chosen = np.concatenate([own, len(runs.x) + np.flatnonzero(more.of_part(9))])
        runs = Prepared(
            np.concatenate([runs.x, more.x]), np.concatenate([runs.bases, more.bases]), runs.truths + more.truths
        )
        x, bases, (y, counts, kind, beside) = runs.variant(known)
        counts[chosen[own.size :], :BURST] = 0
        truths, network = runs.truths, level(name)
        raw = network.raw(x[chosen])
        is_bbr = runs.is_bbr[chosen]
        group = group_of(raw, is_bbr, bases[chosen], known)
        truth_bdp = np.array([truths[i]["buffer_s"] / truths[i]["rtt_s"] for i in chosen])
        strata = {
            "all": np.ones(chosen.size, bool),
            "alone": beside[chosen] == 0,
            "flows beside": beside[chosen] == 1,
            "datagrams": beside[chosen] == 2,
            "bbr": is_bbr,
            "flows beside, bbr": (beside[chosen] == 1) & is_bbr,
            "below 0.1 BDP": truth_bdp < 0.1,
            "4 to 32 BDP": truth_bdp > 4,
            "policer": kind[chosen] == 5,
            "alone, cubic or reno, losses": (beside[chosen] == 0) & ~is_bbr & (x[chosen, LOSSES] > 0),
        }
        say(f"## {name}{', base round-trip time known' if known else ''}")
        for i, target in enumerate(TARGETS):
            low, high = raw[:, i * 5].copy(), raw[:, i * 5 + 4].copy()
            room = network.widening[group, i] * (high - low)
            inside = (y[chosen, i] >= low - room) & (y[chosen, i] <= high + room)
            width = np.exp(high - low + 2 * room)
            error = np.abs(y[chosen, i] - raw[:, i * 5 + 2])
            null = np.abs(y[chosen, i])
            counted = counts[chosen, i] > 0
            for stratum, mine in strata.items():
                both = mine & counted
                if both.sum() >= 20:
                    shown = f"{target:15} {stratum:28} n {both.sum():5} coverage {100 * inside[both].mean():5.1f} %"
                    error_of = (
                        f"error {100 * np.median(error[both]):.0f} % (theory {100 * np.median(null[both]):.0f} %)"
                    )
                    say(f"{shown}  width x{np.median(width[both]):.2f}  {error_of}")
        shares = raw[:, OF_INTERVALS : OF_INTERVALS + len(DISCIPLINES)]
        shares, truth = shares[: own.size], kind[own]
        sets = shares >= network.thresholds[: len(DISCIPLINES)]
        right = 100 * (shares.argmax(axis=1) == truth).mean()
        held = 100 * sets[np.arange(truth.size), truth].mean()
        say(f"discipline right {right:.0f} %, set holds it {held:.1f} %, size {sets.sum(axis=1).mean():.2f}")
        said = raw[: own.size, OF_INTERVALS + len(DISCIPLINES) :].argmax(axis=1)
        say(f"beside right {100 * (said == beside[own]).mean():.0f} %")


if __name__ == "__main__":
    main()
