"""Survey of simulations over buffer, flows and RTT, with which the models are compared: its grid and its scenarios.

Each run has equal long flows on one link, with RTTs within 4 % of their mean, so that flows are not identical, access
ten times as fast as the link, SACK, and starts within the first second. Timeouts are included. Four laws on drop-tail
were run a second time with pacing, as in Linux. `tools/survey.py` runs the survey. *Differs from* real traffic: the
link has no other traffic, and disciplines have their default parameters.
"""

from __future__ import annotations

from typing import NamedTuple

from elephan.scenario import Scenario
from elephan.theory.models.bottleneck import UNPACED

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


def written(cell: SurveyCell, rate: str = "", packet: str = f"{PACKET} B") -> Scenario:
    """Write a cell as a scenario. Its duration is a placeholder.

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
        # Slow start ends at the flow's share of the BDP. After an overshoot, large windows take minutes to recover.
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
