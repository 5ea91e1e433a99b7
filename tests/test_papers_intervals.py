"""The printed intervals of the second paper, the nulls beside them, its pictures, and further measures."""

import numpy as np
import pytest

from elephan.pictures.figure import Figure
from elephan.plots.pictures import draw
from elephan_evidence.papers import Paper
from elephan_evidence.papers.ghstcp_gared import concept_figures, intervals, table_pictures
from elephan_evidence.papers.ghstcp_gared.cells import CASES, DELAYS, printed, table_of
from elephan_evidence.papers.ghstcp_gared.intervals import NULLS, UtilizationInterval
from elephan_evidence.papers.runs import ExperimentPoints, ExperimentRuns, NotRunError
from test_papers_ghstcp import some

PAPER = Paper.read("ghstcp-gared")
SPREAD = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])


def runs(spread: float = 1.0, beginning: str = "table") -> ExperimentRuns:
    """Five runs of each cell around the paper's value: a flow of S2 varies by `spread` [Mbit/s]."""
    cells = [
        (f"{beginning}{table_of(case)}", case, delay, cell.s1, (cell.s2 + spread * SPREAD).tolist())
        for (case, delay), cell in printed().items()
    ]
    return some(*cells)


def test_intervals_that_touch_meet_and_those_apart_do_not() -> None:
    assert UtilizationInterval(90.0, 1.0).meets(UtilizationInterval(92.0, 1.0))
    assert not UtilizationInterval(90.0, 1.0).meets(UtilizationInterval(92.1, 1.0))
    # Two that touch are further apart than one thing's are in 95 of 100 pairs.
    assert UtilizationInterval(90.0, 1.0).agrees(UtilizationInterval(91.4, 1.0))
    assert not UtilizationInterval(90.0, 1.0).agrees(UtilizationInterval(91.5, 1.0))


def test_printed_widths_are_points_of_utilization() -> None:
    # Case 1 at 25 ms: 113.824 Mbit/s of 2500.
    assert intervals.theirs()[1, 25].half == pytest.approx(4.553, abs=1e-3)
    assert len(intervals.theirs()) == 93


def test_the_papers_own_numbers_meet_everywhere_and_nulls_do_not() -> None:
    cells = intervals.ours(runs())
    assert intervals.meeting(cells) == intervals.agreeing(cells) == 93
    for name, null in NULLS.items():
        moved = null(cells)
        assert moved.keys() == cells.keys()
        assert [moved[at].half for at in cells] == [cells[at].half for at in cells], name
        assert intervals.meeting(moved) < 60, name


def test_nulls_put_every_cell_elsewhere() -> None:
    cells = {at: UtilizationInterval(float(i), 1.0) for i, at in enumerate(intervals.theirs())}
    for name in ("wrong law", "wrong queue", "wrong delay"):
        moved = NULLS[name](cells)
        assert all(moved[at].mean != cells[at].mean for at in cells), name
    law, queue = NULLS["wrong law"](cells), NULLS["wrong queue"](cells)
    assert law[8, 50] == cells[11, 50]
    assert law[13, 25] == cells[10, 25]
    assert queue[4, 25] == cells[10, 25]
    assert queue[31, 100] == cells[7, 100]


def test_widths_are_compared_by_ratio_and_by_rank() -> None:
    theirs = intervals.theirs()
    twice = {at: UtilizationInterval(one.mean, 2 * one.half) for at, one in theirs.items()}
    assert np.allclose(intervals.ratios(twice), 0.5)
    assert intervals.rank_correlation(twice) == pytest.approx(1.0)
    turned = {at: UtilizationInterval(one.mean, 1 / one.half) for at, one in theirs.items()}
    assert intervals.rank_correlation(turned) == pytest.approx(-1.0)


def test_one_run_has_no_interval() -> None:
    once = some(*((f"table{table_of(case)}", case, delay, 50.0, [300.0]) for case in CASES for delay in DELAYS))
    with pytest.raises(NotRunError, match="one run has no interval"):
        intervals.ours(once)
    # Its picture is drawn all the same.
    assert len(table_pictures.pictures(once, 1)) == 2


