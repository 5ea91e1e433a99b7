"""Published experiments as data: one folder per paper, whose claims are judged from runs of its experiments.

To add a paper, create a folder with ``paper.toml``, ``claims.csv``, ``open.toml``, ``deviations.toml``,
``experiments/``, ``measures.py`` and ``figures.py`` (see `elephan_evidence.papers.paper`), and add its name to
`PAPERS`.
"""

from elephan_evidence.papers.paper import Ambiguity, Claim, Deviation, Experiment, Paper
from elephan_evidence.papers.reproduction import PAPERS, Reproduction, papers, reproduce

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
