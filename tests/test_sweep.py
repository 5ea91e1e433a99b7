"""Sweeps: every point once, stored when it is done, the same bytes on any executor; interrupted sweeps continue."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from elephan.errors import InputError
from elephan.results import WarningDocument
from elephan.runs import run as simulated
from elephan.scenario import EXAMPLE, Scenario
from elephan.store import Store
from elephan.sweeps import ExecutorLostError, Sweep, SweepProgress, SweepResult, execution, sweep, tasks
from elephan.sweeps.execution import PointJob, batches, jobs_of, share_of
from elephan.sweeps.result import _merged
from elephan.sweeps.tasks import SweepSettings
from stored_bytes import files, table

BASE = Scenario.from_text(EXAMPLE, "base.toml").replace({"duration": "0.4 s", "warmup": "0.1 s", "replications": 2})
OVER: dict[str, Any] = {"seed": [1, 2, 3, 4], "links[0].buffer": ["5 packets", "0.1 bdp", "0.5 bdp"]}


def jobs_in(*sweeps: Sweep) -> list[PointJob]:
    return jobs_of((SweepSettings.of(each, series=False), each.points()) for each in sweeps)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    sweep(BASE, over=OVER, store=folder)
    return folder


def processes() -> Executor:
    # Not forked: the tests have threads, and so may users.
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.slow
def test_threads_and_processes_give_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    with processes() as pool:
        done = sweep(BASE, over=OVER, store=tmp_path / "processes", executor=pool)
    assert len(done.points) == 12
    assert table(tmp_path / "processes") == table(undisturbed)
    assert files(tmp_path / "processes") == files(undisturbed)


@pytest.mark.slow
def test_a_cluster_gives_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        sweep(BASE, over=OVER, store=tmp_path / "cluster", executor=client.get_executor())
    assert table(tmp_path / "cluster") == table(undisturbed)
    assert files(tmp_path / "cluster") == files(undisturbed)


def test_what_is_in_the_store_is_not_run_again(undisturbed: Path) -> None:
    again = sweep(BASE, over=OVER, store=undisturbed, executor=Refusing())
    assert (again.reused, len(again.points), again.packets) == (12, 12, 0)
    assert [point.labels["seed"] for point in again.points] == [seed for seed in OVER["seed"] for _ in range(3)]


def test_points_that_are_the_same_run_once_and_carry_both_labels(tmp_path: Path) -> None:
    # The bandwidth-delay product of the base is 100 packets.
    done = sweep(BASE, over={"links[0].buffer": ["10 packets", "0.1 bdp"]}, store=tmp_path)
    assert done.points[0].run == done.points[1].run
    with Store(tmp_path) as store:
        (stored,) = store.runs()
        assert stored.labels == [{"links[0].buffer": "0.1 bdp"}, {"links[0].buffer": "10 packets"}]
    assert done.table().arrow["core.buffer_packets"].to_pylist() == [10, 10]


def test_failed_points_are_recorded_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = simulated

    def run(scenario: Scenario, **rest: Any) -> Any:
        if scenario.seed == 2:
            message = "out of order"
            raise RuntimeError(message)
        return real(scenario, **rest)

    def run_several(scenarios: Sequence[Scenario], **rest: Any) -> Any:
        return [run(scenario, **rest) for scenario in scenarios]

    # Together they fail as one; then each by itself says whose fault it was.
    monkeypatch.setattr(tasks, "run_several", run_several)
    monkeypatch.setattr(tasks, "run", run)
    over = {"seed": [1, 2, 3]}
    done = sweep(BASE, over=over, store=tmp_path)
    assert [point.labels for point in done.points] == [{"seed": 1}, {"seed": 3}]
    [failed] = done.failures
    assert (failed.labels, "internal error: RuntimeError: out of order" in str(failed.error)) == ({"seed": 2}, True)
    with Store(tmp_path) as store:
        assert len(store.failures()) == 1
    monkeypatch.undo()
    again = sweep(BASE, over=over, store=tmp_path)
    assert (again.reused, len(again.points), len(again.failures)) == (2, 3, 0)
    with Store(tmp_path) as store:
        assert store.failures() == []


@pytest.mark.parametrize("shard", [None, (1, 2)])
def test_a_point_that_cannot_be_read_lets_no_sweep_begin(tmp_path: Path, shard: tuple[int, int] | None) -> None:
    over = {"seed": [1, 2], "links[0].buffer": ["5 packets", "5 bpd"]}
    with pytest.raises(InputError) as refused:
        sweep(BASE, over=over, store=tmp_path / "store", shard=shard)
    said = str(refused.value)
    assert said.startswith('base.toml: over: links[0].buffer: unknown unit "bpd" in "5 bpd"; buffers are in packets, ')
    assert said.endswith(" (2 of 4 points cannot be read, so none is run)")
    assert not (tmp_path / "store").exists()


def test_a_sweep_may_be_a_mapping(tmp_path: Path) -> None:
    mapping = {"base": BASE.source, "over": {"seed": [1, 2]}}
    done = sweep(mapping, store=tmp_path)
    assert [point.labels for point in done.points] == [{"seed": 1}, {"seed": 2}]
    assert sweep(BASE, over={"seed": [1, 2]}, store=tmp_path).reused == 2


def test_no_worker_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="workers: 0 is out of range; give 1 to 1024"):
        sweep(BASE, over={"seed": [1, 2]}, store=tmp_path, workers=0)


class Refusing(Executor):
    """An executor that runs nothing."""

    def submit(self, fn: Callable[..., Any], /, *_: Any, **__: Any) -> Future[Any]:
        raise AssertionError(fn)


class Dying(ProcessPoolExecutor):
    """An executor one of whose processes dies at the third task."""

    submitted = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        return super().submit(os._exit, 1) if self.submitted == 3 else super().submit(fn, *args, **kwargs)


@pytest.mark.slow
def test_an_executor_that_breaks_loses_nothing_that_was_done(undisturbed: Path, tmp_path: Path) -> None:
    seen: list[SweepProgress] = []
    with (
        Dying(1, mp_context=multiprocessing.get_context("spawn")) as pool,
        pytest.raises(ExecutorLostError, match="Broken"),
    ):
        sweep(BASE, over=OVER, store=tmp_path, executor=pool, progress=seen.append)
    assert 0 < seen[-1].done < 12
    # The possible tasks of its lost worker are on record, for later inspection.
    with Store(tmp_path, readonly=True) as store:
        assert {"BrokenProcessPool" in failure["error"] for failure in store.failures()} == {True}
        assert len(store.failures()) == seen[-1].failed > 0
    again = sweep(BASE, over=OVER, store=tmp_path)
    assert again.reused == seen[-1].done - seen[-1].failed
    assert table(tmp_path) == table(undisturbed)


class Faulty(ThreadPoolExecutor):
    """An executor on which a task with a certain seed never returns: its worker died."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if any("seed = 3" in point.text for point in args[0].points):
            failed: Future[Any] = Future()
            failed.set_exception(OSError("killed"))
            return failed
        return super().submit(fn, *args, **kwargs)


