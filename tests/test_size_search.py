"""The search for a buffer, on made-up links with known answers."""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elephan.sizing import _judge
from elephan.sizing.curve import APART, BufferCurve
from elephan.sizing.search import Search, SearchProgress, finer, geometric, grid_through
from elephan.sizing.targets import BufferSample, parse_targets


class FakeLink:
    """Utilization 1 - exp(-b / scale), loss and delay to match, noise per replication and per run."""

    def __init__(self, scale: float, noise: float = 0.0, seed: int = 0) -> None:
        self.scale, self.noise, self.seed = scale, noise, seed
        self.asked: list[tuple[int, int]] = []

    def utilization(self, buffer: float) -> float:
        return 1.0 - math.exp(-buffer / self.scale)

    def buffer_for(self, utilization: float) -> float:
        return -self.scale * math.log(1.0 - utilization)

    def __call__(self, pairs: Sequence[tuple[int, int]], done: Callable[[], None]) -> list[BufferSample]:
        self.asked += pairs
        samples = []
        for buffer, replication in pairs:
            common = np.random.default_rng([self.seed, replication]).normal()
            own = np.random.default_rng([self.seed, replication, buffer]).normal()
            u = self.utilization(buffer) + self.noise * (common + own) / math.sqrt(2)
            samples.append(BufferSample(u, 0.01 * math.exp(-buffer / self.scale), buffer * 1e-5))
            done()
        return samples


def search(
    link: FakeLink,
    target: str = "utilization=0.9",
    replications: int = 5,
    precision: float = 0.05,
    start: float | None = None,
) -> Search:
    return Search(link, parse_targets(target), replications, precision, (8, 4000), 100_000, start=start)


@given(scale=st.floats(3, 30_000), level=st.floats(0.05, 0.99), precision=st.floats(0.01, 0.5))
@settings(deadline=None)
@pytest.mark.slow
def test_without_noise_the_answer_is_right_to_the_precision(scale: float, level: float, precision: float) -> None:
    link = FakeLink(scale)
    smallest = max(1, math.ceil(link.buffer_for(level)))
    found = search(link, f"utilization={level}", precision=precision).smallest()
    if smallest > 100_000:
        assert found is None
    else:
        assert found is not None
        assert smallest <= found <= max(smallest + 1, smallest * (1 + precision) / (1 - precision))


@given(scale=st.floats(3, 30_000), wrong=st.floats(1e-4, 1e4), replications=st.integers(1, 4))
@settings(deadline=None)
@pytest.mark.slow
def test_wherever_the_search_starts_the_answer_and_its_interval_are_the_same(
    scale: float, wrong: float, replications: int
) -> None:
    whole = search(FakeLink(scale), replications=replications)
    started = search(FakeLink(scale), replications=replications, start=wrong * scale)
    found = started.smallest()
    assert found == whole.smallest()
    if found is not None:
        assert started.curve.interval(started.floors, found) == whole.curve.interval(whole.floors, found)
    assert set(started.curve.buffers) <= set(whole.curve.buffers)


def test_a_start_that_finds_nothing_is_not_believed() -> None:
    class Bump(FakeLink):
        """A curve that is sufficient only at about 64 packets, so that it turns."""

        def utilization(self, buffer: float) -> float:
            return 0.95 if 50 <= buffer <= 80 else 0.5

    started = search(Bump(1.0), start=3000.0)
    whole = search(Bump(1.0))
    assert started.smallest() == whole.smallest()
    assert set(geometric(8, 4000)) <= set(started.curve.buffers)


@pytest.mark.slow
def test_a_good_start_saves_runs_and_a_noisy_link_keeps_its_answer() -> None:
    saved = same = 0
    for seed in range(100):
        whole, started = FakeLink(1000.0, 0.01, seed), FakeLink(1000.0, 0.01, seed)
        answers = search(whole).smallest(), search(started, start=2600.0).smallest()
        saved += len(whole.asked) > len(started.asked)
        same += answers[0] == answers[1]
    # The fit pools neighbours: a far buffer that noise has put out of order may count for the whole grid alone.
    assert saved >= 95
    assert same >= 95


@given(seed=st.integers(0, 10_000), noise=st.floats(0.0, 0.05), replications=st.integers(1, 7))
@settings(deadline=None, max_examples=50)
def test_the_mean_at_the_answer_meets_the_target_over_all_replications(
    seed: int, noise: float, replications: int
) -> None:
    link = FakeLink(1000.0, noise, seed)
    searching = search(link, replications=replications)
    found = searching.smallest()
    if found is not None:
        assert searching.curve.replications(found) == replications
        assert searching.curve.estimate(found, "utilization").mean >= 0.9 - 1e-12


