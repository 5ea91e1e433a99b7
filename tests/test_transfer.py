"""``elephan transfer``: completion times against closed forms, and wrong words."""

import json
import re

import pytest

from conftest import Command


def took(elephan: Command, *words: str) -> dict[str, dict[str, float]]:
    done = elephan("transfer", *words, "--json")
    assert done.code == 0, done.err
    found: dict[str, dict[str, float]] = json.loads(done.out)["completion_time_s"]
    return found


# Slow start from ten segments (RFC 6928) sends 10, 20, 40, 80… of 1,448 bytes, one flight a round trip. Within 2 %: the
# time of the segments themselves on 10 Gbit/s, and ACKs that arrive before the last segment of a flight.
@pytest.mark.parametrize(("size", "flights"), [("10kB", 1), ("40kB", 2), ("100kB", 3), ("200kB", 4)])
def test_a_new_connection_takes_the_flights_of_slow_start(elephan: Command, size: str, flights: int) -> None:
    found = took(elephan, size, "--rtt", "100ms", "--rate", "10Gbit/s")["new connection"]
    assert found["mean"] == pytest.approx(0.1 * (flights - 1) + 0.05, rel=0.02)


def test_a_kept_window_sends_a_block_at_once_and_a_restart_does_not(elephan: Command) -> None:
    found = took(elephan, "100kB", "--rtt", "100ms", "--rate", "1Gbit/s", "--after", "5s")
    # Half a round trip and the block on the link, with headers of 52 bytes in 1,500; the restart takes three flights.
    assert found["window kept"]["mean"] == pytest.approx(0.05 + 8e5 / 1e9 * 1500 / 1448, rel=0.01)
    assert found["after silence"]["mean"] == pytest.approx(0.25, rel=0.03)
    # A silence shorter than a timeout restarts nothing.
    short = took(elephan, "100kB", "--rtt", "100ms", "--rate", "1Gbit/s", "--after", "50ms")
    assert short["after silence"] == short["window kept"]


def test_the_answer_stands_in_the_first_line(elephan: Command) -> None:
    done = elephan("transfer", "4MB", "--rtt", "200ms", "--rate", "50Mbit/s", "--after", "8s")
    assert done.out.startswith("4MB after 8s of silence: ")
    assert "tcp_slow_start_after_idle = 0" in done.out
    assert len(done.out.splitlines()) <= 15
    # Random losses have an interval.
    assert "(95 %: " in elephan("transfer", "300kB", "--rtt", "50ms", "--rate", "20Mbit/s", "--loss", "1%").out


def test_the_receive_window_is_named_where_it_is_the_limit_and_can_be_changed(elephan: Command) -> None:
    path = ("100MB", "--rtt", "100ms", "--rate", "10Gbit/s")
    said = " ".join(elephan("transfer", *path).out.split())
    # Half of the 6 MiB of tcp_rmem in each round trip of 100 ms.
    assert "The receive window is the limit: 3 MiB per round trip are 252 Mbit/s." in said
    assert "(--receive-window)" in said
    held = took(elephan, *path)["new connection"]
    assert held["receive_window_s"] == pytest.approx(1e8 / (3 * 2**20) * 0.1)
    twice = took(elephan, *path, "--receive-window", "6 MiB")["new connection"]
    assert twice["mean"] == pytest.approx(held["mean"] - held["receive_window_s"] / 2, rel=0.1)
    free = elephan("transfer", *path, "--receive-window", "none")
    assert "receive window" not in free.out
    # Nothing is said of what slow start, the link or losses decide.
    for words in (
        ["4MB", "--rate", "50Mbit/s"],
        ["40MB", "--rate", "100Mbit/s"],
        ["10MB", "--rate", "1Gbit/s", "--loss", "0.1%"],
    ):
        assert "receive window" not in elephan("transfer", *words, "--rtt", "100ms").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["4MB", "--rtt", "1s", "--rate", "1Mbit/s", "--receive-window", "1B"],
            "--receive-window: must lie between 2 KiB",
        ),
        (["4MB", "--rtt", "1s", "--rate", "1Mbit/s", "--receive-window", "64"], '--receive-window: "64" has no unit'),
        (["4MBx", "--rtt", "1s", "--rate", "1Mbit/s"], 'unknown unit "MBx"'),
        (["4MB", "--rtt", "1s", "--rate", "50"], '"50" has no unit'),
        (["4MB", "--rtt", "1s", "--rate", "1Mbit/s", "--loss", "2"], '--loss: "2" is not a share of packets'),
        (["100GB", "--rtt", "1s", "--rate", "1Gbit/s"], "100GB: too large to run here; give at most 29 GB"),
        (["4MB", "--rtt", "1s", "--rate", "1Mbit/s", "--law", "qubic"], '--law: unknown law "qubic"'),
        # Messages name what was typed, not the keys of the scenario.
        (["0B", "--rtt", "1s", "--rate", "1Mbit/s"], "SIZE: must be at least 1 B"),
        (["1MB", "--rtt", "1s", "--rate", "1Mbit/s", "--after", "0s"], "--after: must lie between 1 us and"),
        (["1MB", "--rtt", "1s", "--rate", "1Mbit/s", "--after", "8"], '--after: "8" has no unit'),
        (["1MB", "--rtt", "0s", "--rate", "1Mbit/s"], "--rtt: must lie between 1 us and"),
        (["1MB", "--rtt", "1s", "--rate", "0Mbit/s"], '--rate: "0Mbit/s" is out of range'),
        (["1MB", "--rtt", "1s", "--rate", "1Mbit/s", "--buffer", "3x"], '--buffer: unknown unit "x"'),
        (["1MB", "--rtt", "1s", "--rate", "1Mbit/s", "--loss", "99%"], "no transfer ended within"),
    ],
)
def test_wrong_words_get_one_line(elephan: Command, words: list[str], said: str) -> None:
    done = elephan("transfer", *words)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1
    assert not {"scenario", "flows[0]", "links[0]", "NAME=FILE"} & set(re.split(r"[:. ]", done.err))
