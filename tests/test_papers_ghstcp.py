"""The gHSTCP and gARED paper as data: its tables, its claims, what they are judged by, and how traces are read."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pytest

from elephan.papers import Paper
from elephan.papers.experiments import sweep_of
from elephan.papers.ghstcp_gared import cells, traces
from elephan.papers.ghstcp_gared.cells import CASES, DELAYS, printed
from elephan.papers.judged import Argued, Seen, judge
from elephan.papers.measured import Measured, number
from elephan.papers.measures import parse
from elephan.papers.runs import NotRunError, Point, Points, Runs
from elephan.pictures.table import Table

if TYPE_CHECKING:
    from elephan.store import Stored

PAPER = Paper.read("ghstcp-gared")
TABLES = {case: cells.table_of(case) for case in CASES}


def flows(s1: list[float], s2: list[float]) -> Any:
    """A row of ``flows.parquet`` for each flow, of one replication [Mbit/s]."""
    rates = np.array([*s1, *s2]) * 1e6
    groups = ["S1"] * len(s1) + ["S2"] * len(s2)
    return pa.table({"replication": [0] * len(rates), "group": groups, "goodput_bps": rates})


def point(labels: dict[str, Any], **parts: Any) -> Point:
    """A point that has only what the measures ask for."""
    return Point(
        labels, cast("Stored", SimpleNamespace(**{name: lambda part=part: part for name, part in parts.items()}))
    )


@pytest.fixture
def as_printed() -> Runs:
    """Runs whose flows have just what the paper's tables say: equal in each group."""
    points: dict[int, list[Point]] = {table: [] for table in range(1, 7)}
    for (case, delay), cell in printed().items():
        labels = {"case": f"{case} Reno, HSTCP", "delay": f"{delay} ms"}
        points[cell.table].append(point(labels, flows=flows([cell.s1] * 5, [cell.s2] * 5)))
    return Runs({f"table{table}": Points(f"table{table}", tuple(every)) for table, every in points.items()})


def some(*cells: tuple[str, int, int, float, list[float]]) -> Runs:
    """Experiment, case, delay, what a flow of S1 has, and one of S2 in each replication [Mbit/s]."""
    points: dict[str, list[Point]] = {}
    for name, case, delay, s1, s2 in cells:
        parts = [flows([s1] * 5, [one] * 5) for one in s2]
        rows = pa.concat_tables([part.set_column(0, "replication", [[i] * 10]) for i, part in enumerate(parts)])
        labels = {"case": f"{case} Reno, HSTCP", "delay": f"{delay} ms"}
        points.setdefault(name, []).append(point(labels, flows=rows))
    return Runs({name: Points(name, tuple(every)) for name, every in points.items()})


def trace(cwnd: list[list[float]], every: float = 0.05) -> Point:
    """A point whose S2 has these windows from the start of what is looked at."""
    time = traces.START + every * np.arange(1, len(cwnd[0]) + 1)
    parts = [
        {"replication": 0, "kind": "flow", "name": "S2", "index": i, "time_s": t, "cwnd_segments": w}
        for i, one in enumerate(cwnd)
        for t, w in zip(time.tolist(), one, strict=True)
    ]
    return point({"case": "8 Reno, HSTCP"}, samples=pa.Table.from_pylist(parts))


def test_tables_have_every_case_and_delay_once() -> None:
    assert sorted(printed()) == [(case, delay) for case in CASES for delay in DELAYS]
    assert all(cell.table == TABLES[case] for (case, _), cell in printed().items())


def test_throughputs_worked_out_from_a_cell_give_it_back(as_printed: Runs) -> None:
    # Throughputs have one decimal: five flows of each group, 0.02 % and 0.002. An index printed as 1.000 has two roots.
    for (case, delay), cell in printed().items():
        ours = cells.cell(as_printed, case, delay)
        assert cells.util(ours).mean == pytest.approx(cell.util, abs=0.03)
        assert cells.fair(ours).mean == pytest.approx(cell.fair, abs=0.003)


