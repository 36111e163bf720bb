"""Each tutorial as a notebook, made from the page itself, with the outputs that the page shows.

Tests run the examples of the pages, and all cells of the notebooks.
"""

import doctest
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

# The tutorial of the workflow is for a shell.
TUTORIALS = ("first-answers", "command-line", "theory-beside-networks")
FENCED = re.compile(r"^```(python|console)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
# Links to pages of the site lead nowhere from a notebook.
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")
# A notebook draws its pictures itself.
PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n*", re.MULTILINE)
ABOUT = "This notebook needs giantstep: `pip install .` in a clone of its repository.\n"


def notebook(page: str) -> dict[str, Any]:
    """Make a notebook of a page in Markdown."""
    cells = list(_cells(page))
    cells.insert(1, _cell("markdown", ABOUT))
    for place, cell in enumerate(cells):
        cell["id"] = f"cell-{place}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}


def _cells(page: str) -> Iterator[dict[str, Any]]:
    """Yield the cells of a page: text, then code, in turn."""
    parts = FENCED.split(PICTURE.sub("", page))
    title, _, rest = parts[0].partition("\n\n")
    for text in (title, rest):
        yield _cell("markdown", LINK.sub(r"\1", text))
    for kind, code, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        yield from (_python_cells if kind == "python" else _command_cells)(code)
        if text.strip():
            yield _cell("markdown", LINK.sub(r"\1", text))


def _python_cells(code: str) -> Iterator[dict[str, Any]]:
    """Yield a cell for each example with an output, and the statements before it."""
    source = ""
    for example in doctest.DocTestParser().get_examples(code):
        source += example.source
        if example.want:
            yield _code_cell(source, example.want)
            source = ""
    if source:
        yield _code_cell(source, "")


def _command_cells(code: str) -> Iterator[dict[str, Any]]:
    """Yield a cell for a command, as the shell runs it."""
    command, _, printed = code.replace("\\\n", "").partition("\n")
    yield _code_cell(command.replace("$ ", "!", 1), printed)


def _code_cell(source: str, output: str) -> dict[str, Any]:
    """Make a cell of code; one that is to fail says so, and does not stop a notebook."""
    cell = _cell("code", source) | {"execution_count": None, "outputs": []}
    if output.startswith("Traceback"):
        cell["metadata"] = {"tags": ["raises-exception"]}
    elif output:
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": _lines(output)}]
    return cell


def _cell(kind: str, text: str) -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": _lines(text.strip())}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def write(app: Sphinx) -> None:
    """Write a notebook for each tutorial."""
    folder = Path(app.srcdir, "generated/notebooks")
    folder.mkdir(parents=True, exist_ok=True)
    for name in TUTORIALS:
        page = Path(app.srcdir, f"tutorials/{name}.md").read_text(encoding="utf-8")
        made = json.dumps(notebook(page), indent=1, ensure_ascii=False)
        (folder / f"{name}.ipynb").write_text(made + "\n", encoding="utf-8")


def link(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put a link to its notebook below the title of a tutorial."""
    folder, _, name = docname.rpartition("/")
    if folder == "tutorials" and name in TUTORIALS:
        title, _, rest = source[0].partition("\n\n")
        file = f"../generated/notebooks/{name}.ipynb"
        source[0] = f"{title}\n\n{{download}}`This page as a notebook <{file}>`\n\n{rest}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register what writes and what links."""
    app.connect("builder-inited", write)
    app.connect("source-read", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
