"""Variances of the isotropic bulk: against actual matrices and finite differences."""

import numpy as np
import pytest

from giantstep.problems.spiked_features import Groups
from giantstep.simulation.first_layer import group_members
from giantstep.theory.rows.isotropic import IsotropicBulk


def groups_of(c, pi):
    return Groups(np.array(c), np.zeros(len(c)), np.array(pi), np.zeros(len(c)))


@pytest.mark.parametrize(
    ("beta", "groups"),
    [
        (0.4, groups_of([1.3], [1.0])),
        (2.5, groups_of([1.3], [1.0])),
        (0.8, groups_of([1.0, 3.0], [0.3, 0.7])),
        (1.5, groups_of([1.0, 2.0, 4.0], [0.2, 0.3, 0.5])),
    ],
)
def test_variances_are_traces_over_an_actual_matrix(beta, groups):
    # S = V1_hat_{g(i)g(j)} (W W^T)_ij + delta_ij (ridge + V2_hat_g), for W drawn at finite size:
    # V2 = tr S^-1 / p on each group, V1 = tr (W W^T S^-1) / p on each pair, and T their derivative.
    d, rng, count = 700, np.random.default_rng(1), groups.c.size
    member = group_members(groups.pi, round(beta * d))
    root = rng.standard_normal((count, count))
    V1_hat, L = 0.5 + root @ root.T / count, rng.uniform(0.2, 0.6, count)
    bulk = rng.standard_normal((member.size, d)) * np.sqrt(groups.c[member] / d)[:, None]
    gram = bulk @ bulk.T

    def traces(V1_hat, L):
        S = V1_hat[np.ix_(member, member)] * gram + np.diag(L[member])
        inverse = np.linalg.inv(S)
        pairs = np.eye(count)[member]
        return np.concatenate([
            (pairs.T @ (inverse * gram) @ pairs)[np.triu_indices(count)],
            pairs.T @ np.diag(inverse),
        ]) / member.size  # fmt: skip

    V, T = IsotropicBulk(np.eye(count), groups, beta).variances(V1_hat[None], L[None])
    actual = traces(V1_hat, L)
    assert V[0] == pytest.approx(actual, rel=8e-3, abs=2e-3)
    change = (actual - traces(V1_hat * 1.001, L * 1.001)) / 0.001
    direction = np.concatenate([V1_hat[np.triu_indices(count)], L])
    assert T[0] @ direction == pytest.approx(change, rel=2e-2, abs=4e-3)


def test_the_closed_form_of_one_group_and_the_general_iteration_agree():
    rng = np.random.default_rng(3)
    V1_hat = np.exp(rng.uniform(-9, 9, (200, 1, 1)))
    L = np.exp(rng.uniform(-9, 9, (200, 1)))
    for beta in (0.01, 1.0, 100.0):
        isotropic = IsotropicBulk(np.eye(1), groups_of([1.7], [1.0]), beta)
        closed = isotropic.variances(V1_hat, L)
        start = np.hstack([L, 1 / (L + 1.7 * V1_hat[:, 0])])
        *general, _ = isotropic.variances_near(V1_hat, L, start, start)
        for one, other in zip(closed, general, strict=True):
            assert other == pytest.approx(one, rel=1e-10)
