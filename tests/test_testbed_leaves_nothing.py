"""A testbed leaves nothing behind, however it ends; and unsupported scenarios are reported in a line."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import PATIENCE_S
from elephan.testbed.plan import PROGRAMS
from testbed_ends import ENDS, SCENARIO
from testbed_here import available, hindered, lawless, real

pytestmark = pytest.mark.slow

CYCLES = int(os.environ.get("ELEPHAN_TESTBED_CYCLES", sum(ENDS.values())))
"""Number of testbeds that end, a multiple of the kinds' sum; `make survival` runs two hundred."""


def unshared(*words: str) -> list[str]:
    """Return a command with its own mounts or processes; skip if that is not possible."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", *words, "true"], capture_output=True).returncode:
        pytest.skip(f"unshare {' '.join(words)} is not possible here")
    return ["unshare", *words]


@real
def test_nothing_is_left_of_testbeds_that_end_in_five_ways() -> None:
    inside = unshared("--pid", "--fork", "--kill-child", "--mount-proc")
    laws = ["reno"] if lawless() else ["reno", "scalable", "htcp"]
    script = Path(__file__).with_name("testbed_ends.py")
    command = [*inside, sys.executable, str(script), "--cycles", str(CYCLES), "--laws", *laws]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    cycles = [json.loads(line) for line in done.stdout.splitlines()]
    assert Counter(cycle["kind"] for cycle in cycles) == {
        kind: CYCLES // sum(ENDS.values()) * count for kind, count in ENDS.items()
    }
    assert [cycle for cycle in cycles if cycle["left"]] == []
    codes = {"end": {0, 1}, "error": {2}, "interrupt": {130}, "terminate": {143}, "kill": {-signal.SIGKILL}}
    assert [cycle for cycle in cycles if cycle["code"] not in codes[cycle["kind"]]] == []
    # Files are there whole, or nothing is.
    whole = ["flows.parquet", "links.parquet", "run.json", "samples.parquet", "scenario.toml"]
    assert all(cycle["files"] == (whole if cycle["kind"] == "end" else []) for cycle in cycles)
    assert all(cycle["written"] == (["out"] if cycle["kind"] == "end" else []) for cycle in cycles)
    # A reason is printed in a line.
    for cycle in cycles:
        if cycle["kind"] == "interrupt" and not cycle["again"]:
            assert cycle["said"] == ["interrupted; nothing was written"]
        if cycle["kind"] == "error":
            assert len(cycle["said"]) == 1, cycle
    assert all("Traceback" not in line for cycle in cycles for line in cycle["said"] if not cycle["again"])
    assert sum(cycle["again"] for cycle in cycles) < 10


def of_session(session: int) -> list[str]:
    """Return the processes started in a session, without those that have ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, its = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(its) == session and state != "Z":
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:
            # It ended meanwhile.
            continue
    return found


def until(holds: Callable[[], bool], patience_s: float) -> bool:
    """Wait until a condition holds; return whether it does."""
    end = time.monotonic() + patience_s
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


BUSY_S = 60.0
"""Time limit until a testbed is up or gone: usually below 1 s, but more than 20 s were seen beside tests that keep all
processors busy. The test is about the removal, not its speed."""


@real
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_a_command_in_a_terminal_takes_everything_along(how: signal.Signals, code: int, tmp_path: Path) -> None:
    law = "reno" if lawless() or "el_scalable" in available() else "scalable"
    file, out = tmp_path / "one.toml", tmp_path / "out"
    file.write_text(SCENARIO.replace("LAW", law).replace("200 ms", "20 s"))
    command = [sys.executable, "-m", "elephan", "testbed", "run", str(file), "--out", str(out)]
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True, env=environment) as process:
        assert until(lambda: any("iperf3 --client" in line for line in of_session(process.pid)), BUSY_S)
        if law == "scalable":
            assert "el_scalable" in available()
        (os.killpg if how == signal.SIGINT else os.kill)(process.pid, how)
        assert process.wait(BUSY_S) == code
        assert until(lambda: not of_session(process.pid), 5.0), of_session(process.pid)
    assert law == "reno" or until(lambda: "el_scalable" not in available(), 5.0)
    assert not out.exists()
    assert list(temporary.iterdir()) == []


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario that a testbed supports."""
    file = tmp_path / "one.toml"
    file.write_text(SCENARIO.replace("LAW", "reno"))
    return file


def refused(command: list[str], **environment: str) -> str:
    """Return the one line with which a command is refused."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, env=os.environ | environment)
    assert (done.returncode, done.stdout) == (2, ""), done
    (line,) = done.stderr.splitlines()
    return line


