"""Published test cases of a congestion control as data: run over their paths, and judged observation by observation.

>>> from elephan.conform import conform
>>> conform("bbr", "startup-plateau").cases[0].verdict
'met'
"""

from elephan.conform.conformance import SUITES, Conformance, conform

__all__ = ["SUITES", "Conformance", "conform"]
