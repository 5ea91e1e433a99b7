"""The law `bpf`: objects for the kernel run in the simulator. Its files, its identity, its faults."""

import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import elephan
from elephan import InputError, Scenario, ScenarioError, object_files
from elephan.runs.outcome import simulate
from elephan_evidence.conform.packetdrill import judge_script

OBJECT = Path(__file__).resolve().parents[1] / "crates" / "law" / "kernel" / "laws.bpf.o"

BASE = """
duration = "20 s"
warmup = "2 s"
[[links]]
name = "core"
rate = "50 Mbit/s"
buffer = "60 packets"
[[flows]]
path = ["core"]
rtt = "40 ms"
count = 2
control = CONTROL
"""

ENDLESS = bytes.fromhex("0500ffff00000000")
"""A jump to itself."""

NULL_READ = bytes.fromhex("b7000000000000007900000000000000")
"""r0 = 0; r0 = *(u64 *)(r0 + 0)."""


def scenario(control: str) -> Scenario:
    return Scenario.from_text(BASE.replace("CONTROL", control))


def function_in(raw: bytes, name: str) -> int:
    """Return the offset of a function's code in a 64-bit ELF file (System V ABI: symbols of 24 bytes)."""
    at, size, count = struct.unpack_from("<Q", raw, 0x28)[0], *struct.unpack_from("<HH", raw, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", raw, at + size * i) for i in range(count)]
    symbols = next(section for section in sections if section[1] == 2)
    names = sections[symbols[6]]
    for place in range(symbols[4], symbols[4] + symbols[5], 24):
        text, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", raw, place)
        begin = names[4] + text
        if raw[begin : raw.index(b"\0", begin)] == name.encode():
            return int(sections[section][4] + value)
    raise AssertionError(name)


@pytest.fixture
def broken(tmp_path: Path) -> Callable[[str, bytes], Path]:
    """Our object with other instructions at the beginning of a program."""

    def write(program: str, instructions: bytes) -> Path:
        raw = bytearray(OBJECT.read_bytes())
        at = function_in(bytes(raw), program)
        raw[at : at + len(instructions)] = instructions
        path = tmp_path / "broken.bpf.o"
        path.write_bytes(raw)
        return path

    return write


def hashes(control: str) -> list[int]:
    """Hashes of both engines, over every arrival and every window."""
    engines = ("window", "reference")
    return [simulate(scenario(control), 0, engine=engine, with_hash=True).hash for engine in engines]


@pytest.mark.parametrize("law", ["highspeed", "ghstcp", "nr-hstcp", "scalable", "htcp"])
def test_an_object_in_a_file_runs_as_the_shipped_one(law: str) -> None:
    called = {"nr-hstcp": "el_nrhstcp"}.get(law, f"el_{law}")
    ours = hashes(f'{{ law = "{law}", arithmetic = "kernel" }}')
    assert hashes(f'{{ law = "bpf", object = "{OBJECT}", name = "{called}" }}') == ours
    # Both engines, at every ACK.
    assert len(set(ours)) == 1
    # The null: the law in floating point differs.
    assert hashes(f'"{law}"') != ours


def test_what_is_kept_needs_the_file_no_more_and_is_named_by_its_bytes(tmp_path: Path) -> None:
    copy = tmp_path / "mine.bpf.o"
    copy.write_bytes(OBJECT.read_bytes())
    file = tmp_path / "s.toml"
    file.write_text(BASE.replace("CONTROL", '{ law = "bpf", object = "mine.bpf.o" }'))
    first = Scenario.from_file(file)
    copy.unlink()
    assert Scenario.from_text(first.text) == first
    raw = bytearray(OBJECT.read_bytes())
    raw[-1] ^= 1
    copy.write_bytes(raw)
    assert Scenario.from_file(file).id != first.id
    copy.write_bytes(OBJECT.read_bytes())
    assert Scenario.from_file(file).id == first.id


@pytest.mark.parametrize(
    ("control", "said"),
    [
        ('{ law = "bpf", object = "none.bpf.o" }', "flows[0].control.object: none.bpf.o: no such file or directory"),
        ('{ law = "bpf", object = "/dev/zero" }', "flows[0].control.object: /dev/zero: is a device"),
        (f'{{ law = "bpf", object = "{__file__}" }}', "flows[0].control.object: test_bpf_law.py: "),
        ('{ law = "bpf", object = 7 }', "flows[0].control.object: must be the name of a file"),
        ('{ law = "bpf", object = "data:x" }', 'flows[0].control.object: must be "shipped", or a file'),
        ('{ law = "bpf", name = "tahoe" }', 'flows[0].control.name: must be "el_highspeed" or'),
        (
            '{ law = "htcp", arithmetic = "kernel", slow_start = "limited" }',
            'flows[0].control.arithmetic: "kernel" has a slow start of its own',
        ),
    ],
)
def test_what_is_wrong_with_an_object_is_one_line(control: str, said: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario(control)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_wrong_with_a_control_that_is_not_chosen_does_not_matter(tmp_path: Path) -> None:
    # As libbpf loads it: a structure without a name fails when it is attached (Linux, bpf_tcp_ca_init_member: -EINVAL).
    first, other = (name.ljust(16, b"\0") for name in (b"el_highspeed", b"el_htcp"))
    raw = OBJECT.read_bytes()
    assert raw.count(first) == raw.count(other) == 1
    path = tmp_path / "nameless.bpf.o"

    def control(name: str) -> str:
        return f'{{ law = "bpf", object = "{path}", name = "{name}" }}'

    shipped = [hashes(f'{{ law = "bpf", name = "{name}" }}') for name in ("el_htcp", "el_highspeed")]
    path.write_bytes(raw.replace(other, bytes(16)))
    assert hashes(control("el_highspeed")) == shipped[1]
    with pytest.raises(ScenarioError, match=r'control\.name: must be "el_highspeed" or'):
        scenario(control("el_htcp"))
    path.write_bytes(raw.replace(first, bytes(16)))
    assert hashes(control("el_htcp")) == shipped[0]
    assert scenario(control("")).id != scenario(control("el_htcp")).id


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.bpf.o"
    path.write_bytes(b"\x7fELF" + bytes(2**20))
    with pytest.raises(ScenarioError, match=r"has more than 1.05 MB; strip it"):
        scenario(f'{{ law = "bpf", object = "{path}" }}')


@pytest.mark.parametrize(
    ("program", "instructions", "said"),
    [
        ("el_highspeed_ssthresh", ENDLESS, "steps and has not ended"),
        ("el_highspeed_ssthresh", NULL_READ, "null pointer"),
        ("el_highspeed_cong_avoid", NULL_READ, "null pointer"),
    ],
)
def test_a_fault_ends_the_run_with_the_program_and_the_instruction(
    broken: Callable[[str, bytes], Path], program: str, instructions: bytes, said: str
) -> None:
    bad = scenario(f'{{ law = "bpf", object = "{broken(program, instructions)}", name = "el_highspeed" }}')
    with pytest.raises(elephan.ElephanError) as caught:
        elephan.run(bad)
    message = str(caught.value)
    assert f"flows[0].control: broken.bpf.o: program {program}, instruction " in message
    assert said in message
    assert "\n" not in message


def test_a_program_that_fails_at_once_is_refused_with_the_scenario(broken: Callable[[str, bytes], Path]) -> None:
    path = broken("el_highspeed_init", NULL_READ)
    with pytest.raises(ScenarioError, match=r"control.object: broken.bpf.o: program el_highspeed_init, instruction 1"):
        scenario(f'{{ law = "bpf", object = "{path}" }}')


def test_the_command_line_says_it_in_one_line_and_exits_with_2(
    broken: Callable[[str, bytes], Path], tmp_path: Path
) -> None:
    path = broken("el_highspeed_ssthresh", NULL_READ)
    file = tmp_path / "s.toml"
    file.write_text(BASE.replace("CONTROL", f'{{ law = "bpf", object = "{path.name}" }}'))
    command = [sys.executable, "-m", "elephan", "run", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "program el_highspeed_ssthresh, instruction 1" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_fault_in_a_packetdrill_script_names_its_line(broken: Callable[[str, bytes], Path]) -> None:
    script = Path(__file__).resolve().parent / "data" / "packetdrill" / "fast-retransmit.pkt"
    control = {"law": "bpf", "object": str(broken("el_highspeed_ssthresh", NULL_READ)), "name": "el_highspeed"}
    with pytest.raises(
        InputError, match=r"pkt:24: flows\[0\].control: broken.bpf.o: program el_highspeed_ssthresh, instr"
    ):
        judge_script(script, {"flows[0].control": control})


def test_objects_are_swept_and_sized_as_other_laws(tmp_path: Path) -> None:
    (tmp_path / "mine.bpf.o").write_bytes(OBJECT.read_bytes())
    control = {"law": "bpf", "object": str(tmp_path / "mine.bpf.o"), "name": "el_htcp"}
    base = Scenario.from_text(BASE.replace("CONTROL", '"reno"').replace("20 s", "10 s"))
    swept = elephan.sweep(base, over={"flows[0].control": ["htcp", control]}, store=tmp_path / "store")
    assert len(swept.points) == 2
    answer = elephan.size(base.replace({"flows[0].control": control}), "utilization=0.9", replications=2)
    assert answer.buffer_packets


def test_the_name_of_a_file_is_kept_in_its_text(tmp_path: Path) -> None:
    path = tmp_path / "a b;c.o"
    path.write_bytes(b"x")
    assert object_files.read(path) == "data:;name=a%20b%3Bc.o;base64,eA=="


EXAMPLE = OBJECT.parents[3] / "examples" / "law-in-bpf"


def test_the_example_is_the_law_that_its_source_says() -> None:
    example = Scenario.from_file(EXAMPLE / "gentle.toml")
    same = {"law": "tabulated", "increase": [[1, 2]], "decrease": [[1, 0.2]]}
    other = {"law": "tabulated", "increase": [[1, 1]], "decrease": [[1, 0.5]]}

    def losses(scenario: Scenario) -> float:
        return float(sum(simulate(scenario, i).flows["loss_events"].sum() for i in range(3)))

    # Whole segments, and a threshold below the exact one by up to one, make its teeth up to 5 % shorter.
    by_table = losses(example.replace({"flows[0].control": same}))
    assert losses(example) == pytest.approx(by_table, rel=0.08)
    assert losses(example.replace({"flows[0].control": other})) < 0.5 * by_table


def test_the_example_was_compiled_from_the_source_beside_it(tmp_path: Path) -> None:
    clang = shutil.which("clang")
    if clang is None or not Path("/usr/include/bpf/bpf_tracing.h").exists():
        pytest.skip("clang and the headers of libbpf (Debian: libbpf-dev) are not installed")
    built = tmp_path / "gentle.bpf.o"
    flags = ["-g", "-O2", "-target", "bpf", "-mcpu=v3", "-c", "gentle.bpf.c", "-o", str(built)]
    subprocess.run([clang, *flags], cwd=EXAMPLE, check=True)
    base = Scenario.from_file(EXAMPLE / "gentle.toml")
    again = base.replace({"flows[0].control.object": str(built)})
    assert simulate(again, 0, with_hash=True).hash == simulate(base, 0, with_hash=True).hash
