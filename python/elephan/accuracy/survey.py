"""Survey of simulations over buffer x flows x RTT, with which the models are compared: grid, loop and resulting table.

Equal long flows on one link, RTTs within 4 % of their mean so that flows are not identical, access ten times as fast as
the link, SACK, starts within the first second. A run warms up for `SETTLING` sawteeth and is measured for `MEASURED`;
timeouts are included. Four laws on drop-tail were run a second time with paced senders, as Linux paces. *Differs from*
real traffic: nothing else is on the link, and disciplines have their default parameters.
"""

from __future__ import annotations

import sys
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from elephan import _native
from elephan.accuracy.table import FOLDER, Row, digits, read, text
from elephan.lint.sawtooth import slowest
from elephan.metrics import jain
from elephan.runs import default_workers, run
from elephan.runs.files import write_text
from elephan.runs.threads import SimulationThreads
from elephan.scenario import Scenario
from elephan.stats import estimate
from elephan.theory.models.bottleneck import UNPACED

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = FOLDER / "survey.csv"

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Buffers as shares of the bandwidth-delay product."""
FLOWS = (1, 2, 5, 10, 30, 100)
RTTS_MS = (10, 40, 120, 200)
"""Mean base RTTs [ms]."""
SPREAD = 0.04
"""Largest deviation of the RTTs from their mean, on either side [1]."""
PACKET = 1000
"""Packet size [bytes], as in the first paper."""
ACCESS = 10
"""Rate of a sender's own link over that of the link [1]."""
SETTLING, MEASURED = 4, 10
"""Sawteeth of warm-up and measurement: slow starts overshoot large pipes, and windows equalize slowly."""
LEAST_PACKETS = 2e6
"""Minimum number of packets in a measurement: a loss ratio of 1e-4 is then accurate to a tenth."""
LEAST_SETTLING_S = 10.0
"""Minimum warm-up [s]: several timeouts, by which small windows recover from the losses of slow start."""
REPLICATIONS = 2
SEED = 1


class SurveyFamily(NamedTuple):
    """Runs that differ only in buffer, flows and RTT."""

    law: str
    discipline: str
    rate_mbps: int
    pacing: str = UNPACED
    """Value of ``tcp.pacing``."""

    @property
    def rate(self) -> float:
        """Rate of the link [packets/s]."""
        return self.rate_mbps * 1e6 / 8 / PACKET


FAMILIES = (
    SurveyFamily("reno", "drop-tail", 100),
    SurveyFamily("highspeed", "drop-tail", 1000),
    SurveyFamily("cubic", "drop-tail", 1000),
    SurveyFamily("nr-hstcp", "drop-tail", 1000),
    SurveyFamily("reno", "red", 100),
    SurveyFamily("highspeed", "red", 1000),
    SurveyFamily("reno", "pie", 100),
    SurveyFamily("highspeed", "pie", 1000),
    SurveyFamily("highspeed", "gared", 1000),
    SurveyFamily("vegas", "drop-tail", 100),
    SurveyFamily("fast", "drop-tail", 1000),
    SurveyFamily("reno", "drop-tail", 100, "linux"),
    SurveyFamily("highspeed", "drop-tail", 1000, "linux"),
    SurveyFamily("cubic", "drop-tail", 1000, "linux"),
    SurveyFamily("nr-hstcp", "drop-tail", 1000, "linux"),
)
"""Families of the survey. Reno has a tenth of the rate, as its sawtooth at 1 Gbit/s and 200 ms takes an hour."""


class SurveyCell(NamedTuple):
    """One scenario of the survey."""

    family: SurveyFamily
    rtt_ms: float
    flows: int
    share: float

    @property
    def bdp(self) -> float:
        """Bandwidth-delay product [packets]."""
        return self.family.rate * self.rtt_ms / 1e3

    @property
    def buffer_packets(self) -> int:
        """Buffer [packets], at least 1."""
        return max(1, round(self.share * self.bdp))


def cells() -> Iterator[SurveyCell]:
    """Return all cells, in the order of the table; buffers vary fastest.

    Examples
    --------
    >>> len(list(cells()))
    2880
    """
    for family, rtt_ms, flows, share in product(FAMILIES, RTTS_MS, FLOWS, SHARES):
        yield SurveyCell(family, rtt_ms, flows, share)


def scenario(cell: SurveyCell) -> Scenario:
    """Write a cell as a scenario of sufficient duration.

    Examples
    --------
    >>> found = scenario(SurveyCell(FAMILIES[0], 120, 10, 0.1))
    >>> found.links[0]["bdp_packets"], found.facts["warmup_s"], found.facts["duration_s"]
    (1500.0, 41.0, 201.0)
    """
    short = written(cell)
    known = slowest(short.network.bulk)
    # Windows below four segments have hardly any sawtooth.
    period = known[1] if known else 0.0
    settled = round(1 + max(LEAST_SETTLING_S, SETTLING * period))
    measured = round(max(LEAST_PACKETS / cell.family.rate, MEASURED * period))
    return short.replace({"warmup": f"{settled} s", "duration": f"{settled + measured} s"})


