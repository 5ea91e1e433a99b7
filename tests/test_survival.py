"""A sweep survives external events; a small test here, in full with ``make survival``."""

from pathlib import Path

import pytest

from survival import survive

pytestmark = pytest.mark.slow


def test_whatever_happens_the_sweep_ends_with_the_same_bytes(tmp_path: Path) -> None:
    # Twenty simulated seconds a point, some 20 ms of work: kills fall among the points.
    rows = survive(tmp_path, points=60, kills=2, duration_s=20, disk="1100k")
    assert len(rows) > 15
    assert [(what, seen) for what, held, seen in rows if not held] == []
