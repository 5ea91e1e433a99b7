"""Pictures of a run: which exist, what they show, and that they are the same each time."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import elephan
from elephan.errors import InputError
from elephan.plots import draw, draw_run, run_figures
from elephan.plots.style import MOST_LINKS, busiest, house_style, save
from elephan.runs.pictures import over_time
from elephan.runs.result import RunResult
from elephan.runs.sampled import sampled
from elephan.runs.saved import SavedRun

pytestmark = pytest.mark.slow

HOPS = 6

LOT = """
title = "Six hops"
duration = "6 s"
warmup = "1 s"
{record}
[[flows]]
name = "long"
path = [{path}]
rtt = "100 ms"
packet = "1000 B"
[[flows]]
name = "transfers"
count = 5
path = ["hop0"]
rtt = "20 ms"
packet = "1000 B"
start = {{ from = "0 s", to = "2 s" }}
traffic = {{ kind = "finite", size = "50 kB" }}
"""

LINK = """
[[links]]
name = "hop{i}"
rate = "{rate} Mbit/s"
delay = "5 ms"
buffer = "20 packets"
"""


def run(record: str) -> RunResult:
    path = ", ".join(f'"hop{i}"' for i in range(HOPS))
    # The later the hop, the wider: what passes the first uses the last least.
    links = "".join(LINK.format(i=i, rate=4 + 2 * i) for i in range(HOPS))
    text = LOT.format(record=record, path=path)
    return elephan.run(elephan.Scenario.from_text(text + links), replications=2, series=True)


def names(written: list[Path]) -> set[str]:
    assert all(path.stat().st_size > 5000 for path in written)
    return {path.name for path in written}


def both(*stems: str) -> set[str]:
    return {f"{stem}{ending}" for stem in stems for ending in (".png", ".svg")}


@pytest.mark.parametrize(
    ("record", "stems"),
    [
        ("", ("run", "distributions")),
        (
            'record = { packets = [{ link = "hop0", from = "2 s", to = "3 s" }] }',
            ("run", "distributions", "packets-hop0"),
        ),
        # Completion times need no samples.
        ('record = { every = "none" }', ("distributions",)),
    ],
)
def test_there_is_a_picture_of_everything_recorded(record: str, stems: tuple[str, ...], tmp_path: Path) -> None:
    assert names(draw_run(run(record), tmp_path)) == both(*stems)


def test_a_figure_and_a_page_are_drawn_of_one_description() -> None:
    result = run("")
    described = over_time(result.to_json(), result.scenario, sampled(result))
    drawn = run_figures(result)["run"]
    assert [figure.name for figure in described] == ["cwnd", "backlog", "srtt", "utilization"]
    assert [axes.get_ylabel() for axes in drawn.axes] == [figure.y.title for figure in described]
    for axes, figure in zip(drawn.axes, described, strict=True):
        lines = [line for line in axes.get_lines() if np.size(line.get_xdata()) > 2]
        assert len(lines) == len(figure.series)
        for line, series in zip(lines, figure.series, strict=True):
            assert np.nanmax(np.asarray(line.get_ydata(), dtype=float)) == np.nanmax(series.y)


def test_samples_in_memory_are_those_of_the_files(tmp_path: Path) -> None:
    result = run("")
    result.write(tmp_path)
    own, read = sampled(result), sampled(SavedRun(tmp_path))
    for name in ("time_s", "flows", "cwnd_segments", "srtt_s", "links", "backlog_packets", "begun_bytes"):
        np.testing.assert_array_equal(getattr(own, name), getattr(read, name), err_msg=name)
    assert own.backlogs.keys() == read.backlogs.keys()
    for name, values in own.backlogs.items():
        np.testing.assert_array_equal(np.sort(values), np.sort(read.backlogs[name]))


def test_of_many_links_the_busiest_are_shown_in_their_order() -> None:
    result = run("")
    used = result.outcomes[0].links["utilization"]
    assert used.size == HOPS > MOST_LINKS
    assert busiest(result) == list(range(MOST_LINKS))
    assert (np.diff(used) < 0).all()


def test_pictures_are_the_same_each_time(tmp_path: Path) -> None:
    record = 'record = { delays = true, packets = [{ link = "hop0", from = "2 s", to = "3 s" }] }'
    first, second = (draw_run(run(record), tmp_path / folder) for folder in ("a", "b"))
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_a_figure_saved_by_itself_is_the_same_each_time_too(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        with house_style():
            figure = Figure()
            figure.subplots().plot([1, 2], marker="o")
        (tmp_path / folder).mkdir()
        save(figure, tmp_path / folder, "line", (".svg",))
    assert (tmp_path / "a/line.svg").read_bytes() == (tmp_path / "b/line.svg").read_bytes()


def test_recorded_packets_are_a_table(tmp_path: Path) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    result = run('record = { packets = [{ link = "hop0", from = "2 s", to = "3 s" }] }')
    result.write(tmp_path)
    table = pq.read_table(tmp_path / "packets.parquet").to_pydict()
    assert set(table) == {
        "replication", "link", "time_s", "flow", "segment", "backlog_packets", "waited_s", "dropped",
        "marked", "retransmission", "ecn", "cwr",
    }  # fmt: skip
    assert set(table["link"]) == {"hop0"}
    assert set(table["replication"]) == {0, 1}
    assert all(2 <= time_s < 3 for time_s in table["time_s"])
    assert max(table["backlog_packets"]) <= 20


def test_delays_of_every_packet_give_the_percentiles() -> None:
    sampled, every = run(""), run("record = { delays = true }")
    counts = every.outcomes[0].delay_histogram(0)
    assert counts.sum() > sampled.outcomes[0].delay_histogram(0).sum()
    # At 4 Mbit/s a full buffer of 20 packets takes 40 ms, and 2 ms for what is left of the one in service.
    link = every.to_json()["links"][0]
    assert 0 < link["queueing_delay_p50_s"]["mean"] <= link["queueing_delay_p99_s"]["mean"] <= 0.042 * (1 + 1 / 64)
    assert link["occupancy"]["mean"] == pytest.approx(link["backlog_packets"]["mean"] / 20)


def test_one_function_writes_the_pictures_of_any_result_and_refuses_anything_else(tmp_path: Path) -> None:
    small = elephan.Scenario.from_text(elephan.EXAMPLE)
    result = elephan.run(small, series=True)
    result.write(tmp_path / "run")
    assert names(draw(elephan.load(tmp_path / "run"), tmp_path / "again")) == both("run")
    assert names(draw(elephan.size(small, "utilization=0.8", model_only=True), tmp_path, endings=(".svg",))) == {
        "size.svg"
    }
    with pytest.raises(InputError, match="there is no picture of a dict"):
        draw({}, tmp_path)
