"""The gHSTCP and gARED paper as data: its tables, its claims, their measures, and the reading of traces."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pytest

from elephan.pictures.figure import Figure
from elephan.pictures.table import Table
from elephan_evidence.papers import Paper
from elephan_evidence.papers.experiments import sweep_of
from elephan_evidence.papers.ghstcp_gared import cells, traces
from elephan_evidence.papers.ghstcp_gared.cells import CASES, DELAYS, printed
from elephan_evidence.papers.ghstcp_gared.nulls import has_sack, wrong_law, wrong_queue
from elephan_evidence.papers.measured import MeasuredQuantity, number
from elephan_evidence.papers.measures import parse
from elephan_evidence.papers.runs import ExperimentPoint, ExperimentPoints, ExperimentRuns, NotRunError
from elephan_evidence.papers.verdicts import Argument, Evidence, judge

if TYPE_CHECKING:
    from elephan.store import StoredRun

PAPER = Paper.read("ghstcp-gared")
TABLES = {case: cells.table_of(case) for case in CASES}


def _names() -> dict[int, tuple[str, str, str]]:
    """Return by case the slow senders, the fast ones and the router, as named in the sweep files."""
    found = {}
    for table in range(1, 7):
        for label in dict.fromkeys(
            str(one.labels["case"]) for one in sweep_of(PAPER.experiments[f"table{table}"], quick=False).points()
        ):
            case, _, pair = label.partition(" ")
            slow, fast = pair.split(", ")
            # Tables 1 and 2 have one router for two laws.
            found[int(case)] = (slow, fast, f"table{max(table, 2)}")
    return found


NAMES = _names()


def flows(s1: list[float], s2: list[float]) -> Any:
    """A row of ``flows.parquet`` for each flow, of one replication [Mbit/s]."""
    rates = np.array([*s1, *s2]) * 1e6
    groups = ["S1"] * len(s1) + ["S2"] * len(s2)
    return pa.table({"replication": [0] * len(rates), "group": groups, "goodput_bps": rates})


def point(labels: dict[str, Any], **parts: Any) -> ExperimentPoint:
    """A point with only the columns that the measures need."""
    return ExperimentPoint(labels, cast("StoredRun", SimpleNamespace(read=lambda name: parts[name])))


@pytest.fixture
def as_printed() -> ExperimentRuns:
    """Runs whose flows have exactly the values of the paper's tables, equal in each group."""
    points: dict[int, list[ExperimentPoint]] = {table: [] for table in range(1, 7)}
    for (case, delay), cell in printed().items():
        labels = {"case": f"{case} Reno, HSTCP", "delay": f"{delay} ms"}
        points[cell.table].append(point(labels, flows=flows([cell.s1] * 5, [cell.s2] * 5)))
    return ExperimentRuns(
        {f"table{table}": ExperimentPoints(f"table{table}", tuple(every)) for table, every in points.items()}
    )


def some(*cells: tuple[str, int, int, float, list[float]]) -> ExperimentRuns:
    """Make runs from experiment, case, delay, and the throughput of a flow of S1 and of S2 in each replication
    [Mbit/s]."""
    points: dict[str, list[ExperimentPoint]] = {}
    for name, case, delay, s1, s2 in cells:
        parts = [flows([s1] * 5, [one] * 5) for one in s2]
        rows = pa.concat_tables([part.set_column(0, "replication", [[i] * 10]) for i, part in enumerate(parts)])
        labels = {"case": f"{case} Reno, HSTCP", "delay": f"{delay} ms"}
        points.setdefault(name, []).append(point(labels, flows=rows))
        document: Any = {"run": {"replications": len(s2)}}
        points[name][-1].stored.document = document  # type: ignore[misc]
    return ExperimentRuns({name: ExperimentPoints(name, tuple(every)) for name, every in points.items()})


def trace(cwnd: list[list[float]], every: float = 0.05) -> ExperimentPoint:
    """A point whose S2 has these windows from the start of the evaluation."""
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


def test_throughputs_worked_out_from_a_cell_give_it_back(as_printed: ExperimentRuns) -> None:
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


