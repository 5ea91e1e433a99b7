"""``elephan doctor``: results of probes on made-up machines; nothing makes the doctor fail."""

import json
import math
import os
import shutil
import sqlite3
import threading
from functools import partial
from pathlib import Path

import pytest

from conftest import PATIENCE_S, Command
from elephan import _native, doctor
from elephan.doctor import engine, installed, linux, machine, store
from elephan.doctor.finding import ELSEWHERE, LIMITED, MANAGERS, MISSING, OK, Probe, ProbeFinding, install
from elephan.scenario import EXAMPLE, Scenario
from elephan.store import Store


def test_this_machine_runs_simulations(elephan: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine a probe may exceed its time limit.
    monkeypatch.setattr(doctor, "examine", partial(doctor.examine, longest_s=PATIENCE_S))
    done = elephan("doctor", "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert document["ok"] is True
    rows = {row["name"]: row for row in document["rows"]}
    assert list(rows) == [probe.name for probe in doctor.PROBES]
    assert {row["status"] for row in rows.values()} <= {OK, LIMITED, MISSING, ELSEWHERE}
    assert all(row["found"] and row["purpose"] for row in rows.values())
    assert [row["name"] for row in rows.values() if row["needed"]] == ["Python", "extension", "engines"]
    assert not [row for row in rows.values() if "the check failed" in row["found"]]


def row(status: str, *, needed: bool = False) -> Probe:
    return Probe("made up", "thing", "a purpose", lambda: ProbeFinding(status, "so", "make thing"), needed=needed)


@pytest.mark.parametrize(
    ("status", "needed", "code"), [(MISSING, True, 1), (MISSING, False, 0), (LIMITED, True, 0), (OK, True, 0)]
)
def test_only_what_is_needed_fails(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, status: str, needed: bool, code: int
) -> None:
    rows = doctor.examine([row(status, needed=needed)])
    monkeypatch.setattr(doctor, "examine", lambda: rows)
    assert elephan("doctor", "--json").code == code
    shown = elephan("doctor")
    assert shown.code == code
    said = f"thing: {status}, so; for a purpose\n  make thing\n"
    assert (said in shown.out) is (status != OK)
    assert shown.out.startswith("Not ready" if code else "Ready to simulate.")
    assert "thing, for a purpose:\n    make thing\n" in elephan("doctor", "--details").out


@pytest.mark.slow
def test_an_installed_wheel_is_not_told_of_make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "root", lambda: tmp_path)
    monkeypatch.setattr(installed, "packages", lambda *names: lambda: ProbeFinding(MISSING, f"no {names}"))
    monkeypatch.setattr(_native, "kernel_built", lambda: False)
    said = [f"{row.name} {row.purpose} {row.found} {row.mend}" for row in doctor.examine()]
    assert len(said) > 20
    assert not [line for line in said if "make" in line.split()]


def test_a_probe_that_breaks_or_hangs_is_one_row() -> None:
    def broken() -> ProbeFinding:
        raise OSError("the moon")

    end = threading.Event()

    def hanging() -> ProbeFinding:
        end.wait()
        return ProbeFinding(OK, "late")

    probes = [Probe("", "broken", "", broken), Probe("", "needed", "", broken, needed=True), row(OK)]
    rows = doctor.examine(probes, longest_s=PATIENCE_S)
    assert [found.status for found in rows] == [LIMITED, MISSING, OK]
    assert rows[0].found == "the check failed: OSError: the moon"
    [hung] = doctor.examine([Probe("", "hanging", "", hanging)], longest_s=0.1)
    end.set()
    assert (hung.status, hung.found) == (LIMITED, "no answer within 0.1 s")


def test_both_engines_give_the_bytes_of_every_machine() -> None:
    # Fails where a change alters results: then GOLDEN is taken anew, as snapshots are.
    assert engine.digest("window") == engine.digest("reference") == engine.GOLDEN


def test_other_bytes_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "GOLDEN", "f00d")
    assert engine.engines().status == LIMITED
    monkeypatch.setattr(engine, "digest", lambda kind="window": kind)
    assert engine.engines().status == MISSING


