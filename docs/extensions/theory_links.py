"""Links between the theory and the functions that compute it, both ways.

A docstring cites "theory.md section 4", wherever among the chapters in docs/theory/ the section is.
From these citations come a page with all such functions, by section; below each section's title the
names of its functions, folded; and in each docstring a link to the section.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

SOURCE = Path(__file__).parents[2] / "src"
SECTIONS = re.compile(r"theory\.md,?\s+sections?\s+(\d+)(?:(\s*(?:to|-|and|,)\s*)(\d+))?")
TITLE = re.compile(r"^## (\d+) (.*)$", re.MULTILINE)
HEAD = """\
# Functions by section of the theory

Each section of [the theory](../theory.md), and the functions and classes whose docstrings cite it.
"""
FOLDED = """

<details class="computed-by"><summary>Computed by</summary>

{}

</details>"""


def cited(docstring: str) -> set[int]:
    """List the sections of the theory that a docstring cites."""
    found: set[int] = set()
    for first, joint, last in SECTIONS.findall(" ".join(docstring.split())):
        ends = {int(first), int(last or first)}
        through = joint.strip() in ("to", "-")
        found |= set(range(min(ends), max(ends) + 1)) if through else ends
    return found


def citations() -> Iterator[tuple[int, str, str, str]]:
    """Yield section, kind ("function" or "class"), module and name of what cites it."""
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        of_module = cited(ast.get_docstring(tree) or "")
        public = [
            node
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
        ]
        direct = {node: cited_inside(node) for node in public}
        # What only the module cites is what all of it computes.
        further = of_module - set().union(*direct.values())
        for node, sections in direct.items():
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            for section in sorted(sections | further):
                yield section, kind, module, node.name


def cited_inside(node: ast.AST) -> set[int]:
    """List the sections that the docstrings of a function, or of a class and its methods, cite."""
    documented = ast.FunctionDef | ast.ClassDef
    inner = [part for part in ast.walk(node) if isinstance(part, documented)]
    return set().union(*(cited(ast.get_docstring(part) or "") for part in inner))


def by_section() -> dict[int, list[tuple[str, str, str]]]:
    """List what cites each section."""
    found = defaultdict(list)
    for section, *rest in citations():
        found[section].append(tuple(rest))
    return dict(sorted(found.items()))


def write(app: Sphinx) -> None:
    """Write the page of functions; each is described at its first section, and linked at others."""
    chapters = sorted(Path(app.srcdir, "theory").glob("*.md"))
    titles = dict(TITLE.findall("\n".join(page.read_text(encoding="utf-8") for page in chapters)))
    pages, described = [HEAD], set()
    for section, functions in by_section().items():
        pages.append(f"## Section {section}: {titles[str(section)]}\n")
        pages.append(f"[The section](#theory-section-{section}).\n")
        for kind, module, name in functions:
            if (module, name) in described:
                role = "class" if kind == "class" else "func"
                pages.append(f"- {{py:{role}}}`{module}.{name}`\n")
                continue
            described.add((module, name))
            pages.append(f"```{{eval-rst}}\n.. auto{kind}:: {module}.{name}\n```\n")
    folder = Path(app.srcdir, "generated")
    folder.mkdir(exist_ok=True)
    (folder / "functions.md").write_text("\n".join(pages), encoding="utf-8")


def add_functions(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put a label before each section of a chapter, and its functions, folded, below its title."""
    if not docname.startswith("theory/"):
        return
    functions = by_section()

    def titled(match: re.Match[str]) -> str:
        number = int(match[1])
        names = [
            f"{{py:{'class' if kind == 'class' else 'func'}}}`~{module}.{name}`"
            for kind, module, name in functions.get(number, [])
        ]
        below = FOLDED.format(", ".join(names)) if names else ""
        return f"(theory-section-{number})=\n{match[0]}{below}"

    source[0] = TITLE.sub(titled, source[0])


def link_sections(
    app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]
) -> None:
    """Turn citations in a docstring into links; a bar is a norm, and not a substitution."""
    for place, line in enumerate(lines):
        plain = line if "``" in line else line.replace("|", r"\|")
        lines[place] = re.sub(
            r"theory\.md(,? sections? )(\d+)",
            r":ref:`theory.md\1\2 <theory-section-\2>`",
            plain,
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register what writes and what links."""
    app.connect("builder-inited", write)
    app.connect("source-read", add_functions)
    app.connect("autodoc-process-docstring", link_sections, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
