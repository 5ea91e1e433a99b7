"""Parts of the documentation site that are generated during its build; a Sphinx extension.

A page marks the place of such a part with a comment (`<!-- elephan: cli -->`), which a code host does not show. Links
to files that are not in docs/ lead to their page, if they have one. Names in backticks that the site does not have
remain code.
"""

import re
from pathlib import Path
from typing import Any

from docutils import nodes  # type: ignore[import-untyped]
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform

from pages import cli, scenario, store

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (
    "install",
    "first-steps",
    "size-a-buffer",
    "sizing-a-buffer",
    "worst-cases",
    "questions",
    "choosing-a-sender",
    "pacing",
    "choosing-a-queue",
    "compare-laws",
    "traffic-and-topologies",
    "shared-memory",
    "statistics",
    "models",
    "reproduction",
    "sweeps",
    "reports",
    "python",
    "write-your-own-law",
    "law-in-python",
    "law-in-rust",
    "law-in-bpf",
    "quic-stacks",
    "learning-agents",
    "editors",
)
"""Order of the guide's pages; pages that are not named come last."""
MARK = re.compile(r"^<!-- elephan: (\w+) -->$", flags=re.MULTILINE)

ELSEWHERE = {"README.md": "index", "CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog"}
"""Files outside docs/, and the pages that show them."""

CHILDREN = {"decisions/README": "0*"}
"""Pages whose neighbours are listed below them, as they do not list them themselves."""


def guide() -> str:
    """Write the table of contents of the guide."""
    found = {page.stem for page in (ROOT / "docs" / "guide").iterdir() if page.suffix in (".md", ".ipynb")}
    pages = [name for name in GUIDE if name in found] + sorted(found.difference(GUIDE))
    return "\n".join(["```{toctree}", ":hidden:", ":caption: Guide", "", *(f"guide/{name}" for name in pages), "```"])


PARTS = {"guide": guide, "cli": cli.reference, "scenario": scenario.reference, "store": store.reference}


def fill(_: Sphinx, page: str, source: list[str]) -> None:
    """Insert the parts that are generated during the build."""
    source[0] = MARK.sub(lambda found: PARTS[found[1]](), source[0])
    if below := CHILDREN.get(page):
        source[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n\n{below}\n```\n"


class Elsewhere(SphinxTransform):
    """Redirect links to files that have a page to that page."""

    default_priority = 5

    def apply(self, **_: Any) -> None:
        """Change the links of one page."""
        for link in list(self.document.findall(addnodes.pending_xref)):
            file = Path(str(link["reftarget"]) + ".md")
            if link.get("refdomain") == "doc" and file.parent == ROOT:
                link["reftarget"] = ELSEWHERE.get(file.name, link["reftarget"])


class Dashes(SphinxTransform):
    """Replace the separator between a parameter and its meaning by a dash."""

    default_priority = 999

    def apply(self, **_: Any) -> None:
        """Change the dashes of one page."""
        for text in list(self.document.findall(nodes.Text)):
            if " -- " in text and not isinstance(text.parent, nodes.FixedTextElement | nodes.literal):
                text.parent.replace(text, nodes.Text(text.replace(" -- ", " – ")))


def keep_colons(_: Sphinx, what: str, __: str, ___: object, ____: object, lines: list[str]) -> None:
    """Begin an attribute's docstring with a comment: text before a colon there would be taken for a type."""
    if what in ("attribute", "data", "property"):
        lines[:0] = ["..", ""]


def skip_aliases(_: Sphinx, __: str, ___: str, member: object, skip: bool, ____: object) -> bool | None:
    """Omit Python's own docstrings of a named tuple's fields; the class describes them."""
    return True if str(getattr(member, "__doc__", "")).startswith("Alias for field number") else skip or None


def leave_code(_: Sphinx, __: BuildEnvironment, link: addnodes.pending_xref, text: nodes.Node) -> nodes.Node | None:
    """Leave a name in backticks unchanged if the site has no target of that name."""
    return text if link.get("refdomain") == "py" and link.get("reftype") == "obj" else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", fill)
    app.connect("missing-reference", leave_code)
    app.connect("autodoc-skip-member", skip_aliases)
    app.connect("autodoc-process-docstring", keep_colons, priority=400)  # before napoleon
    app.add_transform(Elsewhere)
    app.add_transform(Dashes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
