"""The first paper as data: formulas against the list of claims, measures on made-up points, settings of its sweeps."""

import tomllib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from elephan.pictures.figure import Figure
from elephan.pictures.table import Table
from elephan.store import Store
from elephan_evidence.papers import Paper
from elephan_evidence.papers.experiments import run, sweep_of
from elephan_evidence.papers.hstcp_buffer_model.figures import FIGURES, ns2
from elephan_evidence.papers.hstcp_buffer_model.links import LINKS, SHARES, in_step, modelled, two_in_step
from elephan_evidence.papers.hstcp_buffer_model.measures import BELOW, MEASURES
from elephan_evidence.papers.runs import ExperimentPoints, ExperimentRuns, leading
from elephan_evidence.papers.verdicts import judge, see

PAPER = Paper.read("hstcp-buffer-model")


class Fake(SimpleNamespace):
    """A point with columns of its own."""

    def link(self, column: str) -> NDArray[np.float64]:
        return np.asarray(self.columns[column], dtype=float)

    def flows(self, column: str) -> NDArray[np.float64]:
        return np.asarray(self.columns[column], dtype=float)

    @property
    def document(self) -> dict[str, Any]:
        return {"run": {"warmup_s": 1.0}}

    def samples(self, _: str) -> dict[str, NDArray[Any]]:
        return {name: np.asarray(values) for name, values in self.columns.items()}


def points(name: str, columns: dict[float, dict[str, Any]], **labels: str) -> ExperimentRuns:
    """Runs of one experiment, with the columns of its points by share."""
    link = LINKS[labels.get("case") or name.split("-", 1)[1]]
    made = [
        Fake(labels={"buffer": f"{link.packets(share)} packets", **labels}, columns=of) for share, of in columns.items()
    ]
    return ExperimentRuns({name: ExperimentPoints(name, tuple(made))})  # type: ignore[arg-type]


def used(name: str, curve: dict[float, float]) -> ExperimentRuns:
    return points(name, {share: {"utilization": [u - 0.001, u + 0.001]} for share, u in curve.items()})


def test_formulas_give_every_derived_number() -> None:
    nothing = ExperimentRuns()
    derived = [claim for claim in PAPER.claims.values() if claim.figure == "derived"]
    assert len(derived) == 50
    for claim in derived:
        assert judge(PAPER, claim, nothing, ()).verdict == "pass", claim.id


def test_the_misprint_is_shown_without_a_run() -> None:
    [misprint] = [each for each in PAPER.deviations if "hsbuf.dt2g.bdpfrac" in each.claims]
    assert all(see(PAPER, shown, ExperimentRuns()).holds for shown in misprint.shown)
    assert judge(PAPER, PAPER.claims["hsbuf.dt2g.bdpfrac"], ExperimentRuns(), ()).verdict == "fail"


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("queue", ["droptail", "ared"])
def test_buffers_of_a_sweep_are_the_shares_of_the_figures(queue: str, link: str) -> None:
    sweep = sweep_of(PAPER.experiments[f"{queue}-{link}"], quick=False)
    buffers = [leading(point.labels["links[0].buffer"]) for point in sweep.points()]
    assert buffers[-len(SHARES) :] == [LINKS[link].packets(share) for share in SHARES]
    base = tomllib.loads((PAPER.folder / f"link-{link}.toml").read_text(encoding="utf-8"))
    rate = float(base["links"][0]["rate"].split()[0]) * 1e9 / 8000
    delay = float(base["links"][0]["delay"].split()[0]) / 1e3
    # Shares are of what the link holds there and back, not of the flows' longer round trips.
    assert (rate, 2 * rate * delay) == (LINKS[link].rate, LINKS[link].full)


def test_shortened_runs_keep_what_claims_need() -> None:
    for experiment in PAPER.experiments.values():
        whole, short = sweep_of(experiment, quick=False), sweep_of(experiment, quick=True)
        assert 0 < len(short) <= len(whole)
    kept = {leading(p.labels["links[0].buffer"]) for p in sweep_of(PAPER.experiments["ared-2g5"], quick=True).points()}
    assert {LINKS["2g5"].packets(share) for share in (0.1, 0.2, 0.5, 1.0)} <= kept


