"""Pages as HTML: one file that contains everything, loads nothing, and forbids the browser to load anything.

Differs from Bokeh's output: models are numbered from one in each page, so that the same page is the same bytes.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from elephan.pictures.numbers import behind
from elephan.reports.themes import THEMES, variables

if TYPE_CHECKING:
    from elephan.reports.page import ReportPage

HERE = Path(__file__).parent


def render(page: ReportPage) -> str:
    """Write a page as HTML.

    Examples
    --------
    >>> from elephan.reports.page import ReportPage
    >>> html = render(ReportPage("Run", "<b>", ("Why?",), "5", "It is five."))
    >>> "<b>" in html, "&lt;b&gt;" in html
    (False, True)
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    figures = [figure for part in page.parts for figure in part.figures]
    if figures:
        from elephan.reports import drawing  # noqa: PLC0415 (Bokeh takes a second to import; a page without figures does without)

    explorers = [part.explorer for part in page.parts if part.explorer is not None]
    html = environment.get_template("page.html").render(
        page=page,
        behind=behind,
        legend=drawing.legend if figures else None,
        light=Markup(variables("light")),
        dark=Markup(variables("dark")),
        css=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        js=Markup((HERE / "page.js").read_text(encoding="utf-8")),
        explore=Markup((HERE / "explore.js").read_text(encoding="utf-8")) if explorers else "",
        bokeh=Markup(_bokeh()) if figures else "",
        data=Markup(_embedded({"themes": THEMES, "figures": drawing.document(figures) if figures else None})),
        explorers=Markup(_embedded(explorers)) if explorers else "",
    )
    return f"{html}\n"


@cache
def _bokeh() -> str:
    """Return the Bokeh library without its parts for tables, widgets and formulas."""
    import bokeh  # noqa: PLC0415 (as in `render`)

    path = Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.min.js"
    text = path.read_text(encoding="utf-8")
    # No text inside a page's script may look like the script's closing tag.
    return text.replace("</script", "<\\/script").replace("<!--", "\\u003c!--")


def _embedded(data: object) -> str:
    """Encode data as JSON that is safe inside a script: it cannot open or close a tag."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
