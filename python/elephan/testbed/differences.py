"""Settings of a scenario that Linux does not follow, so that results may differ without an error of the simulator.

*Source*: tcp(7), ip-route(8) and the kernel's own page of ip-sysctl for the available settings; RFC 8985 and RFC 9937
for Linux's recovery. A testbed does not change settings of the whole machine, such as parameters of kernel modules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from elephan.scenario import EXAMPLE, Scenario

RECOVERY = "rack"
"""The simulator's recovery that is most similar to the kernel's."""

AS_LINUX: dict[str, tuple[dict[str, str], str]] = {
    "reno": ({}, "classic"),
    "cubic": ({"variant": "linux"}, "hystart-linux"),
    "bbr1": ({}, "classic"),
}
"""Laws that the simulator has in Linux's version, and the parameters and the slow start of this version."""

INSTEAD = {"bbr3": ("bbr", "bbr1")}
"""Laws that Linux has in another version, and the names of this version in Linux and in the simulator."""

ALWAYS = {
    "initial_ssthresh": None,
    "limited_transmit": True,
    "send_jitter_ps": 0,
    "rto_granularity_ps": 1_000_000_000,
}
"""Values of ``tcp`` in Linux that a testbed does not change."""


def differences(scenario: Scenario, ours: Collection[str]) -> tuple[str, ...]:
    """List the differences between a scenario and the behaviour of Linux.

    Parameters
    ----------
    ours : collection of str
        Laws that elephan itself loads into the kernel.

    Returns
    -------
    tuple of str
        One text for each, with its place in the file; empty if the kernel supports everything.

    Examples
    --------
    >>> differences(Scenario.from_text(EXAMPLE).replace({"flows[0].recovery": "rack"}), ("reno",))
    ()
    >>> differences(Scenario.from_text(EXAMPLE).replace({"flows[0].recovery": "sack"}), ("reno",))
    ('flows[bulk].recovery: Linux recovers as "rack" does, not as "sack"',)
    """
    found = (f"flows[{flow['name']}].{line}" for flow in scenario.resolved["flows"] for line in _of_flow(flow, ours))
    return tuple(dict.fromkeys(found))


def _of_flow(flow: dict[str, Any], ours: Collection[str]) -> Iterator[str]:
    if flow["recovery"] != RECOVERY:
        yield f'recovery: Linux recovers as "{RECOVERY}" does, not as "{flow["recovery"]}"'
    if any(value is not None for value in flow["access"].values()):
        yield "access: a testbed has none"
    yield from _of_law(flow["control"], ours)
    tcp = flow["tcp"]
    if tcp["ecn"] == "l4s":
        yield "tcp.ecn: Linux has classic ECN here"
    if tcp["delayed_ack"] != 1:
        yield "tcp.delayed_ack: Linux delays ACKs by rules of its own"
    if tcp.get("pacing", "none") == "quic":
        yield "tcp.pacing: Linux paces by its own rule"
    if isinstance(tcp.get("burst", "none"), int):
        yield "tcp.burst: Linux sizes bursts itself, up to that many segments"
    if tcp.get("receive_offload") is not None:
        yield "tcp.receive_offload: the interface of a testbed merges nothing"
    for name, always in ALWAYS.items():
        if tcp[name] != always:
            yield f"tcp.{name.removesuffix('_ps')}: a testbed does not set it"


def _of_law(control: dict[str, Any], ours: Collection[str]) -> Iterator[str]:
    law, start = control["law"], "classic"
    stated: dict[str, str] = {}
    if law in AS_LINUX and control.items() >= AS_LINUX[law][0].items():
        stated, start = AS_LINUX[law]
    elif law not in ours:
        wanted = AS_LINUX[law][0] if law in AS_LINUX else {}
        parameters = ", ".join(f'{name} = "{value}"' for name, value in wanted.items())
        called, said = INSTEAD.get(law, (law, parameters))
        better = f"; {said} is that" if said else "; elephan list laws --details says what the simulator's is"
        yield f"control: Linux has a {called} of its own{better}"
        return
    if (kind := control["slow_start"]["kind"]) != start:
        yield f'control.slow_start: Linux has "{start}" under this law, not "{kind}"'
    if law not in ours:
        example = Scenario.from_text(EXAMPLE).replace({"flows[0].control": {"law": law, **stated}})
        usual = example.resolved["flows"][0]["control"]
        for name in (name for name in control if name not in ("slow_start", "hz") and control[name] != usual.get(name)):
            yield f"control.{name}: Linux' {law} has no parameters"
