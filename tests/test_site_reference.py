"""docs/reference matches the program: each key of the documents has a row, and each row is an existing key."""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import elephan
from elephan.comparisons import compare as ask
from elephan.comparisons.several import PointComparison
from elephan.sizing import size, size_limit, size_variants
from elephan_evidence.conform import conform
from elephan_evidence.conform.packetdrill import conform_scripts
from elephan_evidence.judge import judge
from judged import example
from testbeds import faked

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
TIMED = """
[[flows]]
name = "ping"
path = ["core"]
rtt = "40 ms"
traffic = "ping"
[[flows]]
name = "call"
path = ["core"]
rtt = "40 ms"
traffic = { kind = "cbr", rate = "100 kbit/s" }
"""
WEB = """
[[flows]]
name    = "web"
path    = ["core"]
rtt     = "80 ms"
traffic = { kind = "web", think = "200 ms" }
"""


IN_POOL = elephan.EXAMPLE.replace('buffer = "25 packets"', 'pool = "chip"')
POOLS = [
    f'{IN_POOL}[[pools]]\nname = "chip"\nsize = "{size}"\nsharing = "{sharing}"\n'
    for size, sharing in (("25 kB", "dynamic"), ("25 packets", "static"))
]


class Late:
    """A law that fails at its first loss."""

    cwnd = 90.0

    def on_loss(self, event: object) -> None:
        raise ValueError(event)


def rows(verb: str) -> dict[str, str]:
    """Return the keys that the page lists under a heading, and their descriptions."""
    section = PAGE.partition(f"\n## `{verb}`\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([^`]+)` \| ([^|]*?) ?\|", section, flags=re.MULTILINE))


