"""A simulated replicate has its own digits, whatever runs beside it, within its memory."""

import tracemalloc

import numpy as np
import pytest

from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.simulation import arithmetic
from giantstep.simulation.replicate_statistics import summarise
from giantstep.simulation.simulate import simulate
from giantstep.validation import InvalidParametersError


@pytest.mark.parametrize(
    ("problem", "ridges"),
    [
        (Protocol("tanh", "sign", 3, alpha0=2, beta=1), (0.01, 0.1)),
        (Protocol("tanh", "tanh", 1, 0.5, 0.7, readout=((-1, 0.5), (1, 0.5))), (0.01,)),
        (SpikedFeatures("relu", "sin", 1, (0.5, 3), 0.9, 1, fraction=(0.3, 0.7)), (0.1,)),
    ],
)
def test_single_precision_moves_no_error_by_a_thousandth_of_its_error_bar(
    problem, ridges, monkeypatch
):
    grid, sizes = Grid((0.5, 0.98, 1.03, 3.0), ridges), Sizes(300, 2, 2000)
    single = simulate(problem, grid, sizes, range(6), 1)
    monkeypatch.setattr(arithmetic, "SINGLE_FROM", np.inf)
    double = simulate(problem, grid, sizes, range(6), 1)
    for name in ("test_error", "training_error"):
        one, two = (summarise(getattr(found, name)) for found in (single, double))
        assert np.any(one.mean != two.mean)
        assert np.all(np.abs(one.mean - two.mean) < 1e-3 * two.stderr)


def test_small_ridges_are_fitted_in_double_precision(monkeypatch):
    protocol, grid = Protocol("tanh", "sign", 1, alpha0=1, beta=1), Grid((1.0,), (0.0, 1e-3))
    errors = []
    for threshold in (arithmetic.SINGLE_FROM, np.inf, 0):
        monkeypatch.setattr(arithmetic, "SINGLE_FROM", threshold)
        errors.append(simulate(protocol, grid, Sizes(100, 1, 500), [0], 1).test_error)
    assert np.array_equal(errors[0], errors[1])
    assert np.all(errors[0] != errors[2])


@pytest.mark.parametrize(
    ("loss", "tests"), [("square", 1100), ("hinge", 500), ("huber:0.5", 500), ("logistic", 500)]
)
def test_a_point_does_not_depend_by_a_bit_on_threads_or_company_or_sample_sizes(loss, tests):
    protocol = Protocol("erf", "sign", 1, alpha0=8, beta=1, readout=((1, 0.5), (2, 0.5)))
    alphas = (0.5, 0.7, 9.5, 10, 20) if loss == "square" else (0.5, 2)
    least = 1e-4 if loss == "square" else 0.01  # in double precision
    sizes = Sizes(128 if loss == "square" else 60, 2, tests)  # several blocks of each kind
    one = simulate(protocol, Grid(alphas[::2], (0.1,), loss), sizes, [1], 5)
    grid = Grid(alphas, (least, 0.1, 1.0), loss)
    more = simulate(protocol, grid, sizes, range(2), 5, threads=3)
    for name, values in vars(one).items():
        part = getattr(more, name)[1:, :, ::2, 1:2]
        assert np.array_equal(values, part, equal_nan=True), name


@pytest.mark.parametrize(
    ("beta", "words"),
    [(1, "readout = 0.001: must be large enough for one of"), (1e-6, "^beta = [^:]*:[^:]*$")],
)
def test_groups_without_a_neuron_are_refused(beta, words):
    problem = Protocol("tanh", "sign", 1, 1, beta, readout=((1, 0.5), (2, 0.001), (3, 0.499)))
    with pytest.raises(InvalidParametersError, match=words):
        simulate(problem, Grid((1,), (1,)), Sizes(50), [0], 1)


def test_a_ridge_below_rounding_is_the_limit_of_none():
    srf = SpikedFeatures("linear", "tanh", 1, 0.5, 0.5, beta=2)  # Phi has rank d at most
    found = simulate(srf, Grid((1.5,), (0.0, 1e-14, 1e-12)), Sizes(60, 1, 2000), [0], 1)
    assert np.ptp(found.test_error) < 1e-3 * found.test_error.max()


def test_memory_does_not_grow_with_samples():
    protocol, peaks = Protocol("tanh", "sign", 1, alpha0=1, beta=1), []
    for alpha, tests in ((40, 2000), (400, 40_000)):
        tracemalloc.start()
        simulate(protocol, Grid((alpha,), (0.1,)), Sizes(64, 1, tests), [0], 1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
