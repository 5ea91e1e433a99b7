"""A flow through a policer, compared with a policer written from the definition of a token bucket alone."""

from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

import elephan
from elephan import Scenario

RATE, BURST, PACKET = 20_000_000, 60_000, 1500

TEXT = f"""
duration = "20 s"
warmup = "2 s"
record = {{ packets = [{{ link = "edge", from = "0 s", to = "20 s" }}] }}
[[links]]
name = "edge"
rate = "100 Mbit/s"
buffer = "1000 packets"
policer = {{ rate = "{RATE} bit/s", burst = "{BURST} B" }}
[[flows]]
path = ["edge"]
rtt = "40 ms"
packet = "{PACKET} B"
control = "cubic"
recovery = "sack"
"""


def conforms(arrivals_s: Iterable[float], rate: int, burst: int, size: int) -> Iterator[bool]:
    """Yield whether packets conform. A bucket holds up to `burst` bytes of tokens, initially full, and gains `rate`
    bits per second.

    A packet that finds tokens for all its bytes takes them and passes; any other is dropped and takes none.
    """
    tokens, before = Fraction(burst), Fraction(0)
    for time_s in arrivals_s:
        # Times are whole picoseconds.
        now = Fraction(round(time_s * 1e12), 10**12)
        tokens, before = min(Fraction(burst), tokens + (now - before) * rate / 8), now
        if passes := tokens >= size:
            tokens -= size
        yield passes


def test_a_policed_cubic_flow_loses_what_a_second_policer_drops() -> None:
    result = elephan.run(Scenario.from_text(TEXT), replications=1)
    (packets,) = result.outcomes[0].packets
    dropped, times = np.asarray(packets["dropped"]), np.asarray(packets["time_s"])
    wanted = ~np.fromiter(conforms(times, RATE, BURST, PACKET), bool)
    assert dropped.sum() > 20
    np.testing.assert_array_equal(dropped, wanted)
    # Policers with a packet less of burst, a tenth more of rate, or larger packets drop others.
    for other in ((RATE, BURST - PACKET, PACKET), (RATE * 11 // 10, BURST, PACKET), (RATE, BURST, PACKET + 40)):
        assert (dropped != ~np.fromiter(conforms(times, *other), bool)).any()
    # It gets no more than the policer lets pass, and nothing waits.
    assert result.to_json()["links"][0]["backlog_max_packets"]["mean"] <= 60
    passed = (~dropped[times >= 2]).sum() * PACKET * 8
    assert passed <= 18 * RATE + 8 * BURST
