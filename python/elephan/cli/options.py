"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from elephan.workers import MOST_WORKERS


def option(form: str, says: str, **more: Any) -> Any:
    """Declare an option for an annotation.

    Parameters
    ----------
    form : str
        Its names and the form of its value, as help shows them: ``"--set PLACE=VALUE"``, ``"--quiet -q"``.
    says : str
        Help text.
    **more
        As `typer.Option` takes them: bounds, and what help shows as the default.
    """
    names = [word for word in form.split() if word.startswith("-")]
    metavar = form.split()[len(names) :]
    return typer.Option(*names, metavar=metavar[0] if metavar else None, help=says, **more)


def argument(form: str, says: str, **more: Any) -> Any:
    """Declare an argument, see `option`."""
    return typer.Argument(metavar=form, help=says, **more)


Scenario = Annotated[Path, argument("SCENARIO", "Scenario file (TOML).")]
Set = Annotated[
    list[str] | None,
    option(
        "--set PLACE=VALUE",
        "Change the scenario, as in links.0.buffer='0.1 bdp' or 'links\\[0].buffer=0.1 bdp'; repeatable.",
    ),
]
Law = Annotated[
    list[str] | None,
    option(
        "--law NAME=FILE",
        "Name a law of your own for use in the scenario: mine=mine.py:Mine, mine=libmine.so; repeatable.",
    ),
]
Seed = Annotated[int | None, option("--seed", "Seed, instead of the file's.", min=0)]
Attempts = Annotated[
    int | None,
    option(
        "--attempts N", "Most attempts per replication until the testbed run is valid.", min=1, max=10, show_default="3"
    ),
]
Replications = Annotated[int | None, option("--replications", "Independent runs, instead of the file's.", min=1)]
Metric = Annotated[
    list[str] | None,
    option(
        "--metric NAME[(OPTION=NUMBER)]",
        "Measure a metric of `elephan list metrics` too: convergence_time, recovery_time(…), jain; repeatable.",
    ),
]
Workers = Annotated[
    int | None,
    option("--workers", "Threads; results do not depend on it.", min=1, max=MOST_WORKERS, show_default="all cores"),
]
Range = Annotated[
    list[str] | None,
    option(
        "--range PLACE=LOW..HIGH",
        "Range of an unknown value: flows.0.rtt='20..200 ms', flows.0.control=reno,cubic; repeatable.",
    ),
]
Runs = Annotated[
    int | None, option("--runs", "Runs of an attack, a quarter of them random cases.", min=1, show_default="400")
]
PARQUET = "parquet"
"""Default format of tables."""

Tables = Annotated[str, option("--tables FORMAT", "Format of the tables in --out: parquet, csv or json.")]
Out = Annotated[Path | None, option("--out DIR", "Write files into this folder.")]
Store = Annotated[Path | None, option("--store DIR", "Store of the runs.", show_default="$ELEPHAN_STORE or .elephan")]
Keep = Annotated[
    Path | None, option("--store DIR", "Keep the run in this store; a run that it already has is not repeated.")
]
Json = Annotated[bool, option("--json", "Print one JSON document on stdout, and nothing else.")]
Quiet = Annotated[bool, option("--quiet -q", "No progress; warnings only about too short runs.")]
Details = Annotated[bool, option("--details", "Show all details, not only the answer.")]
Force = Annotated[bool, option("--force", "Run even if the memory may not suffice (see `elephan estimate`).")]
Strict = Annotated[bool, option("--strict", "Treat warnings of `elephan lint` as errors: exit code 2.")]
File = Annotated[Path | None, option("--out FILE", "Write this file instead of stdout.")]
ReplaceFile = Annotated[bool, option("--force", "Replace FILE if it exists.")]
ReplaceFiles = Annotated[bool, option("--force", "Replace files that exist.")]
Device = Annotated[str | None, option("--dev NAME", "For tc: device through which the data leave.")]
DeviceRtt = Annotated[
    str | None, option("--rtt TIME", "For tc: base RTT without netem's delay.", show_default="0.5 ms")
]
DeviceRate = Annotated[str | None, option("--link-rate RATE", "For tc: rate of the device.", show_default="1 Gbit/s")]
