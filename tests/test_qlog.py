"""qlog of recorded flows: text sequences whose events follow the drafts, with the numbers of the trace."""

import json
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elephan
from conftest import Command
from elephan.runs.files import file_names
from elephan.runs.qlog import AVOIDANCE, LAW_STATES, SLOW_START, encode_qlog, write_qlog
from elephan.runs.result import RunResult

TEXT = """
title = "one flow"
duration = "3 s"
[record]
trace = ["one[0]"]
[[links]]
name = "core"
rate = "10 Mbit/s"
buffer = "20 packets"
[[flows]]
name = "one"
path = ["core"]
rtt = "40 ms"
packet = "1500 B"
control = { law = "LAW" }
tcp = "linux"
"""

# draft-ietf-quic-qlog-quic-events-13, QUICRecoveryMetricsUpdated: names and what they are; `law` is unspecified.
FIELDS = {
    "min_rtt": float,
    "smoothed_rtt": float,
    "congestion_window": int,
    "bytes_in_flight": int,
    "packets_in_flight": int,
    "ssthresh": int,
    "pacing_rate": int,
    "law": dict,
}


CA_STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
"""States of recovery by Linux's names."""


def made(law: str) -> RunResult:
    return elephan.run(elephan.Scenario.from_text(TEXT.replace("LAW", law)))


def records(result: RunResult) -> list[dict[str, Any]]:
    """RFC 7464: each record between a record separator and a line feed."""
    text = encode_qlog(result)
    parts = text.split(b"\x1e")
    assert parts[0] == b""
    assert all(part.endswith(b"\n") and part.count(b"\n") == 1 for part in parts[1:])
    return [json.loads(part) for part in parts[1:]]


def replayed(events: list[dict[str, Any]]) -> Iterator[tuple[float, dict[str, Any]]]:
    """Yield the known state of the sender after each event: only changes are written."""
    known: dict[str, Any] = {"law": {}}
    for event in events:
        if event["name"] == "quic:recovery_metrics_updated":
            law = known["law"] | event["data"].get("law", {})
            known = known | event["data"] | {"law": law}
            yield event["time"], known


def test_the_header_is_that_of_the_main_schema() -> None:
    header, scenario, *events = records(made("bbr3"))
    assert header["file_schema"] == "urn:ietf:params:qlog:file:sequential"
    assert header["serialization_format"] == "application/qlog+json-seq"
    assert header["trace"]["event_schemas"][0] == "urn:ietf:params:qlog:events:quic-13"
    assert header["trace"]["common_fields"]["reference_time"] == {"clock_type": "monotonic", "epoch": "unknown"}
    assert header["trace"]["vantage_point"]["type"] in {"client", "server", "network", "unknown"}
    assert (scenario["name"], scenario["data"]["name"]) == ("simulation:scenario", "one flow")
    names = {"quic:recovery_metrics_updated", "quic:congestion_state_updated", "quic:packet_lost", "simulation:marker"}
    assert names <= {event["name"] for event in events} <= names | {"quic:timer_updated"}
    times = [event["time"] for event in events]
    assert times == sorted(times)


@pytest.mark.parametrize("law", ["bbr", "bbr1", "cubic", "reno"])
def test_what_is_written_of_changes_is_the_trace(law: str) -> None:
    result = made(law)
    [trace] = result.outcomes[0].traces
    events = records(result)[2:]
    for event in events:
        if event["name"] == "quic:recovery_metrics_updated":
            assert all(isinstance(value, FIELDS[key]) for key, value in event["data"].items()), event
    rows = dict(replayed(events))
    for row, time_s in enumerate(trace["time_s"]):
        known = rows.get(round(float(time_s) * 1e3, 9))
        if known is None:
            # Without a change the next row has the same numbers.
            continue
        assert known["packets_in_flight"] == trace["in_flight_segments"][row]
        assert known["congestion_window"] == round(trace["cwnd_segments"][row] * 1500)
        if "smoothed_rtt" in known:
            assert known["smoothed_rtt"] == pytest.approx(trace["srtt_s"][row] * 1e3, rel=1e-11)
        for name, values in trace["gauges"].items():
            if row < len(values) and np.isfinite(values[row]):
                assert known["law"][name] == pytest.approx(values[row], rel=1e-11)
    assert len(rows) > 100


