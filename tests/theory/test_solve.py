"""The theory is right: against reference values, limits and its own equations."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import giantstep
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.bounds import best_linear_error
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.readout.solve import solve
from giantstep.theory.readout.status import Status
from giantstep.validation import InvalidParametersError

# theory.md, section 11: parameters, then c, r, gamma and the theory's seven numbers.
REFERENCE = [
    (("sin", 3, 20, 1), (0.9, 0.1), (1.018973, 1.134056, 0.971854),
     (0.042504, 0.016859, 1.11182, 0.042686, 0.115709, 0.056805, 0.050684)),
    (("sin", 3, 20, 1), (3.0, 0.1), (1.018973, 1.134056, 0.971854),
     (0.032518, 0.022198, 1.12579, 0.072094, 0.188922, 0.063833, 0.085264)),
    (("tanh", 1, 0.5, 1), (1.6, 0.01), (1.076906, 0.651089, 0.563485),
     (0.205103, 0.037969, 0.98640, -0.000215, 0.622723, 0.749214, 1.323499)),
    (("tanh", 1, 0.5, 0.5), (1.6, 0.01), (1.307625, 1.302178, 0.563485),
     (0.271108, 0.125295, 0.64072, -0.014956, 0.429144, 0.738536, 0.811865)),
]  # fmt: skip


COLUMNS = ("test_error", "training_error", "m", "zeta", "psi", "q1", "q2")


@pytest.mark.parametrize(("setting", "point", "srf", "overlaps"), REFERENCE)
def test_theory_reproduces_the_reference_values(setting, point, srf, overlaps):
    protocol = Protocol("tanh", *setting)
    found = equivalent_features(protocol)
    (c,), (r,), *_ = found.groups
    assert (c, r, found.alignment) == pytest.approx(srf, abs=1e-6)
    solution = solve(protocol, Grid((point[0],), (point[1],)))
    values = [getattr(solution, name).item() for name in COLUMNS]
    assert values == pytest.approx(overlaps, abs=6e-6)


STRESS = [
    SpikedFeatures("tanh", "sign", 1.0, 50.0, 1.0, beta=1.0),
    SpikedFeatures("erf", "tanh", 100.0, 0.0, 0.0, beta=0.01),
    SpikedFeatures("tanh", "sin", 1.2, 1.0, -0.5, beta=100.0, noise=0.3),
    SpikedFeatures("relu", "sign", (1, 100), (0.5, 50), 1, 0.01, fraction=(0.3, 0.7), bias=(1, -2)),
    SpikedFeatures("relu", "sign", 1.2, 50.0, 0.9, 10.0, 0.1),
    SpikedFeatures("linear", "sign", 1.2, 10.0, 0.9, 10.0, 0.1),
    SpikedFeatures("he2", "he1", (1.0, 1.2), (0.0, 0.0), 0.9, 1.0, fraction=(0.5, 0.5)),
    SpikedFeatures("hardtanh", "he3", (1, 5, 2), (0.5, 2, -1), 0.9, 0.7, fraction=(0.3, 0.2, 0.5)),
]


@pytest.mark.parametrize("srf", STRESS)
def test_every_equation_holds_over_the_whole_stress_grid(srf):
    alpha = (*np.geomspace(1e-2, 1e3, 16), srf.beta)
    solution = solve(srf, Grid(alpha, tuple(np.geomspace(1e-10, 1e4, 15))))
    assert np.all(solution.status == Status.CONVERGED)
    assert solution.residual.max() < 1e-10
    threshold = np.isclose(alpha, srf.beta)  # there small errors are magnified without bound
    assert solution.quadrature_error[~threshold].max() < 1e-8
    assert solution.quadrature_error[threshold].max() < 1e-3


GRID = Grid((0.1, 0.8, 5.0), (1e-8, 0.1, 10.0))


COMMON = {
    "activation": "tanh", "target": "sin", "bulk_variance": 1.2, "alignment": 0.8, "beta": 0.8,
    "noise": 0.1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # a group split into two equal halves
        ({"spike_strength": 0.5}, {"spike_strength": 0.5, "fraction": (0.5, 0.5)}),
        # a neuron is its own mirror image, for an odd activation
        ({"spike_strength": 0.5}, {"spike_strength": (0.5, -0.5), "fraction": (0.3, 0.7)}),
        (
            {"spike_strength": 0.5, "bias": 0.2},
            {"spike_strength": (0.5, -0.5), "bias": (0.2, -0.2), "fraction": (0.3, 0.7)},
        ),
        # a linear activation has mu1 = 1 in all groups, whatever the ridge
        (
            {"activation": "linear", "spike_strength": 1, "beta": 2.0},
            {"activation": "linear", "spike_strength": (1, 1), "beta": 2.0, "fraction": (0.1, 0.9)},
        ),
        # without a spike the groups differ by nothing
        ({"spike_strength": 0.0}, {"spike_strength": (0.0, 0.0, 0.0), "fraction": (0.2, 0.3, 0.5)}),
    ],
)
def test_groups_that_are_alike_are_one(one, other):
    errors = [solve(SpikedFeatures(**(COMMON | kind)), GRID) for kind in (one, other)]
    assert errors[0].test_error == pytest.approx(errors[1].test_error, rel=1e-10)
    assert errors[0].training_error == pytest.approx(errors[1].training_error, rel=1e-9)


@pytest.mark.parametrize("bulk", ["isotropic", "trained"])
@pytest.mark.parametrize(("activation", "beta"), [("tanh", 1.0), ("linear", 2.0)])
def test_ridgeless_limit_is_reached_continuously(activation, beta, bulk):
    problem = Protocol(activation, "sign", 1, alpha0=2, beta=beta)
    grids = (Grid((0.4, 1.5, 3.0), (ridge,)) for ridge in (0.0, 1e-9))
    limit, near = (solve(problem, grid, bulk) for grid in grids)
    assert limit.test_error == pytest.approx(near.test_error, rel=1e-6)
    assert limit.training_error == pytest.approx(near.training_error, rel=1e-6, abs=1e-14)


def test_a_point_without_a_finite_solution_is_marked_and_holds_no_number():
    solution = solve(SpikedFeatures("tanh", "sign", 1.2, 1.0, 0.8, beta=1.0), Grid((1.0,), (0.0,)))
    assert solution.status.item() == Status.NOT_CONVERGED
    assert np.isnan(solution.test_error.item())


@pytest.mark.parametrize(("activation", "target"), [("tanh", "sign"), ("relu", "abs")])
def test_random_features_never_beat_the_best_linear_predictor(activation, target):
    problem = Protocol(activation, target, 3, alpha0=0, beta=5)
    errors = solve(problem, Grid((0.5, 5.0, 500.0), (1e-3, 1.0, 100.0))).test_error
    assert best_linear_error(target) == pytest.approx(1 - 2 / np.pi)
    assert 0 < errors.min() - (1 - 2 / np.pi) < 0.1


def test_an_exactly_learnable_target_has_no_error():
    found = solve(Protocol("linear", "linear", 3, np.inf, 1), Grid((1.0,), (0.1, 10.0)))
    assert np.all(found.status == Status.CONVERGED)
    assert found.test_error == pytest.approx(0, abs=1e-20)
    with warnings.catch_warnings(action="error"):
        noisy = Protocol("linear", "linear", 3, np.inf, 1, noise=0.77)
        giantstep.solve(noisy, [0.5, 1, 2], [1e8, 1e12])
    # Where rounding makes the error negative, in any unit of the labels.
    scaled = Protocol("polynomial:0,2", "polynomial:0,1e4", 3, np.inf, 1, noise=2.9e7)
    assert np.all(solve(scaled, Grid((1e6,), (1e12, 1e14))).status == Status.CONVERGED)


@pytest.mark.parametrize("bulk", ["isotropic", "trained"])
def test_a_smaller_step_is_a_giant_one_at_the_rate_of_its_dimension(bulk):
    grid, protocol = Grid((1.0, 3.0), (0.1,)), Protocol("tanh", "sin", 3, alpha0=2, beta=1)
    smaller = replace(protocol, step_exponent=0.25)
    found = solve(smaller, grid, bulk, dimension=10_000)
    same = solve(replace(protocol, learning_rate=0.3), grid, bulk, dimension=10_000)
    assert found.test_error == pytest.approx(same.test_error, rel=1e-9)
    with pytest.raises(InvalidParametersError, match="step_exponent = 0.25"):
        solve(smaller, grid, bulk)
