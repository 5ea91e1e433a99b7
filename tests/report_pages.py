"""Helpers for tests of pages: parse a page as a browser would, make small folders of results, compute contrast."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from elephan.scenario import EXAMPLE, Scenario

VOID = {"meta", "link", "input", "br", "img", "hr"}


@dataclass
class Node:
    tag: str
    attributes: dict[str, str]
    children: list["Node"] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.words).strip()

    def all(self, tag: str, **attributes: str) -> list["Node"]:
        found = []
        for child in self.children:
            fits = all(child.attributes.get(name.rstrip("_")) == value for name, value in attributes.items())
            if child.tag == tag and fits:
                found.append(child)
            found += child.all(tag, **attributes)
        return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Node("page", {})
        self.open = [self.root]
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        if self.open[-1].tag != tag:
            self.wrong.append(f"</{tag}> closes <{self.open[-1].tag}>")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        for node in self.open:
            node.words.append(data)


def read(html: str) -> Node:
    """Parse a page; every tag must be closed in its order."""
    reader = _Reader()
    reader.feed(html)
    assert not reader.wrong, reader.wrong
    assert reader.open == [reader.root]
    return reader.root


def tables(page: Node) -> dict[str, list[list[str]]]:
    """Return the rows of each table as text, by its caption."""
    found = {}
    for table in page.all("table"):
        rows = [[cell.text for cell in row.all("td")] for row in table.all("tr")]
        found[table.all("caption")[0].text] = [row for row in rows if row]
    return found


def numbers(page: Node, caption: str, column: int) -> list[float]:
    """Return the numbers by which a column is sorted, with all digits."""
    table = next(t for t in page.all("table") if t.all("caption")[0].text == caption)
    rows = [row.all("td") for row in table.all("tr")]
    return [float(row[column].attributes["data-v"]) for row in rows if row]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours (WCAG 2.2, definition of contrast ratio)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def swept(buffers: list[str], counts: list[int], title: str = "Buffers and flows") -> dict[str, Any]:
    """Make a document of a sweep, with a different number for each point."""
    points = []
    for i, buffer in enumerate(buffers):
        for count in counts:

            def known(mean: float) -> dict[str, float]:
                return {"mean": mean, "ci95": 0.01 * mean}

            link = {
                "name": "core",
                "utilization": known(0.5 + 0.4 * i / len(buffers)),
                "loss_ratio": known(1e-4 * count),
            }
            link |= {"queueing_delay_s": known(1e-3 * (i + 1)), "queueing_delay_p95_s": known(3e-3 * (i + 1))}
            link |= {"backlog_packets": known(10.0 * i + 1), "loss_events": known(5.0)}
            keys = ("goodput_bps", "goodput_per_flow_bps", "cwnd_segments", "srtt_s", "loss_ratio", "timeouts")
            group = {"name": "bulk", **{key: known(10.0 * count) for key in keys}}
            fairness = {"jain": known(0.9), "jain_maxmin": known(0.8)}
            labels = {"links[0].buffer": buffer, "flows[0].count": count}
            parts = {"links": [link], "groups": [group], "fairness": fairness}
            points.append({"labels": labels, "run": f"{i:02x}{count:062x}", **parts})
    axes = [
        {"places": ["links[0].buffer"], "values": [[buffer] for buffer in buffers]},
        {"places": ["flows[0].count"], "values": [[count] for count in counts]},
    ]
    base = Scenario.from_text(EXAMPLE)
    return {
        "title": title,
        "seed": base.seed,
        "replications": base.replications,
        "precision": [],
        "max_replications": 1000,
        "engine_version": "0.1.0",
        "base": base.text,
        "axes": axes,
        "points": points,
        "failures": [],
        "warnings": [],
        "provenance": {"wall_s": 2.5, "packets_simulated": 1, "store": "none"},
    }
