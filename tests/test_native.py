"""The bridge releases the lock while it simulates, and reports errors and panics; `make check` compares its stub."""

import contextlib
import errno
import json
import math
import random
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elephan import _native
from elephan.costs.traffic import MOST_WRITTEN
from elephan.results import formats as files
from elephan.results.formats import FORMATS
from elephan.scenario import EXAMPLE


def test_the_interpreters_lock_is_free_during_a_simulation() -> None:
    # Seconds of work, and minutes on a slow machine, which end as soon as this thread has seen a part done.
    canonical, monitor = _native.resolve(EXAMPLE.replace('"4 s"', '"100000 s"'))[0], _native.RunMonitor()
    worker = threading.Thread(target=_stopped, args=(canonical, monitor))
    worker.start()
    while worker.is_alive() and monitor.share == 0:
        time.sleep(0.001)
    # Held for the whole call, the lock would let this thread through when all is done.
    assert 0 < monitor.share < 0.9
    monitor.stop()
    worker.join()


def _stopped(canonical: str, monitor: _native.RunMonitor) -> None:
    with contextlib.suppress(KeyboardInterrupt):
        _native.simulate(canonical, 0, monitor=monitor)


def test_a_panic_in_the_native_half_is_an_exception() -> None:
    script = (
        "from elephan import _native\n"
        "try: _native.memory_floor(1, 2**63, 1)\n"
        "except BaseException as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "PanicException capacity overflow\n"


PARQUET = FORMATS["parquet"]


@pytest.mark.parametrize("rows", [1, 7])
def test_small_tables_say_what_arrow_would_write(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(1)
    columns: dict[str, Any] = {
        "name": np.array([None, "", "core", "\u00e9l\u00e9phant", "a b", "c", "d"][:rows], dtype=object),
        "share": np.where(chance.random(rows) < 0.3, np.nan, chance.random(rows)),
        "never": np.full(rows, np.nan),
        "short": chance.random(rows).astype(np.float32),
        "count": chance.integers(0, 2**64, rows, dtype=np.uint64, endpoint=False),
        "index": chance.integers(0, 2**32, rows, dtype=np.uint32),
        "every other": np.arange(2 * rows, dtype=np.uint32)[::2],
        "flag": chance.random(rows) < 0.5,
    }
    about = {"elephan_run_id": "0" * 64, "title": "\u00e9"}
    small = PARQUET.encode_columns(columns, about)
    assert small == PARQUET.encode_columns(columns, about)
    monkeypatch.setattr(files, "SMALL", 0)
    ours, theirs = (
        pq.read_table(pa.BufferReader(content)) for content in (small, PARQUET.encode_columns(columns, about))
    )
    assert b"elephan 0" in small
    assert ours.schema.equals(theirs.schema, check_metadata=True)
    assert ours.equals(theirs)


def test_a_table_of_no_rows_and_columns_of_several_lengths_are_no_small_tables() -> None:
    empty = PARQUET.encode_columns({"a": np.array([])}, {})
    assert pq.read_table(pa.BufferReader(empty)).num_rows == 0
    with pytest.raises(ValueError, match="rows"):
        _native.parquet_file([("a", np.zeros(2)), ("b", np.zeros(3))], [])
    with pytest.raises(TypeError, match="an array of numbers or a list of texts"):
        _native.parquet_file([("a", np.zeros((2, 2)))], [])


def test_what_comes_with_a_canonical_form_follows_from_it() -> None:
    canonical, name, described = _native.resolve(EXAMPLE)
    assert name == _native.scenario_id(canonical)
    assert described == _native.describe(canonical)


def test_a_document_is_written_as_json_would() -> None:
    chance = random.Random(1)
    # With numbers halfway between two shortest forms, of which measured rates are full: odd parts of powers of two.
    numbers = [chance.uniform(-1, 1) * 10.0 ** chance.randint(-20, 25) for _ in range(5000)]
    numbers += [chance.getrandbits(53) / 2 ** chance.randint(0, 60) for _ in range(5000)] + [0.0, -0.0, 5e-324, 1e16]
    document: dict[str, Any] = {
        "numbers": numbers,
        "whole": [0, -5, 2**63, -(2**70), True, False, None],
        'a "name"': {"texts": ("é\n\x00\x7f", "\U0001f600", ""), "empty": [{}, [], ()]},
    }
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(part)}" for name, part in document.items())
    assert _native.json_lines(document) == f"{{\n{lines}\n}}\n".encode()
    for wrong in (math.nan, math.inf, {1}, {1: 2}):
        with pytest.raises((TypeError, ValueError)):
            _native.json_lines({"wrong": wrong})


def test_a_folder_that_cannot_be_written_is_refused_as_by_the_system(tmp_path: Path) -> None:
    place = tmp_path / "run"
    _native.write_folder(str(place), [("a", b"1"), ("b", b"")])
    assert {path.name: path.read_bytes() for path in place.iterdir()} == {"a": b"1", "b": b""}
    with pytest.raises(FileExistsError) as there:
        _native.write_folder(str(place), [])
    assert (there.value.errno, there.value.filename) == (errno.EEXIST, str(place))
    with pytest.raises(FileNotFoundError):
        _native.write_folder(str(tmp_path / "no" / "run"), [])


def test_the_limit_of_what_applications_write_is_that_of_the_engine() -> None:
    source = Path(__file__).parent.parent / "crates" / "sim" / "src" / "writes.rs"
    if not source.exists():
        pytest.skip("no checkout: the engine's source is not here")
    found = re.search(r"MOST_WRITTEN: u64 = 1 << (\d+);", source.read_text())
    assert found is not None
    assert 1 << int(found[1]) == MOST_WRITTEN
