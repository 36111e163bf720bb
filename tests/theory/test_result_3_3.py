"""The fast solver agrees with the paper's equations, written plainly."""

import numpy as np
import pytest

from giantstep.problems.grid import Grid
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.readout.solve import solve
from giantstep.theory.result_3_3 import marchenko_pastur, result_3_3


@pytest.mark.parametrize("seed", range(20))
def test_the_solver_agrees_with_the_equations_of_the_paper(seed):
    rng = np.random.default_rng(seed)
    alpha, ridge = np.exp(rng.uniform(-1, 1.5)), 10 ** rng.uniform(-2.5, 0.5)
    srf = SpikedFeatures(
        str(rng.choice(["tanh", "erf", "sin", "hardtanh", "relu"])),
        str(rng.choice(["sin", "sign", "tanh", "he2", "relu"])),
        bulk_variance=rng.uniform(0.7, 2),
        spike_strength=rng.uniform(0.2, 2.5),
        alignment=rng.uniform(-0.95, 0.98),
        beta=np.exp(rng.uniform(-1.2, 1.2)),
        noise=rng.choice([0, 0.3]),
    )
    statistics, test_error = result_3_3(srf, alpha, ridge)
    solution = solve(srf, Grid((alpha,), (ridge,)))
    assert solution.test_error.item() == pytest.approx(test_error, rel=1e-8)
    for name, value in statistics._asdict().items():
        assert getattr(solution, name).item() == pytest.approx(value, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("more", [{"label_flips": 0.2}, {"inputs": "mixture:1.5"}])
def test_features_that_the_result_does_not_cover_are_refused(more):
    with pytest.raises(ValueError, match="Result 3.3 has"):
        result_3_3(SpikedFeatures("tanh", "sign", 1.2, 1, 0.8, 1, **more), 1, 0.1)


@pytest.mark.parametrize("beta", [0.3, 1, 1.001, 2.5])
def test_the_spectrum_of_the_bulk_has_the_moments_of_random_rows(beta):
    rho, nu = marchenko_pastur(beta, 1.3)
    moments = [nu @ rho**k for k in range(3)]
    assert moments == pytest.approx([1, 1.3, 1.69 * (1 + beta)], rel=1e-12)