def test_an_extension_of_another_version_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: "9.9.9")
    found = installed.extension()
    assert (found.status, found.found) == (LIMITED, f"version {_native.version()}, but the package is 9.9.9")
    assert found.mend


def test_an_extension_that_ends_python_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "unwinds", lambda: False)
    assert "a defect of the engine would end Python" in installed.extension().found


def test_packages_that_are_missing_come_with_their_command() -> None:
    found = installed.packages("pytest", "no-such-package")()
    assert found.status == LIMITED
    assert found.found.startswith("pytest ")
    assert found.mend.endswith(" -m pip install no-such-package")
    assert installed.packages("no-such-package")().status == MISSING


@pytest.mark.parametrize(
    ("manager", "user", "command"),
    [
        ("apt-get", 1000, "sudo apt-get install iproute2"),
        ("apt-get", 0, "apt-get install iproute2"),
        ("dnf", 1000, "sudo dnf install iproute"),
        ("brew", 1000, "brew install iproute2"),
        ("", 1000, ""),
    ],
)
def test_the_system_installs_in_its_own_way(
    monkeypatch: pytest.MonkeyPatch, manager: str, user: int, command: str
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if name == manager else None)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert install({"": "iproute2", "dnf": "iproute"}) == command


def test_a_package_that_a_system_does_not_have_is_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name if name == "dnf" else None)
    assert install({"apt-get": "ns2"}) == ""
    assert next(iter(MANAGERS)) == "apt-get"


def test_control_groups_of_both_versions_limit_cores(tmp_path: Path) -> None:
    assert machine.cpu_quota(tmp_path) == math.inf
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert machine.cpu_quota(tmp_path) == math.inf
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("150000\n")
    assert machine.cpu_quota(tmp_path) == 1.5
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert machine.cpu_quota(tmp_path) == math.inf
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    assert machine.cpu_quota(tmp_path) == 0.5


def test_control_groups_of_both_versions_limit_memory(tmp_path: Path) -> None:
    assert machine.memory_limit(tmp_path) == math.inf
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("2000000000\n")
    assert machine.memory_limit(tmp_path) == 2e9
    (tmp_path / "memory.max").write_text("max\n")
    assert machine.memory_limit(tmp_path) == math.inf
    (tmp_path / "meminfo").write_text("MemTotal: 8 kB\nMemAvailable:    4000 kB\n")
    assert machine.available_memory(tmp_path / "meminfo") == 4_096_000
    assert machine.available_memory(tmp_path / "nothing") is None


def test_free_space_is_that_of_the_folder_in_which_one_would_be_made(tmp_path: Path) -> None:
    assert str(tmp_path) in machine.free_space(tmp_path / "not" / "yet").found


def test_a_store_is_looked_at_and_not_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELEPHAN_STORE", str(tmp_path / "kept"))
    assert store.state().found.endswith("none yet; the first sweep makes it")
    assert not (tmp_path / "kept").exists()
    (tmp_path / "kept").mkdir()
    index = tmp_path / "kept" / "index.sqlite"
    index.write_text("no database")
    assert store.state().status == LIMITED
    index.unlink()
    with Store(tmp_path / "kept") as kept:
        kept.run(Scenario.from_text(EXAMPLE))
        # The log of what was just written is there still.
        assert store.state().found.endswith("1 run, format 1; elephan store verify checks them")
    before = sorted(path.name for path in (tmp_path / "kept").rglob("*"))
    assert store.state().status == OK
    assert sorted(path.name for path in (tmp_path / "kept").rglob("*")) == before
    connection = sqlite3.connect(index)
    connection.execute("PRAGMA user_version = 99")
    connection.commit()
    connection.close()
    assert "was written by another elephan (schema 99; this one reads schema 1)" in store.state().found


def test_a_store_on_a_network_is_warned_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ELEPHAN_STORE", str(tmp_path))
    monkeypatch.setattr(store, "read", lambda _: "1 0 0:5 / / rw,relatime shared:1 - nfs4 host:/home rw")
    found = store.locks()
    assert found.status == LIMITED
    assert found.mend.startswith("export ELEPHAN_STORE=")
    monkeypatch.setattr(store, "read", lambda _: "")
    assert store.locks().status == ELSEWHERE


