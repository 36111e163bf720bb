"""The documentation as a site: `make docs` builds it into docs/build, without network."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "extensions"))
sys.path.insert(0, str(DOCS.parent / "src"))

import giantstep  # noqa: E402

project = "giantstep"
author = "the giantstep authors"
copyright = "2026, the giantstep authors"
version = release = giantstep.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "mathml",
    "paper",
    "notebooks",
    "curves",
    "gallery",
    "navigation",
    "reference",
    "theory_links",
]
exclude_patterns = ["build", "extensions", "templates", "gallery/README.md"]
nitpicky = False
# Names in single backticks are links where there is something to link to, and code everywhere.
default_role = "py:obj"

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"giantstep {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
templates_path = ["templates"]
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "tango"
