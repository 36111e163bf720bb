"""Every problem has random streams of its own."""

import numpy as np

from giantstep.problems.protocol import Protocol
from giantstep.problems.seeds import problem_seed


def test_problems_have_streams_of_their_own():
    def draw(root, alpha0):
        seed = problem_seed(root, Protocol("tanh", "sign", 1, alpha0=alpha0, beta=1))
        return np.random.default_rng(seed).random()

    assert draw(0, 1) == draw(0, 1.0)
    assert len({draw(0, 1), draw(0, 2), draw(1, 1)}) == 3