def test_a_point_that_kills_its_worker_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "batches", lambda jobs, _: [list(jobs)])
    with Faulty(2) as pool:
        done = sweep(BASE, over={"seed": [1, 2, 3, 4]}, store=tmp_path, executor=pool)
    (failed,) = done.failures
    assert (failed.labels, failed.error) == ({"seed": 3}, "its worker failed: OSError: killed")


def test_an_interrupted_sweep_goes_on(undisturbed: Path, tmp_path: Path) -> None:
    def interrupt(progress: SweepProgress) -> None:
        if progress.done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(BASE, over=OVER, store=tmp_path, progress=interrupt)
    again = sweep(BASE, over=OVER, store=tmp_path)
    assert again.reused == 5
    assert table(tmp_path) == table(undisturbed)


def test_what_was_done_when_the_interrupt_came_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(running: dict[Future[Any], Any], **_: Any) -> Any:
        for future in running:
            future.result()
        raise KeyboardInterrupt

    monkeypatch.setattr(execution, "wait", wait)
    with pytest.raises(KeyboardInterrupt):
        sweep(BASE, over={"seed": [1, 2, 3]}, store=tmp_path, workers=1)
    with Store(tmp_path) as store:
        assert len(store.runs()) == 3


def test_the_longest_begin_first_and_short_ones_travel_together() -> None:
    over = {"duration": ["0.4 s", "100 s", "1 s", "50 s"], "seed": [1, 2, 3]}
    jobs = jobs_in(Sweep.of(BASE, over=over))
    first = [job.points[0].labels["duration"] for job in jobs]
    assert first == ["100 s"] * 3 + ["50 s"] * 3 + ["1 s"] * 3 + ["0.4 s"] * 3
    made = batches(jobs, 2)
    assert [job for task in made for job in task] == jobs
    assert len(made[0]) == 1
    assert len(made[-1]) > 1


def test_no_task_of_many_points_is_long_and_none_waits_for_the_end() -> None:
    jobs = jobs_in(Sweep.of(BASE, over={"seed": "1..1000:1000lin"}))
    made = batches(jobs, 2)
    assert max(map(len, made)) <= execution.MOST_POINTS
    assert all(sum(job.cost for job in task) <= execution.TASK for task in made)


