"""The simulator against what Linux's senders did on a testbed: tests/data/real_stacks.json, by tools/real_stacks.py."""

import json
from pathlib import Path

import pytest

import elephan
from conftest import SCENARIOS

KEPT = Path(__file__).parent / "data" / "real_stacks.json"
MEASURED = json.loads(KEPT.read_text(encoding="utf-8"))
LAWS = {"reno": {"law": "reno"}, "cubic": {"law": "cubic", "variant": "linux"}, "bbr": {"law": "bbr1"}}

PERIOD = {"reno": 0.02, "cubic": 0.06, "bbr": 0.1}
"""Reno's teeth are all alike. CUBIC's rest on eight losses a minute: two runs of the kernel were 5.6 % apart."""


def simulated(law: object, way: str, flows: str, buffer: str) -> dict[str, float]:
    """What the simulator says of a cell."""
    changes: dict[str, object] = {"links[0].buffer": f"{buffer} packets", "flows[0].count": int(flows)}
    changes |= {"flows[0].control": law}
    changes |= {"flows[0].tcp.pacing": "linux"} if "paced" in way.split() else {}
    changes |= {"flows[0].tcp.burst": "linux"} if "bursts" in way else {}
    scenario = elephan.Scenario.from_file(SCENARIOS / "testbed-senders.toml").replace(changes)
    rows = elephan.compare(scenario, real=False).to_json()["rows"]
    return {row["name"]: row["simulation"] or 0.0 for row in rows}


@pytest.mark.parametrize("cell", MEASURED)
def test_utilization_and_period_are_the_kernels(cell: str) -> None:
    law, way, flows, buffer = cell.split(", ")
    ours, real = simulated(LAWS[law], way, flows, buffer), MEASURED[cell]
    assert abs(ours["utilization"] - real["utilization"]) < 0.01
    if law == "bbr" and ours["loss_ratio"] == 0:
        # Nothing is lost that would make a period: what Linux lost in a minute are a few packets.
        assert real["loss_ratio"] < 1e-4
        return
    assert abs(ours["period_s"] / real["period_s"] - 1) < PERIOD[law]
    # Of an unpaced flow also the loss, and that tells a null from it: the wrong law is far off.
    if way == "unpaced":
        assert abs(ours["loss_ratio"] / real["loss_ratio"] - 1) < 0.06
    wrong = simulated({"law": "highspeed"}, way, flows, buffer)
    assert abs(wrong["period_s"] / real["period_s"] - 1) > 3 * PERIOD[law]
