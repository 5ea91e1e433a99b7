"""Scenarios that several comparisons share: long flows on one link, measured for a given number of sawteeth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.lint.sawtooth import slowest
from elephan.scenario import Scenario
from elephan.theory import controls
from elephan.theory.models.links import rate as rate_text
from elephan.theory.models.links import time as time_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from elephan.runs.outcome import ReplicationOutcome

ACCESS = 10.0
"""Rate of a sender's access link divided by the rate of the shared link, as for the link of 1 Gbit/s in Barman2004."""
OF_PAPERS = {"barman": "highspeed", "phillips-hu": "highspeed"}
"""Simulated law for each model of HighSpeed in the papers, by the name of the model."""
UNKNOWN_S = 5.0
"""Assumed time between two losses for laws without a known sawtooth, and for windows of a few segments [s]."""
LEAST_SETTLING_S = 5.0
"""Part of the warm-up before its first sawtooth is counted: the timeouts of the first losses are over by then [s]."""


def link(rate_bps: float, delay_s: float, buffer: float, **more: Any) -> dict[str, Any]:
    """Return the table of a link in a scenario.

    Parameters
    ----------
    rate_bps : float [bit/s]
    delay_s : float [s]
    buffer : float [packets]
        Rounded; at least one.
    **more
        Further keys of the link.

    Examples
    --------
    >>> link(1e6, 0.01, 20.4)["buffer"]
    '20 packets'
    """
    buffer_text = f"{max(1, round(buffer))} packets"
    return {"name": "link", "rate": rate_text(rate_bps), "delay": time_text(delay_s), "buffer": buffer_text} | more


def bulk(
    law: str,
    packet: float,
    rtts: tuple[float, float],
    count: int,
    rate_bps: float,
    ssthresh: float,
    within_s: float = 1.0,
) -> dict[str, Any]:
    """Return the table of a group of long flows in a scenario.

    Parameters
    ----------
    law : str
        Name of a law, or a model's name for a paper's version of HighSpeed.
    packet : float [bytes]
    rtts : tuple of float [s]
        The shortest and the longest RTT; the others are equally spaced.
    rate_bps : float [bit/s]
        Rate of the link; access is ten times as fast.
    ssthresh : float [segments]
        End of slow start: large windows would need minutes to recover from its overshoot.
    within_s : float [s]
        Range of start times, drawn for each replication; for a single flow it is the only difference between
        replications.

    Examples
    --------
    >>> bulk("reno", 1000, (0.1, 0.1), 1, 1e6, 12.5)["rtt"]
    '100000000000 ps'
    """
    low, high = (time_text(rtt) for rtt in rtts)
    several = count > 1
    # Flows with one RTT synchronize unless their packets are jittered by a packet time.
    shaken = {"send_jitter": time_text(8 * packet / rate_bps)} if several and low == high else {}
    return {
        "name": "flows",
        "count": count,
        "path": ["link"],
        "rtt": {"from": low, "to": high} if several and low != high else time_text(sum(rtts) / 2),
        "access": {"rate": rate_text(ACCESS * rate_bps)},
        "control": controls.control(OF_PAPERS.get(law, law)),
        "recovery": "sack",
        "packet": f"{packet:.0f} B",
        "start": {"from": "0 s", "to": time_text(within_s)},
        "traffic": {"kind": "bulk"},
        "tcp": {"initial_ssthresh": max(2, round(ssthresh))} | shaken,
    }


def scene(
    title: str,
    link: Mapping[str, Any],
    groups: Sequence[Mapping[str, Any]],
    warmup_s: float,
    measured_s: float,
    every_s: float = 1.0,
) -> Scenario:
    """Assemble a scenario with one link.

    Parameters
    ----------
    warmup_s, measured_s : float [s]
    every_s : float [s]
        Time between samples.

    Raises
    ------
    ScenarioError
        If the values do not give a valid scenario.

    Examples
    --------
    >>> flow = bulk("reno", 1000, (0.1, 0.1), 1, 1e6, 12.5)
    >>> scene("one flow", link(1e6, 0.01, 20), [flow], 5, 10).facts["duration_s"]
    15.0
    """
    return Scenario.from_mapping(
        {
            "title": title,
            "warmup": time_text(warmup_s),
            "duration": time_text(warmup_s + measured_s),
            "links": [dict(link)],
            "flows": [dict(group) for group in groups],
            "record": {"every": time_text(every_s)},
        },
        title,
    )


def with_sawtooth_duration(
    scenario: Scenario, settling: float, measured: float, least_packets: float = 0.0
) -> Scenario:
    """Set a scenario's warm-up and duration by the sawteeth of its slowest flow; the warm-up has 5 s more.

    Parameters
    ----------
    settling, measured : float
        Number of sawteeth in the warm-up, and after it.
    least_packets : float
        Minimum number of packets that the first link can carry while it is measured.

    Examples
    --------
    >>> flow = bulk("reno", 1000, (0.1, 0.1), 1, 1e6, 12.5)
    >>> short = scene("one flow", link(1e6, 0.01, 20), [flow], 5, 10)
    >>> long = with_sawtooth_duration(short, 3, 6)
    >>> long.facts["warmup_s"], long.facts["duration_s"]
    (14.5, 33.5)
    """
    network = scenario.network
    known = slowest(network.bulk)
    period = known[1] if known else UNKNOWN_S
    settled = round(LEAST_SETTLING_S + settling * period, 1)
    least = least_packets * 8 * network.links[0].packet_bytes / network.links[0].rate_bps
    return scenario.replace(
        {"warmup": time_text(settled), "duration": time_text(settled + round(max(measured * period, least), 1))}
    )


def cuts(outcome: ReplicationOutcome) -> NDArray[np.int64]:
    """Return the indices of the samples after which the first flow reduces its window.

    Parameters
    ----------
    outcome : ReplicationOutcome
        Outcome with samples dense enough that growth between them does not hide a cut.
    """
    cwnd = outcome.samples["cwnd_segments"][0]
    # Every law here reduces its window by at least a tenth at a cut, and never otherwise.
    return np.flatnonzero(cwnd[1:] < 0.95 * cwnd[:-1])
