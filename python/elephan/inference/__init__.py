"""Inference of a path from what its sender measured: `infer`, and simulations near the answer, `search`.

A network trained on simulations corrects the estimates of theory; its intervals and sets are calibrated on other
simulations, and judged on real paths (`coverage`).
"""

from elephan.inference.answer import Answer, Known, coverage, infer, what_if, what_if_at_ends
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
    "what_if_at_ends",
]
