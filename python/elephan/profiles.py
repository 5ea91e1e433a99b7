"""Profiles of ``tcp`` and of queues: the keys that each sets, with their sources in Linux.

*Source*: Linux 6.12 for the profile ``linux``, 6.18 for DualPI2; ip-sysctl and tcp(7). The values of
``tcp`` are read from a scenario that names the profile, those of queues are defined with the disciplines, in Rust.
"""

from __future__ import annotations

import json
from typing import Any

from elephan import _native

VERSION = "6.12"

PROFILES = {
    "linux": (
        'A host: tcp = "linux"',
        f"Linux {VERSION}; RFC 6928; RFC 8985",
        "Receive offload depends on the interface, and pacing on the queue of the host: neither is set. Beside the "
        'profile receive_offload = { segments = 44 } and pacing = "linux" do. The receive window ends at 3 MiB, as the '
        "default of tcp_rmem has it; hosts on long fast paths have raised it, and Linux 6.16 has: "
        'receive_window = { max = "32 MiB" }, or "none" for one that never binds. No packet of the handshake is '
        "simulated: its sample is the round-trip time without queues, and until data has given one the timeout is at "
        'least a second. The law is what Linux runs under its name: "cubic", the default, is variant "linux" with '
        '"hystart-linux", "bbr" is "bbr1", and version 3 is "bbr3"; what a file says beside the name is kept. '
        '"reno" and "scalable" have real-valued windows; with variant "linux" they have Linux\'s whole segments.',
    ),
}
"""Title, source and deviations from the source, for each profile."""

SOURCES = {
    "abc_limit": "net/ipv4/tcp_cong.c, tcp_slow_start",
    "burst": "net/ipv4/tcp_output.c, tcp_tso_autosize",
    "control": "net/ipv4/Kconfig, DEFAULT_TCP_CONG; tcp_cubic.c, tcp_bbr.c; sysctl tcp_congestion_control",
    "delayed_ack": "net/ipv4/tcp_input.c, __tcp_ack_snd_check",
    "delayed_ack_timeout": "include/net/tcp.h, TCP_DELACK_MIN",
    "ecn": "net/ipv4/tcp_ipv4.c, tcp_sk_init; sysctl tcp_ecn = 2",
    "ecn_floor": "net/ipv4/tcp_cong.c, tcp_reno_ssthresh; tcp_cubic.c, cubictcp_recalc_ssthresh",
    "header": "net/ipv4/tcp_ipv4.c, tcp_sk_init; sysctl tcp_timestamps = 1",
    "initial_window": "include/net/tcp.h, TCP_INIT_CWND",
    "min_rto": "include/net/tcp.h, TCP_RTO_MIN; sysctl tcp_rto_min_us",
    "pacing": "net/ipv4/tcp_input.c, tcp_update_pacing_rate; sysctl tcp_pacing_ss_ratio",
    "quick_acks": "net/ipv4/tcp_input.c, tcp_enter_quickack_mode; include/net/tcp.h, TCP_MAX_QUICKACKS",
    "receive_offload": "net/ipv4/tcp_offload.c, tcp_gro_receive",
    "receive_window": "net/ipv4/tcp_input.c, tcp_rcv_space_adjust; sysctl tcp_rmem",
    "recovery": "net/ipv4/tcp_recovery.c, tcp_rack_mark_lost; sysctl tcp_recovery = 1",
    "rto": "net/ipv4/tcp_input.c, tcp_rtt_estimator and tcp_set_rto",
    "rto_granularity": "net/ipv4/tcp_timer.c: jiffies, 1/HZ",
    "timestamps": "net/ipv4/tcp_ipv4.c, tcp_sk_init; sysctl tcp_timestamps = 1",
    "window_validation": "net/ipv4/tcp_output.c, tcp_cwnd_restart; sysctl tcp_slow_start_after_idle = 1",
}
"""Source in Linux of each key that the profile sets or that is related: file and function, or sysctl."""

NOT_MODELLED = "BQL, driver rings, TSQ; undo of cuts (F-RTO, DSACK, Eifel) but on links with reorder"
"""Behaviour of a Linux host that a scenario cannot express."""

