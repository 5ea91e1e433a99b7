"""Links between the project's Markdown files are valid: they point to existing files and headings."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
ELSEWHERE = re.compile(r"[a-z]+:")
DRAWN = re.compile(r"docs/(catalog/\w+|conformance/pictures)/[\w+-]+\.svg")
"""Pictures that `make docs` draws; they are not committed, and the build of the site fails where one is missing."""


@cache
def tokens(page: Path) -> tuple[Token, ...]:
    return tuple(MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8")))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors that a code host derives from the headings."""
    found: dict[str, int] = {}
    made = set()
    for head, inside in zip(tokens(page), tokens(page)[1:], strict=False):
        if head.type == "heading_open":
            text = "".join(child.content for child in inside.children or ())
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            found[slug] = found.get(slug, -1) + 1
            made.add(f"{slug}-{found[slug]}" if found[slug] else slug)
    return frozenset(made)


def links(page: Path) -> Iterator[str]:
    """Yield the targets of a page's links and pictures."""
    for token in tokens(page):
        for child in token.children or ():
            if child.type in ("link_open", "image"):
                yield str(child.attrs["href" if child.type == "link_open" else "src"])


@pytest.mark.parametrize("name", NAMES)
def test_links_of_a_page_lead_somewhere(name: str) -> None:
    page = ROOT / name
    for link in links(page):
        if ELSEWHERE.match(link):
            continue
        path, _, anchor = link.partition("#")
        file = (page.parent / path).resolve() if path else page
        drawn = DRAWN.fullmatch(file.relative_to(ROOT).as_posix())
        assert drawn or file.exists(), f"{name}: {link}: no such file"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{name}: {link}: no such heading; there are {sorted(anchors(file))}"


def test_there_are_links_to_look_at() -> None:
    # Otherwise the test above would pass without testing anything.
    assert sum(1 for page in PAGES for _ in links(page)) > 100
    assert any("#" in link for page in PAGES for link in links(page))


def test_anchors_are_those_of_a_code_host() -> None:
    assert "what-the-words-of-a-scenario-and-of-a-result-mean" in anchors(ROOT / "docs" / "glossary.md")