def test_only_a_few_tasks_are_under_way_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "MOST_POINTS", 1)
    running, most = 0, 0
    lock = threading.Lock()

    class Counting(ThreadPoolExecutor):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            future = super().submit(fn, *args, **kwargs)
            future.add_done_callback(ended)
            return future

    def ended(_: Future[Any]) -> None:
        nonlocal running
        with lock:
            running -= 1

    with Counting(1) as pool:
        sweep(BASE, over={"seed": "1..20:20lin"}, store=tmp_path, executor=pool)
    assert most <= execution.PER_WORKER


def test_shards_are_disjoint_complete_and_about_as_long() -> None:
    over = {"duration": ["1 s", "2 s", "4 s", "8 s"], "seed": "1..30:30lin"}
    jobs = jobs_in(Sweep.of(BASE, over=over))
    parts = [share_of(jobs, i, 3) for i in (1, 2, 3)]
    assert sorted(job.key for part in parts for job in part) == sorted(job.key for job in jobs)
    costs = [sum(job.cost for job in part) for part in parts]
    # Dealt in turn, two shares differ by no more than the longest job.
    assert max(costs) - min(costs) <= jobs[0].cost


def test_three_shards_come_to_the_undisturbed_sweep(undisturbed: Path, tmp_path: Path) -> None:
    parts = [sweep(BASE, over=OVER, store=tmp_path, shard=f"{i}/3") for i in (1, 2, 3)]
    assert [len(part.points) for part in parts] == [4, 4, 4]
    assert table(tmp_path) == table(undisturbed)
    assert files(tmp_path) == files(undisturbed)
    whole = sweep(BASE, over=OVER, store=tmp_path, executor=Refusing())
    assert whole.reused == 12


def test_points_of_a_shard_are_read_after_the_store_took_it_in(tmp_path: Path) -> None:
    part = sweep(BASE, over={"seed": [1, 2]}, store=tmp_path, shard="1/2")
    before = document(part)
    with Store(tmp_path):
        assert not part.store.exists()
    assert document(part) == before


def test_a_shard_leaves_out_what_the_store_around_it_has(tmp_path: Path) -> None:
    sweep(BASE, over={"seed": [1, 2, 3]}, store=tmp_path)
    parts = [sweep(BASE, over={"seed": [1, 2, 3, 4]}, store=tmp_path, shard=(i, 2)) for i in (1, 2)]
    assert sum(part.reused for part in parts) == 3
    # Both are read where they are.
    assert [point.document["run"]["seed"] for part in parts for point in part.points] == [1, 3, 2, 4]


def test_precision_and_warmup_are_each_points_own(tmp_path: Path) -> None:
    base = BASE.replace({"duration": "10 s", "warmup": "auto", "record": {"every": "20 ms"}})
    done = sweep(
        base, over={"links[0].buffer": ["5 packets", "50 packets"]}, store=tmp_path, precision="utilization=3%"
    )
    runs = [point.document["run"] for point in done.points]
    assert all(run["replications"] >= 5 for run in runs)
    assert all(run["warmup_rule"].startswith("MSER-5") for run in runs)
    assert all(point.document["precision"]["met"] for point in done.points)
    again = sweep(base, over={"links[0].buffer": ["5 packets"]}, store=tmp_path, precision="utilization=3%")
    assert again.reused == 1
    # The same asked otherwise is another result.
    assert sweep(base, over={"links[0].buffer": ["5 packets"]}, store=tmp_path).reused == 0


def test_series_are_kept_if_asked_for(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"over": {"seed": [1]}, "store": tmp_path}
    assert sweep(BASE, **asked).reused == 0
    base = BASE.replace({"record": {"every": "50 ms"}})
    assert sweep(base, series=True, **asked).reused == 0
    assert sweep(base, series=True, **asked).reused == 1
    with Store(tmp_path) as store:
        assert any((stored.folder / "samples.parquet").exists() for stored in store.runs())


def document(done: SweepResult) -> dict[str, Any]:
    return {key: value for key, value in done.to_json().items() if key != "provenance"}


def test_the_document_holds_everything_and_nothing_that_changes(undisturbed: Path, tmp_path: Path) -> None:
    one, two = (sweep(BASE, over=OVER, store=folder) for folder in (undisturbed, tmp_path))
    assert document(one) == document(two)
    assert list(document(one)) == [
        "title",
        "seed",
        "replications",
        "precision",
        "max_replications",
        "engine_version",
        "base",
        "axes",
        "points",
        "failures",
        "warnings",
    ]
    first = document(one)["points"][0]
    assert {"labels", "run", "replications", "duration_s", "links", "groups", "fairness"} <= first.keys()
    assert one.to_json()["axes"][1] == {"places": ["links[0].buffer"], "values": [[v] for v in OVER["links[0].buffer"]]}


