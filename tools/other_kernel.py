"""Try the laws of the kernel on other kernels, in QEMU.

``tools/other_kernel.py VMLINUZ [VMLINUZ ...]`` boots each, without a disk or a network, and runs
crates/bpf/tests/kernel.rs there: every law is loaded and unloaded, and the output of the kernel's JIT compiler is
compared with this machine's. It needs the requirements of these tests, and (Debian) qemu-system-x86, busybox-static and
cpio. A kernel is given as its compressed image, as in a distribution's /boot; its modules are not used. Each takes less
than a minute. One line per kernel; exit 1 if any fails.

*Source*: the kernel's documentation of initramfs (early userspace).
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST_S = 600
"""Time limit for a kernel [s]."""

PROGRAMS = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static", "cpio": "cpio", "clang": "clang"}

BUILD = ("cargo", "test", "--package", "elephan-bpf", "--features", "load", "--test", "kernel", "--no-run")

NATIVE = ("cc", "-static", "-O2", "crates/law/kernel/native.c", "-o")
COMPILE = ("clang", "-g", "-O2", "-target", "bpf", "-mcpu=v3", "-c", "crates/law/kernel/vectors.bpf.c", "-o")

INIT = """#!/bin/busybox sh
busybox mkdir -p /proc /sys /tmp
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
echo "kernel: $(busybox uname -r)"
VECTORS=/vectors.bpf.o NATIVE=/native /kernel-test --nocapture 2>&1
echo "exit code: $?"
busybox poweroff -f
"""

QEMU = (
    *("qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", "1024", "-nographic", "-no-reboot"),
    *("-nic", "none", "-append", "console=ttyS0 panic=-1 quiet"),
)


def main(images: list[str]) -> int:
    """Try each kernel; return the exit code."""
    if not images or any(image.startswith("-") for image in images):
        sys.stderr.write(f"{(__doc__ or '').strip()}\n")
        return 2
    missing = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    missing += [f"{image} (there is no such file)" for image in images if not Path(image).is_file()]
    if missing:
        sys.stderr.write(f"other_kernel: missing: {', '.join(missing)}\n")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        initramfs = pack(Path(folder))
        found = [attempt(image, initramfs) for image in images]
    return 0 if all(found) else 1


def pack(folder: Path) -> Path:
    """Pack the tests and their requirements into an initramfs.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    Path
    """
    root = folder / "root"
    (root / "bin").mkdir(parents=True)
    shutil.copy(shutil.which("busybox") or "", root / "bin" / "busybox")
    test = root / "kernel-test"
    shutil.copy(built(), test)
    subprocess.run([*COMPILE, str(root / "vectors.bpf.o")], cwd=ROOT, check=True)
    subprocess.run([*NATIVE, str(root / "native")], cwd=ROOT, check=True)
    linked = subprocess.run(["ldd", test], capture_output=True, text=True, check=True).stdout
    for library in re.findall(r"(/\S+) \(0x", linked):
        place = root / library.removeprefix("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, place)
    (root / "init").write_text(INIT, encoding="utf-8")
    (root / "init").chmod(0o755)
    names = "".join(f"{path.relative_to(root)}\n" for path in sorted(root.rglob("*")))
    archive = folder / "initramfs"
    with archive.open("wb") as file:
        command = ["cpio", "--create", "--format=newc", "--quiet"]
        subprocess.run(command, cwd=root, input=names.encode(), stdout=file, check=True)
    return archive


def built() -> str:
    """Build the tests; return the path of the program."""
    command = [*BUILD, "--message-format", "json"]
    said = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    messages = [json.loads(line) for line in said.splitlines()]
    programs = [message["executable"] for message in messages if message.get("executable")]
    return str(programs[-1])


def attempt(image: str, initramfs: Path) -> bool:
    """Boot a kernel and print a line; return whether all tests passed."""
    command = [*QEMU, "-kernel", image, "-initrd", str(initramfs)]
    try:
        # The kernel writes to its terminal; it needs none, as there is no input.
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST_S, check=False)
        said = done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode(errors="replace")
    name = re.search(r"kernel: (\S+)", said)
    result = re.search(r"skipped: .*\S", said) or re.search(r"test result: .*?ignored", said)
    passed = re.search(r"exit code: 0\b", said) is not None and "skipped:" not in said
    sys.stdout.write(f"{name[1] if name else image}: {result[0] if result else 'no result'}\n")
    if not (passed or (result and result[0].startswith("skipped:"))):
        sys.stdout.write("".join(f"  {line}\n" for line in said.splitlines()[-60:]))
    sys.stdout.flush()
    return passed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