def test_a_cell_of_a_claim_is_that_of_the_tables() -> None:
    for key, claim in PAPER.claims.items():
        name, arguments = parse(claim.measure)
        if key.startswith("ghstcp.T"):
            said = printed()[arguments["case"], arguments["delay"]]
            assert name == "cell"
            assert float(claim.value) == getattr(said, arguments["of"])
            assert claim.experiments == (f"table{said.table}",) == (f"table{TABLES[said.case]}",)


def test_the_papers_own_numbers_pass_every_claim_about_its_tables(as_printed: Runs) -> None:
    # But those that the words of the paper and its tables disagree on, or that numbers worked out cannot tell.
    for key, claim in PAPER.claims.items():
        if claim.experiments and all(name.startswith("table") for name in claim.experiments) and key != "ghstcp.fig6":
            found = PAPER.measures(claim.measure, as_printed.only(claim.experiments))
            slack = 0.003 if key.startswith("ghstcp.o.g.fair") else 0.0
            assert claim.accept.holds(cast("float", number(found)) + slack if slack else number(found)), key


def test_counts_how_many_cells_are_close(as_printed: Runs) -> None:
    assert PAPER.measures("within of=util by=0.05", as_printed) == 93
    assert PAPER.measures("within of=fair by=0.004", as_printed) == 93


def test_a_table_has_ours_beside_the_papers_for_each_case_and_delay(as_printed: Runs) -> None:
    made = {exhibit.place: exhibit.make(as_printed) for exhibit in PAPER.figures if exhibit.place.startswith("Table")}
    assert list(made) == [f"Table {table}" for table in range(1, 7)]
    for table, [drawn] in enumerate(made.values(), 1):
        assert isinstance(drawn, Table)
        assert len(drawn.rows) == len(DELAYS) * list(TABLES.values()).count(table)
        for row in drawn.rows:
            numbers = [cast("float", one.value) for one in row[2:]]
            assert numbers[0::2] == pytest.approx(numbers[1::2], abs=0.06)  # throughputs have one decimal


def test_an_ordering_is_judged_where_it_is_closest_to_failing(as_printed: Runs) -> None:
    found = PAPER.measures("above of=util case=5 other=2", as_printed)
    assert isinstance(found, Measured)
    assert found.note == "5 and 2 at 100 ms"
    assert found.mean == pytest.approx(72.177 - 60.923, abs=0.06)  # as throughputs with one decimal give it


def test_a_claim_is_measured_again_with_the_cells_of_a_variant() -> None:
    runs = some(
        ("table3", 8, 25, 80.0, [300.0] * 2), ("table3", 9, 25, 80.0, [300.0]), ("classic", 8, 25, 50.0, [300.0])
    )
    assert number(PAPER.measures("under claim=ghstcp.T3.case8.25ms.util variant=classic", runs)) == 70
    with pytest.raises(NotRunError, match=r"classic: changes no cell of ghstcp\.T3\.case9\.25ms\.util"):
        PAPER.measures("under claim=ghstcp.T3.case9.25ms.util variant=classic", runs)
    with pytest.raises(NotRunError, match="bytes: has no cell of table3"):
        PAPER.measures(
            "under claim=ghstcp.T3.case8.25ms.util variant=bytes",
            some(("table3", 8, 25, 80.0, [300.0]), ("bytes", 9, 25, 80.0, [300.0])),
        )


def test_an_ordering_is_measured_again_though_a_variant_has_fewer_replications() -> None:
    tables = [
        (name, case, 50, 20.0, [one, one + 20]) for name, case, one in (("table1", 1, 400.0), ("table1", 2, 350.0))
    ]
    runs = some(*tables, ("access-buffer", 1, 50, 20.0, [300.0]))
    assert PAPER.measures("gap_at of=s2 case=2 other=1 delay=50", runs).mean == pytest.approx(-50)
    assert PAPER.measures("under claim=ghstcp.o.case2.s2 variant=access-buffer", runs).mean == pytest.approx(60)


