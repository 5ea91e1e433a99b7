"""Several sweeps on the same workers: the results are those of each alone, and none waits for the end of another."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from elephan.errors import InputError
from elephan.runs import run as simulated
from elephan.scenario import EXAMPLE, Scenario
from elephan.store import Store
from elephan.sweeps import Sweep, SweepProgress, SweepResult, sweep, tasks
from elephan.sweeps.running import run_sweeps
from stored_bytes import files, table

BASE = Scenario.from_text(EXAMPLE, "base.toml").replace({"duration": "0.4 s", "warmup": "0.1 s", "replications": 2})
OTHER = BASE.replace({"title": "another", "links[0].rate": "20 Mbit/s"})

SHORT = Sweep.of(BASE, over={"seed": [1, 2, 3]})
LONG = Sweep.of(OTHER, over={"duration": ["0.3 s", "0.5 s"]})
AGAIN = Sweep.of(BASE, over={"links[0].buffer": ["25 packets", "0.1 bdp"], "seed": [2]})
"""Its first point is one of the first sweep."""

EVERY = [(SHORT, False), (LONG, True), (AGAIN, True)]


@pytest.fixture(scope="module")
def one_after_another(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[SweepResult]]:
    folder = tmp_path_factory.mktemp("one")
    return folder, [sweep(each, store=folder, series=series, workers=1) for each, series in EVERY]


@pytest.mark.parametrize("workers", [1, 3])
def test_they_give_the_same_bytes_as_one_after_another(
    workers: int, one_after_another: tuple[Path, list[SweepResult]], tmp_path: Path
) -> None:
    folder, alone = one_after_another
    together = run_sweeps(EVERY, tmp_path, workers=workers)
    assert table(tmp_path) == table(folder)
    assert files(tmp_path) == files(folder)
    assert [each.to_json()["points"] for each in together] == [each.to_json()["points"] for each in alone]
    assert [each.sweep for each in together] == [SHORT, LONG, AGAIN]


def test_a_point_of_two_runs_once_carries_the_labels_of_both_and_has_the_series(tmp_path: Path) -> None:
    seen: list[SweepProgress] = []
    short, long, again = run_sweeps(EVERY, tmp_path, workers=1, progress=seen.append)
    assert short.points[1].run == again.points[0].run
    with Store(tmp_path) as store:
        assert len(store.runs()) == 6  # of seven points
        assert len(store.find(again.points[0].run).labels) == 2  # type: ignore[union-attr]
        assert store.find(again.points[0].run, series=True) is not None
        assert store.find(short.points[0].run, series=True) is None
    assert (seen[-1].done, seen[-1].total) == (7, 7)
    # Counted in both, and once in all.
    shared = short.points[1].document["run"]["packets_delivered"]
    assert sum(each.packets for each in (short, long, again)) == seen[-1].packets + shared


class Recording(ThreadPoolExecutor):
    """An executor that records the order of tasks."""

    def __init__(self) -> None:
        super().__init__(1)
        self.tasks: list[tasks.PointBatch] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.tasks.append(args[0])
        return super().submit(fn, *args, **kwargs)


def test_the_longest_points_of_all_begin_first_and_a_task_is_of_one_sweep(tmp_path: Path) -> None:
    first = Sweep.of(BASE, over={"duration": ["0.2 s", "4 s"]})
    second = Sweep.of(OTHER, over={"duration": ["0.2 s", "1 s", "8 s"]})
    with Recording() as pool:
        run_sweeps([(first, False), (second, False)], tmp_path, pool, 1)
    begun = [(task.settings.base.id, len(task.points)) for task in pool.tasks]
    assert [base for base, _ in begun[:3]] == [OTHER.id, BASE.id, OTHER.id]
    assert sum(points for _, points in begun) == 5


def test_a_point_that_fails_is_told_to_its_own_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(scenario: Scenario, **rest: Any) -> Any:
        if scenario.seed == 3:
            message = "out of order"
            raise RuntimeError(message)
        return simulated(scenario, **rest)

    monkeypatch.setattr(tasks, "run_several", lambda scenarios, **rest: [run(one, **rest) for one in scenarios])
    monkeypatch.setattr(tasks, "run", run)
    short, long = run_sweeps([(SHORT, False), (LONG, False)], tmp_path)
    assert [point.labels for point in short.failures] == [{"seed": 3}]
    assert "out of order" in str(short.failures[0].error)
    assert (len(short.points), len(long.points), len(long.failures)) == (2, 2, 0)


def test_a_point_that_cannot_be_read_lets_none_of_several_begin(tmp_path: Path) -> None:
    wrong = Sweep.of(BASE, over={"links[0].buffer": ["5 packets", "5 bpd"]})
    with pytest.raises(InputError, match="1 of 2 points cannot be read"):
        run_sweeps([(SHORT, False), (wrong, False)], tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_what_was_done_when_they_were_interrupted_is_not_run_again(
    one_after_another: tuple[Path, list[SweepResult]], tmp_path: Path
) -> None:
    def interrupt(progress: SweepProgress) -> None:
        if progress.done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweeps(EVERY, tmp_path, workers=1, progress=interrupt)
    with Store(tmp_path) as store:
        kept = len(store.runs())
    assert 0 < kept < 6
    again = run_sweeps(EVERY, tmp_path, workers=1)
    assert len({point.run for each in again for point in each.done if point.reused}) == kept
    assert files(tmp_path) == files(one_after_another[0])
