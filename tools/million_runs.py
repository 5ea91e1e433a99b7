"""Times queries of a store's index with many runs, copied from one: ``python tools/million_runs.py [RUNS]``."""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import elephan
from elephan.store import Store
from elephan.store.schema import ROWS

if TYPE_CHECKING:
    from collections.abc import Callable

BUFFERS, COUNTS = 20, 10


def fill(store: Store, count: int) -> None:
    """Insert rows into the index like those of a sweep over a buffer, a number of flows and a seed."""
    scenario = elephan.Scenario.from_text(elephan.EXAMPLE).replace({"duration": "0.3 s", "warmup": "0.1 s"})
    store.run(scenario, replications=2, labels={"links[0].buffer": "0.0 bdp", "flows[0].count": 0, "repeat": 0})
    store.flush()
    index, chance = store.index, random.Random(1)
    tables = {
        name: (index.columns(name), index.rows(f"SELECT * FROM {name}")[0]) for name in ("runs", "links", "groups")
    }
    with index.change():
        for number in range(2, count + 1):
            for table, (names, values) in tables.items():
                row = dict(zip(names, values, strict=True)) | {"run": number}
                row |= {"id": f"{chance.getrandbits(256):064x}"} if table == "runs" else {"row": ROWS + number}
                row |= {"utilization": chance.random()} if table == "links" else {}
                marks = ", ".join("?" * len(row))
                index.connection.execute(f"INSERT INTO {table} VALUES ({marks})", tuple(row.values()))
            buffer, flows, repeat = (
                f"{number % BUFFERS / 10} bdp",
                number // BUFFERS % COUNTS,
                number // (BUFFERS * COUNTS),
            )
            labels = {"flows[0].count": flows, "links[0].buffer": buffer, "repeat": repeat}
            sql = 'INSERT INTO points (run, labels, "links[0].buffer", "flows[0].count", repeat) VALUES (?, ?, ?, ?, ?)'
            index.connection.execute(sql, (number, json.dumps(labels), buffer, flows, repeat))


def timed(what: str, do: Callable[[], object]) -> None:
    """Print the time of an operation, the best of three."""
    best, cpu = float("inf"), float("inf")
    for _ in range(3):
        begun, used = time.perf_counter(), time.process_time()
        do()
        best, cpu = min(best, time.perf_counter() - begun), min(cpu, time.process_time() - used)
    sys.stdout.write(f"{best:7.3f} s ({cpu:6.3f} s of CPU)  {what}\n")
    sys.stdout.flush()


def main() -> None:
    """Make a store, query it, and remove it."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    folder = Path(tempfile.mkdtemp())
    try:
        with Store(folder) as store:
            fill(store, count)
        sys.stdout.write(f"{count} runs, index of {(folder / 'index.sqlite').stat().st_size / 1e6:.0f} MB\n")
        with Store(folder, readonly=True) as store:
            some = {"links[0].buffer": "0.5 bdp", "flows[0].count": 3}
            timed("runs by two labels", lambda: store.runs(**some))
            timed("their table, whole", lambda: store.table(some))
            for sql in (
                'SELECT count(*), avg("core.utilization") FROM results WHERE "links[0].buffer" = \'0.5 bdp\'',
                'SELECT "links[0].buffer", avg("core.utilization") FROM results GROUP BY 1',
                'SELECT "flows[0].count", max("core.utilization") FROM results GROUP BY 1',
                "SELECT discipline, avg(utilization) FROM links GROUP BY 1",
                "SELECT avg(jain) FROM runs",
                'SELECT run FROM results ORDER BY "core.utilization" DESC LIMIT 10',
            ):
                timed(sql, lambda sql=sql: store.query(sql))  # type: ignore[misc]
            few = ["labels", "core.utilization"]
            timed(f"table of {few}", lambda: store.table(columns=few))
            timed("the same as CSV", lambda: store.export(columns=few))
            timed("table with all columns", store.table)
    finally:
        shutil.rmtree(folder)


main()
