"""The worked example in CONTRIBUTING.md compiles, passes its own test and the conformance tests, as it stands there."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def _blocks() -> list[str]:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("\n## Adding a law\n")[2].partition("\n## ")[0]
    return re.findall(r"```rust\n(.*?)```", section, flags=re.DOTALL)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs Rust")
def test_a_new_law_is_one_file_and_one_registry_line(tmp_path: Path) -> None:
    law, line = _blocks()
    for name in ("Cargo.toml", "Cargo.lock", "rustfmt.toml", "clippy.toml"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "crates", tmp_path / "crates", ignore=shutil.ignore_patterns("examples"))
    source = tmp_path / "crates" / "law" / "src"
    (source / "binomial.rs").write_text(law, encoding="utf-8")
    registry = source / "lib.rs"
    text = registry.read_text(encoding="utf-8")
    assert text.count("    windows {\n") == 1
    registry.write_text(text.replace("    windows {\n", f"    windows {{\n{line}"), encoding="utf-8")
    # The same folder for what is built, so that the dependencies need not be built again.
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target"), "INSTA_UPDATE": "no"}
    command = ["cargo", "test", "--package", "elephan-law", "--lib", "--test", "every_law"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "binomial::tests::responds_to_loss_as_tcp_does_when_k_and_l_sum_to_one ... ok" in done.stdout
    formatted = ["rustfmt", "--check", "--edition", "2024", "--config-path", str(ROOT), str(source / "binomial.rs")]
    assert subprocess.run(formatted, check=False).returncode == 0, "the example is not formatted"
