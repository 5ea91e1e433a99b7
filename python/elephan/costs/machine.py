"""Simulation speed of this machine, measured once by a short run and cached for a week in the user's cache folder.

The cost of a run is expressed in packets of this short run, because relative costs of links, laws and numbers of flows
are approximately the same on every machine (`elephan.costs.work`).
"""

from __future__ import annotations

import json
import os
import platform
import time
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from elephan import _native

PROBE = files("elephan.costs").joinpath("probe.toml").read_text(encoding="utf-8")
"""Scenario of the measurement. It has 250,000 packets and takes a few hundredths of a second."""

TIMES = 3
"""Number of measurements. The fastest counts, as other processes disturb the others."""

KEPT_S = 7 * 86_400.0
"""Time for which a measurement stays valid [s]."""

FILE = "speed.json"


def ns_per_packet() -> float:
    """Return the processor time per packet of the probe on this machine, as last measured [ns].

    Returns
    -------
    float [ns]

    Examples
    --------
    >>> 0 < ns_per_packet() < 1e5
    True
    """
    name = f"{_native.version()} {platform.machine()} {platform.node()}"
    path = cache_folder() / FILE
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["name"] == name and 0 <= time.time() - kept["at"] < KEPT_S and 0 < kept["ns_per_packet"] < 1e6:
            return float(kept["ns_per_packet"])
    measured = measure_ns_per_packet()
    # If the folder cannot be written, the speed is measured each time.
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{FILE}-{os.getpid()}")
        temporary.write_text(json.dumps({"name": name, "at": time.time(), "ns_per_packet": measured}), encoding="utf-8")
        temporary.replace(path)
    return measured


def measure_ns_per_packet() -> float:
    """Measure the processor time per packet of the probe now [ns].

    Returns
    -------
    float [ns]
        Processor time, not wall-clock time.
    """
    canonical = _native.resolve(PROBE)[0]
    costs = []
    for _ in range(TIMES):
        begun = time.thread_time()
        sent = _native.simulate(canonical, 0)["balance"]["sent"]
        costs.append((time.thread_time() - begun) * 1e9 / max(sent, 1))
    return min(costs)


def cache_folder() -> Path:
    """Return the folder of elephan in the user's caches (XDG Base Directory Specification)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "elephan"
