"""Memory that links share: drops compared with a second pool, written from its definition; results, screens,
searches."""

import json
from pathlib import Path

import pytest

import elephan
from conftest import Command
from elephan import Scenario
from elephan.costs import memory_of
from elephan.costs.memory import PROCESS
from elephan.errors import InputError
from elephan.lint import lint

PACKET, SIZE = 1000, 60
RATES = {"core": 10_000_000, "edge": 6_000_000}

LINK = """
[[links]]
name = "{name}"
rate = "{rate} bit/s"
delay = "5 ms"
pool = "chip"
{more}
"""

TEXT = f"""
duration = "12 s"
warmup = "2 s"
[record]
packets = [{{ link = "core", from = "0 s", to = "12 s" }}, {{ link = "edge", from = "0 s", to = "12 s" }}]
[[pools]]
name = "chip"
size = "{SIZE * PACKET} B"
alpha = 2.0
{"".join(LINK.format(name=name, rate=rate, more="alpha = 0.5" * (name == "edge")) for name, rate in RATES.items())}
[[flows]]
name = "far"
count = 3
path = ["core"]
rtt = {{ from = "40 ms", to = "70 ms" }}
packet = "{PACKET} B"
control = "cubic"
[[flows]]
name = "near"
count = 3
path = ["edge"]
rtt = {{ from = "20 ms", to = "35 ms" }}
packet = "{PACKET} B"
"""


