"""A result's key follows its parameters and the numerics it ran, and nothing else."""

import textwrap

import numpy as np
import pytest

from giantstep import identity
from giantstep.identity import fingerprint, key, problem_seed
from giantstep.protocol import Protocol


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
    text = "from giantstep import srf\n"
    before = print_of(text)
    read = identity._path

    class Edited:
        def __init__(self, path):
            self.path = path

        def read_text(self, encoding):
            return self.path.read_text(encoding) + "\nedited = True\n"

    def edit(source):  # a module that srf imports, not named in the text
        return Edited(read(source)) if source == "giantstep.gaussian" else read(source)

    monkeypatch.setattr(identity, "_path", edit)
    assert print_of(text) != before


def test_the_solver_feeds_the_theory_and_not_the_simulations(monkeypatch):
    def modules(stage):
        seen = []
        read = identity._path
        with monkeypatch.context() as patch:
            patch.setattr(identity, "_path", lambda name: seen.append(name) or read(name))
            fingerprint.cache_clear()
            fingerprint(stage)
        return set(seen)

    theory, simulation = modules("giantstep.learning"), modules("giantstep.montecarlo")
    assert {"giantstep.resolvent", "giantstep.features", "giantstep.srf"} <= theory
    assert not {"giantstep.resolvent", "giantstep.features", "giantstep.srf"} & simulation
    assert "giantstep.gradient" in simulation
    assert "giantstep.gradient" not in theory


def test_equal_parameters_have_equal_keys_however_they_are_written():
    one = Protocol("tanh", "sign", 1, alpha0=np.float64(2), beta=1)
    two = Protocol("tanh", "sign", 1.0, alpha0=2.0, beta=1.0, noise=0)
    assert key("slug", "giantstep.srf", one) == key("slug", "giantstep.srf", two)
    other = Protocol("tanh", "sign", 1, alpha0=2, beta=1, noise=1e-12)
    assert key("slug", "giantstep.srf", one) != key("slug", "giantstep.srf", other)


def test_problems_have_streams_of_their_own():
    def draw(root, alpha0):
        seed = problem_seed(root, Protocol("tanh", "sign", 1, alpha0=alpha0, beta=1))
        return np.random.default_rng(seed).random()

    assert draw(0, 1) == draw(0, 1.0)
    assert len({draw(0, 1), draw(0, 2), draw(1, 1)}) == 3
