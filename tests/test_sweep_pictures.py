"""The picture of a sweep: the choice of axis and lines, and quantities with units as numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elephan.plots.sweep as plots
from elephan.plots import draw
from elephan.plots.sweep import as_numbers, numeric_axis, sweep_figure
from elephan.scenario import EXAMPLE, Scenario
from elephan.sweeps import SweepResult, sweep

BASE = Scenario.from_text(EXAMPLE).replace({"duration": "0.4 s", "warmup": "0.1 s", "replications": 2})


@pytest.fixture
def swept(tmp_path: Path) -> Any:
    def make(**what: Any) -> SweepResult:
        return sweep(BASE, store=tmp_path, **what)

    return make


@pytest.mark.parametrize(
    ("place", "values", "title", "numbers"),
    [
        # 10 Mbit/s, 80 ms and packets of 1000 B: a bandwidth-delay product of 100 packets, a packet 0.8 ms.
        (
            "links[0].buffer",
            ["0.1 bdp", "16 ms", "30 kB", "40 packets"],
            "buffer of core [packets]",
            [10, 20, 30, 40],
        ),
        ("links[core].buffer", ["5 packets", "unlimited", "0.5 bdp"], "buffer of core [packets]", [5, np.nan, 50]),
        ("links[0].rate", ["10 Mbit/s", "0.02 Gbit/s"], "links[0].rate [Mbit/s]", [10, 20]),
        ("flows[0].rtt", ["80 ms", "0.1 s"], "flows[0].rtt [ms]", [80, 100]),
        ("flows[0].packet", ["1000 B", "1.5 kB"], "flows[0].packet [B]", [1000, 1500]),
        ("flows[0].count", [1, 3], "flows[0].count", [1, 3]),
    ],
)
def test_quantities_become_numbers(swept: Any, place: str, values: list[Any], title: str, numbers: list[float]) -> None:
    found = as_numbers(place, swept(over={place: values}).points)
    assert found is not None
    assert found.title == title
    assert found.values == pytest.approx(numbers, nan_ok=True)


@pytest.mark.parametrize(
    ("place", "values"),
    [
        ("flows[0].control.law", ["reno", "cubic"]),
        ("flows[0].tcp.limited_transmit", [True, False]),
        ("links[0].buffer", ["9 ms"]),
    ],
)
def test_words_and_single_values_are_no_axis(swept: Any, place: str, values: list[Any]) -> None:
    done = swept(over={place: values})
    assert as_numbers(place, done.points) is None
    assert sweep_figure(done) is None


def test_the_axis_is_what_has_most_values_and_the_rest_are_lines(swept: Any) -> None:
    done = swept(over={"flows[0].control.law": ["reno", "cubic"], "seed": [1, 2], "links[0].buffer": "5..50 packets:4"})
    axis = numeric_axis(done.points)
    assert axis is not None
    assert axis.name == "links[0].buffer"
    figure = sweep_figure(done)
    assert figure is not None
    top = figure.axes[0]
    assert top.get_legend_handles_labels()[1] == ["reno, seed 1", "reno, seed 2", "cubic, seed 1", "cubic, seed 2"]
    assert {tuple(np.asarray(line.get_xdata()).tolist()) for line in top.lines} == {(5, 11, 23, 50)}
    shown = [point.links["utilization"][0] for point in done.points[:4]]
    assert np.asarray(top.lines[0].get_ydata()).tolist() == shown
    # A factor of ten or less is no decade to speak of.
    assert top.get_xscale() == "linear"


def test_over_more_than_a_decade_the_axis_is_logarithmic(swept: Any) -> None:
    figure = sweep_figure(swept(over={"links[0].buffer": "2..50 packets:4"}))
    assert figure is not None
    assert figure.axes[0].get_xscale() == "log"


def test_lists_that_go_together_are_one_line(swept: Any) -> None:
    done = swept(zip={"links[0].rate": ["10 Mbit/s", "20 Mbit/s"], "flows[0].count": [2, 4]})
    figure = sweep_figure(done)
    assert figure is not None
    assert len(figure.axes[0].lines) == 1
    assert figure.axes[0].get_legend() is None


def test_more_lines_than_can_be_told_apart_are_left_out_and_that_is_said(
    swept: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, "MOST_LINES", 2)
    figure = sweep_figure(swept(over={"links[0].buffer": "1..20 packets:4", "seed": [1, 2, 3]}))
    assert figure is not None
    assert len(figure.axes[0].lines) == 2
    assert "2 of 3 lines" in figure.get_supxlabel()


@pytest.mark.slow
def test_the_same_sweep_is_the_same_picture(swept: Any, tmp_path: Path) -> None:
    for name in ("a", "b"):
        draw(swept(over={"links[0].buffer": "2..50 packets:4"}), tmp_path / name)
    assert (tmp_path / "a" / "sweep.png").read_bytes() == (tmp_path / "b" / "sweep.png").read_bytes()
