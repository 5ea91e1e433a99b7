"""The worked examples in Python in CONTRIBUTING.md work as they stand, each in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "CONTRIBUTING.md"


def blocks(title: str) -> list[str]:
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)


def run(folder: Path, *sources: str, **files: str) -> str:
    """Run sources as one program in a folder with files; return what it prints."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "120"}
    command = [sys.executable, "-c", "\n".join(sources)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


WHERE = """
import json, sys, mine
import pyarrow.parquet as pq
import elephan
from elephan.cli import main
from elephan.metrics import METRICS
from elephan.sweeps.columns import NAMES

NAME, MEANING = "drops_per_event", "packets dropped by a full buffer, per loss event"
scenario = elephan.Scenario.from_text(elephan.EXAMPLE)
swept = elephan.sweep(scenario, over={"links[0].buffer": ["10 packets", "20 packets"]}, replications=2, store="runs")
result = elephan.run(scenario, replications=2, series=True, metrics=NAME, precision=f"{NAME}=90%", max_replications=2)
elephan.report(result, "run.html")
elephan.report(swept, "swept.html")
result.write("out")

document = json.loads(open("out/run.json").read())
per_run = [o.links["drops_overflow"][0] / o.links["loss_events"][0] for o in result.outcomes]
assert document["links"][0][NAME]["mean"] == sum(per_run) / 2 > 1, per_run
assert pq.read_table("out/links.parquet")[NAME].to_pylist() == per_run
with elephan.Store("runs", readonly=True) as store:
    assert store.query(f"SELECT min({NAME}) > 1 AS found FROM links").to_arrow()["found"].to_pylist() == [1]
    assert f"core.{NAME}" in store.table(columns=["summary"]).to_arrow().column_names
dataset = result.to_xarray()[f"link_{NAME}"]
assert dataset.attrs == {"units": "1", "long_name": MEANING}
assert dataset.values.ravel().tolist() == per_run
assert NAME in repr(result.links)
assert result.links[NAME] == [document["links"][0][NAME]["mean"]]
assert elephan.load("out").links[NAME] == result.links[NAME]
assert elephan.load("out").outcomes[0].derived[NAME] == result.outcomes[0].derived[NAME]
assert document["metrics"][0]["quantity"] == document["metrics"][0]["metric"] == NAME
assert document["precision"]["metrics"][0]["metric"] == f"{NAME}[core]"
assert METRICS[NAME].found == f"links: {NAME}"
assert NAME in NAMES
assert "each event" in open("run.html").read()
assert "each event" in result._repr_html_()
assert "rops per loss event of core" in open("swept.html").read()
open("example.toml", "w").write(elephan.EXAMPLE)
main(["run", "example.toml", "--store", "runs"])
"""


def test_a_metric_is_declared_in_one_place(tmp_path: Path) -> None:
    (metric,) = blocks("Adding a metric")
    screen = run(tmp_path, WHERE, mine=metric)
    assert "each event" in screen
