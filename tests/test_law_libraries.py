"""Laws in Rust: `examples/own-law` builds by the commands of its page, and its library works in every command."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import elephan
from elephan import own_laws
from elephan.errors import InputError, LawError, ScenarioError
from elephan.runs.outcome import simulate
from elephan.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Command

CARGO = shutil.which("cargo")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CARGO is None, reason="laws in Rust need cargo")]

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "own-law"
PAGE = ROOT / "docs" / "guide" / "law-in-rust.md"
BUILT = ROOT / "target" / "own-law"
"""Build folder of these tests, kept so that a second build has little to do."""

LINK = """
duration = "8 s"
warmup = "1 s"
replications = 2
links = [{{ name = "core", rate = "10 Mbit/s", delay = "10 ms", buffer = "15 packets" }}]
[[flows]]
name = "f"
count = {count}
path = ["core"]
rtt = {{ from = "40 ms", to = "61 ms" }}
start = {{ from = "0 s", to = "1 s" }}
control = {control}
{more}
"""


def commands(block: int) -> str:
    """Return a block of commands of the page, by its place."""
    found = re.findall(r"^```\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return str(found[block])


def typed(lines: str, folder: Path, **more: str) -> str:
    """Return the output of lines typed into a shell; cargo has the workspace's dependencies."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("CARGO_", "RUST", "ELEPHAN"))}
    homes = {
        "CARGO_HOME": os.environ.get("CARGO_HOME", str(Path.home() / ".cargo")),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # The workspace's dependencies are present; no test uses a network.
    offline = {"CARGO_NET_OFFLINE": "true"}
    # The same bytes as with all optimisation, and compiled in a fraction of the time.
    quick = {
        "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
        "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
        "CARGO_PROFILE_RELEASE_DEBUG": "0",
    }
    done = subprocess.run(
        ["bash", "-euc", lines],
        cwd=folder,
        env={**kept, **homes, **offline, **quick, "PATH": path, **more},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{lines}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def printed() -> Iterator[str]:
    """Output of the page's commands that build and run in the checkout."""
    BUILT.mkdir(parents=True, exist_ok=True)
    target, lock = EXAMPLE / "target", EXAMPLE / "Cargo.lock"
    made = [path for path in (ROOT / "my-link.toml", ROOT / "kept") if not path.exists()]
    if not target.exists():
        target.symlink_to(BUILT)
        made.append(target)
    if not lock.exists():
        # The versions that the workspace has; cargo leaves out what is not needed.
        shutil.copy(ROOT / "Cargo.lock", lock)
        made.append(lock)
    try:
        yield typed(commands(0), ROOT)
    finally:
        for path in made:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def library(printed: str) -> Path:
    assert printed
    return (BUILT if not (EXAMPLE / "target").exists() else EXAMPLE / "target").resolve() / "release/libown_law.so"


@pytest.fixture
def command(request: pytest.FixtureRequest) -> Command:
    called: Command = request.getfixturevalue("elephan")
    return called


def link(library: Path, control: str, count: int = 3, more: str = "") -> Scenario:
    laws: dict[str, Any] = {"mine": f"{library}:cubic", "my-reno": f"{library}:reno"}
    with own_laws.declared(laws):
        return Scenario.from_text(LINK.format(control=control, count=count, more=more))


def numbers(result: Any) -> dict[str, Any]:
    """Return the numbers of a run, without the names of its laws."""
    document = json.loads(json.dumps(result.to_json()).replace('"my-reno"', '"reno"').replace('"mine"', '"cubic"'))
    return {key: document[key] for key in ("links", "groups")}


def test_the_page_builds_and_runs_in_the_checkout(printed: str) -> None:
    assert "both under our CUBIC" in printed
    assert "Buffer" in printed or "buffer" in printed
    assert "mine" in printed


def test_no_block_of_the_page_leaves_the_folder_of_the_next() -> None:
    assert not re.findall(r"^cd |OLDPWD", commands(0) + commands(1), flags=re.MULTILINE)
    # The library is where the Python of the page looks for it.
    assert "lib=examples/own-law/target/release/libown_law.so\n" in commands(0)
    assert 'library = "examples/own-law/target/release/libown_law.so"' in PAGE.read_text(encoding="utf-8")


def test_the_page_builds_a_copy_elsewhere(printed: str, tmp_path: Path) -> None:
    # The lock is what a reader's cargo makes by itself, where it has a network.
    lines = commands(1).replace("\nsed ", f"\ncp '{EXAMPLE}/Cargo.lock' ~/my-law\nsed ", 1)
    out = typed(lines, ROOT, HOME=str(tmp_path), CARGO_TARGET_DIR=str(BUILT))
    assert out.splitlines() == printed.splitlines()[: len(out.splitlines())]
    assert "../../crates" not in (tmp_path / "my-law" / "Cargo.toml").read_text(encoding="utf-8")


def test_the_library_does_what_the_program_does(printed: str, library: Path) -> None:
    source = (EXAMPLE / "src" / "main.rs").read_text(encoding="utf-8")
    text = re.search(r'r#"\n(.*?)"#', source, flags=re.DOTALL)
    assert text is not None
    scenario = re.sub(r'control = "\w+"', 'control = "mine"', text[1])
    with own_laws.declared({"mine": f"{library}:cubic"}):
        outcome = simulate(Scenario.from_text(scenario), 0)
    rates = ", ".join(f"{rate / 1e6:.1f} Mbit/s" for rate in outcome.flows["goodput_bps"])
    shown = f"{'both under our CUBIC':28} {100 * outcome.links['utilization'][0]:5.1f} % busy, {rates}"
    assert shown in printed.splitlines()


@pytest.mark.parametrize("law", ["reno", "cubic"])
@pytest.mark.parametrize(
    "more",
    [
        "",
        'recovery = "tahoe"',
        'recovery = "rack"\ntcp = { delayed_ack = 2, min_rto = "200 ms" }',
        'recovery = "prr"\ntcp = { pacing = "linux", initial_window = 10, initial_ssthresh = 12 }',
        'traffic = { kind = "engset", size = "40 kB", think = "500 ms" }',
    ],
)
def test_windows_are_those_of_the_built_in_laws_in_both_engines(library: Path, law: str, more: str) -> None:
    name = {"reno": "my-reno", "cubic": "mine"}[law]
    for count in (1, 20):
        ours, built_in = (link(library, f'"{each}"', count, more) for each in (name, law))
        expected = simulate(built_in, 0, with_hash=True).hash
        for engine in ("window", "reference"):
            assert simulate(ours, 0, engine=engine, with_hash=True).hash == expected
    assert simulate(ours, 0).flows["retransmitted"].sum() > 0
    other = link(library, '{ law = "mine", beta = 0.5 }', 20, more)
    assert simulate(other, 0, with_hash=True).hash != expected


def test_run_size_and_sweep_give_the_numbers_of_the_built_in_law(library: Path, tmp_path: Path) -> None:
    ours, built_in = link(library, '"mine"'), link(library, '"cubic"')
    assert ours.id != built_in.id
    assert numbers(elephan.run(ours, workers=2)) == numbers(elephan.run(built_in, workers=1))
    asked: dict[str, Any] = {"target": "utilization=0.9", "precision": 0.3, "replications": 1}
    sizes = [elephan.size(each, **asked).to_json() for each in (ours, built_in)]
    assert (sizes[0]["buffer_packets"] or 0) > 0
    # A search without a model of the law tries other buffers; where both tried one they found the same.
    curves = [{point["buffer_packets"]: point["utilization"] for point in size["curve"]} for size in sizes]
    both = curves[0].keys() & curves[1].keys()
    assert len(both) > 1
    assert all(curves[0][buffer] == curves[1][buffer] for buffer in both)
    over = {"flows[0].control": ["cubic", "mine", {"law": "mine", "beta": 0.5}]}
    laws: dict[str, Any] = {"mine": f"{library}:cubic"}
    swept = elephan.sweep(built_in, over=over, laws=laws, store=tmp_path / "a", workers=2)
    points = [numbers(point) for point in swept.points]
    assert points[0] == points[1] != points[2]
    with ProcessPoolExecutor(2) as executor:
        again = elephan.sweep(built_in, over=over, laws=laws, store=tmp_path / "b", executor=executor)
    assert [numbers(point) for point in again.points] == points
    # No point is run twice.
    assert elephan.sweep(built_in, over=over, laws=laws, store=tmp_path / "a").reused == 3


def test_a_store_keeps_builds_apart(library: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(LINK.format(control='"mine"', count=1, more=""))
    # Bytes behind the end of a library change nothing but its hash.
    other = tmp_path / "other.so"
    other.write_bytes(library.read_bytes() + b"\0")
    copy = tmp_path / "copy.so"
    shutil.copy(library, copy)
    with elephan.Store(tmp_path / "store") as store:
        laws: list[Any] = [f"{path}:cubic" for path in (library, other, copy)]
        runs = [store.run(scenario, laws={"mine": law}) for law in laws]
        assert runs[0].id == runs[2].id != runs[1].id
        assert runs[0].to_json()["links"] == runs[1].to_json()["links"]
        kept = store.get(runs[0].id).scenario
        with pytest.raises(ScenarioError, match=r'"mine" is no law of elephan\'s and not declared here'):
            elephan.run(kept)


def test_what_was_hashed_runs_whatever_becomes_of_the_file(library: Path, tmp_path: Path) -> None:
    file = tmp_path / "libmine.so"
    shutil.copy(library, file)
    law = own_laws.load(f"mine={file}:cubic")
    with own_laws.declared({"mine": law}):
        scenario = Scenario.from_text(LINK.format(control='"mine"', count=2, more=""))
    before = simulate(scenario, 0, with_hash=True).hash
    file.write_bytes(b"\0" * 100)
    assert simulate(scenario, 0, with_hash=True).hash == before
    with pytest.raises(InputError, match=r"libmine\.so is no shared library"):
        pickle.loads(pickle.dumps(law))
    # Another build at the same place is another law, and does not run in its place.
    file.write_bytes(library.read_bytes() + b"\0")
    moved = pickle.loads(pickle.dumps(law))
    assert moved.source != law.source
    with pytest.raises(ScenarioError, match="not declared here"):
        simulate(Scenario(scenario.text, scenario.canonical, "x", scenario.warmup_rule, {"mine": moved}), 0)


def test_a_law_that_goes_wrong_ends_the_run_in_one_line(library: Path) -> None:
    scenario = link(library, '{ law = "mine", beta = 1.5 }')
    for workers in (0, 1, 2):
        with pytest.raises(LawError) as raised:
            elephan.run(scenario, workers=workers)
        said = (
            r"law mine: cubic\.make \(libown_law\.so\): src/lib\.rs, line \d+: beta is 1\.5; it must be between 0 and 1"
        )
        assert re.fullmatch(said, str(raised.value))
    elephan.run(link(library, '"mine"'))


def test_what_is_wrong_with_a_library_is_said_in_one_line(library: Path, tmp_path: Path) -> None:
    empty, other = tmp_path / "empty.so", tmp_path / "other.so"
    empty.write_bytes(b"")
    head = bytearray(library.read_bytes()[:64])
    head[18:20] = b"\x16\0" if head[18] != 0x16 else b"\x3e\0"
    other.write_bytes(head)
    for text, said in (
        (
            f"mine={library}",
            f"law mine: {library} has several laws (cubic, reno); say which, as in mine={library}:",
        ),
        (f"mine={library}:bbr", f"law mine: {library} has no law 'bbr'; it has: cubic, reno"),
        (
            f"mine={tmp_path}/none.so",
            f"law mine: {tmp_path}/none.so: no such file or directory; give the path of a library of laws (.so)",
        ),
        (f"mine={empty}", f"law mine: {empty} is no shared library"),
        (f"mine={other}", f"law mine: {other} is compiled for s390x (64 bits); elephan runs here on "),
        (f"=3={library}:cubic", "--law: must be NAME=FILE.py:CLASS or NAME=FILE.so"),
        (f"a b={library}:cubic", 'laws: "a b" is no name for a law'),
    ):
        with pytest.raises(InputError) as raised:
            own_laws.load(text)
        assert str(raised.value).startswith(said)
        assert "\n" not in str(raised.value)
    for control, said in (
        ('{ law = "mine", gian = 2 }', r"control\.gian: cubic has no such parameter; it has: c, beta"),
        ('{ law = "mine", beta = "x" }', r"control\.beta: must be a number, as cubic is from a library"),
        ('{ law = "mine", slow_start = "classic" }', r"control\.slow_start: mine opens its window itself"),
    ):
        with pytest.raises(ScenarioError, match=said):
            link(library, control)


def test_a_library_of_the_system_exports_no_laws() -> None:
    mapped = re.search(r"/\S+/libc\.so\.6", Path("/proc/self/maps").read_text(encoding="utf-8"))
    if mapped is None:
        pytest.skip("no libc.so.6 here")
    with pytest.raises(InputError, match=r"libc\.so\.6 exports no laws; elephan::export_laws! does"):
        own_laws.library_law("mine", mapped[0], "any")


def test_the_command_line_takes_libraries(library: Path, tmp_path: Path, command: Command) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(LINK.format(control='"mine"', count=2, more=""))
    law = ["--law", f"mine={library}:cubic"]
    done = command("run", scenario, *law, "--json")
    assert done.code == 0, done.err
    built_in_file = tmp_path / "t.toml"
    built_in_file.write_text(LINK.format(control='"cubic"', count=2, more=""))
    plain = command("run", built_in_file, "--json")
    ours, built_in = (json.loads(each.out) for each in (done, plain))
    assert ours["links"] == built_in["links"]
    for words in (["lint"], ["estimate"], ["compare", "--no-testbed", "--replications", "1"]):
        done = command(words[0], scenario, *words[1:], *law)
        assert done.code == 0, (words, done.err)
    done = command("run", scenario, "--law", f"mine={library}")
    assert done.code == 2
    assert done.err.count("\n") == 1


def test_a_library_may_be_the_sender_of_a_packetdrill_script(library: Path, command: Command) -> None:
    script = ROOT / "tests" / "data" / "packetdrill" / "fast-retransmit.pkt"
    found = {}
    for law in ("reno", f"mine={library}:reno", f"mine={library}:cubic"):
        done = command("conform", "tcp", script, "--law", law, "--json")
        judged = json.loads(done.out)["scripts"][0]
        assert judged["sender"].pop("law") == law.partition("=")[0]
        found[law.rpartition(":")[2]] = [done.code, judged["verdict"], judged["segments"], judged["difference"]]
        found.setdefault("built-in", found["reno"])
    assert found["reno"] == found["built-in"]
    # The null: another law of the same library.
    assert (found["built-in"][1], found["cubic"][1]) == ("agrees", "differs")
