"""A paper made up for tests: two buffers on one small link, and the possible verdicts on claims about them."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import elephan
from elephan_evidence.papers import Paper
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.measured import Found, MeasuredQuantity
from elephan_evidence.papers.measures import MeasureRegistry
from elephan_evidence.papers.paper import COLUMNS
from elephan_evidence.papers.runs import ExperimentRuns

CLAIMS = [
    "toy.rises,ordering,stated,utilization rises with the buffer,> 0,Figure 1,buffers,rise,sign,,its sign",
    "toy.full,numeric,stated,utilization at 25 packets,1.0,Figure 1,buffers,used buffer=25,abs 0.2,,its rounding",
    "toy.half,numeric,stated,utilization at 5 packets,0.2,Figure 1,buffers,used buffer=5,abs 0.01,,its rounding",
    "toy.wrong,numeric,stated,utilization at 5 packets again,0.1,Figure 1,buffers,used buffer=5,abs 0.01,,its rounding",
    "toy.bound,numeric,formula,a product,400,Section 2,,product rate=4000,rel 0.01,,exact",
    "toy.elsewhere,shape,stated,asks for what it does not name,,Section 2,,used buffer=5,so,,none",
]
MEASURES = MeasureRegistry()


@MEASURES
def used(runs: ExperimentRuns, buffer: int) -> Found:
    return MeasuredQuantity(runs["buffers"].at(buffer=buffer).link("utilization"))


@MEASURES
def rise(runs: ExperimentRuns) -> Found:
    first, last = (MeasuredQuantity(runs["buffers"].at(buffer=b).link("utilization")) for b in (5, 25))
    return last - first


@MEASURES
def nearer(runs: ExperimentRuns, claim: str, share: float = 0.95) -> Found:
    """Return a variant's value that closes this share of the gap to the 0.2 of ``toy.half``, or the 0.1 of
    ``toy.wrong``."""
    value = {"toy.half": 0.2, "toy.wrong": 0.1}[claim]
    return (MeasuredQuantity(runs["buffers"].at(buffer=5).link("utilization")) - value) * (1 - share) + value


@MEASURES
def product(_: ExperimentRuns, rate: float) -> Found:
    return 0.1 * rate


def toy_paper(folder: Path) -> Paper:
    """Write a paper of six claims: one of each kind is met, one is explained, one is not met, one cannot be judged."""
    (folder / "experiments").mkdir(parents=True)
    (folder / "base.toml").write_text(elephan.EXAMPLE)
    (folder / "experiments/buffers.toml").write_text(
        'base = "../base.toml"\nreplications = 5\n[over]\n"links[0].buffer" = ["5 packets", "25 packets"]\n'
    )
    (folder / "claims.csv").write_text("\n".join([",".join(COLUMNS), *CLAIMS]) + "\n")
    (folder / "deviations.toml").write_text(
        dedent("""
        [[deviations]]
        claims = ["toy.half"]
        title = "it is not so small"
        why = "because"
        ns2 = ""
        needs = "none"
        [[deviations.shown]]
        says = "it is above 0.3"
        experiments = ["buffers"]
        measure = "used buffer=5"
        accept = "min 0.3"
        [deviations.variant]
        says = "another law"
        experiments = ["buffers"]
        measure = "nearer claim={claim}"
        """)
    )
    (folder / "open.toml").write_text("open = []\n")
    about: dict[str, Any] = {
        "name": "toy",
        "prefix": "toy",
        "experiments": [
            {
                "name": "buffers",
                "title": "buffers",
                "names": {"buffer": "links[0].buffer"},
                "quick": {"replications": 1, "set": {"duration": "2 s"}, "only": {"buffer": [25]}},
            }
        ],
    }
    toy = Paper(folder, about)
    toy.__dict__["measures"] = MEASURES
    toy.__dict__["figures"] = PaperExhibits()
    return toy
