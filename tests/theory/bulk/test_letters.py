"""The bulk of several initial readouts: against actual rows, finite differences and limits."""

import numpy as np
import pytest

from giantstep.problems.bulk_kind import TRAINED
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.simulation.first_layer import group_members
from giantstep.theory.features.conditional_features import conditional_features
from giantstep.theory.first_layer.equivalent_features import equivalent_features
from giantstep.theory.first_layer.odd_step import OddStep
from giantstep.theory.readout.solve import solve
from giantstep.theory.rows.eigenmodes import RowCovariance
from giantstep.theory.rows.groups import GroupsBulk

LETTERS = ((-1.0, 0.3), (0.3, 0.3), (1.5, 0.4))


def of_protocol(protocol):
    srf = equivalent_features(protocol)
    features, step = conditional_features(srf), OddStep(protocol)
    (omega, pi), batch = np.array(protocol.readout).T, step.first_batch()
    norms = np.stack([np.ones(omega.size), omega**2 * step.tau])
    rows = RowCovariance(features.B, pi, norms, protocol.beta, batch)
    return GroupsBulk(rows, omega * step.norm_coupling)


def test_overlaps_answer_as_those_of_actual_rows():
    # K between phi on the spike, the norms, and phi across: forms of S^-1 for rows drawn at finite
    # size, given a batch, with the spike's direction out of the covariance.
    protocol = Protocol("tanh", "sin", 3, 2.0, 1.0, noise=0.1, readout=LETTERS)
    bulk, d, rng = of_protocol(protocol), 900, np.random.default_rng(4)
    (B, pi, (_, growth), _, _), count = bulk.rows, len(LETTERS)
    x = rng.standard_normal((round(protocol.alpha0 * d), d))
    y = np.sin(x[:, 0]) + np.sqrt(protocol.noise) * rng.standard_normal(len(x))
    member = group_members(pi, d)
    before = rng.standard_normal((d, d)) / np.sqrt(d)
    noise = (rng.standard_normal((d, len(x))) * y) @ x / np.sqrt(len(x) * d)
    rows = before + np.sqrt(growth[member])[:, None] * noise
    v = y @ x / np.linalg.norm(y @ x)
    across = np.eye(d)[0] - v[0] * v
    across /= np.linalg.norm(across)
    root = rng.standard_normal((count, count))
    V1_hat, L = 0.5 + root @ root.T / count, rng.uniform(0.5, 1.0, count)  # between groups
    projected = rows - np.outer(rows @ v, v)
    S = V1_hat[np.ix_(member, member)] * (projected @ projected.T) + np.diag(L[member])
    group = np.eye(count)[member]
    vectors = np.hstack([
        (rows @ v)[:, None] * group[:, :] @ B,
        (before @ v * bulk.norm_coupling[member])[:, None] * group,
        (rows @ across)[:, None] * group @ B,
    ])  # fmt: skip
    actual = vectors.T @ np.linalg.solve(S, vectors)
    hats = (B.T @ V1_hat @ B)[None]
    response = bulk.spike_response(hats, bulk.variances(hats, L[None])[0])
    size = np.sqrt(np.outer(np.diag(actual), np.diag(actual)))
    assert response.K[0] / size == pytest.approx(actual / size, abs=0.2)


@pytest.mark.parametrize("readout", [((1.0, 1.0),), LETTERS])
def test_the_bulk_of_a_very_large_batch_is_that_of_an_infinite_one(readout):
    grid = Grid((0.3, 0.9, 3.0), (1e-6, 0.1, 1e3))
    large, infinite = (
        solve(Protocol("tanh", "sin", 3, alpha0, 1.3, noise=0.1, readout=readout), grid, TRAINED)
        for alpha0 in (1e11, np.inf)
    )
    for name in ("test_error", "training_error", "q1", "q2", "V2"):
        value, expected = getattr(large, name), getattr(infinite, name)
        assert value == pytest.approx(expected, rel=1e-7, abs=1e-8)
