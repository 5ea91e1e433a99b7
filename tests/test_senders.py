"""Every law, recovery and slow start through the users' ways: `--set`, `--laws`, traces, the catalogue."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import elephan
from conftest import Command, load_file
from elephan.catalog import catalog
from elephan.runs.outcome import simulate

ROOT = Path(__file__).resolve().parent.parent
law_pictures = load_file(ROOT / "tools" / "law_pictures.py")
LAWS = [card["name"] for card in catalog("laws")]
PROMISED = {
    "reno", "highspeed", "ghstcp", "nr-hstcp", "constant-rate", "scalable", "fast", "htcp", "bic", "vegas", "cubic",
    "westwood", "illinois", "yeah", "hybla", "compound", "dctcp", "bbr3", "bbr1", "xcp",
    "packet-pair", "prague",
}  # fmt: skip


def test_every_law_of_the_papers_and_every_baseline_exists() -> None:
    assert set(LAWS) == PROMISED | {"tabulated", "bpf"}  # The user's own.
    assert {card["name"] for card in catalog("recoveries")} == {"tahoe", "reno", "newreno", "sack", "prr", "rack"}
    assert {"classic", "limited", "hystart++"} <= {card["name"] for card in catalog("slow-starts")}


@pytest.mark.parametrize("law", LAWS)
def test_run_takes_every_law_by_path(law: str, elephan: Command, small: Path) -> None:
    done = elephan("run", small, "--replications", 1, "--set", f"flows[0].control.law={law}", "--json", "--quiet")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["groups"][0]["law"] == law
    # Westwood+ has learnt too little of its rate when slow start ends; making up for it takes longer than this run.
    assert document["links"][0]["utilization"]["mean"] > (0.3 if law == "westwood" else 0.5)


@pytest.mark.slow
def test_size_compares_laws_of_every_kind(elephan: Command, small: Path) -> None:
    laws = "reno,cubic,bbr3,ghstcp"
    done = elephan(
        "size", small, "--target", "utilization=0.5", "--laws", laws, "--precision", "30%", "--json", "--quiet"
    )
    assert done.code == 0, done.err
    assert laws.split(",") == [row["law"] for row in json.loads(done.out)["variants"]]


def test_a_trace_shows_what_the_law_keeps_to_itself() -> None:
    scenario = elephan.Scenario.from_text(
        """
duration = "20 s"
[[links]]
name = "l"
rate = "20 Mbit/s"
delay = "10 ms"
buffer = "60 packets"
[[flows]]
name = "g"
path = ["l"]
rtt = "40 ms"
control = "ghstcp"
[record]
trace = ["g[0]"]
"""
    )
    (trace,) = simulate(scenario, 0).traces
    gauges = trace["gauges"]
    assert {"mode", "r", "z"} <= set(gauges)
    assert all(values.shape == trace["time_s"].shape for values in gauges.values())
    # A single flow that fills a queue sees its round-trip times rise: Reno's mode.
    assert np.isin(gauges["mode"], (0.0, 1.0)).all()
    assert gauges["mode"].max() == 1.0
    assert np.abs(gauges["r"]).max() <= 1.0


def test_the_catalogue_has_a_picture_of_every_law_and_slow_start() -> None:
    for kind in ("laws", "slow-starts"):
        page = (ROOT / "docs" / "catalog" / f"{kind}.md").read_text(encoding="utf-8")
        assert re.findall(r"\(rounds/(.*)\.svg\)", page) == [card["name"] for card in catalog(kind)]
    for law in LAWS:
        table = law_pictures.rounds(f'"{law}"')
        assert table.shape == (law_pictures.ROUNDS, 4)
        assert np.isfinite(table[:, 1]).all()
        assert (table[:, 1] >= 1.0).all()


def test_every_card_says_where_the_law_comes_from_and_what_differs() -> None:
    for card in catalog("laws"):
        assert card["source"], card["name"]
        assert card["differs"], f"{card['name']}: source, Linux, ns-2 or ns-3: something always differs"
        assert all(row["meaning"].endswith(".") for row in card["parameters"])


def test_a_threshold_limits_bbr_to_what_leaves_while_a_packet_is_late() -> None:
    """Repeat quinn's issue 2711 at a tenth of its rate: three in four packets are late by 5 ms."""
    path = {"links[0].rate": "85 Mbit/s", "links[0].reorder": {"early": 0.25, "by": "5 ms"}, "flows[0].rtt": "197 ms"}
    sender = {"flows[0].control": "bbr", "flows[0].recovery": "sack", "flows[0].tcp": {"receive_window": "none"}}
    base = elephan.Scenario.from_file(ROOT / "scenarios" / "operators" / "reordering.toml")
    base = base.replace({"duration": "40 s", "warmup": "10 s", **path, **sender})

    def goodput(**changes: object) -> float:
        run = elephan.run(base.replace(changes), replications=1)
        return float(run.to_json()["groups"][0]["goodput_bps"]["mean"])

    in_order = goodput(**{"links[0].reorder": "none"})
    assert in_order > 0.9 * 85e6
    for threshold in (3, 7):
        found = goodput(**{"flows[0].tcp.dup_thresh": threshold})
        # Below this rate fewer packets than the threshold leave in 5 ms; a quarter of them overtake, on average.
        # A tenth less: BBR keeps some 5 % below its estimate, and the path is not used while it drains.
        least = threshold * 12_000 / 5e-3
        assert 0.9 * least < found < 4 * least, (threshold, found)
    # 35 leave in 5 ms, of which 9 overtake, with a standard deviation of 2.6: 30 are never reached.
    for enough in (30, "adaptive"):
        assert goodput(**{"flows[0].tcp.dup_thresh": enough}) > 0.99 * in_order
