"""Published experiments as data: a folder a paper, its claims judged from runs of its experiments.

To add a paper: a folder with ``paper.toml``, ``claims.csv``, ``open.toml``, ``deviations.toml``, ``experiments/``,
``measures.py`` and ``figures.py`` (see `elephan.papers.paper`), and its name in `PAPERS`.
"""

from elephan.papers.paper import Ambiguity, Claim, Deviation, Experiment, Paper
from elephan.papers.reproduction import PAPERS, Reproduction, papers, reproduce

__all__ = [
    "PAPERS",
    "Ambiguity",
    "Claim",
    "Deviation",
    "Experiment",
    "Paper",
    "Reproduction",
    "papers",
    "reproduce",
]
