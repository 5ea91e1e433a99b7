"""Textbook rules of thumb for the buffer of a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.network import Network

if TYPE_CHECKING:
    from elephan.theory.rules import LinkFacts


def rules(network: Network, link: int) -> dict[str, float]:
    """Return the buffers by rules of thumb.

    Parameters
    ----------
    link : int
        One that carries flows.

    Returns
    -------
    dict of str to float [packets]
        Keys as in `elephan.theory.rules.RULES`; a rule that gives no packet is left out.

    References
    ----------
    Those of `elephan.theory.rules.RULES`.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> {name: round(value) for name, value in rules(Scenario.from_text(EXAMPLE).network, 0).items()}
    {'bdp': 100, 'bdp_over_sqrt_n': 71, 'max_bdp': 100, 'min_bdp': 100, 'link_bdp': 50, 'decrease_bdp': 100,
     'log_window': 42, 'twenty': 20, 'hundred': 100}
    """
    from elephan.theory import rules as theory  # noqa: PLC0415 (NumPy is slow to import; --help does without)

    return {name: round(value, 6) for name, value in theory.buffers(_facts(network, link)).items()}


def broken(network: Network, link: int) -> dict[str, list[str]]:
    """List the violated assumptions of each rule.

    Returns
    -------
    dict of str to list of str
        Violated assumptions by rule; only rules with violations are listed.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> broken(Scenario.from_text(EXAMPLE).network, 0)["bdp_over_sqrt_n"]
    ['assumes hundreds of unsynchronized flows; here 2',
     'assumes unsynchronized flows; with equal RTTs flows may synchronize']
    """
    from elephan.theory import rules as theory  # noqa: PLC0415 (as above)

    facts = _facts(network, link)
    lines = {name: theory.broken(name, facts) for name in theory.buffers(facts)}
    return {name: found for name, found in lines.items() if found}


def _facts(network: Network, link: int) -> LinkFacts:
    from elephan.theory.rules import of_link  # noqa: PLC0415 (as above)

    return of_link(network, link)