def dropped_by(arrivals: list[tuple[int, int, int]], alphas: tuple[float, float], size: float) -> list[bool]:
    """Return for each arrival (time [ps], flow, link) whether it is dropped.

    Two servers, each first come, first served. A packet that finds its server idle goes into service. Any other is
    dropped if the backlog of its server is at least alpha times the free memory, or if it does not fit into the free
    memory.
    """
    service = [8 * PACKET * 10**12 // rate for rate in RATES.values()]
    ends: list[int] = [0, 0]
    begins: list[list[int]] = [[], []]
    found = []
    for time, _, link in arrivals:
        waiting = [sum(begin > time for begin in list_[-SIZE - 1 :]) * PACKET for list_ in begins]
        idle = ends[link] <= time
        free = size - sum(waiting)
        lost = not idle and (waiting[link] >= alphas[link] * free or free < PACKET)
        found.append(lost)
        if not lost:
            begins[link].append(max(time, ends[link]))
            ends[link] = begins[link][-1] + service[link]
    return found


def test_what_is_dropped_is_what_a_second_pool_drops() -> None:
    result = elephan.run(Scenario.from_text(TEXT), replications=1)
    rows = [
        (round(1e12 * time), int(flow), int(packets["link"]), bool(dropped))
        for packets in result.outcomes[0].packets
        for time, flow, dropped in zip(packets["time_s"], packets["flow"], packets["dropped"], strict=True)
    ]
    rows.sort(key=lambda row: row[:3])
    arrivals, dropped = [row[:3] for row in rows], [row[3] for row in rows]
    assert sum(dropped) > 50
    assert dropped_by(arrivals, (2.0, 0.5), SIZE * PACKET) == dropped
    # Other thresholds and another size drop others; so does memory without thresholds.
    others = (((2.0, 2.0), SIZE), ((1.9, 0.5), SIZE), ((2.0, 0.5), SIZE - 1), ((1e6, 1e6), SIZE))
    for alphas, packets in others:
        assert dropped_by(arrivals, alphas, packets * PACKET) != dropped


def test_a_run_says_who_held_how_much() -> None:
    document = elephan.run(Scenario.from_text(TEXT), replications=2).to_json()
    [pool] = document["pools"]
    assert (pool["name"], pool["size_bytes"], pool["size_packets"], pool["alpha"]) == ("chip", 60_000, None, 2.0)
    links = [link["pool"] for link in document["links"]]
    assert sum(link["share"]["mean"] for link in links) == pytest.approx(1)
    assert sum(link["occupancy"]["mean"] for link in links) == pytest.approx(pool["occupancy"]["mean"])
    assert max(link["occupancy_max"]["mean"] for link in links) <= pool["occupancy_max"]["mean"] <= 1
    assert sum(link["drops"]["mean"] for link in links) == pool["drops"]["mean"] > 0
    for link in document["links"]:
        # Its buffer has no limit of its own.
        assert link["pool"]["drops"] == link["drops"]["overflow"]
    # Mean backlog, in packets of 1000 B.
    assert links[0]["occupancy"]["mean"] * SIZE == pytest.approx(document["links"][0]["backlog_packets"]["mean"])


def test_the_screen_says_how_much_of_the_pool_is_used(elephan: Command, tmp_path: Path) -> None:
    path = tmp_path / "chip.toml"
    path.write_text(TEXT)
    done = elephan("run", path, "-q")
    assert len(done.out.splitlines()) <= 15
    assert "in chip" in done.out
    assert "% at most; " in done.out
    assert "packets dropped because it was full" in " ".join(done.out.split())
    assert "chip" in elephan("run", path, "-q", "--details").out


def test_what_shares_memory_is_not_without_limit_and_idle_links_of_a_pool_are_not_without_effect() -> None:
    idle = TEXT + LINK.format(name="idle", rate=10_000_000, more="")
    for text in (TEXT, idle):
        assert not [w for w in lint(Scenario.from_text(text)) if w.rule in ("unlimited-buffer", "no-effect")]
    # Under static shares it takes its own.
    shares = [
        Scenario.from_text(text).replace({"pools[0].sharing": "static", "pools[0].alpha": 1.0}) for text in (TEXT, idle)
    ]
    most = [elephan.run(one, replications=1).outcomes[0].links["pool_held_max"][0] for one in shares]
    assert most == [30_000, 20_000]


def test_the_estimate_of_a_run_knows_that_memory_is_limited() -> None:
    # Longer than it takes to fill a queue without limit, on links that are named in no pool.
    pooled = Scenario.from_text(TEXT).replace({"record": {}}, duration="600 s")
    alone = {"pools": [], "links[0].pool": "none", "links[1].pool": "none", "links[1].alpha": 1.0}

    def needed(buffer: str | None) -> float:
        buffers = {} if buffer is None else alone | {f"links[{i}].buffer": buffer for i in (0, 1)}
        return memory_of(pooled.replace(buffers).network, workers=1)[0] - PROCESS

    # As with buffers of its size, but for the histogram of a time to drain that is not known.
    assert needed("60 kB") <= needed(None) < 1.5 * needed("60 kB")
    assert needed("unlimited") > 10 * needed(None)


def test_alpha_where_thresholds_are_not_dynamic_is_warned_of() -> None:
    static = Scenario.from_text(TEXT).replace({"pools[chip].sharing": "static"})
    where = {w.where for w in lint(static) if w.rule == "no-effect"}
    assert where == {"pools[chip].alpha", "links[edge].alpha"}


@pytest.mark.slow
@pytest.mark.parametrize("find", ["pool", "alpha"])
def test_the_smallest_pool_and_alpha_meet_the_target_and_half_of_it_does_not(find: str) -> None:
    # One Reno flow on each link, so that nothing is drawn.
    base = Scenario.from_text(TEXT).replace(
        {"flows[0].count": 1, "flows[1].count": 1, "flows[0].control": "reno", "record": {}},
        duration="80 s",
        warmup="20 s",
    )
    found = elephan.size_limit(base, "utilization=0.9", find, replications=1)
    assert found.count is not None

    def used(count: int) -> float:
        outcome = elephan.run(found.quantity.make(count), replications=1).outcomes[0]
        return float(outcome.links["utilization"][0])

    assert used(found.count) >= 0.9 > used(found.count // 2)
    document = found.to_json()
    assert document["pool"]["name"] == "chip"
    assert document["unit"] == ("B" if find == "pool" else "")
    source = found.at.source["pools"][0]
    assert source["size"] == f"{found.amount:.0f} B" if find == "pool" else source["alpha"] == found.amount


def test_the_longest_path_of_a_pool_is_asked_as_that_of_a_buffer(elephan: Command, tmp_path: Path) -> None:
    path = tmp_path / "chip.toml"
    path.write_text(TEXT)
    done = elephan("size", path, "--target", "utilization=0.8", "--find", "rtt", "-q", "--json", "--replications", "1")
    document = json.loads(done.out)
    assert (document["find"], document["buffer_packets"], document["pool"]["size_bytes"]) == ("rtt", None, 60_000)
    text = elephan("size", path, "--target", "utilization=0.8", "--find", "pool", "-q", "--replications", "1").out
    assert "Link core meets utilization >= 0.8 from a pool of" in " ".join(text.split())


@pytest.mark.parametrize(
    ("changes", "find", "message"),
    [
        (
            {"links[core].pool": "none", "links[core].buffer": "9 packets"},
            "pool",
            "links[0] draws on no pool; --find pool",
        ),
        ({"pools[0].sharing": "static"}, "alpha", 'pools[0].sharing: is static; --find alpha is for "dynamic"'),
    ],
)
def test_what_cannot_be_searched_is_one_line(changes: dict[str, object], find: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        elephan.size_limit(Scenario.from_text(TEXT).replace(changes), "utilization=0.9", find, link="core")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
