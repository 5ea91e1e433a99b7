"""Conversion of Linux's queueing disciplines (``tc qdisc show``, ``tc class show``, ``tc … add``) to a scenario."""

from elephan.traffic_control.emulated import EmulatedPath, read
from elephan.traffic_control.lines import is_tc
from elephan.traffic_control.quantities import rate, size, time
from elephan.traffic_control.written import Around, scenario

__all__ = ["Around", "EmulatedPath", "is_tc", "rate", "read", "scenario", "size", "time"]
