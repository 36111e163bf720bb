"""The examples in docstrings run, and print what they say."""

import doctest
from importlib import import_module

import pytest

MODULES = (
    "problems.protocol",
    "problems.spiked_features",
    "problems.grid",
    "theory.equivalent_features",
    "theory.solve",
    "problems.sizes",
    "registry",
    "validation",
    "simulation.simulate",
    "simulation.eigenvalues",
    "simulation.recovery",
    "theory.bounds",
    "theory.optima",
    "theory.learned_function",
    "theory.classification_error",
    "theory.one_step_recovery",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    results = doctest.testmod(import_module(f"giantstep.{name}"), optionflags=options)
    assert results.attempted > 0
    assert results.failed == 0