def test_a_curve_with_a_knee_is_told_from_one_without() -> None:
    ask = "rises_to_saturation experiment='droptail-2g5' knee=[0.1, 0.2]"
    knee = {0.02: 0.1, 0.1: 0.5, 0.2: 0.9, 1.0: 0.99}
    assert MEASURES(ask, used("droptail-2g5", knee)) is True
    for wrong in ({0.1: 0.8}, {0.2: 0.75}, {0.02: 0.6}):
        assert MEASURES(ask, used("droptail-2g5", knee | wrong)) is False
    # Shortened runs have 0.03 more of each.
    short = replace(used("droptail-2g5", knee | {0.2: 0.86}), quick=True)
    assert MEASURES(ask, short) is True


def test_a_flat_curve_neither_rises_nor_starts_low() -> None:
    def verdict(claim: str, curve: dict[float, float]) -> str:
        # Both flows' rates together are what is used of 1 Gbit/s.
        columns = {
            share: {
                "utilization": [u - 0.001, u + 0.001],
                "goodput_bps": [[0.5e9 * x] * 2 for x in (u - 0.001, u + 0.001)],
            }
            for share, u in curve.items()
        }
        return judge(PAPER, PAPER.claims[claim], points("droptail-1g", columns), ()).verdict

    rising = {0.005: 0.1, 0.05: 0.4, 0.1: 0.9, 0.5: 0.995, 1.0: 0.9945}
    for claim in ("hsbuf.dt1g.monotone", "hsbuf.slow"):
        assert verdict(claim, rising) == "pass"
        assert verdict(claim, dict.fromkeys(rising, 0.9)) == "fail"
        assert verdict(claim, rising | {0.05: 0.09}) == "fail"
        # A full link has nothing to gain, and may not lose a hundredth.
        assert verdict(claim, rising | {1.0: 0.98}) == "fail"
    assert verdict("hsbuf.slow", rising | {0.005: 0.39, 0.05: 0.6, 0.1: 0.7}) == "pass"
    assert verdict("hsbuf.slow", rising | {0.005: 0.6, 0.05: 0.7}) == "fail"


def test_the_model_is_compared_where_it_is_farthest() -> None:
    model = {share: modelled("droptail", "1g", share).utilisation for share in (0.05, 0.1, 0.5)}
    runs = used("droptail-1g", model | {0.05: 0.2, 0.1: model[0.1] - 0.06})
    found = MEASURES("distance experiment='droptail-1g' least_share=0.1", runs)
    assert found.mean == pytest.approx(0.06, abs=1e-9)
    assert found.note == "1g at a share of 0.1"


def test_the_farthest_loss_is_so_in_ratio() -> None:
    lost = {0.1: 9e-1, 0.2: 4e-6, 0.5: 1.5e-5, 1.0: 1e-5}
    runs = points("ared-1g", {share: {"loss_ratio": [p, p]} for share, p in lost.items()})
    found = MEASURES("farthest_loss experiment='ared-1g' claimed=1e-5 above=0.1", runs)
    assert found.mean == 4e-6
    case = points("ared-bottom", {share: {"loss_ratio": [p]} for share, p in lost.items()}, case="1g")
    assert MEASURES("farthest_loss experiment='ared-bottom' case='1g' claimed=1e-5 above=0.2", case).mean == 1.5e-5


def test_what_it_mostly_is_does_not_depend_on_the_smallest_buffers() -> None:
    runs = points("droptail-1g", {s: {"loss_ratio": [1e-2 if s < 0.05 else 1e-4] * 2} for s in SHARES})
    assert MEASURES("usual_loss experiment='droptail-1g'", runs).samples.tolist() == [1e-4, 1e-4]


def windows(of: dict[float, list[float]]) -> ExperimentRuns:
    """Two replications of the same windows by share; the first of each is before the warm-up."""
    made = {
        share: {"time_s": [0.0, 1.0, 2.0] * 2, "replication": [0] * 3 + [1] * 3, "cwnd_segments": cwnd * 2}
        for share, cwnd in of.items()
    }
    assert set(made) == set(BELOW)
    return points("droptail-1g", made)


