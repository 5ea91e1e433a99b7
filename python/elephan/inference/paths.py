"""Paths that `elephan infer` considers: their unknown parameters, their scenarios, and random hosts and traffic.

The prior covers rates of 1 Mbit/s to 1 Gbit/s, base round-trip times of 2 to 300 ms and buffers of 0.03 to 32 BDP, each
log-uniform within a part of the range. The behaviour of the hosts (pacing, bursts, delayed ACKs, offload, jitter) is
random, too, and never an input of the inference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator

DISCIPLINES = ("drop-tail", "red", "codel", "fq-codel", "pie", "policer")
"""Disciplines that the inference distinguishes; a policer has no queue."""

BESIDE = ("none", "flows", "datagrams")
"""Kinds of competing traffic that the inference distinguishes."""

LAWS = ("cubic", "reno", "bbr")
"""Laws of the measured sender, as the kernel names them; measurements of other laws are refused."""

RATE_BPS, RTT_S, BUFFER_BDP = (1e6, 1e9), (0.002, 0.3), (0.03, 32.0)
"""Ranges of the prior: rate [bit/s], base RTT [s], buffer [BDP]."""

PACKET_B, MSS_B = 1500, 1448
"""Size of a packet on the wire, and of its payload if TCP uses timestamps [bytes]."""

MOST_QUEUE_S = 3.0
"""Longest queueing delay of the prior [s]."""

LEAST_BUFFER = 4
"""Smallest buffer of the prior [packets]."""

LEAD_S = 3.0
"""Time for which competing traffic runs before the measured flow starts [s]."""

STARTS_S = ((0.0, LEAD_S), (LEAD_S - 0.2, LEAD_S + 0.2), (0.0, LEAD_S + 6.0))
"""Ranges of the starts of competing flows [s]: before the measured flow, at about the same time, or also after it."""


@dataclass(frozen=True)
class Hosts:
    """Behaviour of the end hosts, as keys of a scenario's `tcp` table and the access rate.

    Parameters
    ----------
    pacing, burst, window, offload : str
        TOML values of `pacing`, `burst`, `receive_window` and `receive_offload`.
    delayed_ack : int
    send_jitter_s : float [s]
    access : str
        TOML value of the rate of the sender's own link.
    """

    pacing: str = '"none"'
    burst: str = '"linux"'
    window: str = '"none"'
    offload: str = '"none"'
    delayed_ack: int = 2
    send_jitter_s: float = 1e-5
    access: str = '"unlimited"'


@dataclass(frozen=True)
class PathModel:
    """A path with one measured flow, in numbers.

    Parameters
    ----------
    rate_bps : float [bit/s]
        Rate of the bottleneck, or of the policer's tokens.
    rtt_s : float [s]
        Base round-trip time.
    buffer_s : float [s]
        Buffer as time at the rate; a policer's burst.
    discipline : str
        One of `DISCIPLINES`.
    law : str
        One of `LAWS`.
    target_s : float [s]
        Target of CoDel, FQ-CoDel and PIE, and the lower threshold of RED as time at the rate.
    beside : tuple of str
        TOML of the groups of competing flows; empty without competing traffic.
    kind : str
        One of `BESIDE`.
    hosts : Hosts
    jitter_s : float [s]
        Mean of the path's exponential jitter; 0 without jitter.
    shaper_b : int [bytes]
        Burst of a token-bucket shaper that limits the rate; 0 if the link itself has this rate.
    fast : float
        Ratio of the link's rate to the token rate, for a policer or a shaper.
    """

    rate_bps: float
    rtt_s: float
    buffer_s: float
    discipline: str = "drop-tail"
    law: str = "cubic"
    target_s: float = 0.005
    beside: tuple[str, ...] = ()
    kind: str = "none"
    hosts: Hosts = Hosts()
    jitter_s: float = 0.0
    shaper_b: int = 0
    fast: float = 5.0

    @property
    def buffer_packets(self) -> int:
        """Buffer in packets of 1,500 bytes."""
        return max(round(self.buffer_s * self.rate_bps / 8 / PACKET_B), LEAST_BUFFER)

    @property
    def lead_s(self) -> float:
        """Start of the measured flow [s]; competing traffic starts earlier."""
        return LEAD_S if self.beside else 0.0

    def link(self) -> str:
        """Return the bottleneck as TOML, without its header."""
        lines = ['name   = "bottleneck"', f'delay  = "{self.rtt_s / 2 * 1e6:.0f} us"']
        rate, packets = f"{self.rate_bps:.0f} bit/s", self.buffer_packets
        fast = f"{self.rate_bps * self.fast:.0f} bit/s"
        if self.discipline == "policer":
            burst = max(round(self.buffer_s * self.rate_bps / 8), 2 * PACKET_B)
            lines += [f'rate   = "{fast}"', 'buffer = "10000 packets"']
            lines += [f'policer = {{ rate = "{rate}", burst = "{burst} B" }}']
        elif self.shaper_b:
            lines += [f'rate   = "{fast}"', f'buffer = "{packets} packets"']
            lines += [f'shaper = {{ rate = "{rate}", burst = "{max(self.shaper_b, PACKET_B)} B" }}']
        else:
            lines += [f'rate   = "{rate}"', f'buffer = "{packets} packets"']
        lines.append(f"queue  = {self._queue()}")
        if self.jitter_s:
            lines.append(f'jitter = {{ exponential = "{self.jitter_s * 1e6:.0f} us" }}')
        return "\n".join(lines)

    def _queue(self) -> str:
        target = f"{self.target_s * 1e6:.0f} us"
        if self.discipline == "red":
            low = max(self.target_s * self.rate_bps / 8 / PACKET_B, 1.0)
            return f'{{ discipline = "red", min_th = {low:.4g}, max_th = {3 * low:.4g} }}'
        if self.discipline in ("codel", "fq-codel"):
            interval = f"{max(20 * self.target_s, 0.02) * 1e6:.0f} us"
            return f'{{ discipline = "{self.discipline}", target = "{target}", interval = "{interval}" }}'
        if self.discipline == "pie":
            return f'{{ discipline = "pie", profile = "linux", target = "{target}" }}'
        return '{ discipline = "drop-tail" }'

    def flow(self) -> str:
        """Return the measured flow as TOML, without its header."""
        law = {"cubic": "cubic", "reno": "reno", "bbr": "bbr1"}[self.law]
        hosts = self.hosts
        # Linux's BBR sets the pacing rate of its socket itself.
        tcp = [
            'profile = "linux"',
            f"pacing = {hosts.pacing}",
            f"burst = {hosts.burst}",
            f"receive_window = {hosts.window}",
            f"delayed_ack = {hosts.delayed_ack}",
            f"receive_offload = {hosts.offload}",
            f'send_jitter = "{hosts.send_jitter_s * 1e6:.3g} us"',
        ]
        return "\n".join(
            [
                'name    = "measured"',
                'path    = ["bottleneck"]',
                f'rtt     = "{self.rtt_s * 1e6:.0f} us"',
                f'start   = "{self.lead_s:g} s"',
                f"tcp     = {{ {', '.join(tcp)} }}",
                f'control = {{ law = "{law}" }}',
                f"access  = {{ rate = {hosts.access} }}",
            ]
        )

    def scenario(self, duration_s: float, *, every_s: float = 0.1, seed: int = 1) -> str:
        """Return the scenario (TOML) of a measurement of a given duration."""
        head = [
            f'duration = "{duration_s + self.lead_s:.6g} s"',
            f"seed = {seed}",
            f'record = {{ every = "{every_s * 1e3:g} ms" }}',
        ]
        groups = [self.flow(), *self.beside]
        parts = ["\n".join(head), f"[[links]]\n{self.link()}", *(f"[[flows]]\n{group}" for group in groups)]
        return "\n\n".join(parts) + "\n"


def log_uniform(rng: Generator, low: float, high: float) -> float:
    """Draw a log-uniform number."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def draw_hosts(rng: Generator) -> Hosts:
    """Draw random hosts."""
    several = f"{{ max_segments = {int(log_uniform(rng, 2, 45))} }}"
    return Hosts(
        pacing=str(rng.choice(['"none"', '"linux"'], p=[0.65, 0.35])),
        burst=str(rng.choice(['"linux"', '"none"', several], p=[0.4, 0.4, 0.2])),
        # The limit of Linux, 6 MiB, takes effect on paths with a large bandwidth-delay product.
        window=str(rng.choice(['"none"', '"linux"', '{ max = "32 MiB" }'], p=[0.4, 0.4, 0.2])),
        offload=str(rng.choice(['"none"', "{ segments = 44 }"], p=[0.75, 0.25])),
        delayed_ack=int(rng.choice([1, 2], p=[0.4, 0.6])),
        send_jitter_s=log_uniform(rng, 1e-6, 3e-4),
        access='"unlimited"' if rng.random() < 0.6 else f'"{log_uniform(rng, 2, 20) * 1e3:.0f} Mbit/s"',
    )