def keys(part: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the keys of a document, with their values."""
    if isinstance(part, dict) and set(part) != {"mean", "ci95"}:
        for key, inner in part.items():
            yield from keys(inner, f"{path}.{key}".lstrip("."))
    elif isinstance(part, list) and part and isinstance(part[0], dict):
        for inner in part:
            yield from keys(inner, f"{path}[]")
    elif part != []:
        yield path, part


def pattern(key: str) -> re.Pattern[str]:
    # Labels are places, which have brackets and dots.
    return re.compile(re.escape(key).replace("NAME", r".+" if "labels" in key else r"[\w-]+").replace("LAW", r"[\w-]+"))


@cache
def documents(verb: str) -> Sequence[Mapping[str, Any]]:
    """Return documents that together have every key."""
    scenario = elephan.Scenario.from_text(elephan.EXAMPLE)
    if verb == "elephan run":
        web = elephan.Scenario.from_text(elephan.EXAMPLE + WEB)
        changing = scenario.replace(
            {
                "links[0].rate": {"sine": {"mean": "9 Mbit/s", "amplitude": "1 Mbit/s", "period": "1 s"}},
                "links[0].jitter": "2 ms",
            }
        )
        pools = [elephan.Scenario.from_text(text) for text in POOLS]
        timed = elephan.Scenario.from_text(elephan.EXAMPLE + TIMED)
        reordered = scenario.replace({"links[0].reorder": {"late": 0.01, "by": "5 ms"}})
        # A TCP flow beside datagrams, so that some quantities are null.
        first = elephan.run(scenario, 2, precision="50%", metrics="jain")
        return [
            result.to_json()
            for result in (
                first,
                elephan.run(web, 2),
                *(elephan.run(one, 1) for one in (changing, timed, reordered, *pools)),
            )
        ]
    if verb == "elephan size":
        # Flows with unequal shares, so that there is something to warn of.
        unequal = scenario.replace({"flows[0].rtt": {"from": "20 ms", "to": "300 ms"}})
        paced = size(unequal, "utilization=0.9", replications=2, pacing="both")
        answers = [paced, size(scenario, "delay=1us", replications=1)]
        return [answer.to_json() for answer in answers]
    if verb == "elephan size --find …":
        found = [size_limit(scenario, "utilization=0.8", find, replications=2) for find in ("rtt", "red")]
        pools = [elephan.Scenario.from_text(text) for text in POOLS]
        found += [size_limit(one, "utilization=0.5", "pool", replications=1) for one in pools]
        return [answer.to_json() for answer in found]
    if verb == "elephan sweep":
        with tempfile.TemporaryDirectory() as folder:
            over = {"flows[0].control": ["reno", "late"], "flows[0].count": [1, 2]}
            laws = {"late": Late}
            swept = elephan.sweep(scenario, over=over, store=folder, precision="50%", metrics="jain", laws=laws)
            return [swept.to_json() | {"points": [_without_run(point.to_json()) for point in swept.points]}]
    if verb == "elephan testbed run":
        return [faked(elephan.run(scenario, 2), "replication 1: late").to_json()]
    if verb == "elephan compare":
        alone = ask(scenario.replace({"record": {"every": "100 ms"}}), 1, real=False)
        beside = replace(alone, tested=faked(alone.simulated))
        # A run is described where it is, and so are rows.
        other = replace(beside, tested=faked(alone.simulated, "replication 0: late"))
        point = PointComparison(0, {"seed": 1}, other).to_json() | {"rows": []}
        own = [found.to_json() | {"simulation": [], "testbed": []} for found in (alone, beside)]
        return [*own, {"points": [point]}]
    if verb == "elephan conform":
        return [conform("bbr", "drain-time", 18).to_json()]
    if verb == "elephan conform tcp":
        data = Path(__file__).parent / "data"
        scripts = conform_scripts([data / "packetdrill", data / "recorded"])
        # The running kernel's verdicts need root.
        live = replace(scripts, scripts=tuple(replace(one, live=one) for one in scripts.scripts), kernel="6.18")
        differ = conform_scripts([data / "recorded"], {"flows[0].recovery": "sack"})
        return [scripts.to_json(), live.to_json(), differ.to_json()]
    if verb == "elephan judge":
        with tempfile.TemporaryDirectory() as folder:
            return [judge(str(example(Path(folder)))).to_json()]
    made = size_variants(
        scenario, ["reno"], ["drop-tail", "fq"], lambda each: size(each, "utilization=0.8", replications=2)
    )
    unmet = size_variants(scenario, ["reno"], ["codel"], lambda each: size(each, "utilization=0.9999", replications=1))
    return [made.to_json(), unmet.to_json()]


def _without_run(point: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a point that is not a run's."""
    return {
        key: value
        for key, value in point.items()
        if key not in ("pools", "links", "groups", "fairness", "precision", "metrics")
    }


VERBS = (
    "elephan run",
    "elephan size",
    "elephan size --laws … --queues …",
    "elephan size --find …",
    "elephan sweep",
    "elephan testbed run",
    "elephan compare",
    "elephan conform",
    "elephan conform tcp",
    "elephan judge",
)
BASE = {VERBS[2]: ("variants[].", VERBS[1]), "elephan testbed run": ("", VERBS[0])}
"""Documents that contain the keys of another one, and their places."""


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_every_key_of_a_document_has_a_row(verb: str) -> None:
    listed = rows(verb)
    if verb in BASE:
        place, other = BASE[verb]
        listed = {f"{place}{key}": kind for key, kind in rows(other).items()} | listed
    # "As `curve[]`": the keys of those rows, at another place.
    for place, kind in list(listed.items()):
        if "as `curve[]`" in kind:
            inner = [key for key in rows("elephan size") if key.startswith("curve[].")]
            listed |= {place + key.removeprefix("curve[]"): "" for key in inner}
    found = [pattern(key) for key in listed]
    missing = {
        key
        for document in documents(verb)
        for key, _ in keys(document)
        if not any(each.fullmatch(key) for each in found)
    }
    assert missing == set()


@pytest.mark.parametrize("verb", VERBS)
def test_every_row_is_a_key_that_exists(verb: str) -> None:
    there = {key for document in documents(verb) for key, _ in keys(document)}
    own = {key for key, kind in rows(verb).items() if "as `curve[]`" not in kind}
    assert [key for key in own if not any(pattern(key).fullmatch(each) for each in there)] == []


KINDS = {
    "text": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "quantity": dict,
    "list": list,
    "list of texts": list,
    "null": type(None),
}


@pytest.mark.parametrize("verb", VERBS)
def test_rows_say_truly_what_a_key_holds(verb: str) -> None:
    wrong = set()
    for document in documents(verb):
        for key, value in keys(document):
            # One of several matching rows (`queue.NAME`, `queue.discipline`) must be right; a range is optional.
            said = [kind for row, kind in rows(verb).items() if pattern(row).fullmatch(key)]
            if said and not any(not kind or isinstance(value, tuple(_types(kind))) for kind in said):
                wrong.add((key, tuple(said), repr(value)))
    assert wrong == set()


def _types(kind: str) -> Iterator[type]:
    for word in kind.split(" or "):
        found = KINDS[word]
        yield from found if isinstance(found, tuple) else (found,)
