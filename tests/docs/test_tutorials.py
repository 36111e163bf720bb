"""What README says that Python and the command line print is what they print.

So for tutorials, of which those that are notebooks are run as such (`test_notebooks.py`).
"""

import doctest
import re
import shlex

import pytest
from tiny import ROOT

from giantstep.cli.main import main

PAGES = [ROOT / "README.md", ROOT / "docs/tutorials/workflow.md"]
FENCED = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")


def code(page, language):
    return [text for kind, text in FENCED.findall(page.read_text()) if kind == language]


def rounded(text):
    """A text with its numbers to six digits, which do not depend on the processor."""
    numbers = NUMBER.sub(lambda found: f"{float(found[0]):.6g}", text)
    return [line.split() for line in numbers.splitlines()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_runs_as_it_is_written(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where tutorials leave their pictures
    examples = doctest.DocTestParser().get_doctest(
        "\n".join(code(page, "python")), {}, page.stem, str(page), 0
    )
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    # Functions of its own stay registered, and go on to need what they refer to.
    runner = doctest.DocTestRunner(optionflags=options)
    assert runner.run(examples, clear_globs=False).failed == 0
    capsys.readouterr()
    commands = code(page, "console")
    for command in commands:
        first, _, printed = command.replace("\\\n", "").partition("\n")
        assert main(shlex.split(first.removeprefix("$ giantstep"))) == 0
        assert rounded(capsys.readouterr().out) == rounded(printed)
    assert examples.examples or commands
