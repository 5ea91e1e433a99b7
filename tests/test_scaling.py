"""`make scaling`: superlinear costs are found, and stored counts are not repeated."""

from pathlib import Path
from typing import Any

import pytest

from conftest import load_file
from elephan import Scenario

ROOT = Path(__file__).resolve().parent.parent

scaling: Any = load_file(ROOT / "tools" / "scaling.py")


class Engine:
    """An engine whose cost per packet is a power of the window, the flows or the losses."""

    def __init__(self, bdp: float = 0.0, flows: float = 0.0, losses: float = 0.0) -> None:
        self.powers, self.calls = (bdp, flows, losses), 0

    def __call__(self, texts: list[str]) -> list[Any]:
        return [self.one(text) for text in texts]

    def one(self, text: str) -> Any:
        self.calls += 1
        scenario = Scenario.from_text(text)
        link = scenario.links[0]
        flows, loss = link["flows"], scenario.resolved["links"][0]["loss"]
        packets = round(link["bdp_packets"] * (1 + 10 * scenario.facts["duration_s"]))
        cost = 500.0
        losses = loss["random"] if loss else 0.005
        sizes = (link["bdp_packets"] / flows / 1000, flows / 4, losses / 0.005)
        for size, power in zip(sizes, self.powers, strict=True):
            cost *= size**power
        # The cost of a network before its first packet must not count.
        return scaling.Counted(round(1e6 * flows + cost * packets), packets)


SENDER = ("cubic", "rack", "none")


def test_every_law_recovery_and_pacing_is_asked() -> None:
    every = scaling.combinations([])
    assert len(every) == len(set(every)) >= 20 * 6 * 3
    assert scaling.combinations(["cubic", "rack", "none"]) == [SENDER]


@pytest.mark.parametrize("law", ["reno", "bbr", "xcp"])
@pytest.mark.parametrize("pacing", scaling.PACINGS)
def test_what_is_asked_can_be_run(law: str, pacing: str) -> None:
    for point in scaling.NETWORKS.values():
        scenario = Scenario.from_text(scaling.scenario(scaling.Combination(law, "rack", pacing), point, 0.1))
        assert scenario.links[0]["flows"] == point["flows"]


@pytest.mark.parametrize("name", ["bdp", "flows", "losses"])
@pytest.mark.parametrize("power", [0.0, 0.2, 1.0])
def test_what_grows_with_one_of_them_is_found(name: str, power: float) -> None:
    found = scaling.ratios(scaling.Combination(*SENDER), Engine(**{name: power}))
    for doubled in scaling.DOUBLED:
        assert found[doubled] == pytest.approx(2**power if doubled == name else 1.0, rel=1e-3)
    assert found["per_packet"] == pytest.approx(500, rel=1e-3)


def test_what_was_counted_is_kept_until_the_program_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    senders, path = scaling.combinations(["cubic", "none"]), tmp_path / "kept.json"
    engine = Engine(losses=1.0)
    scaling.measure(senders, engine, scaling.Kept(path, b"one"))
    assert engine.calls == 10 * len(senders)
    again = scaling.Kept(path, b"one")
    scaling.measure(senders, engine, again)
    assert engine.calls == 10 * len(senders)
    assert scaling.report(again, senders) == 1
    shown = capsys.readouterr().out
    assert shown.startswith(f"{len(senders)} of {3 * len(senders)} doublings")
    assert "2.00  losses   cubic" in shown
    assert scaling.Kept(path, b"another").rows == {}
    linear = scaling.Kept(tmp_path / "linear.json", b"one")
    scaling.measure(senders, Engine(bdp=0.2), linear)
    assert scaling.report(linear, senders) == 0


def test_without_valgrind_there_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scaling.shutil, "which", lambda _: None)
    assert scaling.main([]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "valgrind" in said
