"""Queues of Linux as a scenario: lines of ``tc qdisc show``, ``tc class show`` and ``tc … add``."""

from elephan.traffic_control.emulated import Around, EmulatedPath, is_tc, read, scenario
from elephan.traffic_control.quantities import rate, size, time

__all__ = ["Around", "EmulatedPath", "is_tc", "rate", "read", "scenario", "size", "time"]
