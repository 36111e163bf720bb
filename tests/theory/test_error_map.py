"""Maps hold the theory of each of their protocols."""

import pytest

from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.theory.error_map import error_map
from giantstep.theory.readout.solve import solve


@pytest.mark.parametrize(
    "names", [("learning_rate", "alpha0"), ("ridge", "beta"), ("alpha", "ridge")]
)
def test_a_map_is_the_theory_of_its_protocols(names):
    values = {"learning_rate": (1, 3), "alpha0": (0.5, 5), "beta": (0.5, 2), "ridge": (0.1, 1)}
    values["alpha"] = (1, 2)
    axes = {name: values[name] for name in names}
    found = error_map(Protocol("tanh", "sin", 2, 1, 1), axes, alpha=1.5, ridge=0.3)
    assert found.shape == (2, 2)
    last = {"alpha": 1.5, "ridge": 0.3} | {name: values[name][1] for name in names}
    point = Grid((last.pop("alpha"),), (last.pop("ridge"),))
    step = {"learning_rate": 2, "alpha0": 1, "beta": 1} | last
    exact = solve(Protocol("tanh", "sin", **step), point).test_error.item()
    assert found[1, 1] == pytest.approx(exact, rel=1e-12)