def beside_group(name: str, rtt_s: float, *more: str) -> str:
    """Return a group of competing flows as TOML, without its header.

    Parameters
    ----------
    *more : str
        Further lines.
    """
    return "\n".join([f'name = "{name}"', 'path = ["bottleneck"]', f'rtt = "{rtt_s * 1e6:.0f} us"', *more])


def poisson(rate_bps: float) -> str:
    """Return the TOML line for a group that sends datagrams as a Poisson process."""
    return f'traffic = {{ kind = "poisson", rate = "{rate_bps:.0f} bit/s" }}'


def draw_beside(rng: Generator, path: PathModel, kind: str | None = None) -> dict[str, Any]:
    """Draw the competing traffic of a path, and return the fields `beside` and `kind`."""
    kind = kind or str(rng.choice(BESIDE, p=[0.45, 0.4, 0.15]))
    if kind == "none":
        return {"beside": (), "kind": kind}
    if kind == "datagrams":
        traffic = poisson(path.rate_bps * log_uniform(rng, 0.02, 0.5))
        return {"beside": (beside_group("beside", path.rtt_s, traffic),), "kind": kind}
    count = int(rng.integers(1, 4)) if rng.random() < 0.5 else int(log_uniform(rng, 4, 60))
    # Starts before the measured flow, with it (as in tests with parallel streams), or also after it.
    first_s, last_s = STARTS_S[int(rng.choice(len(STARTS_S), p=[0.45, 0.35, 0.2]))]
    kinds = int(rng.integers(1, 3)) if count > 1 else 1
    first = count if kinds == 1 else int(rng.integers(1, count))
    groups = []
    for number, of_group in enumerate([first, count - first][:kinds]):
        law = str(rng.choice(["cubic", "reno", "bbr1"], p=[0.55, 0.2, 0.25]))
        # A base RTT cannot be below the propagation of the link in both directions.
        rtt = path.rtt_s if rng.random() < 0.6 else path.rtt_s * log_uniform(rng, 1.0, 4.0)
        start = f'start = {{ from = "{first_s:g} s", to = "{last_s:g} s" }}'
        tcp = f'tcp = {{ profile = "linux", receive_window = {path.hosts.window}, burst = {path.hosts.burst} }}'
        more = f"count = {of_group}", start, tcp, f'control = {{ law = "{law}" }}'
        groups.append(beside_group(f"beside{number}", rtt, *more))
    return {"beside": tuple(groups), "kind": kind}