@pytest.mark.parametrize("table", range(1, 7))
def test_a_table_is_drawn_with_every_cell_of_everything_that_there_is(table: int) -> None:
    both = ExperimentRuns(dict(runs().experiments) | dict(runs(beginning="profile-table").experiments))
    for picture in table_pictures.pictures(both, table):
        cells = sum(table_of(case) == table for case in CASES) * len(DELAYS)
        sizes = {series.name: series.x.size for series in picture.series}
        assert sizes.pop("ns-2 2.35", 0) == sum(table_of(case) == table for case, _ in table_pictures.ns2())
        assert sizes == {"paper": cells, "elephan": cells, "paper's simulator": cells}
        assert len(picture.x.names) == cells
        # No two points of one place lie on each other.
        x = np.concatenate([series.x for series in picture.series])
        assert np.unique(x).size == x.size


def test_shortened_runs_have_a_part_of_the_simulators_cells() -> None:
    every = dict(runs().experiments)
    few = runs(beginning="profile-table").experiments["profile-table3"].where(case=9, delay=50)
    pictures = table_pictures.pictures(
        ExperimentRuns(every | {"profile-table3": ExperimentPoints("profile-table3", few.points)}), 3
    )
    assert [series.x.size for series in pictures[0].series if series.name == "paper's simulator"] == [1]


def test_networks_are_drawn_from_the_scenarios() -> None:
    [dumbbell] = concept_figures.figure3(ExperimentRuns())
    [clusters] = concept_figures.figure9(ExperimentRuns())
    assert isinstance(dumbbell, Figure)
    assert isinstance(clusters, Figure)
    assert "2.5 Gbit/s, 50 ms, 10000 packets" in dumbbell.alt
    assert "1000 clients, 100 to 155 Mbit/s" in clusters.alt


def thresholds(at_chance: list[float], strict: float) -> ExperimentRuns:
    """Set S1's throughput with the 10 and 0.01 % points and with 1000, and in both laws' own cells [Mbit/s]."""
    cells = [("z-threshold", 7, 50, s1, [400.0, 401.0]) for s1 in (*at_chance, strict)]
    made = some(*cells).experiments["z-threshold"].points
    for point, z in zip(made, (1.2816, 3.719, 1000.0), strict=True):
        point.labels["z"] = z
    tables = some(("table1", 4, 50, 15.0, [400.0, 401.0]), ("table2", 7, 50, 55.0, [400.0, 401.0]))
    return ExperimentRuns(dict(tables.experiments) | {"z-threshold": ExperimentPoints("z-threshold", made)})


def test_a_threshold_that_decides_as_much_as_the_law_is_told_from_one_that_does_not() -> None:
    claim = PAPER.claims["ghstcp.z.insensitive"]
    measure = claim.measure.replace("of=fair", "of=s1")
    assert claim.accept.holds(PAPER.measures(measure, thresholds([56.0, 54.0], 15.0)).mean)
    assert not claim.accept.holds(PAPER.measures(measure, thresholds([70.0, 35.0], 15.0)).mean)


def test_a_law_that_ignores_its_threshold_fails() -> None:
    claim = PAPER.claims["ghstcp.z.limit"]
    measure = claim.measure.replace("of=fair", "of=s1")
    assert claim.accept.holds(PAPER.measures(measure, thresholds([55.0] * 2, 15.0)).mean)
    assert not claim.accept.holds(PAPER.measures(measure, thresholds([55.0] * 2, 55.0)).mean)


def test_every_further_ordering_fails_the_opposite_sign_and_a_tie() -> None:
    asked = {"scalable", "xcp", "vegas", "z-threshold", "unequal-delays"}
    mine = [c for c in PAPER.claims.values() if asked & set(c.experiments) and c.kind == "ordering"]
    assert len(mine) == 16
    for claim in mine:
        side = -1.0 if claim.value.startswith("<") else 1.0
        for accept in (claim.accept, claim.quick):
            assert accept.holds(side)
            assert not accept.holds(0.0)
            assert not accept.holds(-side)


def test_names_of_several_lines_stand_upright() -> None:
    drawn = draw(table_pictures.pictures(runs(), 6)[0])
    labels = drawn.axes[0].get_xticklabels()
    assert sum(len(label.get_text()) for label in labels) > 90
    assert {label.get_rotation() for label in labels} == {0.0}
