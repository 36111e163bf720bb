"""Two readouts on the same features."""

import math

import numpy as np
import pytest

from giantstep import Protocol, SpikedFeatures
from giantstep.theory.readout.fixed_point import solve_resolvent
from giantstep.theory.readout.solve import readout_of
from giantstep.theory.rows.interface import Hats

LETTERS = (1.0, 0.6), (-0.5, 0.4)
BIASED = SpikedFeatures(
    "tanh",
    "sin",
    bulk_variance=(1.2, 2.0),
    spike_strength=(1.2, -0.4),
    alignment=0.9,
    beta=0.7,
    fraction=(0.4, 0.6),
    bias=(0.1, -0.3),
)
PROBLEMS = {
    "groups": (BIASED, "isotropic"),
    "trained": (Protocol("relu", "sign", 1.5, alpha0=2, beta=0.6), "trained"),
    "two steps": (Protocol("tanh", "sin", 2, alpha0=2, beta=1, steps=2), "trained"),
    "letters": (Protocol("tanh", "sin", 3, alpha0=2, beta=1, readout=LETTERS), "trained"),
    "letter rows": (Protocol("tanh", "sin", 2, 2, 1, readout=LETTERS, steps=2), "trained"),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("dimension", [math.inf, 200])
def test_differences_between_two_ridges_are_those_of_resolvents(name, dimension):
    # 1/S_1 - 1/S_2 = (1/S_1) (S_2 - S_1) (1/S_2), and so for all that depends on the resolvent.
    problem, bulk = PROBLEMS[name]
    equations = readout_of(problem, bulk, dimension=dimension).square_loss.equations
    split, rng = equations.triangle.size, np.random.default_rng(0)
    at = solve_resolvent(equations, np.full(2, 1.3), np.array([0.03, 1.0]))
    V1_hat = equations.triangle.unpack(at.V_hat[:, :split])
    one, other = (equations.bulk.spike_response(V1_hat[k], at.V[k]) for k in ([0], [1]))
    T, moved = one.derivative(other)[0], at.V_hat[1] - at.V_hat[0]
    moved[split:] += 1.0 - 0.03
    moved_twice = moved * equations.multiplicity
    assert T @ moved == pytest.approx(at.V[0] - at.V[1], rel=1e-10)
    sizes = len(one.K[0]), at.V.shape[1] - split
    left, right = (Hats(*(rng.standard_normal((1, n)) for n in sizes)) for _ in "12")
    first, second = one.sources(other, left, right)
    change = left.z[0] @ (one.K - other.K)[0] @ right.z[0]
    assert (T @ first[0] + second[0]) @ moved_twice == pytest.approx(change)
    rows = np.array([0.7, 0.4])
    first, second = one.screened_sources(other, rows, left.m, right.m)
    change = left.m[0] @ (other.screened(rows) - one.screened(rows))[0] @ right.m[0]
    assert (T @ first[0] + second[0]) @ moved_twice == pytest.approx(change)
