"""The laws for the kernel are built from the source beside them, and record its version."""

import hashlib
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "crates" / "law" / "kernel"


def test_the_object_was_built_from_the_source_that_is_here() -> None:
    lines = [line.split() for line in (FOLDER / "laws.sha256").read_text().splitlines()]
    listed = {name: digest for digest, name in lines}
    sources = [*FOLDER.glob("*.h"), FOLDER / "laws.bpf.c"]
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sources}
    assert found == listed, "make bpf builds the object anew"


def test_the_object_is_one_for_the_kernels_machine_with_types_and_without_debugging() -> None:
    # ELF, 64 bits, little-endian, machine 247 (linux/elf-em.h); BTF must stay, DWARF must go.
    data = (FOLDER / "laws.bpf.o").read_bytes()
    assert data[:6] == b"\x7fELF\x02\x01"
    assert int.from_bytes(data[18:20], "little") == 247
    assert b".BTF\0" in data
    assert b".debug_info" not in data
    # The object contains nothing of the machine on which it was built.
    paths = re.findall(rb"[\w./-]*law/kernel/[\w.]+\.[ch]", data)
    assert paths
    assert {path.split(b"crates/law/kernel/")[0] for path in paths} == {b"./"}