def test_the_mount_nearest_to_a_path_counts() -> None:
    lines = "1 0 8:1 / / rw - ext4 a rw\n2 1 0:5 / /my\\040data rw - nfs4 b rw\n3 2 0:6 / /my\\040data rw - tmpfs c rw"
    assert store.file_system(Path("/my data/runs"), lines) == "tmpfs"
    assert store.file_system(Path("/my"), lines) == "ext4"


@pytest.mark.parametrize(
    ("release", "status"), [("5.4.0-1", LIMITED), ("6.1.0-50", LIMITED), ("6.4.0", OK), ("10.1-rc1", OK)]
)
def test_old_kernels_take_no_laws(monkeypatch: pytest.MonkeyPatch, release: str, status: str) -> None:
    monkeypatch.setattr(linux, "is_linux", lambda: True)
    monkeypatch.setattr("platform.release", lambda: release)
    assert linux.kernel().status == status


def test_laws_need_the_kernels_types(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(linux, "is_linux", lambda: True)
    monkeypatch.setattr(linux, "BTF", tmp_path / "vmlinux")
    assert linux.struct_ops().status == MISSING
    (tmp_path / "vmlinux").write_bytes(b"sock\0tcp_sock\0")
    assert "since Linux 6.4" in linux.struct_ops().found
    (tmp_path / "vmlinux").write_bytes(b"sock\0bpf_struct_ops_tcp_congestion_ops\0")
    assert linux.struct_ops().status == MISSING
    (tmp_path / "vmlinux").write_bytes(b"sock\0bpf_struct_ops_tcp_congestion_ops\0bpf_struct_ops_link\0")
    assert linux.struct_ops().status == OK


def test_whoever_has_no_laws_is_told_what_was_missing_when_it_was_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux, "is_linux", lambda: True)
    monkeypatch.setattr(_native, "kernel_built", lambda: False)
    assert linux.laws().status == MISSING
    assert linux.laws().mend.endswith("&& make build")
    monkeypatch.setattr(_native, "kernel_built", lambda: True)
    monkeypatch.setattr(_native, "kernel_check", lambda: None)
    monkeypatch.setattr(_native, "kernel_laws", lambda: [("htcp", "el_htcp", True, True)])
    assert linux.laws().found == "can be loaded; loaded now: el_htcp"
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "chrt" else name)
    assert (linux.tools().status, linux.tools().found) == (MISSING, "not installed: chrt")


def test_congestion_controls_are_those_of_the_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(linux, "is_linux", lambda: True)
    monkeypatch.setattr(linux, "SYSCTLS", tmp_path)
    assert linux.controls().status == LIMITED
    (tmp_path / "net" / "ipv4").mkdir(parents=True)
    for name, text in (("available_", "reno bbr cubic"), ("allowed_", "reno"), ("", "cubic")):
        (tmp_path / "net" / "ipv4" / f"tcp_{name}congestion_control").write_text(f"{text}\n")
    assert linux.controls().found == "reno bbr cubic; for any user reno; default cubic"


def test_privileges_are_those_in_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    assert linux.held("CapEff:\t000001ffffffffff") == list(linux.CAPABILITIES)
    assert linux.held("") == []
    monkeypatch.setattr(linux, "is_linux", lambda: True)
    monkeypatch.setattr(linux, "read", lambda _: "CapPrm:\t000001ffffffffff\nCapEff:\t0000000000001000\n")
    assert linux.privileges().found.endswith("without CAP_SYS_ADMIN, CAP_SYS_NICE, CAP_BPF")


def test_other_systems_are_told_what_does_not_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux, "is_linux", lambda: False)
    for look in (
        linux.kernel,
        linux.struct_ops,
        linux.laws,
        linux.tools,
        linux.controls,
        linux.tun,
        linux.namespaces,
        linux.privileges,
    ):
        assert look().status == ELSEWHERE