@pytest.mark.parametrize(
    ("law", "states"),
    [
        ("bbr3", set(LAW_STATES["bbr3"]) - {"ProbeRTT"}),
        ("bbr1", set(LAW_STATES["bbr1"]) - {"ProbeRTT"}),
        ("reno", {SLOW_START, AVOIDANCE}),
    ],
)
def test_states_have_their_names_and_follow_each_other(law: str, states: set[str]) -> None:
    updated = [event["data"] for event in records(made(law)) if event.get("name") == "quic:congestion_state_updated"]
    changes = [each for each in updated if "state_machine" not in each]
    assert {each["new"] for each in changes} == states
    assert "old" not in changes[0]
    assert [each["old"] for each in changes[1:]] == [each["new"] for each in changes[:-1]]
    # The sender's state of recovery changes beside them.
    recovery = [each for each in updated if each.get("state_machine") == "ca_state"]
    assert {"Open", "Disorder", "Recovery"} <= {each["new"] for each in recovery} <= {*CA_STATES}
    assert [each["old"] for each in recovery] == ["Open", *(each["new"] for each in recovery[:-1])]
    assert all(each["trigger"] for each in recovery)


def test_drops_are_markers_where_they_were() -> None:
    result = made("reno")
    [trace] = result.outcomes[0].traces
    marks = [event for event in records(result) if event.get("name") == "simulation:marker"]
    drops = [event for event in marks if event["data"]["type"] == "drop"]
    assert len(drops) == trace["drop_time_s"].size > 0
    assert drops[0]["data"]["message"] == f"segment {trace['drop_segment'][0]} at link core"


