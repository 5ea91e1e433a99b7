"""Every model compared with packets: it agrees, or differs as its entry states, or has a reason for no simulation."""

import json
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from conftest import SCENARIOS, Command
from elephan.errors import InputError
from elephan.plots.model import model_figure
from elephan.plots.style import house_style
from elephan.theory.fairness import law, share
from elephan.theory.models import MODELS, ModelTable
from elephan.theory.models.card import CI95
from elephan_evidence.against import AGAINST, WITHOUT, ModelTest, against, simulated, spread
from elephan_evidence.against.buffers import reno_closed_form

pytestmark = pytest.mark.slow

every_entry = pytest.mark.parametrize("entry", AGAINST.values(), ids=AGAINST)


@cache
def run(name: str) -> ModelTable:
    """Return the simulated rows of `elephan model NAME --simulate` and the catalogue."""
    entry = AGAINST[name]
    return simulated(entry.simulate(MODELS[name].table(entry.given)))


def both(name: str, line: str = "", **where: Any) -> tuple[Any, Any, Any]:
    """Return a line, the simulated values, and half of their intervals, in the rows with these parameters."""
    table, entry = run(name), AGAINST[name]
    rows = np.all(
        [table.values[key] == value for key, value in where.items()] or [np.isfinite(table.columns[entry.column])],
        axis=0,
    )
    assert rows.any()
    return tuple(table.columns[key][rows] for key in (line or entry.line, entry.column, entry.column + CI95))


def test_every_model_is_simulated_or_a_reason_says_why_not() -> None:
    assert {*AGAINST, *WITHOUT} == set(MODELS)
    assert not {*AGAINST} & {*WITHOUT}
    with pytest.raises(InputError, match=r"^--simulate: rules: a rule gives a buffer"):
        against("rules")


@every_entry
def test_each_curve_has_points_all_along_it(entry: ModelTest) -> None:
    whole, points = MODELS[entry.model].table(entry.given), run(entry.model)
    assert entry.says.endswith(".")
    assert {entry.line, entry.column, entry.column + CI95, *entry.picture.lines} <= {*points.columns}
    assert len({points.model.columns[line].unit for line in (*entry.picture.lines, entry.column)}) == 1
    chosen = spread(whole, entry.picture.x, entry.points)
    assert len(chosen) > 1
    # Points with almost no losses are not simulated; all others are.
    assert len(points.values[entry.picture.x]) == len(chosen) or entry.model == "poisson-loss"
    assert np.isfinite(points.columns[entry.column]).all()
    assert np.isfinite(points.columns[entry.column + CI95]).all() == (entry.replications > 1)


@every_entry
def test_points_with_intervals_lie_over_the_curves(entry: ModelTest) -> None:
    table = run(entry.model)
    with house_style():
        figure = model_figure(table)
    assert figure is not None
    (axes,) = figure.axes
    drawn = [point for bars in axes.containers for point in bars.lines[0].get_xdata()]  # type: ignore[attr-defined]
    assert len(drawn) == len(table.columns[entry.column])


def test_the_same_numbers_come_with_any_number_of_workers() -> None:
    entry = AGAINST["recovery-time"]
    table = MODELS[entry.model].table({**entry.given, "rate": "5 Mbit/s,10 Mbit/s"})
    one, two = (entry.simulate(table, workers=workers).columns[entry.column] for workers in (1, 2))
    assert one.tobytes() == two.tobytes()


def test_rows_that_share_a_scenario_share_its_runs() -> None:
    entry, done = AGAINST["hstcp-window"], []
    entry.simulate(MODELS[entry.model].table(entry.given), lambda now, total: done.append((now, total)))
    assert done == [(1, 3), (2, 3), (3, 3)]


def test_the_command_puts_a_simulation_beside_a_model(elephan: Command) -> None:
    given = ("model", "recovery-time", "--simulate", "--set", "rate=5 Mbit/s,20 Mbit/s", "--set", "law=reno")
    document = json.loads(elephan(*given, "--json").out)
    assert document["simulation"]["column"] == "simulated_recovery_s"
    assert document["simulation"]["says"] == AGAINST["recovery-time"].says
    assert document["units"]["simulated_recovery_s"] == "s"
    assert [row["simulated_recovery_s"] > row["integral_s"] for row in document["rows"]] == [True, True]
    assert all("simulated_recovery_s_ci95" in row for row in document["rows"])
    assert "simulated recovery" in elephan(*given, "--details").out
    assert "simulated" in elephan(*given).out