@pytest.mark.parametrize(("s2", "miss"), [(200.0, 0.0), (280.0, 0.0), (300.0, 70 - 66.891), (340.0, 76 - 66.891)])
def test_a_number_lies_between_what_the_tables_and_a_variant_give_or_it_is_told_how_far(s2: float, miss: float) -> None:
    # The paper's 66.891 %; the tables' settings give 76.
    runs = some(("table3", 8, 25, 80.0, [300.0]), ("classic", 8, 25, 50.0, [s2]))
    found = PAPER.measures("outside claim=ghstcp.T3.case8.25ms.util by=['classic']", runs)
    assert found.mean == pytest.approx(miss)
    assert found.note == f"here 76, classic {(50 + s2) / 5:.4g}"


def test_an_ordering_is_in_doubt_while_a_tie_is_in_its_interval() -> None:
    told, untold = (
        some(("table1", 1, 50, 20.0, [400.0, 400.0, 400.0]), ("table1", 2, 50, 20.0, gaps))
        for gaps in ([389.0, 390.0, 391.0], [395.0, 399.0, 403.0])
    )
    # Three values a step apart: a half-width of 4.303 / sqrt(3) = 2.48 steps.
    assert PAPER.measures("doubt claim=ghstcp.o.case2.s2", told) == pytest.approx(10 / 2.484, rel=1e-3)
    assert PAPER.measures("doubt claim=ghstcp.o.case2.s2", untold) == pytest.approx(1 / 9.937, rel=1e-3)
    with pytest.raises(ValueError, match="no sign that could be in doubt"):
        PAPER.measures("doubt claim=ghstcp.T1.case2.50ms.util", told)


def test_an_ordering_under_a_variant_counts_on_the_side_that_is_claimed() -> None:
    tables = [(name, case, delay, 80.0, [300.0]) for name, case in (("table5", 21), ("table6", 27)) for delay in DELAYS]
    runs = some(*tables, *(("gared-low", 27, delay, 80.0, [310.0]) for delay in DELAYS))
    for key, side in (("ghstcp.o.T6.util.27v21", 1), ("ghstcp.o.T6.fairH.27v21", -1)):
        there = PAPER.measures(f"under claim={key} variant=gared-low", runs).mean
        assert PAPER.measures(f"ahead claim={key} variant=gared-low", runs).mean == side * there != 0
    with pytest.raises(ValueError, match="no sign that could be in doubt"):
        PAPER.measures("ahead claim=ghstcp.T6.case27.50ms.util variant=gared-low", runs)


def test_a_number_that_is_a_draw_lies_between_single_runs() -> None:
    def miss(each: list[float]) -> float:
        runs = some(("table1", 1, 50, 90.0, [400.0]), ("short", 1, 50, 90.0, each))
        return float(PAPER.measures("drawn claim=ghstcp.T1.case1.50ms.util variant=short", runs).mean)

    # Five flows of 90 and of s2 Mbit/s on 2.5 Gbit/s: 58 to 96 %, and 78 to 96 %, beside the paper's 75.634 %.
    assert miss([200.0, 390.0]) == 0
    assert miss([300.0, 390.0]) == pytest.approx(78 - 75.634)


def test_an_index_with_equal_shares_in_each_group_is_that_of_their_means() -> None:
    runs = some(("table1", 1, 100, 99.0, [320.8]))
    assert PAPER.measures("evenly claim=ghstcp.T1.case1.100ms.fair", runs) == pytest.approx(0.989, abs=5e-4)
    with pytest.raises(ValueError, match="not the index of a cell"):
        PAPER.measures("evenly claim=ghstcp.T1.case1.100ms.util", runs)