def test_columns_are_those_of_the_store_also_of_a_group_called_like_a_link(tmp_path: Path) -> None:
    base = BASE.replace({"flows[0].name": BASE.links[0]["name"]})
    done = sweep(base, over={"links[0].buffer": ["5 packets", "50 packets"], "replications": [1, 2]}, store=tmp_path)
    own = done.table().arrow
    with Store(tmp_path) as store:
        kept = store.table().arrow
        asked = store.query('SELECT run, "core.loss_ratio", "flows[core].loss_ratio" FROM results').arrow
    assert sorted(own.column_names) == sorted(kept.column_names)
    by_run = {row["run"]: row for row in kept.to_pylist()}
    assert [by_run[row["run"]] for row in own.to_pylist()] == own.select(kept.column_names).to_pylist()
    assert all(by_run[row["run"]][name] == value for row in asked.to_pylist() for name, value in row.items())
    assert [point.links["loss_ratio"][0] for point in done.points] == own["core.loss_ratio"].to_pylist()


def test_labels_of_several_kinds_are_the_same_texts_in_both_tables(tmp_path: Path) -> None:
    done = sweep(BASE, over={"seed": [1, 2]}, store=tmp_path)
    points = [
        replace(one, point=replace(one.point, labels={"mixed": value}))
        for one, value in zip(done.points, (True, 2), strict=True)
    ]
    with Store(tmp_path / "other") as store:
        for one in points:
            store.run(one.point.scenario, labels=one.labels)
        kept = store.table(columns=["mixed"]).arrow["mixed"].to_pylist()
    assert kept == ["2", "true"]
    assert replace(done, done=tuple(points)).table().arrow["mixed"].to_pylist() == ["true", "2"]


def test_a_damaged_document_of_a_point_is_said_in_one_line(tmp_path: Path) -> None:
    done = sweep(BASE, over={"seed": [1]}, store=tmp_path)
    path = done.points[0].folder / "run.json"
    path.write_bytes(b"x" * path.stat().st_size)
    again = sweep(BASE, over={"seed": [1]}, store=tmp_path)
    with pytest.raises(InputError, match="damaged; elephan store verify --repair"):
        again.to_json()


def test_files_of_a_sweep_are_the_same_each_time(undisturbed: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        sweep(BASE, over=OVER, store=undisturbed).write(tmp_path / name)
    assert (tmp_path / "a" / "points.parquet").read_bytes() == (tmp_path / "b" / "points.parquet").read_bytes()
    read = pq.read_table(tmp_path / "a" / "points.parquet")
    assert read["links[0].buffer"].to_pylist() == OVER["links[0].buffer"] * 4
    assert read["core.utilization_ci95"].null_count == 0


def test_progress_weighs_points_by_their_work(tmp_path: Path) -> None:
    seen: list[SweepProgress] = []
    sweep(BASE, over={"duration": ["0.4 s", "4 s"]}, store=tmp_path, progress=seen.append, workers=1)
    assert [(progress.done, progress.total) for progress in seen] == [(0, 2), (1, 2), (2, 2)]
    assert seen[0].left_s is None
    assert seen[1].cost_done > seen[1].cost_total / 2
    assert seen[2].left_s == 0


def test_a_worker_with_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tasks.run_points
    monkeypatch.setattr(
        execution, "run_points", lambda task: real(task._replace(settings=task.settings._replace(version="0.0.0")))
    )
    with pytest.raises(InputError, match=r"a worker has elephan .*, who asks has 0\.0\.0"):
        sweep(BASE, over={"seed": [1]}, store=tmp_path)


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3"])
def test_a_shard_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="write i/n"):
        sweep(BASE, over={"seed": [1]}, shard=text)


def test_merged_warnings_keep_the_longest_time_that_a_point_needs_and_name_the_shortest() -> None:
    def warned(message: str, remedy: str) -> WarningDocument:
        return {"rule": "short-run", "severity": "warning", "where": "duration", "message": message, "remedy": remedy}

    times = ["give 231 s or more", "give 3165 s or more", "give 625 s or more"]
    merged = _merged([warned(f"a flow lost {i} times", remedy) for i, remedy in enumerate(times)])
    assert merged == {
        **warned("a flow lost 1 times", "give 3165 s or more (the point that needs the least: 231 s)"),
        "points": 3,
    }
    same = _merged([warned("a", "give 20 ms or more"), warned("b", "give 20 ms or more")])
    assert (same["message"], same["remedy"], same["points"]) == ("a", "give 20 ms or more", 2)
    assert _merged([warned("a", "draw starts"), warned("b", "draw others")])["remedy"] == "draw starts"
