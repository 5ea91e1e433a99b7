"""The same dumbbell in ns-2, where it is installed: CPU time of its process per delivered packet.

Differs from ns-2's defaults: a buffer of B waiting packets is limit_ B+1, host queues never drop, windows are not
limited.
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
from importlib.resources import as_file, files

from elephan.bench.workloads import Workload
from elephan.errors import ElephanError


def find_ns2() -> str | None:
    """Find the path of ns-2, if it is installed.

    Examples
    --------
    >>> find_ns2() is None or find_ns2().endswith("ns")
    True
    """
    return shutil.which("ns")


def ns2_ns_per_packet(ns: str, workload: Workload, duration_s: float) -> float:
    """Measure the CPU time of ns-2 per packet that crosses the bottleneck.

    Parameters
    ----------
    ns : str
        Path of ns-2.
    workload : Workload
        Workload with `ns2` set.
    duration_s : float [s]
        Simulated time.

    Returns
    -------
    float [ns/packet]

    Raises
    ------
    ElephanError
        If ns-2 fails.
    """
    scenario = workload.scenario()
    link, group = scenario.links[0], scenario.groups[0]
    words = [
        group["flows"],
        link["rate_bps"],
        link["delay_s"],
        link["min_rtt_s"],
        link["max_rtt_s"],
        group["packet_bytes"],
        link["buffer_limit_packets"],
        group["access_rate_bps"],
        duration_s,
        *workload.ns2.split(),
    ]
    with as_file(files("elephan.bench").joinpath("dumbbell.tcl")) as script:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([ns, str(script), *map(str, words)], capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    delivered = re.search(r"^delivered (\d+)$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or delivered is None:
        raise ElephanError(f"ns-2 failed on {workload.name}: {done.stderr.strip()[:200]}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu_s * 1e9 / max(1, int(delivered[1]))