def test_the_command_says_what_it_cannot_simulate(elephan: Command) -> None:
    refused = elephan("model", "convergence", "--simulate")
    assert (refused.code, refused.out) == (2, "")
    assert "--simulate: convergence: a condition on pairs" in refused.err
    refused = elephan("model", "sawtooth", "--simulate", "--scenario", str(SCENARIOS / "hstcp-1g.toml"))
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "use elephan size" in refused.err


# Agreement and disagreement, model by model: the claims of each entry's sentence.


def test_windows_at_a_loss_rate_are_those_of_the_response_functions() -> None:
    for name in ("reno", "highspeed"):
        window, measured, _ = both("response", law=name)
        # A round trip of recovery, in which nothing grows, to W/2 of growth: 0.3 % at W = 390, 12 % at 12.
        missing = 1 - measured / window
        assert (missing < 0.13).all()
        assert (missing > -0.02).all()
    # The mean over a sawtooth between 0.07/p and 0.08/p; a growth by whole ACKs and a recovery are within 2 % of it.
    followed, measured, _ = both("response", "followed_segments", law="scalable")
    assert measured == pytest.approx(followed, rel=0.025)
    # Fast convergence: 13 % at p = 1e-4, as ns-2 has CUBIC too.
    window, measured, _ = both("response", law="cubic")
    assert ((measured / window > 0.85) & (measured / window < 1.03)).all()


def test_highspeed_has_the_window_of_the_model_in_the_mean_and_not_at_the_peak() -> None:
    table = run("hstcp")
    mean = table.columns["simulated_packets_per_s"] * table.values["rtt"]
    # A round trip of recovery in the 40 of a period takes half of 2 %.
    assert mean == pytest.approx(table.columns["peak_segments"], rel=0.015)
    assert (table.columns["simulated_packets_per_s"] > 1.1 * table.columns["exact_packets_per_s"]).all()


def test_the_window_between_losses_has_the_shape_of_the_closed_form() -> None:
    closed, measured, _ = both("hstcp-window")
    ratio = measured / closed
    # 1/(1 - b/2) at p = 1e-5, where b = 0.30; over the period b of the larger window is a hundredth less.
    assert ratio == pytest.approx(1 / (1 - 0.30 / 2), rel=0.035)
    assert np.ptp(ratio) < 0.03


def test_the_closed_form_of_reno_is_the_integral_and_the_numbers_of_the_paper() -> None:
    table = MODELS["sawtooth"].table({**AGAINST["sawtooth"].given, "law": "reno", "buffer": "1,20,100,200,300,400"})
    closed = reno_closed_form(table)
    # The integral is a midpoint rule of 4000 cells with a kink: 1e-4.
    assert closed == pytest.approx(table.columns["utilization"], abs=1e-4)
    # nonhom.ref.fluid.B1 to B400, as given there to four digits.
    assert closed == pytest.approx([0.7519, 0.7856, 0.8928, 0.9643, 0.9932, 1.0], abs=1e-4)


def test_one_flow_uses_what_the_sawtooth_says() -> None:
    for line in ("utilization", "followed_utilization"):
        predicted, measured, half = both("sawtooth", line, law="reno")
        # Whole packets: one of 400 in the window is a quarter of a point.
        assert (np.abs(measured - predicted) < half + 0.005).all()
        predicted, measured, half = both("sawtooth", line, law="highspeed")
        assert (np.abs(measured - predicted)[1:] < half[1:] + 0.005).all()
        assert predicted[0] - measured[0] > 0.05, "four places do not hold what HighSpeed grows by in a round trip"


def test_ten_flows_lose_together_and_not_one_at_a_time() -> None:
    staggered, measured, half = both("staggered")
    together, _, _ = both("staggered", "together_utilization")
    assert staggered[0] - measured[0] > 0.5, "a small buffer overflows with bursts"
    # 1.5 points: one or two of the ten are spared at an overflow.
    assert (np.abs(measured - together)[2:] < half[2:] + 0.015).all()


def test_fixed_points_have_no_knee_where_the_simulation_has_one() -> None:
    for name in ("droptail-fixed-point", "red-fixed-point"):
        predicted, measured, half = both(name)
        assert (predicted > 0.9).all()
        # The paper's own knee: 20 % at 1 % of the BDP.
        assert predicted[0] - measured[0] > 0.5
        assert (predicted - measured + half > 0).all() or measured[-1] > 0.999
        assert predicted[2] - measured[2] > 0.05


def test_many_flows_are_not_independent_enough_for_the_gaussian_sum() -> None:
    expected, measured, half = both("gaussian")
    bound, _, _ = both("gaussian", "utilization_bound")
    assert (expected - measured)[:3].min() > 0.2
    # From 0.6 BDP/sqrt(n) on the bound is near: it takes no account of several flows hit at once.
    assert (np.abs(measured - bound)[3:] < half[3:] + 0.02).all()


