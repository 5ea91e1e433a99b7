"""Where Linux does not do what a scenario says, so that nobody takes it for a gap between the kernel and the simulator.

*Source*: tcp(7), ip-sysctl(7) and ip-route(8) for what can be set; RFC 8985 and RFC 6937 for what Linux recovers by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elephan.scenario import EXAMPLE, Scenario

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

RECOVERY = "rack"
"""The simulator's that is nearest to the kernel's."""

OWN = {"initial_ssthresh": None, "limited_transmit": True, "send_jitter_ps": 0}
"""Of ``tcp``, what a sender of Linux always has."""

STARTS = {"hybla": "hybla-start", "vegas": "vegas-start"}
"""Slow starts that Linux has under some laws; under the others it is the classic one."""

OTHERWISE = {
    "cubic": "Linux' cubic leaves slow start by HyStart, which the simulator does not have",
    "bbr": "Linux' bbr is the first version, the simulator's the third",
}
"""Laws that are not the same."""


def differences(scenario: Scenario, ours: Collection[str]) -> tuple[str, ...]:
    """Say where Linux does not do what a scenario says.

    Parameters
    ----------
    scenario : Scenario
    ours : collection of str
        Laws whose parameters elephan can set.

    Returns
    -------
    tuple of str
        Each with its place in the file and what would be nearest; none if the kernel can do all of it.

    Examples
    --------
    >>> differences(Scenario.from_text(EXAMPLE).override({"flows[0].recovery": "rack"}), ("reno",))
    ()
    >>> differences(Scenario.from_text(EXAMPLE).override({"flows[0].recovery": "sack"}), ("reno",))
    ('flows[bulk].recovery: Linux recovers as "rack" does, not as "sack"',)
    """
    found = (f"flows[{flow['name']}].{said}" for flow in scenario.resolved["flows"] for said in _of_flow(flow, ours))
    return tuple(dict.fromkeys(found))


def _of_flow(flow: dict[str, Any], ours: Collection[str]) -> Iterator[str]:
    control, tcp = flow["control"], flow["tcp"]
    law = control["law"]
    usual = Scenario.from_text(EXAMPLE).override({"flows[0].control": law}).resolved["flows"][0]["control"]
    changed = [name for name in control if control[name] != usual.get(name)]
    if flow["recovery"] != RECOVERY:
        yield f'recovery: Linux recovers as "{RECOVERY}" does, not as "{flow["recovery"]}"'
    if law in OTHERWISE:
        yield f"control: {OTHERWISE[law]}"
    elif control["slow_start"]["kind"] != (kind := STARTS.get(law, "classic")):
        yield f'control.slow_start: under this law Linux has the one that the simulator calls "{kind}"'
    for name in changed if law not in ours else ():
        if name != "slow_start":
            yield f"control.{name}: Linux keeps its own; a testbed sets parameters of {', '.join(sorted(ours))}"
    for name, always in OWN.items():
        if tcp[name] != always:
            yield f"tcp.{name.removesuffix('_ps')}: Linux cannot be told; leave it out"
