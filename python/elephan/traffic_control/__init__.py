"""Queues of Linux as a scenario: lines of ``tc qdisc show``, ``tc class show`` and ``tc … add``."""

from elephan.traffic_control.emulated import EmulatedPath, read
from elephan.traffic_control.lines import is_tc
from elephan.traffic_control.quantities import rate, size, time
from elephan.traffic_control.written import Around, scenario

__all__ = ["Around", "EmulatedPath", "is_tc", "rate", "read", "scenario", "size", "time"]
