"""Inference of a path from measurements of its sender.

`infer` estimates the path, `search` simulates similar paths, `what_if` simulates changes of the path. A neural network,
which is trained on simulations, corrects the estimates of theory. Its intervals and sets are calibrated on other
simulations, and evaluated on real paths (`coverage`).
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
