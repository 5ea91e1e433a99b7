"""The worked examples in CONTRIBUTING.md compile and pass their own tests and the conformance tests, as they stand."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "CONTRIBUTING.md"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("cargo") is None, reason="needs Rust")]


def blocks(title: str) -> list[str]:
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"```rust\n(.*?)```", section, flags=re.DOTALL)


def write(path: Path, text: str) -> None:
    """Write a file of the copy with a time that changes only with the page or the file's original."""
    original = ROOT / path.relative_to(ROOT / "target" / "contributing")
    times = [file.stat().st_mtime_ns for file in (PAGE, original) if file.exists()]
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(max(times), max(times)))


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path} has {old!r} {text.count(old)} times"
    write(path, text.replace(old, new))


def formatted(path: Path) -> bool:
    command = ["rustfmt", "--check", "--edition", "2024", "--config-path", str(ROOT), str(path)]
    return subprocess.run(command, check=False).returncode == 0


@pytest.fixture(scope="module")
def crates() -> Path:
    """Copy the crates and add the examples: one copy and one build for all."""
    # Always the same folder and times of files, so that cargo builds again only what has changed since the last time.
    folder = ROOT / "target" / "contributing"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "crates", folder / "crates", ignore=shutil.ignore_patterns("examples"))
    shutil.copytree(ROOT / "scenarios", folder / "scenarios")
    for name in ("Cargo.toml", "Cargo.lock", "rustfmt.toml", "clippy.toml"):
        shutil.copy2(ROOT / name, folder)
    # The copy has another version, so that cargo does not confuse its builds with the crates of this checkout.
    manifest = folder / "Cargo.toml"
    whole = manifest.read_text(encoding="utf-8")
    assert whole.count('version = "0.1.0"') > 1, "the workspace's version, and what crates ask of each other"
    # Compiled for a few short tests: optimising takes longer than they do. Dependencies stay those of this checkout.
    names = [path.parent.name for path in (folder / "crates").glob("*/Cargo.toml")]
    whole = re.sub(r"\[profile\.dev\.package\.elephan-\w+\]\nopt-level = 1\n", "", whole)
    quick = "".join(f"\n[profile.dev.package.elephan-{name}]\nopt-level = 0\n" for name in names if name != "elephan")
    whole = whole.replace('version = "0.1.0"', 'version = "0.1.0-example"')
    manifest.write_text(whole + quick, encoding="utf-8")
    law, line = blocks("Adding a law")
    write(folder / "crates/law/src/binomial.rs", law)
    replace(folder / "crates/law/src/lib.rs", "    windows {\n", f"    windows {{\n{line}")
    recovery, line = blocks("Adding a recovery")
    write(folder / "crates/transport/src/loss/timer.rs", recovery)
    replace(folder / "crates/transport/src/loss/mod.rs", "recoveries! {\n    $\n", f"recoveries! {{\n    $\n{line}")
    key, use, transport, scenario = blocks("Adding a key")
    options = folder / "crates/transport/src/options.rs"
    last = re.findall(r"(?m)^    pub struct Options \{\n(?:        .*\n)+", options.read_text(encoding="utf-8"))[0]
    replace(options, last, last + key)
    replace(
        folder / "crates/transport/src/sender/core.rs",
        "options.receive_window.segments()",
        use.rstrip(),
    )
    for test, more in (("transport/tests/sender.rs", transport), ("scenario/tests/scenario_files.rs", scenario)):
        path = folder / "crates" / test
        write(path, path.read_text(encoding="utf-8") + more)
    return folder / "crates"


@pytest.fixture(scope="module")
def output(crates: Path) -> str:
    # A few random cases are enough here: the crates' own tests draw more.
    quick = {"INSTA_UPDATE": "no", "PROPTEST_CASES": "8"}
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target"), **quick}
    packages = [f"--package=elephan-{name}" for name in ("law", "transport", "scenario")]
    tests = [f"--test={name}" for name in ("every_law", "sender", "scenario_files")]
    command = ["cargo", "test", "--lib", *packages, *tests]
    done = subprocess.run(command, cwd=crates.parent, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_new_law_is_one_file_and_one_registry_line(crates: Path, output: str) -> None:
    assert "binomial::tests::responds_to_loss_as_tcp_does_when_k_and_l_sum_to_one ... ok" in output
    assert formatted(crates / "law/src/binomial.rs"), "the example is not formatted"


def test_a_new_recovery_is_one_file_and_one_registry_line(crates: Path, output: str) -> None:
    assert "loss::timer::tests::only_the_timer_retransmits ... ok" in output
    assert formatted(crates / "transport/src/loss/timer.rs"), "the example is not formatted"


def test_a_new_key_is_one_line_and_its_use(crates: Path, output: str) -> None:
    key, use, *_ = blocks("Adding a key")
    assert len([line for line in key.splitlines() if "///" not in line]) == len(use.splitlines()) == 1
    assert "test no_more_is_unacknowledged_than_the_send_buffer_holds ... ok" in output
    assert "test a_send_buffer_is_a_key_like_any_other ... ok" in output
    # Every scenario that was there before has the canonical form that it had.
    assert "test the_canonical_form_of_the_first_link ... ok" in output
    for path in ("transport/src/sender/core.rs", "transport/tests/sender.rs", "scenario/tests/scenario_files.rs"):
        assert formatted(crates / path), "the example is not formatted"
