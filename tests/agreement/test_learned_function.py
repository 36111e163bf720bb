"""The learned function is the mean output of trained networks."""

from networks import assert_near

from giantstep.problems.grid import Grid
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.simulation.measurements import SLABS
from giantstep.simulation.simulate import simulate
from giantstep.theory.learned_function import learned_function
from giantstep.theory.readout.solve import solve


def test_the_learned_function_is_the_mean_output_of_trained_networks():
    """Within standard errors, beside 0.01 for the finite size; a false alarm has 1 % at most."""
    srf = SpikedFeatures("tanh", "sign", 1.3, 2.0, 0.8, beta=1.0)
    grid = Grid((2.0,), (0.1,))
    outputs = simulate(srf, grid, Sizes(400, 1, 20_000), range(10), 7).learned_function
    solution = solve(srf, grid)
    learned = learned_function(srf, solution.m, solution.zeta, solution.psi, SLABS)[0, 0]
    assert_near(outputs[:, :, 0, 0], learned, beside=0.01)