def test_windows_go_towards_reno_if_each_smaller_buffer_has_smaller_ones() -> None:
    ask, falling = "towards_reno experiment='droptail-1g'", {0.1: [1.0, 400, 400], 0.02: [1.0, 200, 200]}
    runs = windows(falling | {0.005: [1.0, 120, 120], 0.001: [1.0, 30, 60]})
    found = MEASURES(ask, runs)
    assert found.samples == pytest.approx([0.4, 0.4])
    assert found.note == "median windows: 400 at 0.1 (0 % below 38), 200 at 0.02 (0 % below 38), " + (
        "120 at 0.005 (0 % below 38), 45 at 0.001 (50 % below 38)"
    )
    claim = PAPER.claims["hsbuf.concl.reno"]
    assert judge(PAPER, claim, runs, ()).verdict == "pass"
    # A step that leaves windows as they were, and windows that fall but never come near 38.
    for wrong in ({0.005: [1.0, 200, 200], 0.001: [1.0, 30, 60]}, {0.005: [1.0, 120, 120], 0.001: [1.0, 60, 60]}):
        assert judge(PAPER, claim, windows(falling | wrong), ()).verdict in ("fail", "undecided")


def test_two_flows_are_compared_within_a_replication() -> None:
    rates = {250: [[1e8, 4e8], [2e8, 6e8]], 10_000: [[4e8, 5e8], [3e8, 6e8]]}
    made = [Fake(labels={"buffer": f"{b} packets"}, columns={"goodput_bps": of}) for b, of in rates.items()]
    runs = ExperimentRuns({"two-flows": ExperimentPoints("two-flows", tuple(made))})  # type: ignore[arg-type]
    assert MEASURES("fairer_with_more", runs).samples.tolist() == [4 - 1.25, 3 - 2]
    gains = MEASURES("shorter_gains", runs)
    assert gains.samples.tolist() == [100.0, 300.0]
    assert gains.note == "10000 packets: ahead in 2 of 2 runs"


def test_a_loss_of_the_next_order_of_magnitude_is_not_the_one_printed() -> None:
    for loss, verdict in ((1.3e-4, "fail"), (6e-4, "pass"), (3e-3, "fail")):
        runs = points("droptail-1g", {share: {"loss_ratio": [loss, loss]} for share in SHARES})
        assert judge(PAPER, PAPER.claims["hsbuf.dt1g.loss"], runs, ()).verdict == verdict


def test_what_overflows_is_told_from_what_red_drops() -> None:
    both = {
        f"{queue}-2g5": ExperimentPoints(
            f"{queue}-2g5",
            (
                Fake(
                    labels={"buffer": "937 packets"},
                    columns={"utilization": [used], "loss_ratio": [lost], "backlog_packets": [93.7]},
                ),
            ),  # type: ignore[arg-type]
        )
        for queue, used, lost in (("ared", 0.8, 1e-4), ("droptail", 0.9, 4e-4))
    }
    assert MEASURES("beyond_droptail link='2g5' share=0.15", ExperimentRuns(both)).mean == pytest.approx(-0.1)
    assert MEASURES("loss_over_droptail link='2g5' share=0.15", ExperimentRuns(both)).mean == pytest.approx(0.25)
    assert MEASURES("filled link='2g5' share=0.15", ExperimentRuns(both)).mean == pytest.approx(0.1)


def test_the_choice_that_loses_most_is_named() -> None:
    made = [
        Fake(labels={"buffer": "1250 packets", "case": case}, columns={"loss_ratio": [lost]})
        for case, lost in (("newreno", 1e-4), ("jitter", 3e-4))
    ]
    runs = ExperimentRuns({"senders-1g": ExperimentPoints("senders-1g", tuple(made))})  # type: ignore[arg-type]
    found = MEASURES("most_lost experiment='senders-1g' buffer=1250", runs)
    assert (found.mean, found.note) == (3e-4, "jitter")


