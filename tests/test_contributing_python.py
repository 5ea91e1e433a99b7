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


FORMATS = """
import mine
import elephan
from elephan.cli import main

scenario = elephan.Scenario.from_text(elephan.EXAMPLE)
result = elephan.run(scenario, replications=2, series=True)
names = [path.name for path in result.write("run", "feather")]
assert names == ["flows.feather", "links.feather", "samples.feather", "scenario.toml", "run.json"]
back = elephan.load("run")
assert back.links["utilization"] == result.links["utilization"]
assert back.samples()["backlog_packets"].tolist() == result.samples()["backlog_packets"].tolist()
elephan.report("run", "run.html")
assert "Backlog" in open("run.html").read()
assert [path.name for path in back.write("copy")][:2] == ["flows.parquet", "links.parquet"]
answer = elephan.size(scenario, "utilization=0.8", replications=2)
assert [path.name for path in answer.write("size", "feather")][:2] == ["curve.feather", "models.feather"]
assert list(elephan.load("size").table()) == list(answer.table())
swept = elephan.sweep(scenario, over={"links[0].buffer": ["10 packets", "20 packets"]}, replications=1, store="runs")
assert swept.write("swept", "feather")[0].name == "points.feather"
with elephan.Store("runs", readonly=True) as store:
    store.export("all.feather", "feather")
import pyarrow.feather
assert pyarrow.feather.read_table("all.feather").num_rows == 2
try:
    result.write("run", "father")
except elephan.InputError as error:
    assert "feather" in str(error)
open("example.toml", "w").write(elephan.EXAMPLE)
main(["run", "example.toml", "--out", "cli", "--tables", "feather", "--quiet"])
"""


def test_an_output_format_is_one_class(tmp_path: Path) -> None:
    (format_,) = blocks("Adding an output format")
    run(tmp_path, FORMATS, mine=format_)
    assert (tmp_path / "cli" / "flows.feather").is_file()
    assert not list((tmp_path / "cli").glob("*.parquet"))


PLOT = """
import mine
import elephan

result = elephan.run(elephan.Scenario.from_text(elephan.EXAMPLE), replications=1, series=True)
assert len(result.plot("run").axes) == 5
elephan.report(result, "run.html")
assert "Sum of the congestion windows over time" in open("run.html").read()
"""


def test_a_plot_is_one_function(tmp_path: Path) -> None:
    (plot,) = blocks("Adding a plot")
    run(tmp_path, PLOT, mine=plot)


def test_a_verb_is_one_function(tmp_path: Path) -> None:
    (verb,) = blocks("Adding a verb")
    about = tmp_path / "mine-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[elephan.commands]\nbdp = mine:bdp\n", encoding="utf-8")
    text = (
        "import elephan, sys\nopen('example.toml', 'w').write(elephan.EXAMPLE)\nfrom elephan.cli import main\nmain({})"
    )
    asked = ["bdp", "example.toml"]
    assert run(tmp_path, text.format(asked), mine=verb) == "core: 100 packets\n"
    assert '"core": 100.0' in run(tmp_path, text.format([*asked, "--json"]))
    assert "elephan bdp scenarios/hstcp-1g.toml" in run(tmp_path, text.format(["bdp", "--help"]))
