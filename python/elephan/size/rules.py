"""What the textbook would have said: rules of thumb for the buffer of a link; and a scenario with another buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elephan.scenario import Scenario

SHOWN = ("bdp", "bdp_over_sqrt_n", "max_bdp", "min_bdp", "link_bdp")
"""Rules that an answer shows."""


def rules(link: dict[str, Any]) -> dict[str, float]:
    """Buffers that rules of thumb give.

    Parameters
    ----------
    link : dict
        Facts of a link that carries flows.

    Returns
    -------
    dict of str to float [packets]
        Keys as in `SHOWN`; a rule that gives no packet is left out.

    References
    ----------
    Villamizar1994, Appenzeller2004, Barman2004.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> {name: round(value) for name, value in rules(Scenario.from_text(EXAMPLE).links[0]).items()}
    {'bdp': 100, 'bdp_over_sqrt_n': 71, 'max_bdp': 100, 'min_bdp': 100, 'link_bdp': 50}
    """
    from elephan.theory import rules as theory  # noqa: PLC0415 (NumPy is slow to import; --help does without)

    values = theory.buffers(theory.facts(link))
    return {name: round(values[name], 6) for name in SHOWN if name in values}


def with_buffer(scenario: Scenario, link: int, packets: int) -> Scenario:
    """Return a scenario with another buffer, in bytes if its file's is in bytes.

    Parameters
    ----------
    scenario : Scenario
    link : int
    packets : int [packets]

    Returns
    -------
    Scenario
        What its discipline derives from the buffer follows.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> with_buffer(Scenario.from_text(EXAMPLE), 0, 1250).links[0]["tc"]
    'tc qdisc replace dev eth0 root pfifo limit 1250'
    """
    facts = scenario.links[link]
    in_bytes = facts["buffer_limit_bytes"] is not None
    text = f"{round(packets * facts['packet_bytes'])} B" if in_bytes else f"{packets} packets"
    return scenario.override({f"links[{link}].buffer": text})
