"""Probes of the engine: agreement of both engines, results equal to those of every other machine, and rough speed."""

from __future__ import annotations

from importlib.resources import files

from elephan import _native
from elephan.doctor.finding import LIMITED, MISSING, OK, ProbeFinding
from elephan.scenario import Scenario

GOLDEN = "93ea958968518564"
"""Result of `digest` for this version on every machine; updated when results change on purpose."""

SPEED_S = 5.0
"""Simulated time of the measurement [s]: some tens of milliseconds of CPU time."""

SLOW_NS = 200.0
"""CPU time per packet above which the machine is several times slower than ordinary ones [ns]."""


def digest(engine: str = "window") -> str:
    """Run the tiny scenario and hash every arrival and every acknowledgement.

    Parameters
    ----------
    engine : str
        ``"window"`` or ``"reference"``.

    Returns
    -------
    str
        Hexadecimal hash.
    """
    tiny = files("elephan.doctor").joinpath("tiny.toml").read_text(encoding="utf-8")
    outcome = _native.simulate(Scenario.from_text(tiny).canonical, 0, engine=engine, hash=True)
    return f"{outcome['hash']:x}"


def engines() -> ProbeFinding:
    """Check whether both engines give the same packets, and those of other machines."""
    fast, plain = digest("window"), digest("reference")
    if fast != plain:
        return ProbeFinding(
            MISSING, f"the two engines give different results: checksums {fast} and {plain}; please report it"
        )
    if fast != GOLDEN:
        return ProbeFinding(
            LIMITED, f"results differ from those of other machines: checksum {fast}, not {GOLDEN}; please report it"
        )
    return ProbeFinding(OK, f"both give the results of other machines (checksum {fast})")


def speed() -> ProbeFinding:
    """Measure the approximate CPU time of a packet."""
    from elephan.bench.workloads import WORKLOADS, cpu_ns_per_packet  # noqa: PLC0415 (the other probes do without)

    cost, _ = cpu_ns_per_packet(WORKLOADS["W1"].scenario(SPEED_S), "window")
    found = f"about {cost:.2g} ns of CPU time for a packet (one short run; elephan bench measures)"
    return ProbeFinding(OK if cost < SLOW_NS else LIMITED, found)
