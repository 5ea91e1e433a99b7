"""The worked example in CONTRIBUTING.md compiles, passes its own test and the conformance tests, as it stands there."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent


def _blocks() -> list[str]:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("\n## Adding a law\n")[2].partition("\n## ")[0]
    return re.findall(r"```rust\n(.*?)```", section, flags=re.DOTALL)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs Rust")
def test_a_new_law_is_one_file_and_one_registry_line() -> None:
    law, line = _blocks()
    # Always the same folder and times of files, so that cargo builds again only what has changed since the last time.
    folder = ROOT / "target" / "contributing"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "crates", folder / "crates", ignore=shutil.ignore_patterns("examples"))
    for name in ("Cargo.toml", "Cargo.lock", "rustfmt.toml", "clippy.toml"):
        shutil.copy2(ROOT / name, folder)
    # Of another version: cargo would take what is built here for the crates of this checkout, and the other way round.
    manifest = folder / "Cargo.toml"
    whole, own = manifest.read_text(encoding="utf-8"), 'version = "0.1.0"\n'
    assert whole.count(own) == 1
    manifest.write_text(whole.replace(own, 'version = "0.1.0-example"\n'), encoding="utf-8")
    source = folder / "crates" / "law" / "src"
    registry = source / "lib.rs"
    written = max((ROOT / "CONTRIBUTING.md").stat().st_mtime_ns, registry.stat().st_mtime_ns)
    (source / "binomial.rs").write_text(law, encoding="utf-8")
    text = registry.read_text(encoding="utf-8")
    assert text.count("    windows {\n") == 1
    registry.write_text(text.replace("    windows {\n", f"    windows {{\n{line}"), encoding="utf-8")
    for path in (registry, source / "binomial.rs"):
        os.utime(path, ns=(written, written))
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target"), "INSTA_UPDATE": "no"}
    command = ["cargo", "test", "--package", "elephan-law", "--lib", "--test", "every_law"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "binomial::tests::responds_to_loss_as_tcp_does_when_k_and_l_sum_to_one ... ok" in done.stdout
    formatted = ["rustfmt", "--check", "--edition", "2024", "--config-path", str(ROOT), str(source / "binomial.rs")]
    assert subprocess.run(formatted, check=False).returncode == 0, "the example is not formatted"
