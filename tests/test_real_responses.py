"""Responses on one connection after pauses, compared with a Linux kernel: the window after each pause.

*Source*: `tests/data/real_responses.json`, which `evidence/real_responses.py` measured on Linux 6.18 (HZ = 250).
48 responses of each law, eight after pauses of 0.1, 0.25, 0.45, 0.7, 1 and 3 s, the first on a fresh connection.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import elephan

ROOT = Path(__file__).resolve().parent.parent
KERNEL = json.loads((ROOT / "tests" / "data" / "real_responses.json").read_text(encoding="utf-8"))
LAWS: dict[str, Any] = {"reno": {"law": "reno"}, "cubic": {"law": "cubic", "variant": "linux"}}
SEGMENTS, RESPONSES = 120, 8

NEAR_S = 0.003
"""Tolerance of a response time [s]: the writer checks every 0.2 ms for the last ACK; a tick of the kernel is 4 ms."""


@cache
def simulated(law: str, rule: str, pause: str, folder: Path) -> tuple[float, ...]:
    """Return the durations of the responses [s]."""
    changes = {
        "duration": f"{RESPONSES * (float(pause) + 0.3)} s",
        "warmup": "0 s",
        "links[0].buffer": "333 packets",
        "flows[0].start": "0 s",
        # All of the delay that is not the link's lies on the way back, as in the testbed.
        "flows[0].rtt": "auto",
        "flows[0].control": LAWS[law],
        "flows[0].traffic": {
            "kind": "request-response",
            "size": f"{SEGMENTS * 1460} B",
            "law": "constant",
            "think": f"{pause} s",
            "think_law": "constant",
        },
        "flows[0].tcp": {
            "profile": "linux",
            "delayed_ack": 1,
            "rto_granularity": "4 ms",
            "window_validation": rule,
            # The kernel's device took one segment at once, and its buffers were large.
            "burst": "none",
            "receive_window": "none",
        },
    }
    scenario = elephan.Scenario.from_file(ROOT / "scenarios" / "testbed-senders.toml").replace(changes)
    out = folder / f"{law} {rule} {pause}"
    elephan.run(scenario, series=True).write(out)
    took: list[float] = pq.read_table(out / "transfers.parquet")["duration_s"].to_pylist()
    return tuple(took[:RESPONSES])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder for recordings."""
    return tmp_path_factory.mktemp("responses")


def near(case: str, law: str, rule: str, folder: Path) -> int:
    """Count the responses, of 48, with the same duration as the kernel's."""
    pauses = KERNEL[case]["completion_s"]
    pairs = [pair for pause in pauses for pair in zip(pauses[pause], simulated(law, rule, pause, folder), strict=True)]
    assert len(pairs) == RESPONSES * len(pauses)
    return sum(abs(real - ours) <= NEAR_S for real, ours in pairs)


@pytest.mark.parametrize("law", LAWS)
def test_a_window_falls_with_each_timeout_of_a_pause_as_the_kernels_does(law: str, folder: Path) -> None:
    # If a pause ends within a tick of a timeout, the numbers of halvings may differ by one: at 0.45 and 0.7 s.
    found = {rule: near(law, law, rule, folder) for rule in ("linux", "linux-kept", "none", "rfc5681", "rfc7661")}
    assert found["linux"] >= 38, found
    # The other rules agree where none of them does anything: the first response, a short pause, a very long one.
    assert max(found[rule] for rule in ("linux-kept", "none", "rfc5681", "rfc7661")) <= 30, found


@pytest.mark.parametrize("law", LAWS)
def test_a_window_that_is_kept_sends_a_response_at_once(law: str, folder: Path) -> None:
    found = {rule: near(f"{law}, kept", law, rule, folder) for rule in ("linux-kept", "linux", "none", "rfc5681")}
    assert found["linux-kept"] >= 46, found
    assert max(found[rule] for rule in ("linux", "none", "rfc5681")) <= 24, found
