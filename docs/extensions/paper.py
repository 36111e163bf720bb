"""The software paper as a page: paper/paper.md with its citations from paper/paper.bib.

The build fails if a citation has no entry, an entry no citation, or the paper not the form that the
Journal of Open Source Software expects of it.
"""

import re
from pathlib import Path

import yaml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

PAPER = Path(__file__).parents[2] / "paper"
HEADER = ("title", "tags", "authors", "affiliations", "date", "bibliography")
SECTIONS = (
    "Summary",
    "Statement of need",
    "State of the field",
    "Software design",
    "Research impact",
    "Acknowledgements",
    "References",
)
ENTRY = re.compile(r"^@\w+\{(\w+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s*(\w+) = \{(.*)\},?$", re.MULTILINE)
ACCENTS = {r"{\'a}": "á", r"{\'e}": "é", r"{\"o}": "ö"}


def entries() -> dict[str, dict[str, str]]:
    """Read the bibliography."""
    text = (PAPER / "paper.bib").read_text(encoding="utf-8")
    for latex, letter in ACCENTS.items():
        text = text.replace(latex, letter)
    return {key: dict(FIELD.findall(fields)) for key, fields in ENTRY.findall(text)}


def reference(key: str, entry: dict[str, str]) -> str:
    """Write one entry of the list of references."""
    authors = entry["author"].replace(" and ", "; ")
    title = re.sub(r"[{}]", "", entry["title"])
    where = ", ".join(entry[k] for k in ("booktitle", "journal", "volume", "note") if k in entry)
    return f"({key})=\n{authors} ({entry['year']}). *{title}*. {where}.\n"


def short(key: str, entry: dict[str, str]) -> str:
    """Cite an entry by its first author and year, as a link."""
    first = entry["author"].split(",")[0]
    return f"[{first} et al., {entry['year']}](#{key})"


def faults(header: dict[str, object], body: str, cited: set[str], known: set[str]) -> list[str]:
    """List what the journal would send back."""
    words = len(body.split())
    found = [f"no {field} in the header" for field in HEADER if not header.get(field)]
    found += [f"no section {name}" for name in SECTIONS if f"\n# {name}\n" not in body]
    found += [f"no entry for the citation {key}" for key in sorted(cited - known)]
    found += [f"the entry {key} is not cited" for key in sorted(known - cited)]
    return found + ([f"{words} words, 750 to 1750 are allowed"] if not 750 <= words <= 1750 else [])


def write(app: Sphinx) -> None:
    """Write the page."""
    _, front, body = (PAPER / "paper.md").read_text(encoding="utf-8").split("---\n", 2)
    header, known = yaml.safe_load(front), entries()
    cited = set(re.findall(r"@(\w+)", body))
    if found := faults(header, body, cited, set(known)):
        raise ExtensionError(f"paper/paper.md: {'; '.join(found)}")
    body = re.sub(r"\[-?@([^\]]+)\]", lambda match: f"(@{match[1]})", body)
    body = re.sub(r"@(\w+)", lambda match: short(match[1], known[match[1]]), body)
    lines = [f"# {header['title']}\n", body.replace("\n# ", "\n## ")]
    lines += [reference(key, known[key]) for key in sorted(known)]
    folder = Path(app.srcdir, "generated")
    folder.mkdir(exist_ok=True)
    (folder / "paper.md").write_text("\n".join(lines), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before pages are read."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
