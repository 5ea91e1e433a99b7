"""Compiles the examples beside the workspace against the crates in their published form, and runs their tests.

The crates are packed by ``cargo package`` and unpacked into target/packaged; examples/NAME is copied there, so that it
finds nothing of the workspace, and its dependencies are redirected to the unpacked crates. Nothing is downloaded: the
workspace has all dependencies of the crates.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACE = ROOT / "target" / "packaged"


def cargo(*words: str, where: Path = ROOT) -> None:
    """Run cargo; show its output if it fails."""
    done = subprocess.run(["cargo", *words], cwd=where, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"cargo {' '.join(words)} in {where}:\n{done.stdout}{done.stderr}")


def published() -> dict[str, str]:
    """Return the versions of the workspace's crates that can be published, by name."""
    words = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    packages = json.loads(found.stdout)["packages"]
    return {package["name"]: package["version"] for package in packages if package["publish"] is None}


def put(path: Path, content: bytes) -> None:
    """Write a file only if it has changed, since cargo recompiles newer files."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def unpack(crates: dict[str, str]) -> None:
    """Unpack the crates that have changed."""
    for name, version in crates.items():
        packed = ROOT / "target" / "package" / f"{name}-{version}.crate"
        digest = sha256(packed.read_bytes()).hexdigest().encode()
        seen = PLACE / f"{name}.sha256"
        if not seen.exists() or seen.read_bytes() != digest:
            place = PLACE / f"{name}-{version}"
            shutil.rmtree(place, ignore_errors=True)
            with tarfile.open(packed) as archive:
                archive.extractall(PLACE, filter="data")
            # All files of archives have the same time, and cargo recompiles newer files.
            for path in place.rglob("*"):
                path.touch()
            put(seen, digest)


def try_out(example: Path, crates: dict[str, str]) -> None:
    """Copy an example beside the unpacked crates, and test it."""
    place = PLACE / "examples" / example.name
    for path in sorted(example.rglob("*")):
        if path.is_file() and "target" not in path.relative_to(example).parts:
            content = path.read_bytes()
            if path.name == "Cargo.toml":
                # Use the published crate instead of the checkout's.
                content = content.replace(b"../../crates/elephan", f"../../elephan-{crates['elephan']}".encode())
            put(place / path.relative_to(example), content)
    paths = [f"{name} = {{ path = {json.dumps(str(PLACE / f'{name}-{v}'))} }}\n" for name, v in crates.items()]
    put(place / ".cargo" / "config.toml", ("[patch.crates-io]\n" + "".join(paths)).encode())
    # Use the versions of the workspace.
    put(place / "Cargo.lock", (ROOT / "Cargo.lock").read_bytes())
    cargo("test", "--quiet", "--offline", "--target-dir", str(PLACE / "target"), where=place)


def main() -> None:
    """Pack, unpack, compile and test."""
    crates = published()
    names = [word for name in crates for word in ("--package", name)]
    cargo("package", "--quiet", "--no-verify", "--allow-dirty", "--offline", *names)
    unpack(crates)
    for example in sorted(path.parent for path in (ROOT / "examples").glob("*/Cargo.toml")):
        try_out(example, crates)


if __name__ == "__main__":
    main()
