"""Rates and delays of links over time, as shown in pictures of runs."""

from pathlib import Path

import numpy as np
import pytest

import elephan
from elephan import Scenario
from elephan.plots import draw_run
from elephan.runs.pictures import over_time
from elephan.runs.sampled import sampled
from elephan.runs.schedules import delay_over_time, rate_over_time

BASE = """
duration = "6 s"
warmup = "1 s"
[[links]]
name = "cell"
rate = RATE
delay = DELAY
buffer = "60 packets"
[[links]]
name = "far"
rate = "9 Mbit/s"
buffer = "60 packets"
[[flows]]
path = ["cell", "far"]
rtt = "80 ms"
packet = "1500 B"
[record]
every = "50 ms"
"""


def scenario(rate: str, delay: str = '"10 ms"') -> Scenario:
    return Scenario.from_text(BASE.replace("RATE", rate).replace("DELAY", delay))


def test_steps_are_shown_as_they_are_in_every_period() -> None:
    link = scenario('{ steps = [["0 s", "8 Mbit/s"], ["1.5 s", "0 bit/s"]], period = "2.5 s" }').resolved["links"][0]
    found = rate_over_time(link, 6.0)
    assert found is not None
    times, rates = found
    assert times.tolist() == pytest.approx([0, 1.5, 2.5, 4, 5, 6])
    assert (1e-6 * rates).tolist() == [8, 0, 8, 0, 8, 8]
    assert delay_over_time(link, 6.0) is None


@pytest.mark.parametrize(
    "rate",
    [
        '{ steps = [["0 s", "8 Mbit/s"], ["1 ms", "2 Mbit/s"]], period = "4 ms" }',
        '{ sine = { mean = "5 Mbit/s", amplitude = "4 Mbit/s", period = "3 s" } }',
        '{ opportunities = "1 2 3x2 7" }',
    ],
)
def test_what_changes_too_often_or_all_the_time_is_shown_in_means_that_pass_what_the_link_passes(rate: str) -> None:
    made = scenario(rate)
    found = rate_over_time(made.resolved["links"][0], 6.0)
    assert found is not None
    times, rates = found
    passed = (np.diff(times) * rates[:-1]).sum() / 6
    # A part of a period, or an opportunity, more or less; the simulator says what a whole one passes.
    assert passed == pytest.approx(made.links[0]["rate_bps"], rel=2e-3)
    # A constant would pass as much: a wave's top is that of the wave.
    if "sine" in rate:
        assert rates.max() == pytest.approx(9e6, rel=1e-3)
        assert rates.min() == pytest.approx(1e6, rel=1e-2)


def test_a_link_that_changes_is_shown_under_what_waits_and_no_other(tmp_path: Path) -> None:
    steps = '{ steps = [["0 s", "10 ms"], ["3 s", "30 ms"]] }'
    result = elephan.run(
        scenario('{ sine = { mean = "5 Mbit/s", amplitude = "4 Mbit/s", period = "3 s" } }', steps), series=True
    )
    document = result.to_json()
    figures = over_time(document, result.scenario, sampled(result))
    names = [figure.name for figure in figures]
    assert names[names.index("backlog") + 1 :][:2] == ["rate", "delay"]
    delay = figures[names.index("delay")]
    assert [series.name for series in delay.series] == ["cell"]
    assert delay.series[0].y.tolist() == [10, 30, 30]
    assert "replication" not in delay.alt
    assert draw_run(result, tmp_path)
    plain = elephan.run(scenario('"9 Mbit/s"'), series=True)
    names = [figure.name for figure in over_time(plain.to_json(), plain.scenario, sampled(plain))]
    assert not {"rate", "delay"} & set(names)