@given(seed=st.integers(0, 10_000), noise=st.floats(0.0, 0.05))
@settings(deadline=None, max_examples=30)
def test_nothing_is_measured_twice_and_replications_come_in_order(seed: int, noise: float) -> None:
    link = FakeLink(1000.0, noise, seed)
    search(link).smallest()
    assert len(set(link.asked)) == len(link.asked)
    for buffer in {buffer for buffer, _ in link.asked}:
        replications = [r for b, r in link.asked if b == buffer]
        assert replications == list(range(len(replications)))


def test_buffers_beyond_doubt_get_two_replications_only() -> None:
    link = FakeLink(1000.0, 0.001)
    searching = search(link, replications=20)
    searching.smallest()
    counts = [searching.curve.replications(b) for b in searching.curve.buffers]
    assert counts[0] == 2
    assert len(link.asked) < 0.6 * 20 * len(counts)


@pytest.mark.slow
def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    covered = widths = 0.0
    for seed in range(200):
        link = FakeLink(1000.0, 0.02, seed)
        searching = search(link)
        found = searching.smallest()
        assert found is not None
        interval = searching.curve.interval(searching.floors, found)
        assert interval is not None
        assert interval[0] <= found <= interval[1]
        covered += interval[0] <= link.buffer_for(0.9) <= interval[1]
        widths += math.log(interval[1] / interval[0])
    # 95 % at each buffer; the search looks at several and the fit pools them, hence the margin. Nor is it won by width.
    assert covered / 200 >= 0.90
    assert widths / 200 < math.log(1.6)


@pytest.mark.slow
@pytest.mark.parametrize("falls", [False, True], ids=["even noise", "noise that falls with the buffer"])
def test_what_is_saved_far_from_the_target_costs_no_coverage(falls: bool) -> None:
    class Link(FakeLink):
        """A link with less noise where it is nearly always busy, which pooling must not take for a trend."""

        def __call__(self, pairs: Sequence[tuple[int, int]], done: Callable[[], None]) -> list[BufferSample]:
            truth = [self.utilization(buffer) for buffer, _ in pairs]
            noisy = super().__call__(pairs, done)
            return [
                sample._replace(utilization=u + (sample.utilization - u) * (10 * (1 - u) if falls else 1.0))
                for u, sample in zip(truth, noisy, strict=True)
            ]

    covered = runs = 0
    for seed in range(120):
        link = Link(1000.0, 0.005, seed)
        searching = search(link, start=2600.0)
        found = searching.smallest()
        assert found is not None
        interval = searching.curve.interval(searching.floors, found)
        assert interval is not None
        covered += interval[0] <= link.buffer_for(0.9) <= interval[1]
        runs += len(link.asked)
    # As above. A search that halves brackets and lets each buffer judge itself took 23.1 runs (0.99 of 100 covered).
    assert covered / 120 >= 0.90
    assert runs / 120 < 0.8 * 23.1


def test_a_buffer_with_few_replications_is_judged_by_the_spread_of_all() -> None:
    curve = BufferCurve(full=5)
    rng = np.random.default_rng(1)
    for buffer in (10, 20, 40, 80):
        for replication in range(5 if buffer == 40 else 2):
            curve.add(buffer, replication, BufferSample(0.9 + 0.01 * rng.normal(), 0.0, 0.0))
    own = curve.estimate(20, "utilization").ci95
    lent = curve.half_width(20, "utilization")
    assert own is not None
    assert lent is not None
    # Seven degrees of freedom instead of one: 2.36 instead of 12.7.
    assert lent <= own
    spreads = [np.var([s.utilization for s in curve.samples(b)], ddof=1) for b in (10, 20, 40, 80)]
    pooled = math.sqrt(float(np.dot(spreads, [1, 1, 4, 1])) / 7)
    assert lent == pytest.approx(min(own, 2.3646 * max(pooled, math.sqrt(spreads[1])) / math.sqrt(2)), rel=1e-4)
    # One with all replications stands for itself.
    assert curve.half_width(40, "utilization") == curve.estimate(40, "utilization").ci95


def test_steps_grow_and_what_they_pass_over_is_measured_where_it_matters() -> None:
    link = FakeLink(30.0)
    started = search(link, start=4000.0)
    found = started.smallest()
    assert found == search(FakeLink(30.0)).smallest()
    # 69 packets are needed: of the nine buffers of the grid up to 4000 packets not all are measured.
    assert len(set(geometric(8, 4000)) & set(started.curve.buffers)) < len(geometric(8, 4000)) - 2


