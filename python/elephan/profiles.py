"""Profiles of ``tcp``: which keys each sets, read off a scenario that names it.

*Source*: Linux 6.12 for what the profile ``linux`` stands for; ip-sysctl and tcp(7).
"""

from __future__ import annotations

from typing import Any

PROFILES = {
    "linux": (
        "Linux of today, as it is without further settings",
        "Linux 6.12; RFC 6928; RFC 8985",
        "Offload depends on the interface, and pacing on the queue of the host: neither is set. Beside the profile "
        'burst = "linux", receive_offload = { segments = 44 } and pacing = "linux" do. How far the receive window '
        "grows is up to tcp_rmem, which hosts on long fast paths have raised: the profile has no limit, and "
        "receive_window = \"linux\" the default of 6 MiB. The law is the group's: Linux's default is "
        'control = { law = "cubic", variant = "linux" }.',
    ),
}
"""Title, source and what is not as in the source, of each."""

TIME, SIZE = "_ps", "_bytes"
"""How keys of canonical forms end that hold a time in picoseconds, or a size in bytes."""


def profiles() -> list[dict[str, Any]]:
    """Make a card of each profile.

    Returns
    -------
    list of dict
        As cards of the catalogue: ``parameters`` are the keys that it sets, with the value as ``default``.

    Examples
    --------
    >>> {key["name"]: key["default"] for key in profiles()[0]["parameters"]}["min_rto"]
    '200 ms'
    """
    from elephan.scenario import EXAMPLE, Scenario  # noqa: PLC0415 (the engine; start-up does without)
    from elephan.schema import schema  # noqa: PLC0415 (as before)

    meanings = schema()["$defs"]["TcpTable"]["properties"]
    plain = Scenario.from_text(EXAMPLE)
    before = plain.resolved["flows"][0]
    cards = []
    for name, (title, source, differs) in PROFILES.items():
        flow = plain.replace({"flows[0].tcp": name}).resolved["flows"][0]
        rows = [
            _row(key, value, meanings[_key(key)].get("description", ""))
            for key, value in sorted(flow["tcp"].items())
            if before["tcp"].get(key) != value
        ]
        if flow["recovery"] != before["recovery"]:
            rows.append(_row("recovery", flow["recovery"], "How losses are found and repaired, a key of the group."))
        card = {"name": name, "aliases": [], "spellings": {}, "title": title, "source": source, "differs": differs}
        cards.append(card | {"parameters": rows, "needs": [], "without": ""})
    return cards


def _row(key: str, value: Any, meaning: str) -> dict[str, Any]:
    from elephan.units import format_time  # noqa: PLC0415 (as above)

    said = format_time(value / 1e12) if key.endswith(TIME) else f"{value} B" if key.endswith(SIZE) else value
    return {"name": _key(key), "default": said, "unit": "", "meaning": meaning, "needs": []}


def _key(canonical: str) -> str:
    """What a key of a canonical form is called in the file."""
    return canonical.removesuffix(TIME).removesuffix(SIZE)
