"""Time of a flow from one loss to the next: the scale for warm-ups and run lengths.

Source: Reno adds a segment per round trip, so its period is W/2 round trips. Other laws are evaluated round trip by
round trip for a single flow, until the window is again as large as before the loss; for HighSpeed this is the recovery
time of RFC 3649. For very large windows a fluid model gives the time from loss to loss. Laws that respond to delay,
marks or routers do not have such a sawtooth, and therefore no period.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache

from elephan import _native
from elephan.catalog import catalog
from elephan.network import FlowGroup

_RESPONDING = {card["name"] for card in catalog("laws") if card.get("response")}

ASKED = _RESPONDING - {"reno", "compound"} | {"ghstcp", "illinois", "westwood"}
"""Laws other than Reno that increase the window until packets are lost."""

BACK = 0.99
"""Share of the window before the loss at which it counts as recovered: some laws approach this window slowly."""

FIRST_ROUNDS = 16
"""Number of rounds simulated at first; doubled until the window has recovered."""

MOST_ACKS = 4e6
"""Maximum number of ACKs to simulate, about a tenth of a second of processor time; the result is then a lower bound."""


def period_s(group: FlowGroup) -> float | None:
    """Time between two losses of a flow that has an equal share of its narrowest link.

    Returns
    -------
    float or None [s]
        None if the law has no sawtooth, or if the window is limited by something other than the buffer, or is below 4.
        For a very long period the result is a lower bound (see `MOST_ACKS`).

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> (group,) = Scenario.from_text(EXAMPLE).network.bulk
    >>> round(period_s(group), 1)
    2.6
    """
    if group.window is None or group.is_held_by_access or group.is_held_by_receiver or group.window < 4:
        return None
    if group.law == "reno":
        return _reno(group.window, group.bdp, group.rtt_s, group.control)
    if group.law not in ASKED:
        return None
    parts = {key: value for key, value in group.control.items() if key != "slow_start"} | {"slow_start": "classic"}
    control = "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in parts.items()) + " }"
    return recovery_s(control, group.window, group.rtt_s, group.bdp)


def slowest(groups: Iterable[FlowGroup]) -> tuple[FlowGroup, float] | None:
    """Group with the longest time between losses, and that time.

    Returns
    -------
    tuple of FlowGroup and float [s], or None
        None if no group has a sawtooth.
    """
    known = [(group, period) for group in groups if (period := period_s(group)) is not None]
    return max(known, key=lambda pair: pair[1], default=None)


def _reno(window: float, bdp: float, rtt_s: float, control: Mapping[str, float]) -> float:
    """Time of Reno's growth from (1 - b) W to W by `a` segments per round trip [s]; above the BDP, RTTs grow."""
    low = window * (1 - control.get("decrease", 0.5))
    climb = max(0.0, min(bdp, window) - low)
    start = max(low, bdp)
    queued = max(0.0, window**2 - start**2) / (2 * bdp) if window > start else 0.0
    return rtt_s * (climb + queued) / control.get("increase", 1.0)


@lru_cache(maxsize=64)
def recovery_s(control: str, window: float, rtt_s: float, bdp: float) -> float:
    """Return the time that a law needs to regain a window after a loss.

    Parameters
    ----------
    control : str
        The law as in a scenario file.
    window, bdp : float [segments]
        Window at the loss; bandwidth-delay product of the path.
    rtt_s : float [s]
        Round-trip time without a queue.

    Returns
    -------
    float [s]

    Examples
    --------
    >>> round(recovery_s('{ law = "highspeed" }', 8333.0, 0.1, 8333.0), 1)
    7.0
    """
    rounds = FIRST_ROUNDS
    if rounds * window > MOST_ACKS:
        return _fluid_s(control, window, rtt_s, bdp)
    while True:
        # The first round is slow start, which doubles W/2 to W; then the loss follows.
        rows = _native.law_rounds(
            control, base_rtt_s=rtt_s, bdp=bdp, losses=[0], timeouts=[], count=rounds, initial_window=window / 2
        )
        start, cwnd = rows[1:, 0], rows[1:, 1]
        back = next((i for i, w in enumerate(cwnd) if i and w >= BACK * window), None)
        if back is not None or rounds * window > MOST_ACKS:
            return float(start[-1 if back is None else back] - start[0])
        rounds *= 2


def _fluid_s(control: str, window: float, rtt_s: float, bdp: float) -> float:
    """Compute the recovery time by a fluid model with a mean RTT, for windows too large to simulate each ACK."""
    import numpy as np  # noqa: PLC0415 (few windows are so large, and start-up time is counted)

    law = _native.LawEvaluator(control)
    base = np.array([rtt_s])
    kept = 1.0 - law.cut(np.array([window]), base, base)[0]
    middle_s = rtt_s * max(1.0, (1.0 + kept) / 2 * window / bdp)
    _, rounds = law.period(np.array([window]), np.array([middle_s]), base)[0]
    # If the window does not recover within the steps of the fluid model, use one round trip with a full queue.
    return float(np.fmax(rounds * middle_s, rtt_s * max(1.0, window / bdp)))
