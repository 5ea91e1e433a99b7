"""Reasons for which a queue of a link has no line of `tc`.

Sources: tc-red(8), tc-pie(8), tc-sfq(8), tc-pfifo(8), and tc-dualpi2(8) of iproute2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elephan.input_files import as_text

if TYPE_CHECKING:
    from elephan.scenario import Scenario

_RED = {"gentle": False, "count": "classic", "least_backlog": 0.0}

LINUX: dict[str, dict[str, object]] = {
    "drop-tail": {"ecn_threshold": "0 packets"},
    "drop-head": {},
    "red": _RED,
    "ared": {**_RED, "looks": "clock"},
    "pie": {"mark_ecnth": 0.1, "max_burst": "150 ms"},
    "sfq": {},
    "codel": {},
    "fq-codel": {},
    "dualpi2": {"scheduler": "weighted", "decide": "random", "ramp": "0 s"},
}
"""Disciplines that Linux has, each with the parameters that `tc` cannot set and Linux's values of them."""

SFQ_PACKETS = 127
"""Largest buffer of sfq on Linux, unless its depth is changed."""

_OF_LINKS = {
    "loss": "random loss",
    "policer": "a policer",
    "batch_ps": "delivery in batches",
    "pool": "a shared memory",
}
"""Keys of a link, apart from its queue, that affect which packets pass and when, with their names in messages."""


def why_no_tc(scenario: Scenario, link: int) -> str:
    """Say why `tc` has no line for the queue of a link.

    Parameters
    ----------
    link : int

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> two = Scenario.from_text(EXAMPLE)
    >>> why_no_tc(two.replace({"links[0].queue": "fq"}), 0)
    'Linux has no discipline that does what fq does here'
    >>> why_no_tc(two.replace({"links[0].queue": "red"}), 0)
    'tc cannot set count = wait and gentle = true of red (Linux has classic and false)'
    """
    made, fact = scenario.resolved["links"][link], scenario.links[link]
    beside = [words for key, words in _OF_LINKS.items() if made.get(key) is not None]
    if fact["rate_changes"]:
        beside.append("a changing rate")
    if beside:
        return f"{' and '.join(beside)} of the link also {'affect' if len(beside) > 1 else 'affects'} what passes"
    name, queue = fact["discipline"], fact["queue"]
    if name not in LINUX:
        return f"Linux has no discipline that does what {name} does here"
    unlike = sorted(key for key, value in LINUX[name].items() if _unlike(queue.get(key), value))
    if unlike:
        ours = " and ".join(f"{key} = {as_text(queue[key])}" for key in unlike)
        theirs = " and ".join(as_text(LINUX[name][key]) for key in unlike)
        return f"tc cannot set {ours} of {name} (Linux has {theirs})"
    limit = fact["buffer_limit_packets"]
    if limit is None and fact["buffer_limit_bytes"] is None:
        return "the buffer has no limit"
    if made.get("shaper") is not None:
        return "tbf of Linux cannot hold the burst of this shaper, or this buffer"
    if limit is None and name != "drop-tail":
        return f"{name} of Linux counts packets, and this buffer has no limit in packets"
    if name == "sfq" and limit is not None and limit > SFQ_PACKETS:
        return f"sfq of Linux holds at most {SFQ_PACKETS} packets"
    chosen = ", ".join(f"{key} {as_text(value)}" for key, value in sorted(queue.items()))
    return f"Linux's {name} does not accept one of these numbers: {chosen}"


def _unlike(ours: Any, theirs: object) -> bool:
    return ours is not None and ours != theirs
