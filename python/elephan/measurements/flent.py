"""flent's data files (``.flent``, ``.flent.gz``).

*Source*: flent 2 (`flent/resultset.py`, `flent/runners.py`). With the option `socket_stats` there are series of each
socket, such as ``TCP upload::tcp_rtt`` and ``TCP upload::1::tcp_cwnd``: `tcp_rtt` is in milliseconds, `tcp_cwnd` in
segments, `tcp_delivery_rate` in Mbit/s. The series without a suffix is the goodput in Mbit/s.
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

from elephan.measurements.series import MeasuredFlow, Measurement, check_count, flow_of, number

Document = dict[str, Any]

MSS_B = 1448.0
"""Assumed payload of a segment, as flent does not state it [bytes]."""


def is_flent(document: Any) -> bool:
    """Whether a JSON document is a data file of flent."""
    return isinstance(document, dict) and "x_values" in document and "results" in document


def read(document: Document, path: Path) -> Measurement:
    """Read a data file of flent.

    Raises
    ------
    ValueError
        If the file has no series of a socket.
    """
    times, results = document.get("x_values"), document.get("results")
    metadata = document.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    if not isinstance(times, list) or not isinstance(results, dict):
        raise ValueError('is no flent file: "x_values" must be a list, and "results" a table')
    check_count(len(times) * max(len(results), 1), "values")
    names = [name.removesuffix("::tcp_rtt") for name in results if str(name).endswith("::tcp_rtt")]
    if not names:
        message = "has no series of a socket (tcp_rtt, tcp_cwnd); give flent --socket-stats, in the test of an upload"
        raise ValueError(message)
    flows = [flow for name in names if (flow := _flow(name, times, results, metadata)) is not None]
    if not flows:
        raise ValueError("has fewer than three values of tcp_rtt")
    flows.sort(key=lambda flow: flow.volume, reverse=True)
    notes = (f"flent states no segment size: {MSS_B:.0f} bytes are assumed",)
    return Measurement(path, "flent", tuple(flows), notes, base_rtt_s=_before(times, results))


def _series(results: Document, name: str, count: int, scale: float) -> list[float]:
    values = results.get(name)
    values = values if isinstance(values, list) else []
    return [number(value, scale) for value in values[:count]] + [math.nan] * (count - len(values[:count]))


def _flow(name: str, times: list[Any], results: Document, metadata: Document) -> MeasuredFlow | None:
    at = [number(time) for time in times]
    rtt = _series(results, f"{name}::tcp_rtt", len(at), 1e-3)
    keep = [i for i, (time, value) in enumerate(zip(at, rtt, strict=True)) if math.isfinite(time) and value > 0]
    if len(keep) < 3:
        return None
    rate = _series(results, name, len(at), 1e6 / 8)
    step = sorted(b - a for a, b in pairwise(at) if b > a)
    step_s = step[len(step) // 2] if step else 0.2
    columns = {
        "srtt_s": rtt,
        "rttvar_s": _series(results, f"{name}::tcp_rtt_var", len(at), 1e-3),
        "cwnd_bytes": _series(results, f"{name}::tcp_cwnd", len(at), MSS_B),
        "delivery_rate_bps": _series(results, f"{name}::tcp_delivery_rate", len(at), 1e6),
        "bytes": [value * step_s for value in rate],
    }
    law = metadata.get("EGRESS_INFO")
    law = law.get("tcp_cong_control") if isinstance(law, dict) else None
    chosen = {key: [values[i] for i in keep] for key, values in columns.items()}
    return flow_of(str(name)[:60], [at[i] for i in keep], chosen, law=law[:32] if isinstance(law, str) else "")


def _before(times: list[Any], results: Document) -> float:
    """Return the smallest ping of the first five seconds, before flent starts its flows [s]; NaN without one."""
    for name, values in results.items():
        if str(name).startswith("Ping (ms)") and isinstance(values, list):
            early = [number(v, 1e-3) for t, v in zip(times, values, strict=False) if 0 <= number(t) < 5]
            known = [value for value in early if value > 0]
            if known:
                return min(known)
    return math.nan