def test_no_missed_cell_is_excused_by_its_deviation_alone() -> None:
    # A link that is nearly idle, with the tables' settings and under each variant: no reading explains that.
    argued = tuple(Argued(one, (Seen(one.shown[0], True, holds=True),)) for one in PAPER.deviations)
    variants = sorted({name for one in PAPER.deviations for each in one.each for name in each.experiments})
    for (case, delay), cell in printed().items():
        claim = PAPER.claims[f"ghstcp.T{cell.table}.case{case}.{delay}ms.util"]
        others = [(name, case, delay, 5.0, [21.0]) for name in variants]
        found = judge(PAPER, claim, some((f"table{cell.table}", case, delay, 5.0, [20.0]), *others), argued)
        assert found.verdict == "fail", claim.id
        assert "not shown of this claim" in found.note


def test_flows_that_fall_within_a_second_fall_together() -> None:
    high, low = [1000.0] * 100, [1000.0] * 40 + [1.0] * 3 + [1000.0] * 57
    later, alone = [1000.0] * 50 + [1.0] * 50, [1000.0] * 100
    assert traces.resets(trace([high, low, later, alone])) == [[{1, 2}]]
    assert traces.resets(trace([high, alone])) == [[]]


def test_a_cut_is_a_fall_by_a_tenth() -> None:
    cut, grown = [1000.0] * 10 + [800.0] * 10, [1000.0 + i for i in range(20)]
    assert traces.cuts(trace([cut, grown, cut])) == [[{0, 2}]]


def sawtooth(first: int, every: int = 200, length: int = 2000) -> list[float]:
    """A window that is halved every 10 s, the first time after some samples."""
    return [500.0 + (i - first) % every * 500.0 / every for i in range(length)]


def traced(**cases: list[list[float]]) -> Runs:
    """Traces of cases: ``case8`` and so on."""
    points = [Point({"case": f"{name[4:]} Reno"}, trace(cwnd).stored) for name, cwnd in cases.items()]
    return Runs({"traces": Points("traces", tuple(points))})


def holds(claim: str, runs: Runs) -> bool:
    """Whether what a claim's measure finds in runs is accepted."""
    asked = PAPER.claims[claim]
    return asked.accept.holds(number(PAPER.measures(asked.measure, runs)))


def test_cuts_count_as_together_only_beyond_chance() -> None:
    in_step = [sawtooth(50)] * 5
    # Two seconds apart from one another: chance would bring more of them together.
    out_of_step = [sawtooth(10 + 40 * i) for i in range(5)]
    assert holds("ghstcp.red.sync", traced(case8=in_step, case9=in_step))
    assert not holds("ghstcp.red.sync", traced(case8=in_step, case9=out_of_step))
    assert not holds("ghstcp.fig5", traced(case9=in_step, case12=out_of_step))
    assert holds("ghstcp.fig5", traced(case9=in_step, case12=in_step))


def test_windows_fall_to_one_together_and_oftener_with_highspeed() -> None:
    def fallen(*at: int) -> list[float]:
        return [1.0 if any(one <= i < one + 3 for one in at) else 500.0 for i in range(400)]

    twice, once, never = [fallen(100, 300)] * 2, [fallen(100)] * 2, [fallen()] * 2
    apart = [fallen(100, 300), fallen(200)]
    assert holds("ghstcp.fig4", traced(case8=twice, case11=once))
    assert not holds("ghstcp.fig4", traced(case8=once, case11=once))
    assert not holds("ghstcp.fig4", traced(case8=once, case11=twice))
    assert not holds("ghstcp.fig4", traced(case8=twice, case11=never))
    assert not holds("ghstcp.fig4", traced(case8=apart, case11=once))
    # With SACK no window may.
    cut = [sawtooth(50)] * 5
    reset = [[1.0 if i == 700 else w for i, w in enumerate(one)] for one in cut]
    assert not holds("ghstcp.fig5", traced(case9=reset, case12=cut))