def test_the_papers_own_numbers_pass_every_claim_about_its_tables(as_printed: ExperimentRuns) -> None:
    # But those that the words of the paper and its tables disagree on, or that numbers worked out cannot tell.
    for key, claim in PAPER.claims.items():
        if claim.experiments and all(name.startswith("table") for name in claim.experiments) and key != "ghstcp.fig6":
            found = PAPER.measures(claim.measure, as_printed.only(claim.experiments))
            slack = 0.003 if key.startswith("ghstcp.o.g.fair") else 0.0
            # Throughputs worked out have one decimal: 0.02 % of utilization.
            accept = claim.accept.beside(0.02)
            assert accept.holds(cast("float", number(found)) + slack if slack else number(found)), key


def test_counts_how_many_cells_are_close(as_printed: ExperimentRuns) -> None:
    assert PAPER.measures("within of=util by=0.05", as_printed) == 93
    assert PAPER.measures("within of=fair by=0.004", as_printed) == 93


def test_a_table_has_ours_beside_the_papers_for_each_case_and_delay(as_printed: ExperimentRuns) -> None:
    made = {exhibit.place: exhibit.make(as_printed) for exhibit in PAPER.figures if exhibit.place.startswith("Table ")}
    assert list(made) == [f"Table {table}" for table in range(1, 7)]
    for table, [*pictures, drawn] in enumerate(made.values(), 1):
        named = [picture.name for picture in pictures if isinstance(picture, Figure)]
        assert named == [f"table-{table}-utilization", f"table-{table}-fairness"]
        assert isinstance(drawn, Table)
        assert len(drawn.rows) == len(DELAYS) * list(TABLES.values()).count(table)
        for row in drawn.rows:
            numbers = [cast("float", one.value) for one in row[2:]]
            assert numbers[0::2] == pytest.approx(numbers[1::2], abs=0.06)  # throughputs have one decimal


def test_an_ordering_is_judged_where_it_is_closest_to_failing(as_printed: ExperimentRuns) -> None:
    found = PAPER.measures("above of=util case=5 other=2", as_printed)
    assert isinstance(found, MeasuredQuantity)
    assert found.note == "5 and 2 at 100 ms"
    assert found.mean == pytest.approx(72.177 - 60.923, abs=0.06)  # as throughputs with one decimal give it


def test_a_claim_is_measured_again_with_all_cells_of_the_profile() -> None:
    runs = some(
        *(("table3", case, 25, 80.0, [300.0]) for case in (8, 9)),
        *(("profile-table3", case, 25, 50.0, [300.0]) for case in (8, 9)),
    )
    assert number(PAPER.measures("in_profile claim=ghstcp.T3.case8.25ms.util", runs)) == 70
    # Not one cell of a table and another of the profile: an ordering over two tables needs both from the profile.
    with pytest.raises(NotRunError, match="profile-table1: not run"):
        PAPER.measures("in_profile claim=ghstcp.o.T3.util.9v3", runs)


def test_no_missed_cell_is_excused_by_a_profile_that_leaves_the_link_as_idle() -> None:
    argued = tuple(
        Argument(one, tuple(Evidence(shown, True, holds=True) for shown in one.shown)) for one in PAPER.deviations
    )
    for (case, delay), cell in printed().items():
        claim = PAPER.claims[f"ghstcp.T{cell.table}.case{case}.{delay}ms.util"]
        both = [
            (f"{name}table{cell.table}", case, delay, 5.0, [20.0, 20.5, 21.0, 21.5, 22.0]) for name in ("", "profile-")
        ]
        found = judge(PAPER, claim, some(*both), argued)
        assert found.verdict == "fail", claim.id
        assert "not explained by the paper's simulator as inferred" in found.note