TIME, SIZE = "_ps", "_bytes"
"""Suffixes of keys of canonical forms: times in picoseconds, sizes in bytes."""


def profiles() -> list[dict[str, Any]]:
    """Return a card of each profile: of ``tcp``, then of the queues that have one.

    Returns
    -------
    list of dict
        As cards of the catalogue: ``parameters`` are the keys that it sets, with the value as ``default`` and the
        ``source`` of each.

    Examples
    --------
    >>> {key["name"]: key["default"] for key in profiles()[0]["parameters"]}["min_rto"]
    '200 ms'
    >>> [card["name"] for card in profiles()][:3]
    ['linux', 'red/linux', 'pie/linux']
    """
    return [*_of_tcp(), *_of_queues()]


def profiled_queues() -> list[str]:
    """List the disciplines that have a profile.

    Returns
    -------
    list of str

    Examples
    --------
    >>> profiled_queues()
    ['red', 'pie', 'sfq', 'codel', 'fq-codel', 'dualpi2']
    """
    return [each["discipline"] for each in json.loads(_native.catalog("queue-profiles"))]


def _of_tcp() -> list[dict[str, Any]]:
    from elephan.scenario import EXAMPLE, Scenario  # noqa: PLC0415 (the engine; start-up does without)
    from elephan.schema import schema  # noqa: PLC0415 (as before)

    tables = schema()["$defs"]
    meanings = tables["TcpTable"]["properties"]
    recovery = tables["Flows"]["properties"]["recovery"]["description"].partition(" Default:")[0]
    plain = Scenario.from_text(EXAMPLE)
    before = plain.resolved["flows"][0]
    cards = []
    for name, (title, source, differs) in PROFILES.items():
        flow = plain.replace({"flows[0].tcp": name}).resolved["flows"][0]
        rows = [
            _row(_key(key), _said(key, value), meanings[_key(key)].get("description", ""), SOURCES.get(_key(key), ""))
            for key, value in sorted(flow["tcp"].items())
            if key not in before["tcp"] or before["tcp"][key] != value
        ]
        rows.append(_row("recovery", flow["recovery"], recovery, SOURCES["recovery"]))
        law = flow["control"]
        default = f"{law['law']}, {law['variant']}, {law['slow_start']['kind']}"
        meaning = "Law without further settings, its variant, and its slow start."
        rows.append(_row("control", default, meaning, SOURCES["control"]))
        cards.append(_card(name, title, source, differs, rows))
    return cards


def _of_queues() -> list[dict[str, Any]]:
    from elephan.catalog import catalog  # noqa: PLC0415 (the engine; start-up does without)

    cards = []
    queues = {card["name"]: card for card in catalog("queues")}
    for profile in json.loads(_native.catalog("queue-profiles")):
        name = profile["discipline"]
        meanings = {row["name"]: row["meaning"] for row in queues[name]["parameters"]}
        meanings["limit"] = "The link's buffer, where neither the link nor the table says it."
        rows = [_row(row["name"], row["default"], meanings[row["name"]], row["source"]) for row in profile["settings"]]
        title = f'A queue: profile = "{profile["name"]}"'
        source = f"Linux {profile['version']}"
        cards.append(_card(f"{name}/{profile['name']}", title, source, profile["differs"], rows))
    return cards


def _card(name: str, title: str, source: str, differs: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    card = {"name": name, "aliases": [], "spellings": {}, "title": title, "source": source, "differs": differs}
    return card | {"parameters": rows, "needs": [], "without": ""}


def _said(key: str, value: Any) -> Any:
    from elephan.units import format_time  # noqa: PLC0415 (as above)

    if value is None:
        return "none"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(name)} = {json.dumps(_said(name, one))}" for name, one in value.items()) + " }"
    return format_time(value / 1e12) if key.endswith(TIME) else f"{value} B" if key.endswith(SIZE) else value


def _row(name: str, default: Any, meaning: str, source: str) -> dict[str, Any]:
    return {"name": name, "default": default, "unit": "", "meaning": meaning, "needs": [], "source": source}


def _key(canonical: str) -> str:
    """Return the scenario file's key for a key of the canonical form."""
    return canonical.removesuffix(TIME).removesuffix(SIZE)
