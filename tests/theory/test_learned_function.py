"""The learned function and the target leave a part of the test error."""

import numpy as np

from giantstep.problems.grid import Grid
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.learned_function import learned_function
from giantstep.theory.readout.solve import solve


def test_the_learned_function_and_the_target_leave_the_test_error_of_the_noise_of_the_readout():
    # E (f* - F)^2 along the target is a part of the test error, the whole of it but for variance.
    srf = SpikedFeatures("tanh", "sin", 1.1, 1.0, 0.7, beta=1.0)
    solution = solve(srf, Grid((1.0, 1000.0), (0.1,)))
    s, ds = np.linspace(-8, 8, 1601, retstep=True)
    weight = np.exp(-(s**2) / 2) / np.sqrt(2 * np.pi) * ds
    learned = learned_function(srf, solution.m, solution.zeta, solution.psi, s)
    gap = ((np.sin(s) - learned) ** 2) @ weight
    assert np.all(gap < solution.test_error)
    assert gap[1, 0] > 0.3 * solution.test_error[1, 0]
