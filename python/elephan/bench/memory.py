"""Peak memory of one replication of a scenario above the interpreter, measured in a process of its own.

Linux keeps a high-water mark per address space (VmHWM in /proc/self/status). The one of getrusage is inherited from the
process that started it, so it serves only where there is no /proc.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from elephan.errors import ElephanError

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def peak_rss_mb() -> float:
    """Return the peak memory of this process so far.

    Returns
    -------
    float [MB]

    Examples
    --------
    >>> peak_rss_mb() > 1
    True
    """
    if STATUS.exists():
        for line in STATUS.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def forget_peak() -> None:
    """Reset the high-water mark to the memory held now, where the system supports it.

    Examples
    --------
    >>> forget_peak()
    """
    with suppress(OSError):
        CLEAR.write_text("5", encoding="utf-8")


def measure_peak_mb(canonical: str) -> float:
    """Measure the peak memory of one replication in a fresh process, minus the memory held before it.

    Parameters
    ----------
    canonical : str
        Canonical form of the scenario.

    Returns
    -------
    float [MB]

    Raises
    ------
    ElephanError
        If the process fails.
    """
    done = subprocess.run(
        [sys.executable, "-m", "elephan.bench.memory"], input=canonical, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ElephanError(f"the process that measures memory failed: {done.stderr.strip().splitlines()[-1:]}")
    return float(done.stdout)


def _main() -> None:
    """Read a canonical form on stdin, run it, write the growth of the peak on stdout."""
    from elephan import _native  # noqa: PLC0415 (counted with the interpreter)
    from elephan.scenario import EXAMPLE  # noqa: PLC0415 (as above)

    canonical = sys.stdin.read()
    _native.simulate(_native.resolve(EXAMPLE)[0], 0)
    forget_peak()
    before = peak_rss_mb()
    _native.simulate(canonical, 0)
    sys.stdout.write(f"{peak_rss_mb() - before:.3f}\n")


if __name__ == "__main__":
    _main()