def test_a_missed_cell_is_a_deviation_if_the_profile_closes_most_of_its_gap() -> None:
    argued = tuple(
        Argument(one, tuple(Evidence(shown, True, holds=True) for shown in one.shown)) for one in PAPER.deviations
    )
    claim = PAPER.claims["ghstcp.T5.case21.50ms.util"]
    target = float(claim.value) * 5 - 50

    def verdict(*s2: float) -> str:
        ours = ("table5", 21, 50, 50.0, [target + 40 + i for i in range(5)])
        return judge(PAPER, claim, some(ours, ("profile-table5", 21, 50, 50.0, list(s2))), argued).verdict

    assert verdict(*(target + 2 + i for i in range(5))) == "deviation"
    # Overshooting is a gap, too; half of it is not enough; neither is all of it with an interval as wide as it.
    assert verdict(*(target - 40 + i for i in range(5))) == "fail"
    assert verdict(*(target + 20 + i for i in range(5))) == "fail"
    assert verdict(*(target + 40 * i for i in range(-2, 3))) == "fail"


def test_the_bands_of_the_tables_are_the_papers_intervals() -> None:
    for (case, delay), cell in printed().items():
        claim = PAPER.claims[f"ghstcp.T{cell.table}.case{case}.{delay}ms.util"]
        assert claim.accept.how == "interval"
        assert claim.accept.numbers[0] == pytest.approx(100e6 * cell.ci_mbps / cells.RATE, rel=1e-3)


def test_columns_of_constants_are_cells_with_sack_and_without() -> None:
    assert [case for case in CASES if has_sack(case)] == [case for case in CASES if NAMES[case][1].endswith("+SACK")]


def test_wrong_cells_differ_in_one_thing() -> None:
    for case in CASES:
        kinds = {other: NAMES[other] for other in (case, *wrong_law(case), *wrong_queue(case))}
        law, senders = kinds[case][1].removesuffix("+SACK").removeprefix("g"), kinds[case][1].endswith("+SACK")
        for other in wrong_law(case):
            there = kinds[other]
            assert (there[0], there[1].endswith("+SACK"), there[2]) == (kinds[case][0], senders, kinds[case][2]), case
            assert there[1] != kinds[case][1]
            assert case == 1 or there[1].removesuffix("+SACK").removeprefix("g") == law
        queues = [kinds[other][2] for other in wrong_queue(case)]
        assert all(kinds[other][:2] == kinds[case][:2] for other in wrong_queue(case))
        assert len({*queues, kinds[case][2]}) == len(queues) + 1
        assert len(queues) == (0 if case == 1 else 4)


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


def traced(**cases: list[list[float]]) -> ExperimentRuns:
    """Traces of cases: ``case8`` and so on."""
    points = [ExperimentPoint({"case": f"{name[4:]} Reno"}, trace(cwnd).stored) for name, cwnd in cases.items()]
    return ExperimentRuns({"traces": ExperimentPoints("traces", tuple(points))})


def holds(claim: str, runs: ExperimentRuns) -> bool:
    """Whether the value of a claim's measure is accepted."""
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
    def idle(*shares: float) -> ExperimentRuns:
        links = [pa.table({"link": ["bottleneck"], "empty_fraction": [share]}) for share in shares]
        labels = [{"case": f"{case} Reno", "delay": "50 ms"} for case in (20, 21, 22)]
        points = tuple(point(label, links=link) for label, link in zip(labels, links, strict=True))
        return ExperimentRuns({"table5": ExperimentPoints("table5", points)})

    assert holds("ghstcp.fig6", idle(0.06, 0.2, 0.06))
    assert not holds("ghstcp.fig6", idle(0.3, 0.3, 0.04))


def router(average: list[float], max_p: list[float], every: float = 0.25) -> ExperimentPoint:
    """A point whose router shows these values from the start of the evaluation."""
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
        names = ("adaptive RED, arrivals", "gentle adaptive RED, arrivals")
        surges = ExperimentPoints(
            "surges", tuple(ExperimentPoint({"case": n}, p.stored) for n, p in zip(names, points, strict=True))
        )
        return holds("ghstcp.fig7", ExperimentRuns({"surges": surges}))

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
            [link, *others], groups = one.scenario.links, one.scenario.groups
            # The access links of XCP implement it, too.
            assert len(others) == (experiment.name == "xcp")
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