@pytest.mark.parametrize("place", range(9))
def test_a_start_on_the_grid_is_measured_alone(place: int) -> None:
    grid = geometric(8, 4000)
    link = FakeLink(30.0)
    started = search(link, start=float(grid[place]))
    assert started.smallest() == search(FakeLink(30.0)).smallest()
    assert link.asked[:2] == [(grid[place], 0), (grid[place], 1)]
    # Then two steps towards the 70 packets that are needed.
    assert link.asked[2][0] == grid[place - 2 if grid[place] >= 70 else place + 2]


@given(low=st.integers(1, 5000), ratio=st.floats(1.1, 4.0), precision=st.floats(0.01, 1.0))
def test_the_finer_grid_is_as_fine_as_it_says(low: int, ratio: float, precision: float) -> None:
    high = math.ceil(low * ratio)
    grid = finer(low, high, precision)
    assert (grid[0], grid[-1]) == (low, high)
    assert grid == sorted(set(grid))
    # Each is rounded to a whole packet.
    assert all(b - a <= max(1.0, precision * b + 1.0) for a, b in itertools.pairwise(grid))


def test_the_grid_goes_through_what_is_wanted_anyway() -> None:
    grid = geometric(8, 4000)
    moved = grid_through(grid, [grid[3] + 1, grid[5], 1, 100_000])
    assert moved == [*grid[:3], grid[3] + 1, *grid[4:]]
    assert all(b / a <= APART for a, b in itertools.pairwise(grid_through(grid, range(1, 4000, 7))))


def test_one_replication_gives_an_answer_without_an_interval() -> None:
    searching = search(FakeLink(1000.0), replications=1)
    found = searching.smallest()
    assert found is not None
    assert searching.curve.interval(searching.floors, found) is None


def test_loss_is_a_floor_and_the_tighter_target_decides() -> None:
    link = FakeLink(1000.0)
    both = search(link, "utilization=0.5,loss=0.0001").smallest()
    loss = search(link, "loss=0.0001").smallest()
    assert both is not None
    assert both == loss
    assert both >= 1000.0 * math.log(100.0)


def test_a_delay_that_the_buffer_exceeds_is_a_conflict_that_says_both_sides() -> None:
    searching = search(FakeLink(1000.0), "utilization=0.9,delay=10ms")
    found = searching.smallest()
    buffer, note = _judge(searching.curve, searching.targets, found)
    assert buffer is None
    assert note.startswith("utilization >= 0.9 needs 2")
    assert "but delay <= 10 ms allows about 998 packets" in note


def test_a_delay_that_holds_is_no_obstacle() -> None:
    searching = search(FakeLink(1000.0), "utilization=0.9,delay=100ms")
    found = searching.smallest()
    assert _judge(searching.curve, searching.targets, found) == (found, "")


def test_a_delay_alone_is_met_by_one_packet_and_the_note_says_how_far_it_holds() -> None:
    searching = search(FakeLink(1000.0), "delay=10ms")
    found = searching.smallest()
    buffer, note = _judge(searching.curve, searching.targets, found)
    assert buffer == 1
    assert "buffers up to about 998 packets" in note


def test_what_no_buffer_reaches_is_said_with_the_best_there_is() -> None:
    link = FakeLink(1e9)
    searching = search(link)
    assert searching.smallest() is None
    buffer, note = _judge(searching.curve, searching.targets, None)
    assert buffer is None
    assert note.startswith("no buffer up to 100,000 packets is enough: utilization ")


def test_progress_never_runs_backwards_and_ends_where_it_said() -> None:
    seen: list[SearchProgress] = []
    searching = search(FakeLink(1000.0, 0.01))
    searching.watch = seen.append
    searching.smallest()
    assert [progress.done for progress in seen] == list(range(1, len(seen) + 1))
    assert all(progress.expected >= progress.done for progress in seen)
    last = seen[-1]
    assert last.below is not None
    assert last.above is not None
    assert last.below < last.above


@pytest.mark.parametrize(("low", "high"), [(1, 4), (1, 2), (58, 30_000), (3, 3000)])
def test_grids_begin_and_end_where_they_should(low: int, high: int) -> None:
    grid = geometric(low, high)
    assert grid[0] == low
    assert grid[-1] == high
    assert all(b / a <= 2.5 for a, b in itertools.pairwise(grid[2:]))