def test_packets_of_one_size_lose_less_than_the_power_of_the_load() -> None:
    equal, measured, half = both("small-buffer")
    exponential, _, _ = both("small-buffer", "exponential_utilization")
    # Up to 16 packets; paced packets are no Poisson process quite, and windows swing a little: two points.
    assert (np.abs(measured - equal)[:3] < half[:3] + 0.02).all()
    assert (measured - exponential)[:3].min() > 0.15
    assert (equal - measured)[-1] > 0.05, "windows that swing together overflow any queue this short"


def test_newcomers_take_a_queue_for_distance() -> None:
    joining, measured, half = both("backlog-target")
    # The eighth is still on its way after 20 s, by 1 %.
    assert measured == pytest.approx(joining, rel=0.015)
    assert (half < 0.01 * joining).all()


def test_the_fluid_settles_and_swings_where_packets_do() -> None:
    table = run("fluid")
    settled = table.values["time"] > 10
    for rtt, stable in ((0.1, True), (0.2, False)):
        rows = settled & (table.values["rtt"] == rtt)
        assert (table.columns["unstable_roots"][rows][0] == 0) == stable
        rest = table.columns["rest_backlog_packets"][rows][0]
        fluid, packets = (table.columns[name][rows] for name in ("backlog_packets", "simulated_backlog_packets"))
        # 10 %: RED's count spaces drops more evenly than the fluid's random ones, and 40 samples of a swing
        # by half the queue know its mean to 7 %.
        assert packets.mean() == pytest.approx(rest, rel=0.1)
        assert (packets.std() < 0.1 * rest) == stable
        assert (fluid.std() < 0.1 * rest) == stable


def test_no_queue_falls_below_its_bound() -> None:
    bound, measured, half = both("queue-bound")
    # Samples are whole packets, without the one in service.
    assert (measured + half >= bound - 1).all()
    assert (measured[bound > 0] > bound[bound > 0]).all()


def test_transfers_in_progress_are_geometric() -> None:
    chance, measured, half = both("processor-sharing")
    # 0.015: slow start and the queue take 2 % of what a transfer takes alone, as in tests of the engine.
    assert (np.abs(measured - chance) < half + 0.015).all()


def test_poisson_packets_are_lost_as_m_d_1_k_says() -> None:
    exact, measured, half = both("poisson-loss")
    # The interval is of three runs and misses one time in twenty; a tenth of it again stands for ten rows.
    assert (np.abs(measured - exact) < 1.5 * half + 1e-5).all()
    bound, _, _ = both("poisson-loss", "mm1k")
    assert (measured < bound).all()


def test_a_flow_beside_poisson_packets_gets_less_than_is_left_as_they_grow() -> None:
    left, measured, _ = both("mixed")
    got = measured / left
    assert got[0] == pytest.approx(1, abs=0.002)
    assert (np.diff(got) < 0).all()
    assert got[1] > 0.98
    assert 0.7 < got[-1] < 0.9


def test_users_of_a_full_link_are_counted_and_those_of_an_idle_one_are_not() -> None:
    active, measured, half = both("engset", users=200)
    # Full to 0.1 %, of 4000 packets/s: 0.1 users; thinking times by their interval.
    assert abs(measured[0] - active[0]) < half[0] + 0.5
    active, measured, _ = both("engset", users=20)
    assert measured[0] > 5 * active[0], "slow start takes ten times what an idle link would"


def test_losses_of_a_full_link_come_a_recovery_apart() -> None:
    for name in ("reno", "highspeed"):
        predicted, measured, _ = both("recovery-time", law=name)
        longer = measured / predicted - 1
        assert (np.diff(longer) < 0).all()
        assert longer[0] < 0.3
        # 2 % of buffer, which 0.4 of the window make 4 %; two round trips of 0.1 s in 3 s.
        assert (longer[2:] < 0.04 + 0.2 / 3).all()
        assert (longer > 0.02).all()


def test_a_loss_every_four_seconds_leaves_the_share_of_a_little_less() -> None:
    table = run("loss-share")
    for i, name in enumerate(table.values["law"].tolist()):
        rtt, measured = table.values["rtt"][i], table.columns["simulated_rate_bps"][i]
        # Two round trips go to the recovery; one of forty is 5 % of a high-speed share, half of that either way.
        assert measured == pytest.approx(float(share(law(name), 4 - 2 * rtt, rtt)), rel=0.075)
    for name in ("phillips-hu", "nr-hstcp", "reno"):
        _, measured, _ = both("loss-share", law=name)
        assert all(later < 1.01 * sooner for sooner, later in pairwise(measured.tolist()))
