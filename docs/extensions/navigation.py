"""The order of the pages, from the lists and tables in which pages link to others.

Pages are read on forges as well, where a toctree would be shown as code and a page that the build
writes does not exist. So they list and link to files of the repository alone: a hidden toctree
follows from each list, and a link to a file that has a page of its own on the site leads there.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

# Pages whose sections become captions, and pages whose tables list the pages below them.
DOORS = "index"
PARENTS = ("theory", "findings/step", "findings/readout", "findings/data", "findings/validity")
# Files of the repository, relative to docs/, and the pages that the build makes of them.
MADE = {
    "gallery/README.md": "generated/gallery.md",
    "../src/giantstep/__init__.py": "generated/reference.md",
    "../src/giantstep/theory": "generated/functions.md",
    "../CONTRIBUTING.md": "generated/contributing.md",
    "../CHANGELOG.md": "generated/changes.md",
    "../paper/paper.md": "generated/paper.md",
}
LINK = re.compile(r"\]\(([^)#:\s]+)((?:#[^)\s]*)?)\)")
LISTED = re.compile(r"^(?:\||- |\d+\. ).*$", re.MULTILINE)
# An entry of the doors with entries below it, which its page is a parent of.
NESTED = re.compile(r"^- .*?\]\(([^)]+)\).*\n((?:  - .*\n)+)", re.MULTILINE)


def on_the_site(folder: str, link: str) -> str:
    """Return where a link of a page in a folder leads on the site, relative to docs/."""
    path = posixpath.normpath(posixpath.join(folder, link)).removeprefix("../docs/")
    return MADE.get(path, path)


def moved(text: str, source: str, place: str) -> str:
    """Write the links of a file in one folder for a page in another."""

    def rewritten(match: re.Match[str]) -> str:
        path = on_the_site(source, match[1])
        return f"]({posixpath.relpath(path, place or '.')}{match[2]})"

    return LINK.sub(rewritten, text)


def listed(text: str, folder: str) -> Iterator[str]:
    """Yield the pages that the lists and tables of a text link to, each once, relative to docs/."""
    seen: set[str] = set()
    for line in LISTED.findall(text):
        for link, _ in LINK.findall(line):
            path = on_the_site(folder, link)
            if path.endswith(".md") and not path.startswith("..") and path not in seen:
                seen.add(path)
                yield path.removesuffix(".md")


def toctree(pages: Iterator[str], caption: str) -> str:
    """Write a hidden toctree."""
    entries = "\n".join(f"/{page}" for page in pages)
    return f"\n```{{toctree}}\n:hidden:\n{caption}\n{entries}\n```\n"


def complete(app: Sphinx, docname: str, source: list[str]) -> None:
    """Lead links of a page to pages of the site, and add toctrees to pages that list others."""
    folder, text = posixpath.dirname(docname), source[0]
    if docname == DOORS:
        for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
            title = section.partition("\n")[0]
            source[0] += toctree(listed(section, folder), f":caption: {title}\n")
    elif docname in PARENTS:
        source[0] += toctree(listed(text, folder), "")
    for link, below in NESTED.findall(Path(app.srcdir, f"{DOORS}.md").read_text("utf-8")):
        if on_the_site("", link) == f"{docname}.md":
            source[0] += toctree(listed(below.replace("  - ", "- "), ""), "")
    source[0] = moved(source[0], folder, folder)


def write(app: Sphinx) -> None:
    """Write the pages that are files outside of docs/."""
    folder = Path(app.srcdir, "generated")
    folder.mkdir(exist_ok=True)
    for name in ("CONTRIBUTING", "CHANGELOG"):
        text = Path(app.srcdir, f"../{name}.md").read_text(encoding="utf-8")
        made = Path(app.srcdir, MADE[f"../{name}.md"])
        made.write_text(moved(text, "..", "generated"), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register what writes and what completes."""
    app.connect("builder-inited", write)
    app.connect("source-read", complete, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
