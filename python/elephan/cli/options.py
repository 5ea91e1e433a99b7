"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elephan.workers import MOST_WORKERS

Scenario = Annotated[Path, typer.Argument(metavar="SCENARIO", help="Scenario file (TOML).")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PLACE=VALUE",
        help="Change the scenario, as in links.0.buffer='0.1 bdp' or 'links\\[0].buffer=0.1 bdp'; repeatable.",
    ),
]
Law = Annotated[
    list[str] | None,
    typer.Option(
        "--law",
        metavar="NAME=FILE",
        help="Your own law, for the scenario to name: mine=mine.py:Mine, mine=libmine.so; repeatable.",
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed, instead of the file's.")]
Attempts = Annotated[
    int | None,
    typer.Option(
        "--attempts",
        metavar="N",
        min=1,
        max=10,
        help="Retries per replication until the testbed run is valid.",
        show_default="3",
    ),
]
Replications = Annotated[
    int | None, typer.Option("--replications", min=1, help="Independent runs, instead of the file's.")
]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME[(OPTION=NUMBER)]",
        help="Measure a metric of `elephan list metrics` too: convergence_time, recovery_time(…), jain; repeatable.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, max=MOST_WORKERS, help="Threads; results do not depend on it.", show_default="all cores"
    ),
]
Range = Annotated[
    list[str] | None,
    typer.Option(
        "--range",
        metavar="PLACE=LOW..HIGH",
        help="What is unknown: flows.0.rtt='20..200 ms', flows.0.control=reno,cubic; repeatable.",
    ),
]
Runs = Annotated[
    int | None,
    typer.Option("--runs", min=1, help="Runs of an attack, a quarter of them random cases.", show_default="400"),
]
PARQUET = "parquet"
"""Default format of tables."""

Tables = Annotated[
    str,
    typer.Option("--tables", metavar="FORMAT", help="Format of the tables in --out: parquet, csv or json."),
]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write files into this folder.")]
Store = Annotated[
    Path | None,
    typer.Option("--store", metavar="DIR", help="Where runs are kept.", show_default="$ELEPHAN_STORE or .elephan"),
]
Keep = Annotated[
    Path | None,
    typer.Option("--store", metavar="DIR", help="Keep the run in this store; what is there already is not run again."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else there.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress; of warnings only that a run is too short.")]
Details = Annotated[bool, typer.Option("--details", help="Everything there is to show, not only the answer.")]
Force = Annotated[
    bool, typer.Option("--force", help="Run it even if it needs more memory than there is: `elephan estimate`.")
]
Strict = Annotated[bool, typer.Option("--strict", help="What `elephan lint` warns about is an error: exit code 2.")]
File = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write this file, not to stdout.")]
ReplaceFile = Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")]
ReplaceFiles = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Device = Annotated[str | None, typer.Option("--dev", metavar="NAME", help="Of tc: the device that the data leaves by.")]
DeviceRtt = Annotated[
    str | None,
    typer.Option("--rtt", metavar="TIME", help="Of tc: base RTT besides netem's delay.", show_default="0.5 ms"),
]
DeviceRate = Annotated[
    str | None,
    typer.Option("--link-rate", metavar="RATE", help="Of tc: rate of the device.", show_default="1 Gbit/s"),
]
