"""The claims of papers that a model decides, as tables: from tests/data/model_claims.csv, which the tests hold to."""

import csv
from collections import Counter
from pathlib import Path

from elephan.citations import cite
from pages.markdown import code, table

FILE = Path(__file__).resolve().parents[2] / "tests" / "data" / "model_claims.csv"
PAPERS = {
    "hsbuf": "Barman2004",
    "ghstcp": "Zhang2005",
    "nonhom": "Andrew2005",
    "elastic": "AugeRoberts2006",
    "nr": "PhillipsHu2006",
}
"""What the ids begin with."""
JUDGED = {"holds": "holds", "misprint": "misprint", "model-fails": "the model fails"}
HOW = {
    "abs": "within {}",
    "rel": "within a share of {}",
    "factor": "within a factor of {}",
    "min": "at least {}",
    "max": "at most {}",
    "in": "in {}",
    "sign": "by sign",
    "so": "as a sentence",
}
"""How a claim is judged, in words."""


def tables() -> str:
    """Count the verdicts, then list the claims of each paper."""
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    counts = Counter((row["id"].split(".")[0], row["verdict"]) for row in rows)
    summary = [[key, *(str(counts[start, v]) for v in JUDGED)] for start, key in PAPERS.items()]
    total = [f"all {len(rows)}", *(str(sum(counts[start, v] for start in PAPERS)) for v in JUDGED)]
    lines = table(["paper", *JUDGED.values()], [*summary, total], numbers=True)
    for start, key in PAPERS.items():
        lines += [f"## {key}", "", cite(key), ""]
        mine = [row for row in rows if row["id"].split(".")[0] == start]
        lines += table(["claim", "statement", "claimed", "ours", "verdict"], [claim(row) for row in mine])
    return "\n".join(lines)


def claim(row: dict[str, str]) -> list[str]:
    """Write one claim as a row: what is said, how it is judged, what we find."""
    how, _, number = row["tolerance"].partition(" ")
    claimed = ", ".join(filter(None, [row["value"], HOW[how].format(number)]))
    verdict = f"**{JUDGED[row['verdict']]}**" if row["verdict"] != "holds" else JUDGED[row["verdict"]]
    said = f"{verdict}: {row['note']}" if row["note"] else verdict
    return [code(row["id"]), f"{row['statement']} ({row['model']})", claimed, row["ours"], said]
