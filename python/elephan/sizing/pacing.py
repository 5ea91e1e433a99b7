"""The same scenario with paced senders, for answers that hold with and without pacing."""

from __future__ import annotations

from typing import Any

from elephan.errors import InputError, unknown
from elephan.scenario import Scenario

BOTH = "both"
WAYS = ("none", "linux", "quic")
"""Values of ``tcp.pacing``."""


def with_pacing(scenario: Scenario, pacing: str) -> Scenario:
    """Return the scenario with the same pacing for every TCP group.

    Parameters
    ----------
    pacing : str
        One of `WAYS`.

    Returns
    -------
    Scenario
        Whatever else the groups say of TCP stays; datagrams have no pace.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> with_pacing(Scenario.from_text(EXAMPLE), "linux").resolved["flows"][0]["tcp"]["pacing"]
    'linux'
    """
    groups = scenario.source.get("flows", [])
    changes: dict[str, object] = {}
    for i, (written, resolved) in enumerate(zip(groups, scenario.resolved["flows"], strict=True)):
        if resolved["control"] is not None:
            changes[f"flows[{i}].tcp"] = _paced(written.get("tcp"), pacing)
    return scenario.replace(changes) if changes else scenario


def _paced(tcp: Any, pacing: str) -> dict[str, Any]:
    """Return a group's ``tcp`` table with its pacing set."""
    if isinstance(tcp, str):
        return {"profile": tcp, "pacing": pacing}
    return {**(tcp or {}), "pacing": pacing}


def check_pacing(pacing: str | None) -> None:
    """Refuse an unknown pacing.

    Raises
    ------
    InputError
        If the pacing is unknown; the message lists the valid ones.
    """
    if pacing is not None and pacing not in (*WAYS, BOTH):
        raise InputError(f"pacing: {unknown('way to pace', pacing, (*WAYS, BOTH))}")
