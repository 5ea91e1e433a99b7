"""The bridge: its stub tells the truth, and its lock is free while it simulates."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from elephan import _native
from elephan.scenario import EXAMPLE

PYTHON = Path(__file__).resolve().parent.parent / "python"


def test_the_stub_describes_the_module(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "elephan._native"]
    environment = {**os.environ, "MYPY_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, cwd=PYTHON, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_interpreters_lock_is_free_during_a_simulation() -> None:
    canonical = _native.resolve(EXAMPLE.replace('"4 s"', '"4000 s"'))
    worker = threading.Thread(target=_native.simulate, args=(canonical, 0))
    worker.start()
    ticks = 0
    while worker.is_alive():
        time.sleep(0.001)
        ticks += 1
    # Held for the whole call, the lock would let this thread through once or twice.
    assert ticks > 5


def test_a_panic_in_the_native_half_is_an_exception() -> None:
    script = (
        "from elephan import _native\n"
        "try: _native.memory_floor(1, 2**63, 1)\n"
        "except BaseException as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "PanicException capacity overflow\n"
