"""Published test cases of a congestion control as data: run over several paths, and judged per observation.

>>> from elephan_evidence.conform import conform
>>> conform("bbr", "startup-plateau").cases[0].verdict
'met'
"""

from elephan_evidence.conform.conformance import SUITES, Conformance, conform

__all__ = ["SUITES", "Conformance", "conform"]
