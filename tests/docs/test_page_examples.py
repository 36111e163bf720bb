"""The Python that pages show runs, and prints what they show."""

import contextlib
import doctest
import io
import re
from runpy import run_path

import pytest
from tiny import ROOT

FENCED = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Notebooks have tests of their own, and figures' data need a run.
ELSEWHERE = ("tutorials", "generated", "build", "archive.md", "own-figure.md", "testing.md")
PAGES = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if FENCED.search(page.read_text(encoding="utf-8")) and not {*page.parts} & {*ELSEWHERE}
]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name(page):
    return page.relative_to(ROOT / "docs").with_suffix("").as_posix()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_python_of_a_page_runs_and_prints_what_it_shows(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    text = page.read_text(encoding="utf-8")
    if "sklearn" in text:
        pytest.importorskip("sklearn")
    monkeypatch.chdir(ROOT if "run_path" in text else tmp_path)
    names = {}
    for code in FENCED.findall(text):
        if ">>>" in code:
            examples = doctest.DocTestParser().get_doctest(code, names, page.stem, str(page), 0)
            examples.globs = names
            assert (
                doctest.DocTestRunner(optionflags=OPTIONS).run(examples, clear_globs=False).failed
                == 0
            )
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(page), "exec"), names)
        assert "".join(printed.getvalue().split()) in "".join(text.split())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cross_validation", "digits"])
def test_a_program_that_a_page_names_draws_its_figure(name, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    run_path(str(ROOT / f"examples/{name}.py"))
    assert [path.suffix for path in tmp_path.iterdir()] == [".png"]
