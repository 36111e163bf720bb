"""Every tutorial is a notebook, whose cells run and print what the page shows."""

import ast
import contextlib
import doctest
import io
import shlex
from runpy import run_path

import pytest
from tiny import ROOT

from giantstep.cli.main import main
from giantstep.validation import InvalidParametersError

pytest.importorskip("sphinx")
nbformat = pytest.importorskip("nbformat")
EXTENSION = run_path(str(ROOT / "docs/extensions/notebooks.py"))
# What pages leave out, such as numbers that depend on the processor.
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run(source, names):
    """Run a cell as Jupyter does, and return what it shows."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if source.startswith("!giantstep"):
            assert main(shlex.split(source)[1:]) == 0
            return printed.getvalue()
        body = ast.parse(source).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        value = last and eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        if value is not None:
            print(repr(value))
    return printed.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("name", EXTENSION["TUTORIALS"])
def test_a_notebook_is_valid_and_its_cells_show_what_the_page_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where tutorials leave their pictures
    page = (ROOT / f"docs/tutorials/{name}.md").read_text()
    made = nbformat.from_dict(EXTENSION["notebook"](page))
    nbformat.validate(made)
    names = {}
    for cell in (one for one in made.cells if one.cell_type == "code"):
        source = "".join(cell.source)
        if "raises-exception" in cell.metadata.get("tags", ()):
            with pytest.raises(InvalidParametersError):
                run(source, names)
            continue
        expected = "".join(line for output in cell.outputs for line in output["text"])
        shown = run(source, names)
        assert doctest.OutputChecker().check_output(expected, shown, OPTIONS), shown
