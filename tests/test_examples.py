"""The examples in docstrings run, and print what they say."""

import doctest
from importlib import import_module

import pytest
from tiny import ROOT

PACKAGE = ROOT / "src/giantstep"
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text()
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    results = doctest.testmod(import_module(name), optionflags=options)
    assert results.attempted > 0
    assert results.failed == 0
