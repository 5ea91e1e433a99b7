"""Checks of this machine: what works, what is missing, and the commands that fix it. Nothing is changed.

A probe is a function that returns a `ProbeFinding` and a line in `PROBES`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from elephan.doctor import engine, installed, linux, machine, store
from elephan.doctor.finding import LIMITED, MISSING, Probe, ProbeFinding, ProbeResult

__all__ = ["PROBES", "Probe", "ProbeFinding", "ProbeResult", "document", "examine"]

LONGEST_S = 20.0
"""Time limit of a probe [s]: a network disk may never answer."""

_SIM, _KEPT, _WORK = "simulation", "results", "around it"
_LINUX = "Linux"

PROBES: tuple[Probe, ...] = (
    Probe(_SIM, "Python", "everything", installed.python, needed=True),
    Probe(_SIM, "extension", "the engine", installed.extension, needed=True),
    Probe(_SIM, "engines", "right results, the same everywhere", engine.engines, needed=True),
    Probe(_SIM, "speed", "estimating how long runs take", engine.speed),
    Probe(_SIM, "cores", "running replications in parallel", machine.cores),
    Probe(_SIM, "memory", "large runs", machine.memory),
    Probe(_KEPT, "store", "keeping runs", store.state),
    Probe(_KEPT, "store's disk", "space for sweeps", store.disk),
    Probe(_KEPT, "store's locks", "several processes on one store", store.locks),
    Probe(_KEPT, "temporary files", "writing complete files", machine.temporary),
    Probe(_KEPT, "tables", "--out, stores, sweeps", installed.packages("pyarrow")),
    Probe(_KEPT, "pictures", "--plot, --out", installed.pictures),
    Probe(_KEPT, "reports", "elephan report", installed.packages("bokeh", "jinja2")),
    Probe(_KEPT, "terminal", "tables and progress", machine.terminal),
    Probe(_WORK, "cluster", "elephan sweep --scheduler", installed.packages("distributed")),
    Probe(_WORK, "frames", "tables for pandas, polars, xarray", installed.packages("pandas", "polars", "xarray")),
    Probe(_LINUX, "kernel", "congestion control in BPF", linux.kernel),
    Probe(_LINUX, "struct_ops", "loading laws", linux.struct_ops),
    Probe(_LINUX, "laws", "elephan kernel load, testbeds with our laws", linux.laws),
    Probe(_LINUX, "congestion controls", "comparing with the kernel's laws", linux.controls),
    Probe(_LINUX, "TUN", "a bottleneck in user space", linux.tun),
    Probe(_LINUX, "namespaces", "test hosts on this machine", linux.namespaces),
    Probe(_LINUX, "privileges", "loading laws, devices, priorities", linux.privileges),
    Probe(_LINUX, "ip", "setting up test hosts", installed.program("ip", {"": "iproute2", "dnf": "iproute"})),
    Probe(_LINUX, "iperf3", "real traffic", installed.program("iperf3", {"": "iperf3"})),
    Probe(_LINUX, "setpriv, nsenter", "test hosts that end with the command", linux.tools),
)
"""All probes, in the order in which they are shown."""


def examine(probes: Iterable[Probe] | None = None, longest_s: float = LONGEST_S) -> list[ProbeResult]:
    """Run all probes; no probe can make this fail or hang.

    Parameters
    ----------
    probes : iterable of Probe, optional
        By default `PROBES`.
    longest_s : float [s]
        Time limit of each probe.

    Returns
    -------
    list of ProbeResult
        In the order of the probes.

    Examples
    --------
    >>> [row.status for row in examine([Probe("all", "sky", "weather", lambda: 1 / 0)])]
    ['limited']
    """
    results = []
    for probe in PROBES if probes is None else probes:
        about = {name: getattr(probe, name) for name in ("group", "name", "purpose", "needed")}
        results.append(ProbeResult(**about, **vars(_look(probe, longest_s))))
    return results


def _look(probe: Probe, longest_s: float) -> ProbeFinding:
    broken = MISSING if probe.needed else LIMITED
    found = [ProbeFinding(broken, f"no answer within {longest_s:g} s")]

    def look() -> None:
        try:
            found.append(probe.look())
        except Exception as error:
            # An error of one probe must not hide the results of the others.
            found.append(ProbeFinding(broken, f"the check failed: {type(error).__name__}: {error}"))

    # A hanging thread is abandoned, and does not keep Python from exiting.
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(longest_s)
    return found[-1]


def document(rows: Iterable[ProbeResult]) -> dict[str, Any]:
    """Return the document of ``elephan doctor --json``.

    Parameters
    ----------
    rows : iterable of ProbeResult

    Returns
    -------
    dict
        ``ok``: whether everything needed is present; ``rows``.
    """
    listed = list(rows)
    return {
        "ok": not any(row.needed and row.status == MISSING for row in listed),
        "rows": [row.to_json() for row in listed],
    }
