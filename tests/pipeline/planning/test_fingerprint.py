"""A result's key follows its parameters and the numerics it ran, and nothing else."""

import textwrap

import numpy as np
import pytest

from giantstep.pipeline.planning import fingerprint as fingerprint_module
from giantstep.pipeline.planning.fingerprint import fingerprint, function_fingerprint, key
from giantstep.problems.protocol import Protocol


@pytest.fixture
def print_of(tmp_path):
    def fingerprint_of(text):
        path = tmp_path / "module.py"
        path.write_text(textwrap.dedent(text))
        fingerprint.cache_clear()
        return fingerprint(str(path))

    return fingerprint_of


def test_words_and_layout_do_not_change_a_fingerprint(print_of):
    plain = print_of("def f(x):\n    return x + 1\n")
    assert plain == print_of('"""Words."""\ndef f(x):\n    """More."""\n    return (x+1)  # why\n')
    assert plain != print_of("def f(x):\n    return x + 2\n")
    assert plain != print_of("def f(x, y=1):\n    return x + 1\n")


def test_a_fingerprint_follows_imports_inside_the_package(print_of, monkeypatch):
    text = "from giantstep.theory import equivalent_features\n"
    before = print_of(text)
    read = fingerprint_module._path

    class Edited:
        def __init__(self, path):
            self.path = path

        def read_text(self, encoding):
            return self.path.read_text(encoding) + "\nedited = True\n"

    def edit(source):  # a module that it imports, not named in the text
        return Edited(read(source)) if source == "giantstep.numerics.gaussian" else read(source)

    monkeypatch.setattr(fingerprint_module, "_path", edit)
    assert print_of(text) != before


def test_the_solver_feeds_the_theory_and_not_the_simulations(monkeypatch):
    def modules(stage):
        seen = []
        read = fingerprint_module._path
        with monkeypatch.context() as patch:
            patch.setattr(fingerprint_module, "_path", lambda name: seen.append(name) or read(name))
            fingerprint.cache_clear()
            fingerprint(stage)
        return set(seen)

    theory, simulation = modules("giantstep.theory.solve"), modules("giantstep.simulation.simulate")
    assert {
        "giantstep.theory.fixed_point",
        "giantstep.theory.conditional_features",
        "giantstep.theory.equivalent_features",
    } <= theory
    assert (
        not {
            "giantstep.theory.fixed_point",
            "giantstep.theory.conditional_features",
            "giantstep.theory.equivalent_features",
        }
        & simulation
    )
    assert "giantstep.simulation.gradients" in simulation
    assert "giantstep.simulation.gradients" not in theory


def test_equal_parameters_have_equal_keys_however_they_are_written():
    one = Protocol("tanh", "sign", 1, alpha0=np.float64(2), beta=1)
    two = Protocol("tanh", "sign", 1.0, alpha0=2.0, beta=1.0, noise=0)
    assert key("slug", "giantstep.theory.equivalent_features", ("tanh", "sign"), one) == key(
        "slug", "giantstep.theory.equivalent_features", ("tanh", "sign"), two
    )
    other = Protocol("tanh", "sign", 1, alpha0=2, beta=1, noise=1e-12)
    assert key("slug", "giantstep.theory.equivalent_features", ("tanh", "sign"), one) != key(
        "slug", "giantstep.theory.equivalent_features", ("tanh", "sign"), other
    )


def test_another_activation_or_another_wording_changes_no_other_key(monkeypatch):
    def keys():
        fingerprint.cache_clear()
        function_fingerprint.cache_clear()
        return [key("s", "giantstep.simulation.simulate", (name,), 1) for name in ("tanh", "sin")]

    read, before = fingerprint_module._path, keys()
    entry = '        ScalarFunction("arctan", "", np.arctan, np.cos, "odd"),\n'

    def edited(module, old, new):
        text = read(module).read_text().replace(old, new, 1)
        assert new in text

        class Edited:
            def read_text(self, encoding):
                return text

        return lambda source: Edited() if source == module else read(source)

    start = '        ScalarFunction(\n            "tanh"'
    for module, old, new, same in (
        ("giantstep.numerics.scalar_functions", start, entry + start, (True, True)),
        ("giantstep.validation", "a whole number", "an integer", (True, True)),
        ("giantstep.numerics.scalar_functions", "np.tanh,", "np.arctan,", (False, True)),
        ("giantstep.problems.canonical", "spawn_key=(", "spawn_key=(1,", (False, False)),
    ):
        monkeypatch.setattr(fingerprint_module, "_path", edited(module, old, new))
        assert tuple(a == b for a, b in zip(before, keys(), strict=True)) == same
    monkeypatch.undo()
    assert keys() == before