def test_without_root_it_says_so(scenario: Path) -> None:
    if hindered() not in {"", "no root"}:
        pytest.skip(hindered())
    nobody = "import os; os.geteuid = lambda: 65534; from elephan.cli import main; main()"
    line = refused([sys.executable, "-c", nobody, "testbed", "run", str(scenario)])
    assert line == "testbed: namespaces and devices need root: run it with sudo"


def test_without_iperf3_it_says_what_to_install(scenario: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in PROGRAMS:
        if program != "iperf3" and (found := shutil.which(program)) is not None:
            (folder / program).symlink_to(found)
    if len(list(folder.iterdir())) < len(PROGRAMS) - 1:
        pytest.skip("more than iperf3 is missing")
    line = refused([sys.executable, "-m", "elephan", "testbed", "run", str(scenario)], PATH=str(folder))
    assert line == "testbed: programs are missing: apt-get install iperf3"


@real
def test_without_tun_devices_it_says_what_to_load(scenario: Path) -> None:
    hidden = [*unshared("--mount"), "sh", "-c", 'mount -t tmpfs none /dev/net && exec "$@"', "sh"]
    line = refused([*hidden, sys.executable, "-m", "elephan", "testbed", "run", str(scenario)])
    assert line.startswith("testbed: there is no /dev/net/tun: modprobe tun")


@real
@pytest.mark.skipif(bool(lawless()), reason=f"laws cannot be loaded: {lawless()}")
def test_without_types_of_the_kernel_it_says_what_would_be_right(scenario: Path) -> None:
    hidden = [*unshared("--mount"), "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh"]
    scenario.write_text(SCENARIO.replace("LAW", "scalable"))
    line = refused([*hidden, sys.executable, "-m", "elephan", "testbed", "run", str(scenario)])
    assert line.startswith("the kernel does not describe its types (BTF); use one built with CONFIG_DEBUG_INFO_BTF=y")


LINK = '[[links]]\nname = "second"\nrate = "20 Mbit/s"\nbuffer = "20 packets"\n'
GROUP = SCENARIO[SCENARIO.index("[[flows]]") :].replace('name = "flow"', 'name = "other"')


@pytest.mark.parametrize(
    ("changes", "more", "said"),
    [
        ([], LINK, "links: on a testbed there is one link"),
        (
            ["flows[0].tcp={receive_window=64}"],
            "",
            "flows.tcp.receive_window: on a testbed it is the kernel's",
        ),
        (
            ['flows[0].control={law="fast"}'],
            "",
            "flows.control: this kernel has no fast; it can have highspeed, ghstcp",
        ),
        (['duration="700 s"'], "", "duration: on a testbed a run lasts at most 600 s"),
        (['links[0].rate="10 Gbit/s"'], "", "links[0].rate: on a testbed the link has at most 2 Gbit/s"),
        (["flows[0].count=40"], "", "flows.count: on a testbed there are at most 32 flows, not 40"),
        (
            ['flows[0].control={law="htcp"}'],
            GROUP.replace('"LAW"', '"htcp", slow_start = "limited"'),
            "flows.control: on a",
        ),
        (
            [],
            GROUP.replace("1500 B", "1000 B").replace("LAW", "reno"),
            "flows.packet: on a testbed all flows have the same",
        ),
        (
            [],
            '[[flows]]\nname = "noise"\npath = ["bottleneck"]\nrtt = "4 ms"\npacket = "1500 B"\n'
            'traffic = { kind = "poisson", rate = "1 Mbit/s" }\n',
            "flows.traffic: on a testbed all is bulk",
        ),
    ],
)
@pytest.mark.skipif(hindered() == "no Linux", reason="no Linux")
def test_what_a_testbed_cannot_have_is_a_line(changes: list[str], more: str, said: str, scenario: Path) -> None:
    with scenario.open("a") as file:
        file.write(more)
    for option in ([], ["--dry-run"]):
        words = [word for change in changes for word in ("--set", change)]
        command = [sys.executable, "-m", "elephan", "testbed", "run", str(scenario), *words, *option]
        assert said in refused(command)


@pytest.mark.skipif(hindered() == "no Linux", reason="no Linux")
def test_a_folder_that_cannot_be_is_refused_before_the_run(scenario: Path) -> None:
    line = refused([sys.executable, "-m", "elephan", "testbed", "run", str(scenario), "--out", str(scenario)])
    assert "is a file; give a folder" in line