def written(cell: SurveyCell, rate: str = "", packet: str = f"{PACKET} B") -> Scenario:
    """Write a cell as a scenario, whatever its necessary duration.

    Examples
    --------
    >>> written(SurveyCell(FAMILIES[1], 120, 10, 0.1)).links[0]["buffer_limit_packets"]
    1500
    """
    rtt, rate_mbps = cell.rtt_ms, cell.family.rate_mbps
    link = {
        "name": "link",
        "rate": rate or f"{rate_mbps} Mbit/s",
        "delay": f"{rtt / 4:g} ms",
        "buffer": f"{cell.buffer_packets} packets",
        "queue": {"discipline": cell.family.discipline},
    }
    flows = {
        "name": "flows",
        "count": cell.flows,
        "path": ["link"],
        "rtt": {"from": f"{rtt * (1 - SPREAD):.6g} ms", "to": f"{rtt * (1 + SPREAD):.6g} ms"},
        "access": {"rate": f"{ACCESS * rate_mbps} Mbit/s"},
        "control": {"law": cell.family.law},
        "recovery": "sack",
        "packet": packet,
        "start": {"from": "0 s", "to": "1 s"},
        "traffic": {"kind": "bulk"},
        # Slow start ends at the flow's share; large windows would need minutes to recover from its overshoot.
        "tcp": {"initial_ssthresh": max(2, round(cell.bdp / cell.flows)), "pacing": cell.family.pacing},
    }
    return Scenario.from_mapping(
        {
            "title": f"{cell.flows} {cell.family.law} flows, {cell.family.discipline}, {rate_mbps} Mbit/s, {rtt:g} ms",
            "duration": "20 s",
            "warmup": "10 s",
            "replications": REPLICATIONS,
            "seed": SEED,
            "links": [link],
            "flows": [flows | ({"rtt": f"{rtt:g} ms"} if cell.flows == 1 else {})],
        },
        "survey",
    )


def measure(cell: SurveyCell) -> Row:
    """Simulate a cell.

    Returns
    -------
    dict of str to str
        The cell's row of the table.

    Examples
    --------
    >>> measure(SurveyCell(FAMILIES[0], 10, 100, 2.0))["utilization"]
    '1'
    """
    outcomes = run(scenario(cell), workers=1).outcomes
    used = estimate([float(outcome.links["utilization"][0]) for outcome in outcomes])
    measured = {
        "utilization": used.mean,
        "utilization_ci95": used.ci95 or 0.0,
        "loss_ratio": estimate([outcome.loss_ratio(0) for outcome in outcomes]).mean,
        "queueing_delay_s": estimate([float(outcome.links["queueing_delay_s"][0]) for outcome in outcomes]).mean,
        "jain": estimate([jain(outcome.flows["goodput_bps"]) for outcome in outcomes]).mean,
    }
    family = cell.family
    return {
        "law": family.law,
        "discipline": family.discipline,
        "pacing": family.pacing,
        "rate_mbps": str(family.rate_mbps),
        "rtt_ms": f"{cell.rtt_ms:g}",
        "flows": str(cell.flows),
        "share": f"{cell.share:g}",
        "buffer_packets": str(cell.buffer_packets),
        **{name: digits(value) for name, value in measured.items()},
    }


def rows() -> tuple[Row, ...]:
    """Read the table.

    Returns
    -------
    tuple of dict of str to str
        Rows in the order of `cells`.

    Examples
    --------
    >>> rows()[0]["law"]
    'reno'
    """
    return read(FILE)


def rewrite(*, only_paced: bool = False) -> None:
    """Simulate the grid and rewrite the table.

    Parameters
    ----------
    only_paced : bool
        Keep the rows of unpaced senders.
    """
    every = [cell for cell in cells() if not only_paced or cell.family.pacing != UNPACED]
    done = [row for row in rows() if row["pacing"] == UNPACED] if only_paced else []
    kept = len(done)
    with SimulationThreads(default_workers()) as pool:
        for row in pool.map(measure, every):
            done.append(row)
            sys.stderr.write(f"\r{len(done) - kept} of {len(every)} cells")
    notes = (
        f"Written by `python -m elephan.accuracy` with elephan {_native.version()}: do not edit.",
        f"Packets of {PACKET} B, seed {SEED}, {REPLICATIONS} replications; share: of the bandwidth-delay product.",
    )
    sys.stderr.write(f"\nwrote {write_text(FILE, text(notes, done))}\n")