def test_in_step_the_shorter_round_trip_is_ahead_and_less_so_with_a_larger_buffer() -> None:
    small, large = two_in_step(250), two_in_step(10_000)
    # With 10,000 packets nothing idles; with 250 a tenth does.
    assert large.sum() == pytest.approx(LINKS["1g"].rate)
    assert small.sum() < 0.95 * LINKS["1g"].rate
    assert 1 < large[1] / large[0] < small[1] / small[0]
    assert MEASURES("ratio_in_step buffer=10000", ExperimentRuns()) == pytest.approx(large[1] / large[0])


def test_flows_in_step_need_a_tenth_for_ninety_percent() -> None:
    # The digest of the paper has 0.904 and 0.950 for equal round trips; 0.01 for unequal ones.
    tenth, fifth = in_step("1g", (0.1, 0.2))
    assert tenth == pytest.approx(0.904, abs=0.01)
    assert fifth == pytest.approx(0.950, abs=0.01)


def settings_of_a_row(row: dict[str, str]) -> dict[str, object]:
    """Return the settings of a row of ns-2, in the form of a resolved scenario."""
    link = LINKS.get(row["link"], LINKS["1g"])
    return {
        "buffer": int(row["buffer_packets"]),
        "rate": 8000 * link.rate,
        "window": (1e12 * float(row["warmup_s"]), 1e12 * float(row["duration_s"])),
        "min_rto": 1e12 * float(row["min_rto_s"]),
        "rtts": [1e12 * link.rtts[0], 1e12 * link.rtts[-1]] if row["link"] else [8e10, 4e10],
        "queue": "ared" if row["queue"] == "adaptive RED" else "drop-tail",
        "bottom": float(row["bottom"]) if row["bottom"] else None,
        "thresholds": "thresholds" in row["settings"],
    }


def settings_of_ours(resolved: dict[str, Any]) -> dict[str, object]:
    [link], [flows] = resolved["links"], resolved["flows"]
    queue = link["queue"]
    return {
        "buffer": link["buffer"]["packets"],
        "rate": link["rate_bps"],
        "window": (resolved["warmup_ps"], resolved["duration_ps"]),
        "min_rto": flows["tcp"]["min_rto_ps"],
        "rtts": flows["rtt"].get("spread_ps") or flows["rtt"]["list_ps"],
        "queue": queue["discipline"],
        "bottom": queue.get("bottom"),
        "thresholds": queue.get("max_th") == f"{link['buffer']['packets']} packets",
    }


def test_rows_of_ns2_have_a_point_of_ours_on_all_their_settings() -> None:
    there = {
        (point.labels["case"], leading(point.labels["links[0].buffer"])): settings_of_ours(point.scenario.resolved)
        for point in sweep_of(PAPER.experiments["as-ns2"], quick=False).points()
    }
    for row in ns2():
        assert there[row["case"], float(row["buffer_packets"])] == settings_of_a_row(row), row
        if row["share"]:
            assert LINKS[row["link"]].packets(float(row["share"])) == int(row["buffer_packets"])
    # Only settings that ns-2 was run with are run beside it.
    assert there.keys() == {(row["case"], float(row["buffer_packets"])) for row in ns2()}


@pytest.mark.slow
def test_every_figure_is_drawn_from_its_experiments(tmp_path: Path) -> None:
    tiny = [
        replace(each, replications=1, changes={"duration": "1 s", "warmup": "0.5 s"})
        for each in PAPER.experiments.values()
        if not each.name.startswith("senders")
    ]
    with Store(tmp_path) as store:
        runs = ExperimentRuns({ran.experiment.name: ran.points for ran in run(tiny, store, quick=True)}, quick=True)
    before, after = ["Figures 1 and 2", "Section 3"], ["ns-2", "Several bottlenecks", "Other traffic", "FAST"]
    assert [exhibit.place for exhibit in FIGURES] == [*before, *(f"Figure {i}" for i in range(3, 9)), *after]
    for exhibit in FIGURES:
        pictures = exhibit.make(runs.only(exhibit.experiments))
        for picture in pictures:
            assert isinstance(picture, Figure | Table)
            if isinstance(picture, Figure):
                assert all(np.isfinite(series.y).any() for series in picture.series), picture.name
