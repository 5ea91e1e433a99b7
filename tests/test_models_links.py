"""Models that predict a link: their tables, their results for a scenario, and their refusals or doubts."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from elephan.errors import InputError
from elephan.scenario import EXAMPLE, Scenario
from elephan.theory.elastic import loss
from elephan.theory.models import MODELS, Bottleneck, ModelTable, bottleneck, links
from elephan.theory.models.flows import mixed
from elephan.theory.models.senders import doubts

LONG = Scenario.from_file(Path(__file__).parents[1] / "scenarios/hstcp-1g.toml")
"""Ten HighSpeed flows, 1 Gbit/s, 115.5 to 124.5 ms, drop-tail."""
SHORT = LONG.replace({"links[0].delay": "2 ms", "flows[0].rtt": "10 ms"})
NAMES = ("staggered", "droptail-fixed-point", "red-fixed-point", "gaussian", "small-buffer", "fluid")
# The paper's second topology: 2.5 Gbit/s, 38 to 142 ms, whose buffers are shares of 6250 packets.
WIDE = {"rate": "2.5 Gbit/s", "rtt_min": "38 ms", "rtt_max": "142 ms"}


def queued(discipline: str, scenario: Scenario = LONG, **keys: object) -> Scenario:
    return scenario.replace({"links[0].queue": {"discipline": discipline, **keys}})


def seen(scenario: Scenario) -> Bottleneck:
    found = bottleneck(scenario.network, 0)
    assert found is not None
    return found


def of(name: str, scenario: Scenario, buffer: str) -> ModelTable:
    return links.table(MODELS[name], scenario.network, 0, {"buffer": buffer})


def used(name: str, given: dict[str, str]) -> np.ndarray:
    return np.asarray(MODELS[name].table(given).columns["utilization"])


@pytest.mark.parametrize("name", NAMES)
def test_defaults_make_a_table_of_finite_numbers_in_the_columns_of_the_card(name: str) -> None:
    model = MODELS[name]
    table = model.table()
    assert set(table.columns) == set(model.columns)
    assert model.picture is not None
    assert model.picture.x in table.varied
    for column in table.columns.values():
        assert np.isfinite(column).all()
    share = table.columns["utilization"]
    assert ((share > 0) & (share <= 1 + 1e-9)).all()
    assert model.fails


# claims.csv: hsbuf.ref.fp1g.f*, hsbuf.ref.fp2g.f*; a buffer that is a share of 12,500 and of 6250 packets.
@pytest.mark.parametrize(
    ("share", "long", "wide"),
    [(0.01, 0.9325, 0.8517), (0.1, 0.9950, 0.9879), (0.5, 0.9993, 0.9981), (1.0, 0.9997, 0.9992)],
)
def test_the_droptail_table_has_the_published_values(share: float, long: float, wide: float) -> None:
    # tolerance_hint of the claims.
    assert used("droptail-fixed-point", {"buffer": f"{int(12_500 * share)}"}) == pytest.approx([long], abs=2e-4)
    given = {"buffer": f"{int(6_250 * share + 1e-9)}", **WIDE}
    assert used("droptail-fixed-point", given) == pytest.approx([wide], abs=2e-4)


# claims.csv: hsbuf.ref.red1g.f*, hsbuf.ref.red2g.f*: min_th at 0.4 of the buffer, max_th at its end, p_max 0.1.
@pytest.mark.parametrize(
    ("share", "long", "wide"), [(0.05, 0.9752, 0.9457), (0.1, 0.9881, 0.9732), (1, 0.9991, 0.9978)]
)
def test_the_red_table_has_the_published_values(share: float, long: float, wide: float) -> None:
    assert used("red-fixed-point", {"buffer": f"{int(12_500 * share)}"}) == pytest.approx([long], abs=2e-4)
    given = {"buffer": f"{int(6_250 * share + 1e-9)}", **WIDE}
    assert used("red-fixed-point", given) == pytest.approx([wide], abs=2e-4)


def test_readings_are_parameters() -> None:
    # hstcp-buffer-model, section 3.1, at a tenth: loss as rho^K 0.9908; any delay 0.9950; the RFC's mean window 0.9952.
    table = MODELS["droptail-fixed-point"].table({"buffer": "1250", "delay": "accepted,none", "loss": "blocking,tail"})
    expected = [0.9950, 0.9908, 0.9950, 0.9908]
    assert table.columns["utilization"] == pytest.approx(expected, abs=1.5e-4)
    mean = {"law": "highspeed", "buffer": "1250"}
    assert used("droptail-fixed-point", mean) == pytest.approx([0.9952], abs=1e-4)
    assert (table.columns["solutions"] == 1).all()


def test_what_the_fixed_points_do_not_predict_is_said_with_them() -> None:
    card = " ".join(MODELS["droptail-fixed-point"].fails)
    assert "no knee" in card
    assert "99.5 % at 10 %" in card
    at = MODELS["droptail-fixed-point"].table({"buffer": "83,88,125,1250"}).columns["utilization"]
    # "passes 90 % at 0.7 %" of 12,500 packets, "93 % at 1 %", "99.5 % at 10 %".
    assert at[0] < 0.9 < at[1]
    assert at[2:] == pytest.approx([0.93, 0.995], abs=0.005)


def test_staggered_reno_flows_without_a_buffer_lose_one_part_in_three_n_plus_one() -> None:
    given = {"law": "reno", "rate": "16 Mbit/s", "packet": "500 B", "buffer": "0.001", "rtt_min": "100 ms"}
    for flows in (1, 4):
        found = used("staggered", {**given, "rtt_max": "100 ms", "flows": f"{flows}"})
        assert found == pytest.approx([3 * flows / (3 * flows + 1)], rel=1e-4)


def test_staggered_flows_fill_the_link_sooner_than_synchronised_ones() -> None:
    given = {"buffer": "100..10000:7", "rtt_min": "120 ms", "rtt_max": "120 ms"}
    staggered = used("staggered", given)
    together = used("sawtooth", {"buffer": "100..10000:7", "rtt": "120 ms"})
    # 1e-4: what the integration is good for where both are full.
    assert (staggered >= together - 1e-4).all()
    # hstcp-buffer-model, section 3.1: one of ten cut at a time is 0.9998 at a tenth, where all cut are 0.904.
    at = MODELS["staggered"].table({"buffer": "1250", "rtt_min": "120 ms", "rtt_max": "120 ms"})
    assert at.columns["utilization"][0] > 0.9995


def test_the_gaussian_table_has_the_papers_example() -> None:
    # Appenzeller2004, Section 3: 10,000 flows, BDP / sqrt(n) gives 98.99 %; 1 Gbit/s, 1000 B, 120 ms: 15,000 packets.
    given = {"flows": "10000", "rtt_min": "120 ms", "rtt_max": "120 ms", "buffer": "150", "target": "0.9899"}
    row = {name: float(column[0]) for name, column in MODELS["gaussian"].table(given).columns.items()}
    assert row["utilization_bound"] == pytest.approx(0.9899, abs=6e-5)
    assert row["effective_flows"] == pytest.approx(10_000)
    # Back to the buffer: four digits of a target whose slope there is 3e-4 a packet.
    assert row["buffer_for_target_packets"] == pytest.approx(150, abs=0.5)
    assert row["utilization"] > row["utilization_bound"]


def test_unequal_flows_count_as_fewer() -> None:
    # Reno: rates as 1/RTT. Of 60 and 180 ms: shares 3/4 and 1/4, 1.6 flows.
    table = MODELS["gaussian"].table({"flows": "2", "buffer": "1500"})
    assert float(table.columns["effective_flows"][0]) == pytest.approx(1.6)


def test_a_small_buffer_loses_the_power_of_its_load() -> None:
    table = MODELS["small-buffer"].table({"buffer": "10,20,40", "sizes": "exponential"})
    load, lost, window = (table.columns[name] for name in ("load", "loss_ratio", "window_segments"))
    assert lost == pytest.approx(load ** np.array([10, 20, 40]), rel=1e-9)
    # Reno: w = sqrt(1.5 / p), and the windows of all over their RTTs are the load.
    # The sum over two hundred parts of its sawtooth.
    assert window == pytest.approx(np.sqrt(1.5 / lost), rel=1e-4)
    assert table.columns["utilization"] == pytest.approx(load * (1 - lost), rel=1e-9)


def test_a_small_buffer_of_equal_packets_loses_what_poisson_packets_of_one_size_lose() -> None:
    table = MODELS["small-buffer"].table({"buffer": "10,20,40"})
    load, lost, window, waiting = (
        table.columns[name] for name in ("load", "loss_ratio", "window_segments", "backlog_packets")
    )
    # The packet in service has a place of its own.
    assert lost == pytest.approx(loss(load, np.array([11, 21, 41]), "M/D/1/K"), rel=1e-6)
    assert window == pytest.approx(np.sqrt(1.5 / lost), rel=1e-4)
    # The queue of Pollaczek and Khinchine, less what the end of the buffer cuts off.
    assert (waiting < load**2 / 2 / (1 - load)).all()
    assert (waiting > 0.1 * np.array([10, 20, 40])).all()
    # A link's packets have one size.
    many = LONG.replace({"flows[0].count": 1000, "flows[0].control": "reno"})
    seen_of_link = of("small-buffer", many, "10,20,40").columns["utilization"]
    assert seen_of_link == pytest.approx(table.columns["utilization"], abs=1e-3)


def test_a_small_buffer_is_not_spoken_of_above_the_root_of_the_bdp() -> None:
    # 15,000 packets: 122.5.
    found = of("small-buffer", LONG, "122,123").columns["utilization"]
    assert np.isfinite(found).tolist() == [True, False]


def test_the_fluid_rests_where_hollots_example_does() -> None:
    # Hollot2001: 15 Mbit/s of 500 bytes, 60 flows; PIE that holds 175 packets: R = 0.246 s, W = 15, p = 0.008.
    given = {"law": "reno", "queue": "pie", "rate": "15 Mbit/s", "packet": "500 B", "flows": "60", "rtt": "200 ms"}
    row = MODELS["fluid"].table({**given, "target": "46.7 ms", "buffer": "800", "time": "0 s"}).columns
    assert float(row["rest_window_segments"][0]) == pytest.approx(15, abs=0.5)
    assert float(row["rest_loss_ratio"][0]) == pytest.approx(0.008, abs=5e-4)
    assert float(row["window_segments"][0]) == pytest.approx(0.9 * float(row["rest_window_segments"][0]))


def test_the_fluid_of_any_law_grows_as_the_law_says() -> None:
    # Far below the rate nothing is lost: Scalable's windows above 16 grow by 1 % a round trip, exp(0.01 t / R).
    link = {"queue": "drop-tail", "rate": "10 Gbit/s", "packet": "1000 B", "rtt": "120 ms", "flows": "1"}
    given = {**link, "law": "scalable", "start": "0.01"}
    window = MODELS["fluid"].table({**given, "time": "0 s,6 s"}).columns["window_segments"]
    # Euler's steps of a tenth of a round trip: (1 + 0.001)^10 for exp(0.01), 5e-6 a round, of which there are 50.
    assert window[1] / window[0] == pytest.approx(math.exp(0.5), rel=3e-4)


def test_a_window_with_many_losses_is_cut_once() -> None:
    link = {"rate": "1 Gbit/s", "packet": "1000 B", "rtt": "120 ms", "flows": "10", "buffer": "1250"}
    given = {**link, "law": "highspeed", "queue": "drop-tail", "start": "0.5", "time": "20 s..60 s:400"}
    once = MODELS["fluid"].table({**given, "cuts": "once"}).columns["window_segments"]
    every = MODELS["fluid"].table({**given, "cuts": "every"}).columns["window_segments"]
    # HighSpeed gives up less than a third at these windows; losses last a round trip or two.
    assert once.min() > 0.5 * once.max()
    assert every.min() < 0.1 * every.max()


def test_the_fluid_of_a_full_buffer_is_near_the_sawtooth() -> None:
    buffers = "300,1250,3000,12000"
    fluid = of("fluid", LONG, buffers).columns["utilization"]
    sawtooth = of("sawtooth", LONG, buffers).columns["utilization"]
    # All are cut together in both. A cut that is spread over a round trip takes 1 - exp(-b) and not b: with b = 0.31
    # the trough lies 0.045 higher, the mean half as much; steps of a tenth of a round trip add half a point.
    assert fluid == pytest.approx(sawtooth, abs=0.03)
    # Result of ns-2 at 1250 packets, as in scenarios/hstcp-1g.toml: 0.92 to 0.93.
    assert fluid[1] == pytest.approx(0.925, abs=0.01)


@pytest.mark.parametrize(
    ("name", "law"),
    [
        *itertools.product(["sawtooth", "droptail-fixed-point", "gaussian"], ["reno", "compound"]),
        ("fluid", "reno"),
        ("staggered", "reno"),  # of Compound it says nothing: to follow it takes too long
        ("staggered", "htcp"),
    ],
)
def test_no_more_is_lost_than_is_sent(name: str, law: str) -> None:
    # A hundred flows that share 125 packets: what is cut from a window is regained within a round trip.
    small = Scenario.from_text(EXAMPLE).replace({"flows[0].count": 100, "links[0].rate": "12.5 Mbit/s"})
    found = of(name, small.replace({"flows[0].control": law}), "1..250:9").columns["loss_ratio"]
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("name", ["staggered", "droptail-fixed-point", "gaussian", "fluid"])
def test_a_droptail_link_is_fuller_with_more_buffer(name: str) -> None:
    found = of(name, LONG, "150..20000:8").columns
    # Sawteeth that the fluid and the staggered cuts follow are not whole at the end: 2e-3.
    assert (np.diff(found["utilization"]) > -2e-3).all()
    assert (np.diff(found["queueing_delay_s"]) > 0).all()
    assert found["loss_ratio"][-1] < 0.75 * found["loss_ratio"][0]


def test_the_droptail_prediction_is_the_table_of_the_law_that_runs() -> None:
    # K of the table counts the packet in service.
    found = of("droptail-fixed-point", LONG, "1249").columns
    table = MODELS["droptail-fixed-point"].table({"buffer": "1250", "law": "highspeed"}).columns
    # hsbuf.ref.fp1g.f0.1, of the paper's lambda(p), is 0.9950: it puts p at the peak of the window.
    assert found["utilization"] == pytest.approx([0.9952], abs=2e-4)
    assert found["loss_ratio"] == pytest.approx(table["loss_ratio"])
    assert found["queueing_delay_s"] * 125_000 == pytest.approx(table["backlog_packets"])


def test_red_is_read_from_the_scenario() -> None:
    gentle = queued("red", min_th="500 packets", max_th="1250 packets", max_p=0.1, gentle=False)
    found = of("red-fixed-point", gentle, "1250").columns
    # hsbuf.ref.red1g.f0.1 is 0.9881, of the paper's lambda(p), which puts p at the peak of the window and not at its
    # mean; with a packet in service on top of thresholds and buffer.
    assert found["utilization"] == pytest.approx([0.9881], abs=1e-3)
    fluid = of("fluid", queued("red"), "1250").columns
    assert 0.5 < float(fluid["utilization"][0]) < 1
    # Ten flows of 1500 segments lose for a round trip and a half at a time: the averaged queue is far below min_th.
    assert float(fluid["queueing_delay_s"][0]) * 125_000 < 312.5


def test_adaptive_slopes_bring_the_mean_queue_into_their_band_where_they_can() -> None:
    # Windows of six segments lose several per cent: the slope has to be found, and the mean queue is 50 packets.
    crowd = queued("ared", LONG.replace({"flows[0].count": 2500}), min_th="25 packets", max_th="75 packets")
    found = of("red-fixed-point", crowd, "1000").columns
    # Halved to 4 % of the slope, which moves the queue by less than a packet or two.
    assert float(found["queueing_delay_s"][0]) * 125_000 == pytest.approx(51, abs=2)
    # With ten flows losses are so rare that the slope falls to its end, and the queue stays short.
    rare = of("red-fixed-point", queued("ared"), "1250").columns
    assert float(rare["queueing_delay_s"][0]) * 125_000 < 312.5


def test_pie_holds_its_delay_in_the_fluid_or_fills_its_buffer() -> None:
    many = queued("pie", LONG.replace({"flows[0].count": 2000, "flows[0].rtt": "60 ms"}))
    found = of("fluid", many, "500,4000").columns
    # The target is 15 ms, 1875 packets: the larger buffer keeps it, the smaller one cannot.
    assert float(found["queueing_delay_s"][1]) == pytest.approx(0.015, rel=0.1)
    assert float(found["queueing_delay_s"][0]) <= 500 / 125_000


def test_datagrams_take_their_share_first() -> None:
    group = {"name": "udp", "path": ["bottleneck"], "rtt": "100 ms", "packet": "1000 B",
             "traffic": {"kind": "poisson", "rate": "250 Mbit/s"}}  # fmt: skip
    loaded = Scenario.from_mapping({**LONG.source, "flows": [*LONG.source["flows"], group]})
    assert seen(loaded).background == pytest.approx(0.25)
    for name in ("staggered", "droptail-fixed-point", "gaussian", "fluid"):
        found = of(name, loaded, "500").columns["utilization"]
        alone = of(name, LONG.replace({"links[0].rate": "750 Mbit/s"}), "500").columns["utilization"]
        assert found == pytest.approx(0.25 + 0.75 * alone, rel=1e-9)
        assert any("of datagrams only the rate counts" in line for line in MODELS[name].doubts(seen(loaded)))


def test_flows_of_different_laws_share_one_loss_rate() -> None:
    rates = mixed(["reno", "highspeed", "reno"])(np.array([[1e-5], [1e-4]]), np.full((2, 3), 0.1))
    # sqrt(1.5 / p) and 0.12 / p^0.835 a round trip, where the RFC gives two digits: 4 %.
    expected = [[np.sqrt(1.5e5), 0.12 / 1e-5**0.835], [np.sqrt(1.5e4), 0.12 / 1e-4**0.835]]
    assert rates[:, :2] * 0.1 == pytest.approx(np.array(expected), rel=0.04)
    np.testing.assert_array_equal(rates[:, 0], rates[:, 2])


@pytest.mark.parametrize(
    ("name", "scenario", "reason"),
    [
        ("droptail-fixed-point", queued("red"), "its queue is drop-tail; here red"),
        ("red-fixed-point", LONG, "its queue is one of red, ared, gared; here drop-tail"),
        ("small-buffer", queued("pie"), "its queue is drop-tail; here pie"),
        ("fluid", queued("codel"), "its queue is one of drop-tail, red, ared, gared, pie; here codel"),
        ("fluid", queued("pie", SHORT), "with round trips of 10 ms it follows too short a time for pie to settle"),
        ("gaussian", Scenario.from_text(EXAMPLE), "it assumes the sum of many windows; here 2"),
        ("staggered", LONG.replace({"flows[0].count": 101}), "it has at most 100 flows; here 101"),
        ("staggered", LONG.replace({"flows[0].control": {"law": "yeah"}}), "growth of yeah between two losses does"),
        ("fluid", LONG.replace({"flows[0].control": {"law": "cubic"}}), "the growth of cubic is not a function"),
        ("fluid", LONG.replace({"flows[0].control": {"law": "reno"}}), "a sawtooth takes 750 round trips"),
        (
            "droptail-fixed-point",
            LONG.replace({"flows[0].control": {"law": "vegas"}}),
            "vegas does not answer to loss alone",
        ),
        ("gaussian", LONG.replace({"flows[0].control": {"law": "vegas"}}), "vegas does not answer to loss alone"),
    ],
)
def test_what_a_model_cannot_speak_of_is_said(name: str, scenario: Scenario, reason: str) -> None:
    with pytest.raises(InputError, match=f"link bottleneck: the model {name} does not apply: .*{reason}|{reason}"):
        of(name, scenario, "100")


@pytest.mark.parametrize(
    ("name", "scenario", "line"),
    [
        ("staggered", queued("red"), "assumes that the buffer fills before anything is lost; here red"),
        ("staggered", LONG.replace({"flows[0].rtt": "120 ms"}), "flows with equal RTTs tend to lose together"),
        ("droptail-fixed-point", LONG, "assumes arrivals of many independent flows; here 10"),
        ("droptail-fixed-point", LONG, "assumes packets arrive one by one; here a flow can send bursts"),
        ("red-fixed-point", queued("red"), "drops by the instantaneous queue, where RED takes an average"),
        ("red-fixed-point", queued("gared"), "assumes that the slope is settled"),
        ("gaussian", LONG, "assumes hundreds of unsynchronized flows; here 10"),
        ("gaussian", LONG.replace({"flows[0].rtt": {"from": "51 ms", "to": "500 ms"}}), "replaces unequal flows by"),
        ("gaussian", LONG.replace({"flows[0].count": 5000}), "assumes no timeouts; here a flow's share is 3 segments"),
        ("sawtooth", LONG.replace({"flows[0].count": 5000}), "assumes no timeouts; here a flow's share is 3 segments"),
        ("staggered", SHORT.replace({"flows[0].count": 100, "links[0].rate": "100 Mbit/s"}), "assumes no timeouts"),
        ("gaussian", queued("pie"), "assumes that the mean queue is half the buffer, of drop-tail; here pie"),
        ("small-buffer", LONG, "assumes a buffer below the root of the BDP, 122 packets; here it is larger"),
        ("fluid", LONG.replace({"flows[0].rtt": {"from": "60 ms", "to": "180 ms"}}), "takes one RTT for all"),
    ],
)
def test_assumptions_that_are_violated_are_reported(name: str, scenario: Scenario, line: str) -> None:
    assert any(line in doubt for doubt in of(name, scenario, "1000").model.fails)


PACED: dict[str, list[object]] = {
    "small-buffer": ["takes paced senders or slow access links; here a flow can send bursts", "", "here up to ten"],
    "droptail-fixed-point": ["assumes packets arrive one by one; here a flow can send bursts", "", "here up to ten"],
    "sawtooth": ["", "knows no pacing; here it is linux", "knows no pacing; here it is quic"],
    "staggered": ["", "knows no pacing; here it is linux", "knows no pacing; here it is quic"],
    "gaussian": ["", "knows no pacing; here it is linux", "knows no pacing; here it is quic"],
    "fluid": ["", "knows no pacing; here it is linux", "knows no pacing; here it is quic"],
}
"""Doubts of models about senders without pacing, with pacing, and of QUIC; empty without a doubt about pacing or
bursts."""


@pytest.mark.parametrize("name", PACED)
@pytest.mark.parametrize(("i", "pacing"), list(enumerate(["none", "linux", "quic"])))
def test_a_model_doubts_senders_that_space_their_packets_otherwise_than_it_has_them(
    name: str, i: int, pacing: str
) -> None:
    lines = doubts(MODELS[name], seen(LONG.replace({"flows[0].tcp.pacing": pacing})))
    said = [line for line in lines if any(word in line for word in ("pacing", "bursts", "at once"))]
    expected = PACED[name][i]
    assert len(said) == (1 if expected else 0)
    assert not expected or str(expected) in said[0]


def test_slow_access_spreads_packets_as_pacing_does() -> None:
    slow = LONG.replace({"flows[0].access": {"rate": "100 Mbit/s"}})
    assert not any("bursts" in line for line in MODELS["small-buffer"].doubts(seen(slow)))


def test_pacing_by_factors_of_ones_own_is_shown_as_a_file_has_it() -> None:
    own = LONG.replace({"flows[0].tcp.pacing": {"slow_start": 1.5}})
    assert "knows no pacing; here it is { avoidance = 1.2, slow_start = 1.5 }" in doubts(MODELS["sawtooth"], seen(own))


@pytest.mark.parametrize("name", ["staggered", "gaussian", "fluid"])
def test_a_model_has_few_doubts_where_its_assumptions_hold(name: str) -> None:
    flows = {"flows[0].count": 100, "flows[0].rtt": {"from": "100 ms", "to": "125 ms"}}
    lines = MODELS[name].doubts(seen(LONG.replace(flows)))
    # The fluid has one mean window and one RTT for all, whatever the link.
    assert len(lines) == (2 if name == "fluid" else 0)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("staggered", {"flows": "2.5"}, "flows: 2.5 is no number of flows; give a whole number from 1 to 100000"),
        ("staggered", {"flows": "200"}, "flows: 200 are too many for this model; give at most 100"),
        ("staggered", {"rtt_min": "200 ms"}, "rtt_min, rtt_max: 0.2 s to 0.1245 s is no range of times above 0"),
        ("droptail-fixed-point", {"buffer": "0"}, "buffer: 0 packets is too small; give at least 1"),
        ("droptail-fixed-point", {"delay": "all"}, 'delay: there is no "all"; use accepted, occupancy, none'),
        ("droptail-fixed-point", {"packet": "0 B"}, "packet: 0 B is not above 0; write for example 1000 B"),
        ("red-fixed-point", {"min_th": "1"}, "min_th, max_th: min_th must lie below max_th"),
        ("red-fixed-point", {"p_max": "2"}, "p_max: must lie between 0 and 1"),
        ("red-fixed-point", {"buffer": "1e7"}, "buffer: give 1 to 1000000 packets; the model has a state for each"),
        ("gaussian", {"target": "1"}, "target: must lie strictly between 0 and 1"),
        ("small-buffer", {"buffer": "0.5"}, "buffer: 0.5 packets is too small; give at least 1"),
        ("fluid", {"time": "0 s..10 h"}, "time: give 0 to 2000 s; a step is 0.01 s, a tenth of the round trip"),
        ("fluid", {"weight": "2"}, "min_th, max_th, p_max, weight: min_th must lie below max_th"),
        ("fluid", {"queue": "codel"}, 'queue: there is no "codel"; use drop-tail, small-buffer, red'),
    ],
)
def test_bad_input_is_said_in_a_line(name: str, given: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        MODELS[name].table(given)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_buffers_of_a_link_may_be_given_in_bdps() -> None:
    link = seen(LONG)
    table = of("sawtooth", LONG, "0.25 bdp,bdp")
    assert table.values["buffer"] == pytest.approx([0.25 * link.bdp, link.bdp])
    with pytest.raises(InputError, match=r'^buffer: "x bdp" is not a number of packets or of "bdp"; write for example'):
        of("sawtooth", LONG, "x bdp")
    # Of no link there is no product to take a share of.
    with pytest.raises(
        InputError, match=r'^buffer: "0.25 bdp" is not a number of packets; write for example 10..15000$'
    ):
        MODELS["sawtooth"].table({"buffer": "0.25 bdp"})


def test_a_link_has_the_period_and_the_queue_that_the_same_parameters_have() -> None:
    link = seen(LONG)
    given = {"rate": f"{link.rate_bps:.0f} bit/s", "packet": f"{link.packet_bytes:.0f} B", "flows": f"{link.flows}"}
    given |= {"law": link.law, "rtt": f"{link.mean_rtt_s} s", "buffer": "1250"}
    own, found = MODELS["sawtooth"].table(given).columns, of("sawtooth", LONG, "1250").columns
    for name in ("period_s", "backlog_packets"):
        # The background takes nothing here: rounding.
        assert found[name] == pytest.approx(own[name], rel=1e-9)


def test_a_receive_window_is_a_doubt_from_the_buffer_on_at_which_it_holds() -> None:
    plain = seen(LONG)
    longest = plain.bdp / plain.flows * max(plain.rtts_s) / plain.mean_rtt_s
    window = 2 * (round(longest) + 20)
    held = LONG.replace({"flows[0].tcp.receive_window": window, "links[0].buffer": "1000 packets"})
    link = seen(held)
    # Twenty segments of each flow wait before half of its window is in flight, for a flow may have two equal shares.
    assert link.held_from == pytest.approx(20 * link.flows, rel=0.05)
    below, beyond = (of("sawtooth", held, f"{link.held_from + more:.0f}").model.fails for more in (-5, 5))
    assert not any("receive_window" in line for line in below)
    assert any("receive_window holds from a buffer of" in line and '"none"' in line for line in beyond)
    # RED keeps the buffer from filling.
    assert seen(queued("red", held)).held_from == math.inf
