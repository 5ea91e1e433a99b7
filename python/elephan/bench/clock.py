"""CPU time of the native call."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from elephan import _native

if TYPE_CHECKING:
    from elephan.scenario import Scenario


def cpu_ns_per_packet(scenario: Scenario, engine: str) -> tuple[float, int]:
    """Measure one replication, network building included.

    Parameters
    ----------
    engine : str
        ``"window"`` or ``"reference"``.

    Returns
    -------
    tuple of float [ns/packet] and int
        CPU time of this thread per delivered data packet, and the number of delivered packets.
    """
    begun = time.thread_time()
    outcome = _native.simulate(scenario.canonical, 0, engine=engine)
    cpu_s = time.thread_time() - begun
    delivered = outcome["balance"]["delivered"]
    return cpu_s * 1e9 / max(1, delivered), delivered
