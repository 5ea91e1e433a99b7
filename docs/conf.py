"""How Sphinx makes the documentation site from this folder: `make docs`, then open target/site/index.html."""

import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))

project = "elephan"
language = "en"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "pages"]
exclude_patterns = ["judged/scores.md", "_static", "**.ipynb_checkpoints"]
# Packages that are not built yet have no page.
exclude_patterns += [
    f"reference/python/{page.name}"
    for page in (HERE / "reference" / "python").glob("*.md")
    if importlib.util.find_spec({"evidence": "elephan_evidence"}.get(page.stem, f"elephan.{page.stem}")) is None
]

# Markdown as a code host reads it: anchors from headings, nothing made of quotes and dashes.
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 4
smartquotes = False
highlight_language = "none"
pygments_style = "friendly"
pygments_dark_style = "github-dark"

# Notebooks are shown with the outputs that they hold; a test runs them.
nb_execution_mode = "off"
nb_merge_streams = True

autodoc_member_order = "bysource"
# The docstrings say more than the annotations do: units, shapes, sources.
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_use_ivar = True
# Names in backticks: linked where the site has them, code where not (`pages`).
default_role = "py:obj"
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

nitpicky = True
# Bases of classes and what decorators name: of Python's own library, whose inventory is not here without a network.
nitpick_ignore_regex = [("py:class", r"(Protocol|Exception|ValueError|NamedTuple|TypedDict|ABC|Generic)")]

html_theme = "furo"
html_title = "elephan"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_logo = "_static/mark.svg"
html_copy_source = False
html_show_sourcelink = False
# Excerpts would be fetched, which a browser refuses for files on disk.
html_show_search_summary = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
