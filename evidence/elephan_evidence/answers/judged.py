"""The judged measurements that are nearest to an answer, and their errors."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from elephan_evidence.judge import committed
from elephan_evidence.judge.dataset import DataSet, find
from elephan_evidence.judge.words import percent

if TYPE_CHECKING:
    from elephan_evidence.answers.answer import Answer


@cache
def _score(name: str) -> tuple[str, int, float]:
    """Return the title of a data set, the number of its judged cells and the share within their bounds."""
    folder = find(name)
    verdicts = [row["verdict"] for (_, cell), row in committed.read(folder).items() if not cell.startswith("[")]
    counted = [verdict for verdict in verdicts if verdict != "apart"]
    share = counted.count("within") / len(counted) if counted else math.nan
    return DataSet.read(folder).title, len(counted), share


def nearest(answer: Answer, *, link: str = "") -> str:
    """Return a sentence on the nearest judged measurements.

    Parameters
    ----------
    link : str
        Folder of the pages of judged data sets, for a link in Markdown.
    """
    if not answer.judged:
        return "Nearest judged measurement: none is near; the mechanism is checked by tests only."
    title, cells, share = _score(answer.judged)
    name = f"[{title}]({link}{answer.judged}.md)" if link else f"{title} (elephan judge {answer.judged})"
    return f"Nearest judged measurement: {name}, {percent(share)} of {cells} values within their bounds."
