"""Common fixtures: a small scenario in a file, and the command line called as a function."""

import importlib.util
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from elephan.cli import main
from elephan.costs import machine
from elephan.scenario import EXAMPLE

SCENARIOS = Path(__file__).resolve().parent.parent / "scenarios"


PATIENCE_S = 600.0
"""Time after which a process is taken to hang [s]: on a busy machine everything takes long."""

NS_PER_PACKET = 20.0
"""Cost of a packet on the machine for which tests make estimates [ns]."""

SPEED = float(os.environ.get("ELEPHAN_TEST_SPEED", "1"))
"""Factor on the speed of that machine: no test may depend on it."""


# Each example of a random test has 0.2 s by default, too little on a busy machine. Other settings of `CI` are kept.
settings.register_profile("elephan", parent=settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("elephan")


def pytest_configure(config: pytest.Config) -> None:
    """Store a fixed speed, so that none is measured: the announced duration must not depend on the test machine.

    It is in a cache folder of its own, which processes of tests inherit, and the home folder is left alone.
    """
    # What a shell starts in the background ignores Ctrl-C, and so would the commands under test.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # xdist sets it for its workers; a width that is set is one for which warnings are wrapped.
    os.environ.pop("COLUMNS", None)
    folder = Path(tempfile.mkdtemp(prefix="elephan-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    # Matplotlib lists fonts once for all test processes; the user's settings are not used either.
    os.environ.setdefault("MPLCONFIGDIR", str(Path(tempfile.gettempdir()) / f"elephan-tests-matplotlib-{os.getuid()}"))
    os.environ["XDG_CACHE_HOME"] = str(folder)
    measure = machine.measure_ns_per_packet
    try:
        machine.measure_ns_per_packet = lambda: NS_PER_PACKET / SPEED
        machine.ns_per_packet()
    finally:
        machine.measure_ns_per_packet = measure


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files in which most tests are slow: the last file of a worker is then a short one.

    The examples of CONTRIBUTING come last: they wait for cargo's lock as long as the Rust tests are compiled.
    """
    counts: dict[Path, list[int]] = {}
    for item in items:
        count = counts.setdefault(item.path, [0, 0])
        count[0] += 1
        count[1] += item.get_closest_marker("slow") is not None
    items.sort(
        key=lambda item: (item.path.name == "test_contributing.py", -counts[item.path][1] / counts[item.path][0])
    )


class Done(NamedTuple):
    """Result of a command."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]


def load_file(path: Path) -> ModuleType:
    """Import a file that belongs to no package, such as a tool, under the name of the file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def elephan(capsys: pytest.CaptureFixture[str]) -> Command:
    def call(*words: object) -> Done:
        with pytest.raises(SystemExit) as stop:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        return Done(int(stop.value.code or 0), out, err)

    return call


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text("replications = 3\n" + EXAMPLE)
    return path


@pytest.fixture
def turn() -> Iterator[None]:
    """Let testbeds of several test processes take turns: a law has one name in the whole kernel, and time is real."""
    import fcntl  # noqa: PLC0415 (only where there are testbeds)

    with (Path(tempfile.gettempdir()) / "elephan-tests-of-testbeds").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
