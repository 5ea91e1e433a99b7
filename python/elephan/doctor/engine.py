"""Probes of the engine: both engines agree, the bytes are those of every other machine, and roughly how fast it is."""

from __future__ import annotations

from elephan import _native
from elephan.doctor.finding import LIMITED, MISSING, OK, ProbeFinding
from elephan.scenario import Scenario

TINY = """
title    = "Of everything a little"
duration = "3 s"
warmup   = "1 s"
seed     = 7

[[links]]
name   = "core"
rate   = "8 Mbit/s"
delay  = "10 ms"
buffer = "30 packets"
queue  = "red"

[[flows]]
name    = "sack"
count   = 2
path    = ["core"]
rtt     = { from = "40 ms", to = "60 ms" }
control = "cubic"
packet  = "1000 B"
start   = { from = "0 s", to = "0.1 s" }

[[flows]]
name     = "reno"
path     = ["core"]
rtt      = "50 ms"
recovery = "newreno"

[[flows]]
name    = "noise"
path    = ["core"]
rtt     = "20 ms"
traffic = { kind = "poisson", rate = "1 Mbit/s" }
"""
"""Random draws, losses, two recoveries, datagrams, powers and roots: what could differ between machines."""

GOLDEN = "93ea958968518564"
"""What `digest` gives for this version, everywhere; taken anew when results change on purpose."""

SPEED_S = 5.0
"""Simulated time of the measurement [s]: some tens of milliseconds of CPU time."""

SLOW_NS = 200.0
"""Above this a packet costs several times what it costs on ordinary machines [ns]."""


def digest(engine: str = "window") -> str:
    """Run the tiny scenario and hash every arrival and every acknowledgement.

    Parameters
    ----------
    engine : str
        ``"window"`` or ``"reference"``.

    Returns
    -------
    str
        Hexadecimal.
    """
    outcome = _native.simulate(Scenario.from_text(TINY).canonical, 0, engine=engine, hash=True)
    return f"{outcome['hash']:x}"


def engines() -> ProbeFinding:
    """Whether both engines give the same packets, and those of other machines."""
    fast, plain = digest("window"), digest("reference")
    if fast != plain:
        return ProbeFinding(MISSING, f"the engines disagree: {fast} and {plain}; please report it")
    if fast != GOLDEN:
        return ProbeFinding(LIMITED, f"both engines give {fast}, other machines {GOLDEN}; please report it")
    return ProbeFinding(OK, f"both engines give the bytes of other machines ({fast})")


def speed() -> ProbeFinding:
    """Roughly, what a packet costs."""
    from elephan.bench.clock import cpu_ns_per_packet  # noqa: PLC0415 (the other probes do without)
    from elephan.bench.workloads import WORKLOADS  # noqa: PLC0415 (as above)

    cost, _ = cpu_ns_per_packet(WORKLOADS["W1"].scenario(SPEED_S), "window")
    found = f"about {cost:.2g} ns of CPU time for a packet (one short run; elephan bench measures)"
    return ProbeFinding(OK if cost < SLOW_NS else LIMITED, found)
