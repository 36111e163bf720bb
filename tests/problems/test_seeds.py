"""Digests and seeds of problems, pinned.

Every simulated number follows from its problem's seed, and every file's key from digests. Both hash
the names of classes and fields along with the values. So a renamed class or field, a reordered or
new one that counts at its default, or another canonical form silently changes all of them: it fails
here first. Never adjust a number in this file to make a change pass, unless all simulations are
meant to change.
"""

import math

import pytest

from giantstep.problems.canonical import digest
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.problems.seeds import problem_seed
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures, one_spike
from giantstep.simulation.samples import FIRST_BATCH, TEST, TRAINING, WEIGHTS, stream

PAPER, TANH_SIGN = ("tanh", "sin", 3, 20, 1), ("tanh", "sign", 1.0, 2.0, 1.0)
LETTERS = ((0.5, 0.3), (2.0, 0.7))
TEN = tuple((value, 0.1) for value in range(1, 11))  # adds up to one in some ways of rounding
GROUPS = {"fraction": (0.5, 0.5), "bias": (0.1, -0.3)}
TWO = {"readout": ((1.0, 0.5), (-1.0, 0.5)), "bias": ((0.0, 0.4), (1.0, 0.6))}
SRF = ("tanh", "sign", 1.2, 1.5)
CONDITIONAL = {"model": "conditional_gaussian", "outlier_fraction": 0.2}
OUTLIERS = {"outlier_fraction": 0.1, "outlier_variance": 4.0}
STUDENT = {"inputs": "student_t:5", "steps": 2, "reuse_batch": True}
PINNED = [
    ("417708f3f073fcd9", 3743195570, Protocol("tanh", "sin", 3.0, 20.0, 1.0)),
    ("417708f3f073fcd9", 3743195570, Protocol(*PAPER)),
    ("0ced465682471dc5", 3786542361, Protocol("sin", "tanh", 1.0, math.inf, 1.5, noise=0.1)),
    ("aa3af03a06bf0010", 3461615469, Protocol("erf", "sign", 1.0, 0.5, 0.5, readout=LETTERS)),
    ("ef692c9dd0fd01a9", 3738161231, Protocol(*PAPER, readout=TEN)),
    ("b0a98d8bde762cb7", 3179629447, Protocol(*TANH_SIGN, **STUDENT)),
    ("8ccea93b4560a5a7", 4248620157, Protocol("hardtanh", "relu", 2.0, 1.0, 0.7, **OUTLIERS)),
    ("4bd91ee114cf3c8d", 2512595905, Protocol(*PAPER, step_exponent=0.25)),
    ("af57402cfc4f9506", 3590322613, SpikedFeatures(*SRF, 1.0, 0.7)),
    (
        *("8cbdb5ea4638e201", 2846910568),
        SpikedFeatures("relu", "sin", (1.2, 2.0), (0.5, 2.0), 0.8, 0.8, **GROUPS),
    ),
    ("8cc5f78f105543ac", 2652940897, SpikedFeatures(*SRF, 0.9, 0.7, **CONDITIONAL)),
    ("730b35328075368a", 349677084, one_spike(*SRF, 0.9, 0.7, **TWO)),
]


@pytest.mark.parametrize(("pinned", "state", "problem"), PINNED)
def test_problems_have_the_digests_and_seeds_of_ever(pinned, state, problem):
    assert digest(problem)[:16] == pinned
    assert problem_seed(7, problem).generate_state(1)[0] == state
    assert problem_seed(8, problem).generate_state(1)[0] != state


@pytest.mark.parametrize(
    ("pinned", "values"),
    [
        ("ef25acd3ac80d444", [Grid((0.3, 0.9, 2.0), (0.01, 0.3))]),
        ("11793985c9a61289", [Grid((1.0,), (1.0,), "huber:0.5")]),
        ("bb3d2f21ed345542", [Sizes(100)]),
        ("6766fac8e4fa434b", [Protocol(*PAPER), Grid((0.3,), (0.1,))]),
    ],
)
def test_grids_and_sizes_have_the_digests_of_ever(pinned, values):
    assert digest(*values)[:16] == pinned


def test_streams_are_those_of_ever():
    seed = problem_seed(7, Protocol(*PAPER))
    paths = [(0, WEIGHTS), (3, FIRST_BATCH, 1, 0), (3, TEST, 2), (3, TRAINING, 1, 2)]
    drawn = [int(stream(seed, *path).integers(2**32)) for path in paths]
    assert drawn == [319590058, 3425395040, 3058606417, 1685362053]
