"""The model of laws that keep a number of their own packets in the queue, against runs and by hand."""

import numpy as np
import pytest

import elephan
from elephan.errors import InputError
from elephan.theory.models import bottleneck, model
from elephan.theory.models.delay_based import joining

MODEL = model("backlog-target")


def scenario(law: str, flows: int, buffer: int, apart_s: int = 0) -> elephan.Scenario:
    """Flows on 100 Mbit/s and 40 ms that come together, or one after the other."""
    text = f"""
        duration = "{100 + apart_s * flows} s"
        warmup   = "{50 + apart_s * flows} s"
        [[links]]
        name   = "core"
        rate   = "100 Mbit/s"
        delay  = "1 ms"
        buffer = "{buffer} packets"
        queue  = {{ discipline = "drop-tail" }}
        """
    for i in range(flows):
        text += f"""
        [[flows]]
        name     = "bulk{i}"
        path     = ["core"]
        rtt      = "40 ms"
        control  = {{ law = "{law}", slow_start = "classic" }}
        recovery = "sack"
        packet   = "1500 B"
        start    = {{ from = "{i * apart_s} s", to = "{i * apart_s} s" }}
        traffic  = {{ kind = "bulk" }}
        tcp      = {{ initial_ssthresh = {200 // flows} }}
        """
    return elephan.Scenario.from_text(text)


@pytest.mark.parametrize(
    ("law", "flows", "buffer"), [("fast", 1, 250), ("fast", 4, 900), ("vegas", 1, 20), ("vegas", 4, 50)]
)
def test_flows_keep_their_targets_in_the_queue(law: str, flows: int, buffer: int) -> None:
    given = scenario(law, flows, buffer)
    link = bottleneck(given.network, 0)
    assert link
    assert MODEL.predict
    assert not MODEL.unsuited(link)
    said = MODEL.predict(link, np.array([float(buffer)]))
    run = elephan.run(given, replications=1).to_json()["links"][0]
    # Begun in the measured half minute or more: one packet of 400,000 more or less, and the rounding of picoseconds.
    assert run["utilization"]["mean"] == pytest.approx(said.utilization[0], abs=1e-4)
    assert run["loss_ratio"]["mean"] == said.loss_ratio[0] == 0
    # Whole segments and the packet in service, which a sender counts: one per flow. Of Vegas anything in its band of 1
    # to 3 besides.
    packets = flows * (1 if law == "fast" else 2)
    seconds = packets * 1500 * 8 / 100e6
    assert run["queueing_delay_s"]["mean"] == pytest.approx(said.queueing_delay_s[0], abs=seconds)


def test_flows_that_come_one_after_the_other_keep_what_low_peterson_and_wang_say() -> None:
    run = elephan.run(scenario("fast", 4, 2000, apart_s=20), replications=1).to_json()["links"][0]
    # Four flows of whole windows, a packet in service that each counts, and an average that lags: a packet or two each
    # of 1368, and what the first leave over adds to what the next take for distance.
    assert run["backlog_packets"]["mean"] == pytest.approx(200 * joining(4), rel=0.02)


def test_two_flows_that_come_one_after_the_other_keep_the_golden_section() -> None:
    # 1/q + 1/(q - 1) = 1 is q^2 - 3 q + 1 = 0.
    assert joining(2) == pytest.approx((3 + np.sqrt(5)) / 2)


def test_nothing_is_said_where_there_is_no_room() -> None:
    table = MODEL.table({"law": "fast", "flows": "4", "buffer": "799,800"})
    assert np.isnan(table.columns["utilization"]).tolist() == [True, False]
    link = bottleneck(scenario("fast", 4, 900).network, 0)
    assert link
    assert MODEL.predict
    said = MODEL.predict(link, np.array([799.0, 800.0]))
    values = np.stack([said.utilization, said.loss_ratio, said.queueing_delay_s])
    assert np.isnan(values[:, 0]).all()
    assert np.isfinite(values[:, 1]).all()


def test_it_reports_where_it_does_not_apply_and_which_assumptions_are_violated() -> None:
    link = bottleneck(scenario("reno", 1, 50).network, 0)
    assert link
    assert MODEL.unsuited(link) == "reno keeps no set number of packets in the queue"
    link = bottleneck(scenario("fast", 4, 900).network, 0)
    assert link
    (line,) = MODEL.doubts(link)
    assert line.endswith("800 packets waiting at most; if they come one after the other, 1368")
    with pytest.raises(InputError, match="backlog-target: flows must be a whole number from 1 to 10000"):
        MODEL.table({"flows": "2.5"})
