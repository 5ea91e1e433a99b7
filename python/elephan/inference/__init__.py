"""Inference of a path from what its sender measured, `infer`; simulations near it, `search`, and of changes, `what_if`.

A network trained on simulations corrects the estimates of theory; its intervals and sets are calibrated on other
simulations, and judged on real paths (`coverage`).
"""

from elephan.inference.answer import Answer, Known, coverage, infer
from elephan.inference.changes import what_if
from elephan.inference.nearby import Nearby, Twin, search
from elephan.inference.network import Interval
from elephan.inference.observed import Observation

__all__ = [
    "Answer",
    "Interval",
    "Known",
    "Nearby",
    "Observation",
    "Twin",
    "coverage",
    "infer",
    "search",
    "what_if",
]