def test_files_are_written_where_they_are_asked_for(elephan: Command, tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    file.write_text(TEXT.replace("LAW", "bbr3"), encoding="utf-8")
    done = elephan("run", str(file), "--out", str(tmp_path / "out"), "--also", "qlog", "--replications", "2", "-q")
    assert done.code == 0
    assert {path.name for path in (tmp_path / "out").glob("*.sqlog")} == {"one-0-r0.sqlog", "one-0-r1.sqlog"}
    [alone] = write_qlog(made("bbr3"), tmp_path)
    assert alone.name == "one-0.sqlog"
    for words, said in (
        (("--also", "qlog"), "--also: where to? Give a folder with --out DIR"),
        (
            ("--also", "qlog", "--out", str(tmp_path / "none"), "--set", "record.trace=[]"),
            "--also qlog: no flow is recorded ACK by ACK; give --set 'record.trace=[\"one[0]\"]'",
        ),
    ):
        done = elephan("run", str(file), *words)
        assert (done.code, done.err.strip()) == (2, said)


HOSTILE = [
    "../../pwn",
    "..",
    ".",
    "/etc/pwn",
    "..\\pwn",
    "C:pwn",
    "CON",
    "con.x",
    "Core",
    "core",
    "core/",
    "~core",
    "-rf",
    ".hidden",
    "x" * 64,
    "é" * 32,
    "e\u0301",
    "\u00e9",
    "a:b|c?d*e<f>g",
    "   ",
]
"""Names that scenarios may have; NUL, line breaks and more than 64 bytes are refused."""


def test_names_of_a_scenario_never_lead_out_of_the_folder_that_was_named(tmp_path: Path, elephan: Command) -> None:
    quoted = [json.dumps(name) for name in HOSTILE]
    text = 'duration = "0.3 s"\nwarmup = "0.1 s"\n[record]\nevery = "50 ms"\n'
    text += f"trace = [{', '.join(json.dumps(name + '[0]') for name in HOSTILE)}]\n"
    # A picture takes a second; all files are named by one function.
    packets = [f'{{ link = {q}, from = "0 s", to = "0.2 s" }}' for q in quoted[::4]]
    text += f"packets = [{', '.join(packets)}]\n"
    for q in quoted:
        text += f'[[links]]\nname = {q}\nrate = "1 Mbit/s"\nbuffer = "20 packets"\n'
        text += f'[[flows]]\nname = {q}\npath = [{q}]\nrtt = "10 ms"\n'
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    file = inner / "s.toml"
    file.write_text(text)
    done = elephan("run", file, "--out", inner / "o", "--also", "qlog", "--plot")
    assert done.code == 0, done.err
    files = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert {path.parent for path in files} == {inner, inner / "o"}
    names = [path.name for path in files if path.parent == inner / "o"]
    assert sum(name.endswith(".sqlog") for name in names) == len(HOSTILE)
    assert sum(name.startswith("packets-") and name.endswith(".png") for name in names) == len(HOSTILE[::4])
    # As file systems of Windows and macOS see them; their rules for names are Microsoft's "Naming Files, Paths".
    assert len({unicodedata.normalize("NFC", name).casefold() for name in names}) == len(names)
    for name in names:
        assert len(name.encode()) < 200
        assert not name.startswith((".", "-"))
        assert not set('<>:"/\\|?* ') & set(name)
        assert name.partition(".")[0].upper() not in {"CON", "PRN", "AUX", "NUL"}


@pytest.mark.parametrize("name", ["a\\u0000b", "a\\nb", "x" * 65, ""])
def test_names_that_no_file_could_have_are_refused_with_the_scenario(name: str) -> None:
    with pytest.raises(elephan.ScenarioError, match=r"flows\[0\]\.name: "):
        elephan.Scenario.from_text(TEXT.replace("LAW", "reno").replace('name = "one"', f'name = "{name}"'))


def test_ordinary_names_stand_in_names_of_files_as_they_are(tmp_path: Path) -> None:
    assert [path.name for path in write_qlog(made("reno"), tmp_path)] == ["one-0.sqlog"]


def test_any_text_becomes_a_part_of_a_name_of_a_file() -> None:
    texts = [
        *HOSTILE,
        "x" * 100_000,
        "é" * 100_000,
        "x" * 100_000,
        "a" * 119 + "." + "b",
        "",
        "\0",
        "a\nb",
        "aux.",
        "/",
        "-" * 500,
    ]
    names = file_names(texts)
    assert len({unicodedata.normalize("NFC", name).casefold() for name in names}) == len(texts)
    for name in names:
        # The text around it fits into the rest of 255.
        assert 0 < len(name.encode()) <= 140
        assert not name.startswith((".", "-"))
        assert not name.endswith(".")
        assert not set('<>:"/\\|?* \0\n') & set(name)
        assert name.partition(".")[0].upper() not in {"CON", "PRN", "AUX", "NUL"}


SIZE = ["size", "{file}", "--link", "../../pwn", "--target", "utilization=0.1", "--out", "{out}"]
VERBS: dict[str, list[str]] = {
    "size": SIZE,
    "laws": [*SIZE, "--law", "..={law}:Mine", "--laws", "..,reno"],
    "sweep": ["sweep", "{file}", "--over", "seed=1,2", "--store", "{out}/s", "--out", "{out}"],
    "store": ["run", "{file}", "--store", "{out}"],
    "compare": ["compare", "{file}", "--no-testbed", "--out", "{out}"],
    "report": ["report", "{ran}", "--out", "{out}/page.html"],
}
"""Commands that write into a given folder, with a scenario whose names are paths."""


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_writes_outside_of_the_folder_that_it_is_given(verb: str, tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b" / "c"
    ran, out, home = inner / "ran", inner / "out", tmp_path / "home"
    for folder in (inner, out, home):
        folder.mkdir(parents=True)
    file, law = inner / "s.toml", inner / "mine.py"
    text = TEXT.replace("LAW", "reno").replace('"one"', '"../../pwn"').replace('"core"', '"../../pwn"')
    file.write_text(text.replace('"one[0]"', '"../../pwn[0]"').replace('"one flow"', '"../../pwn"'))
    law.write_text("class Mine:\n    cwnd = 10\n\n    def on_rtt_round(self, flow):\n        pass\n")
    # As a process of its own: its working directory, home and caches are places where something could be left, too.
    environment = os.environ | {"HOME": str(home), "XDG_CACHE_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}

    def elephan(*words: str) -> None:
        command = [sys.executable, "-m", "elephan", *words]
        done = subprocess.run(command, cwd=inner, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr

    if verb == "report":
        elephan("run", str(file), "--out", str(ran), "--also", "qlog", "-q")
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    elephan(*[word.format(file=file, out=out, law=law, ran=ran) for word in VERBS[verb]])
    new = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert [path for path in new if out in path.parents]
    # Only caches stand elsewhere: they are the user's.
    assert [path for path in new if out not in path.parents and home not in path.parents] == []
    assert not [path for path in tmp_path.rglob("*pwn*") if inner not in path.parents]
