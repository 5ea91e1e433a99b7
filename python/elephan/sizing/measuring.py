"""Measure buffers of a link by simulation: a replication of the scenario for each sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from elephan.errors import InputError, percent_advice
from elephan.metrics import jain, percentile
from elephan.network import FlowGroup
from elephan.own_laws import LawSource
from elephan.runs import ReplicationJob, simulate_all
from elephan.runs.outcome import ReplicationOutcome
from elephan.runs.result import DELAYS
from elephan.scenario import Scenario
from elephan.sizing.targets import BufferSample, GroupSample, Target, check_targets, parse_targets

TAIL = 0.95
"""Share of the packets that wait at most `BufferSample.queueing_delay_p95_s`."""


class LinkSimulations:
    """Measures (buffer, replication) pairs of a link.

    Parameters
    ----------
    scenario : Scenario
        Scenario with an explicit warm-up.
    link : int
    workers : int or None
        Threads.
    watched : bool
        Whether progress is shown.
    make : callable, optional
        Returns the scenario with an amount of the searched quantity; by default a buffer of the link [packets].
    on_sample : callable, optional
        Called with the amount, the replication and its sample as soon as it is measured.
    """

    def __init__(
        self,
        scenario: Scenario,
        link: int,
        workers: int | None,
        *,
        watched: bool,
        make: Callable[[int], Scenario] | None = None,
        on_sample: Callable[[int, int, BufferSample], None] | None = None,
    ) -> None:
        self.scenario, self.link, self.workers, self.watched = scenario, link, workers, watched
        self.make = make or (lambda buffer: scenario.with_buffer(link, buffer))
        self.on_sample = on_sample
        self.variants: dict[int, Scenario] = {}
        self.packets = 0

    def __call__(self, pairs: Sequence[tuple[int, int]], done: Callable[[], None]) -> list[BufferSample]:
        """Measure pairs, calling ``done`` after each."""
        jobs = [ReplicationJob(self._variant(buffer), replication) for buffer, replication in pairs]
        samples: list[BufferSample] = []

        def keep(_: ReplicationJob, outcome: ReplicationOutcome) -> None:
            samples.append(sample(self.scenario, self.link, outcome))
            self.packets += int(outcome.balance["sent"])
            if self.on_sample is not None:
                self.on_sample(*pairs[len(samples) - 1], samples[-1])

        simulate_all(jobs, workers=self.workers, on_done=lambda _: done(), on_outcome=keep, watched=self.watched)
        return samples

    def _variant(self, buffer: int) -> Scenario:
        if buffer not in self.variants:
            self.variants[buffer] = self.make(buffer)
        return self.variants[buffer]


def prepared(
    scenario: Scenario | str | Path,
    target: str | Iterable[str] | Mapping[str, float | str],
    link: str | None,
    precision: float,
    replications: int | None,
    seed: int | None,
    laws: Mapping[str, LawSource] | None,
) -> tuple[Scenario, int, tuple[Target, ...]]:
    """Read the arguments of a sizing, as in `elephan.sizing.size`.

    Returns
    -------
    tuple of Scenario, int and tuple of Target
        The scenario, the index of the link, and the targets.

    Raises
    ------
    InputError
        If one of them cannot be used.
    """
    read = Scenario.from_any(scenario, laws).replace(replications=replications, seed=seed)
    targets = parse_targets(target)
    if not 0.001 <= precision <= 1:
        range_ = f"between 0.001 and 1{percent_advice(precision)}"
        raise InputError(f"precision: {precision:g} is out of range; it lies {range_}")
    index = read.link_index(link)
    check_targets(targets, read.network, index)
    return read, index, targets


def sample(scenario: Scenario, link: int, outcome: ReplicationOutcome) -> BufferSample:
    """Read the sample of a link from one replication; Jain's index is over the flows that `Network.counted` names.

    Parameters
    ----------
    link : int

    Returns
    -------
    BufferSample
    """
    flows, network = outcome.flows, scenario.network
    mine = np.array(network.counted(link))[flows["group"]]
    count = len(network.groups)
    number = np.bincount(flows["group"], minlength=count).clip(1)
    goodput = np.bincount(flows["group"], flows["goodput_bps"], minlength=count) / number
    sent = np.bincount(flows["group"], flows["sent"], minlength=count)
    dropped = np.bincount(flows["group"], flows["dropped"], minlength=count)
    waits = outcome.histograms["group_delay_ps"][link]

    def wait(group: int) -> float:
        return 1e-12 * percentile(waits[group], TAIL) if group < len(waits) else math.nan

    def timed(group: FlowGroup) -> dict[str, float]:
        name = DELAYS.get(group.traffic)
        if name is None:
            return {}
        return {f"{name}_p95_s": 1e-12 * percentile(outcome.histograms["datagram_delay_ps"][group.index], TAIL)}

    crossing = network.crossing(link)
    groups = tuple(
        GroupSample(float(goodput[g.index]), float(dropped[g.index] / max(sent[g.index], 1)), wait(g.index), **timed(g))
        for g in crossing
    )
    return BufferSample(
        float(outcome.links["utilization"][link]),
        outcome.loss_ratio(link),
        float(outcome.links["queueing_delay_s"][link]),
        jain(flows["goodput_bps"][mine]),
        1e-12 * percentile(outcome.delay_histogram(link), TAIL),
        groups,
        tuple(g.name for g in crossing),
    )
