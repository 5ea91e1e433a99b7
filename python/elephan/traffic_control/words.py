"""Option words that tc accepts for each kind of queue or class, and how many values follow them.

*Source*: the usage texts and ``*_parse_opt`` of iproute2 6.1 (`q_netem.c`, `q_tbf.c`, `q_htb.c`, …).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from elephan.errors import suggest
from elephan.traffic_control.quantities import short

_RATE_TABLE = {"mtu": 1, "mpu": 1, "overhead": 1, "linklayer": 1}
_CODEL = {"limit": 1, "target": 1, "interval": 1, "ecn": 0, "noecn": 0, "ce_threshold": 1}
_RED = {"limit": 1, "min": 1, "max": 1, "avpkt": 1, "burst": 1, "probability": 1, "ecn": 0, "harddrop": 0}

WORDS: dict[str, dict[str, int]] = {
    "netem": {"limit": 1, "distribution": 3, "ecn": 0, "gap": 1, "packets": 1, "bytes": 1, "seed": 1}
    | {"delay": 3, "latency": 3, "corrupt": 2, "duplicate": 2, "reorder": 2, "rate": 4, "slot": 3}
    | {"loss": 5, "drop": 5, "random": 2, "state": 5, "gemodel": 4},
    "tbf": {"limit": 1, "latency": 1, "lat": 1, "burst": 1, "buffer": 1, "maxburst": 1, "rate": 1, "peakrate": 1}
    | {"minburst": 1}
    | _RATE_TABLE,
    "htb": {"default": 1, "r2q": 1, "debug": 1, "direct_qlen": 1, "offload": 0},
    "htb class": {"rate": 1, "ceil": 1, "burst": 1, "buffer": 1, "maxburst": 1, "cburst": 1, "cbuffer": 1}
    | {"cmaxburst": 1, "prio": 1, "quantum": 1, "slot": 1, "pslot": 1}
    | _RATE_TABLE,
    "pfifo": {"limit": 1},
    "bfifo": {"limit": 1},
    "pfifo_fast": {},
    "codel": _CODEL,
    "fq_codel": {**_CODEL, "flows": 1, "memory_limit": 1, "quantum": 1, "ce_threshold_selector": 1, "drop_batch": 1},
    "pie": {"limit": 1, "target": 1, "tupdate": 1, "alpha": 1, "beta": 1, "bytemode": 0, "nobytemode": 0, "ecn": 0}
    | {"noecn": 0, "dq_rate_estimator": 0, "no_dq_rate_estimator": 0},
    "red": {**_RED, "adaptive": 0, "bandwidth": 1, "nodrop": 0, "qevent": 1, "block": 1},
    "sfq": {**_RED, "perturb": 1, "quantum": 1, "divisor": 1, "flows": 1, "depth": 1, "headdrop": 0, "redflowlimit": 1},
    "fq": {"limit": 1, "flow_limit": 1, "quantum": 1, "initial_quantum": 1, "maxrate": 1, "buckets": 1, "pacing": 0}
    | {"nopacing": 0, "refill_delay": 1, "low_rate_threshold": 1, "orphan_mask": 1, "timer_slack": 1}
    | {"ce_threshold": 1, "horizon": 1, "horizon_cap": 0, "horizon_drop": 0, "defrate": 1, "bands": 1}
    | {"priomap": 16, "weights": 3},
    "police": {"rate": 1, "burst": 1, "buffer": 1, "maxburst": 1, "avrate": 1, "peakrate": 1, "minburst": 1, "index": 1}
    | {"conform-exceed": 1, "pkts_rate": 1, "pkts_burst": 1, "flowid": 1, "classid": 1, "action": 1, "drop": 0}
    | {"pass": 0, "ok": 0, "pipe": 0, "continue": 0, "reclassify": 0, "police": 0}
    | _RATE_TABLE,
}
"""Maximum number of values after each word; the first value is required."""

_SHOWN = {"refcnt", "root", "dev", "parent", "leaf", "offloaded", "direct_packets_stat", "bands", "priomap", "ewma"} | {
    "Scell_log",
    "level",
    "p",
    "r",
    "flows",
    "loss",
    "ethernet",
    "atm",
    "uniform",
    "normal",
    "pareto",
    "cburst",
}
"""Further words that ``tc … show`` prints."""

_WITHOUT_NUMBERS = {"loss": {"random", "state", "gemodel"}, "drop": {"random", "state", "gemodel"}}
"""Words that may replace the first value."""

_NAMES = {"slot": ("distribution",)}

_NUMBER = re.compile(r"[.\d]\S*")


def check(kind: str, words: Sequence[str]) -> None:
    """Refuse words of a line of ``tc … add`` that tc does not accept for its kind.

    Raises
    ------
    ValueError
        If a word is unknown or its value is missing; for an unknown word the message suggests the nearest one.
    """
    if (known := WORDS.get(kind)) is None:
        return
    at = 0
    while at < len(words):
        word = words[at]
        if word not in known:
            after = f' after "{short(words[at - 1])}"' if at and _NUMBER.fullmatch(word) else ""
            hint = suggest(word, list(known), f"it has {', '.join(known)}" if known else "it has no options")
            raise ValueError(f'unknown word "{short(word)}"{after}; {hint}')
        at += 1
        if not known[word]:
            continue
        following = words[at] if at < len(words) else None
        if following in (*_WITHOUT_NUMBERS.get(word, ()), *_NAMES.get(word, ())):
            continue
        if following is None:
            raise ValueError(f'"{word}" has no value')
        at += 1
        most = at + known[word] - 1
        while at < min(most, len(words)) and _NUMBER.fullmatch(words[at]):
            at += 1


def not_known(kind: str, words: Sequence[str]) -> list[str]:
    """Return a note about unknown words in a line of ``tc … show``, which are ignored; versions of tc differ."""
    if (known := WORDS.get(kind)) is None:
        return []
    names = [word for word in words if re.fullmatch(r"[A-Za-z][\w-]*", word)]
    found = [
        short(word)
        for before, word in zip(["", *names], names, strict=False)
        if word not in known and word not in _SHOWN and before not in ("dev", "linklayer")
    ]
    return [f"not known, and left out: {', '.join(found[:4])}"] if found else []


TIMES = {
    "netem": ("delay", "latency"),
    "tbf": ("latency", "lat"),
    "codel": ("target", "interval"),
    "fq_codel": ("target", "interval"),
    "pie": ("target", "tupdate"),
}
"""Words followed by a time that is used in the scenario."""


def without_unit(kind: str, words: Sequence[str]) -> list[str]:
    """Return a note for each time without a unit, which tc interprets as microseconds.

    Examples
    --------
    >>> without_unit("netem", ["delay", "50"])
    ['"50" after "delay" has no unit, so it is 50 us, as in tc; write 50ms for milliseconds']
    """
    found = []
    for name in TIMES.get(kind, ()):
        if name not in words[:-1]:
            continue
        at = words.index(name) + 1
        # For netem, the jitter follows the delay.
        found += [
            f'"{text}" after "{name}" has no unit, so it is {text} us, as in tc; write {text}ms for milliseconds'
            for text in words[at : at + (2 if kind == "netem" else 1)]
            if re.fullmatch(r"\d{1,20}(\.\d{1,20})?", text) and float(text)
        ]
    return found
