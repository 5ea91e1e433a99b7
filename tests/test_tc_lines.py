"""The line for Linux beside a link: it describes the link as a whole, or there is none; a real tc accepts it."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping

import pytest

import elephan as package
from conftest import Command

LINK = """
duration = "4 s"
warmup = "1 s"

[[links]]
name = "edge"
rate = "200 Mbit/s"
buffer = "60 packets"

[[flows]]
name = "some"
count = 3
path = ["edge"]
rtt = "25 ms"
"""

SHAPED = {"links[0].shaper": {"rate": "8 Mbit/s", "burst": "6 kB"}}


def line(changes: Mapping[str, object]) -> str | None:
    text = package.Scenario.from_text(LINK).replace(changes).links[0]["tc"]
    return None if text is None else str(text)


def test_a_plain_link_has_its_queue_at_the_root() -> None:
    assert line({}) == "tc qdisc replace dev eth0 root pfifo limit 60"


def test_a_shaped_link_keeps_its_bucket_and_has_the_queue_below_it() -> None:
    # 60 packets of 1500 bytes are 90,000.
    bucket = "tc qdisc replace dev eth0 root handle 1: tbf rate 8mbit burst 6000 limit 90000"
    below = "tc qdisc replace dev eth0 parent 1:1 handle 10:"
    assert line(SHAPED) == f"{bucket} && {below} pfifo limit 60"
    assert line({**SHAPED, "links[0].buffer": "90 kB"}) == f"{bucket} && {below} bfifo limit 90000"
    queue = line({**SHAPED, "links[0].queue": "fq-codel"})
    assert queue is not None
    assert queue.startswith(f"{bucket} && {below} fq_codel limit 60")


@pytest.mark.parametrize(
    ("rate", "words"),
    [("2 Gbit/s", "2gbit"), ("8.5 Mbit/s", "8500kbit"), ("1234567 bit/s", "1234567bit")],
)
def test_the_rate_is_in_units_that_tc_reads_as_bits(rate: str, words: str) -> None:
    shaped = line({"links[0].rate": "10 Gbit/s", "links[0].shaper": {"rate": rate, "burst": "6 kB"}})
    assert shaped is not None
    assert f" tbf rate {words} burst 6000 " in shaped


def test_a_bucket_that_never_waits_is_not_said() -> None:
    assert line({"links[0].shaper": {"rate": "200 Mbit/s", "burst": "6 kB"}}) == line({})


@pytest.mark.parametrize(
    "changes",
    [
        {"links[0].policer": {"rate": "8 Mbit/s", "burst": "60 kB"}},
        {"links[0].batch": "4 ms"},
        {"links[0].loss": {"random": 1e-3}},
        {"links[0].rate": {"steps": [["0 s", "200 Mbit/s"], ["2 s", "20 Mbit/s"]]}},
        # Linux's bucket must hold a frame: 14 bytes more than the packet.
        {"links[0].shaper": {"rate": "8 Mbit/s", "burst": "1500 B"}},
        {**SHAPED, "links[0].queue": "xcp"},
        # `limit 0` drops everything, or is the default.
        {"links[0].buffer": "0 packets"},
        {"links[0].buffer": "0 packets", "links[0].queue": "sfq"},
        {"links[0].buffer": "1400 B"},
    ],
)
def test_a_link_that_no_queue_of_a_device_gives_has_no_line(changes: Mapping[str, object]) -> None:
    assert line(changes) is None


def test_a_target_of_codel_holds_a_packet_on_slow_links() -> None:
    # 1500 bytes at 2 Mbit/s: 6 ms; at 10 Mbit/s 1.2 ms, where the usual 5 ms stay.
    for queue in ("codel", "fq-codel"):
        slow, fast = (line({"links[0].rate": rate, "links[0].queue": queue}) for rate in ("2 Mbit/s", "10 Mbit/s"))
        assert slow is not None
        assert fast is not None
        assert " target 6000us" in slow
        assert "target" not in fast, "Linux's own"
    # The bucket is what makes the link slow.
    shaped = line({"links[0].shaper": {"rate": "1 Mbit/s", "burst": "6 kB"}, "links[0].queue": "codel"})
    assert shaped is not None
    assert " target 12000us" in shaped


def test_run_prints_the_line_of_the_link(elephan: Command, tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "link.toml")  # noqa: PTH118 (a path of any kind)
    with open(path, "w") as file:  # noqa: PTH123 (as above)
        file.write(LINK)
    shaper = '{ rate = "8 Mbit/s", burst = "6 kB" }'
    assert "Linux: tc qdisc replace dev eth0 root handle 1: tbf " in (
        elephan("run", path, "-q", "--set", f"links[0].shaper={shaper}").out
    )
    assert "Linux: tc" not in elephan("run", path, "-q", "--set", f"links[0].policer={shaper}").out


@pytest.fixture
def namespace() -> Iterator[str]:
    """A network namespace of its own, of which the loopback device takes any qdisc."""
    name = f"elephan-tc-{os.getpid()}"
    tools = shutil.which("tc") and shutil.which("ip")
    if not tools or os.geteuid() or subprocess.run(["ip", "netns", "add", name], check=False).returncode:
        pytest.skip("needs root, iproute2 and network namespaces")
    try:
        yield name
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, ["pfifo", "limit 60p"]),
        (SHAPED, ["tbf 1: root", "rate 8Mbit", "burst 6000b", "pfifo 10: parent 1:1", "limit 60p"]),
        ({**SHAPED, "links[0].buffer": "90 kB"}, ["tbf 1: root", "bfifo 10: parent 1:1", "limit 90000b"]),
    ],
)
def test_a_real_tc_takes_the_line_twice(namespace: str, changes: Mapping[str, object], shown: list[str]) -> None:
    text = line(changes)
    assert text is not None
    words = text.replace(" dev eth0 ", " dev lo ")
    for _ in range(2):
        done = subprocess.run(
            ["ip", "netns", "exec", namespace, "sh", "-c", words], capture_output=True, text=True, check=False
        )
        if "qdisc kind is unknown" in done.stderr:
            pytest.skip("the kernel has no such qdisc")
        assert (done.returncode, done.stderr) == (0, "")
    found = subprocess.run(
        ["ip", "netns", "exec", namespace, "tc", "qdisc", "show", "dev", "lo"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert all(part in found for part in shown), found