def test_the_queue_is_often_empty_only_if_it_is_in_each_case() -> None:
    def idle(*shares: float) -> Runs:
        links = [pa.table({"link": ["bottleneck"], "empty_fraction": [share]}) for share in shares]
        labels = [{"case": f"{case} Reno", "delay": "50 ms"} for case in (20, 21, 22)]
        points = tuple(point(label, links=link) for label, link in zip(labels, links, strict=True))
        return Runs({"table5": Points("table5", points)})

    assert holds("ghstcp.fig6", idle(0.06, 0.2, 0.06))
    assert not holds("ghstcp.fig6", idle(0.3, 0.3, 0.04))


def router(average: list[float], max_p: list[float], every: float = 0.25) -> Point:
    """A point whose router shows these from the start of what is looked at."""
    time = traces.START + every * np.arange(1, len(average) + 1)
    rows = {"time_s": time, "queue_avg": average, "queue_max_p": max_p}
    return point({}, samples=pa.table(rows | {"replication": [0] * time.size, "kind": ["link"] * time.size}))


def test_the_lag_is_from_each_peak_of_the_average_to_the_last_raise_in_its_fall() -> None:
    average = [1.0, 5.0, 9.0, 8.0, 7.0, 6.0, 5.0, 8.0, 7.0, 6.0]
    # Raised while it rises, twice while it falls, and as it begins to fall again: the last of each fall counts.
    max_p = [0.10, 0.11, 0.11, 0.12, 0.12, 0.13, 0.12, 0.12, 0.13, 0.13]
    [found] = traces.lags(router(average, max_p))
    assert found.tolist() == [0.75, 0.25]
    assert traces.lags(router(average, sorted(max_p, reverse=True)))[0].size == 0


def test_raises_are_late_only_if_adaptive_red_is_late_and_gentle_adaptive_red_is_not() -> None:
    average = [1.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0]
    late, soon = [0.1] * 5 + [0.11] * 2, [0.1] + [0.11] * 6

    def judged(adaptive: list[float], gentle: list[float]) -> bool:
        points = [router(average, adaptive), router(average, gentle)]
        names = ("adaptive RED", "gentle adaptive RED")
        surges = Points("surges", tuple(Point({"case": n}, p.stored) for n, p in zip(names, points, strict=True)))
        return holds("ghstcp.fig7", Runs({"surges": surges}))

    assert judged(late, soon)
    assert not judged(late, late)
    assert not judged(soon, soon)
    assert not judged([0.1] * 7, soon)


@pytest.mark.parametrize("quick", [False, True])
def test_every_point_of_the_dumbbells_experiments_is_a_scenario(*, quick: bool) -> None:
    dumbbells = (each for name, each in PAPER.experiments.items() if not name.startswith(("web", "surges")))
    for experiment in dumbbells:
        points = sweep_of(experiment, quick=quick).points()
        assert points, experiment.name
        for one in points:
            [link], groups = one.scenario.links, one.scenario.groups
            assert link["rate_bps"] == cells.RATE
            assert [group["flows"] for group in groups] == [5, 5, 1]


def test_tables_have_the_senders_and_routers_of_their_cases() -> None:
    routers = {1: "drop-tail", 2: "drop-tail", 3: "red", 4: "red", 5: "ared", 6: "gared"}
    for table, router in routers.items():
        for one in sweep_of(PAPER.experiments[f"table{table}"], quick=False).points():
            resolved, said = one.scenario.resolved, str(one.labels["case"])
            kinds = [f"{flow['control']['law']} {flow['recovery']}" for flow in resolved["flows"][:2]]
            words = {"reno reno": "Reno", "reno sack": "Reno+SACK", "highspeed reno": "HSTCP"}
            words |= {"highspeed sack": "HSTCP+SACK", "ghstcp reno": "gHSTCP", "ghstcp sack": "gHSTCP+SACK"}
            assert said.split(" ", 1)[1] == ", ".join(words[kind] for kind in kinds)
            assert resolved["links"][0]["queue"]["discipline"] == router
            assert TABLES[int(said.split()[0])] == table
