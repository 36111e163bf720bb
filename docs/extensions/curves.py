"""The page of precomputed curves beside the pages of the site: `make site`.

With the tag "site", the page is built into the folder `curves`, and the index links to it.
"""

import runpy
from pathlib import Path

from sphinx.application import Sphinx

LINK = """
```{raw} html
<p><a href="curves/index.html">Curves to play with</a>: sliders over precomputed answers, without
an installation.</p>
```
"""


def link(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put a link below the first paragraphs of the index."""
    if docname == "index":
        head, below, rest = source[0].partition("\n## ")
        source[0] = head + LINK + below + rest


def build(app: Sphinx, error: Exception | None) -> None:
    """Build the page."""
    if not error:
        script = runpy.run_path(str(Path(app.srcdir, "curves/build.py")))
        script["build"](Path(app.outdir, "curves"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register what links and what builds, where a site is made."""
    if app.tags.has("site"):
        app.connect("source-read", link)
        app.connect("build-finished", build)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
