"""Result 3.3 for the square loss: overlaps and errors, by the linear algebra of section 4."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantstep.activations import Array
from giantstep.batch import FirstBatch
from giantstep.bulk import ISOTROPIC, TRAINED_NORMS, Bulk, Channels, IsotropicBulk, settled_bulk
from giantstep.features import ConditionalFeatures, conditional_features
from giantstep.means import Means, Misfit, solve_means
from giantstep.protocol import Grid, Problem, SpikedFeatures, noise_power
from giantstep.resolvent import ACCEPTED, Equations, Points, Resolvent, solve_resolvent
from giantstep.srf import equivalent_features
from giantstep.trained import TrainedBulk
from giantstep.variances import solve_certified

# Up to which relative change of the hats, on twice as many nodes, a point is given out; and up to
# which change of the test error, which near the interpolation threshold is so much larger.
RESOLVED, TRUSTED = 1e-8, 1e-3
# A squared error this far below zero, over the label's power, is no rounding; nor is a smaller
# change of it an error.
_ROUNDING = 1e-14
# Points x nodes solved together: arrays of this size stay in the processor's cache.
_BATCH_ENTRIES = 1_500_000


class Status(IntEnum):
    """What may be done with a point of a solution."""

    CONVERGED = 0
    NOT_CONVERGED = 1
    UNSTABLE = 2
    UNRESOLVED = 3

    @property
    def label(self) -> str:
        """The status as tables show it."""
        return self.name.lower()

    @property
    def advice(self) -> str:
        """What the user can do."""
        return {
            Status.CONVERGED: "every equation holds to rounding",
            Status.NOT_CONVERGED: (
                "the equations for V1, V2 have no finite solution that could be reached here;"
                " take a larger ridge, or move alpha away from beta"
            ),
            Status.UNSTABLE: (
                "the linear equations for the overlaps are singular to rounding here;"
                " take a larger ridge"
            ),
            Status.UNRESOLVED: (
                "doubling the quadrature nodes changes the result here; take a larger ridge,"
                " or a smaller spike strength"
            ),
        }[self]


@dataclass(frozen=True)
class Solution:
    """Theory on a grid; arrays have shape (alphas, ridges, ...), and NaN where it failed.

    Attributes
    ----------
    test_error, training_error : Array, shape (alphas, ridges)
        Equation (25), and its counterpart on the training set.
    m, zeta, psi, q2, V2 : Array, shape (alphas, ridges, G)
        The overlaps, equation (17) and theory.md section 4, for each group of neurons.
    xi : Array, shape (alphas, ridges, G)
        Overlap with the change of the neurons' norms, docs/trained-bulk.md; zero for an isotropic
        bulk.
    q1, V1 : Array, shape (alphas, ridges, G, G)
        Likewise, for each pair of groups.
    residual : Array, shape (alphas, ridges)
        Largest relative residual of all the equations.
    quadrature_error : Array, shape (alphas, ridges)
        Relative change of the hats and of the test error when the nodes are doubled.
    iterations, status : integer arrays, shape (alphas, ridges)
        Newton steps, and a `Status` per point.
    """

    test_error: Array
    training_error: Array
    m: Array
    zeta: Array
    psi: Array
    xi: Array
    q1: Array
    q2: Array
    V1: Array
    V2: Array
    residual: Array
    quadrature_error: Array
    iterations: NDArray[np.int64]
    status: NDArray[np.int64]


class _Chain:
    """From V to the test error on one quadrature rule."""

    def __init__(self, f: ConditionalFeatures, srf: SpikedFeatures, bulk: Bulk) -> None:
        self.features, self.srf = f, srf
        self.equations, self.misfit = Equations(f, srf, bulk), Misfit(f, srf.beta)
        self.functions = f.fold(self.misfit.functions)
        self.expectations = np.concatenate(
            [self.misfit.functions @ f.weight, self.equations.weighted.sum(axis=0)]
        )

    def follow(self, at: Resolvent) -> _Followed:
        """Solve for the means, then for the variances, then for the errors."""
        split = self.equations.triangle.size
        V1_hat = self.equations.triangle.unpack(at.V_hat[:, :split])
        channels = self.equations.bulk.channels(V1_hat, at.V)
        mean = solve_means(self.features, at, self.misfit, channels)
        misfit = self.misfit.coefficients(mean)
        squared = at.contraction**2
        unfitted = misfit @ self.functions
        unfitted *= squared
        q, direction, residual = _variances(self.equations, at, mean, channels, unfitted)
        scaled = q * self.equations.multiplicity
        test_error = np.concatenate([misfit, scaled], axis=-1) @ self.expectations
        fitted = np.einsum("sk,sk->s", scaled, squared @ self.equations.weighted)
        return _Followed(
            test_error=test_error - noise_power(self.srf),
            training_error=at.scale**2 * (unfitted.sum(axis=-1) + fitted),
            mean=mean,
            channels=channels,
            q=q,
            direction=direction,
            residual=np.maximum(mean.residual, residual),
        )


class _Followed(NamedTuple):
    """What follows from V at S points."""

    test_error: Array
    training_error: Array
    mean: Means
    channels: Channels
    q: Array
    direction: Array
    residual: Array


def _variances(
    equations: Equations, at: Resolvent, mean: Means, channels: Channels, unfitted: Array
) -> tuple[Array, Array, Array]:
    """Solve `(q1, q2) = T (q_hat + first) + second`, theory.md section 4, "Variances".

    The sources are what the overlaps add. Here `q_hat = b + H (q1, q2)`, where b comes from
    `unfitted`: what the means leave of the label, times 1/(1 + V)^2, folded. In units of V the
    matrix I - T H is that of Newton's method.

    Returns
    -------
    q : Array, shape (S, K)
    direction : Array, shape (S, K)
        `q_hat + first`.
    residual : Array, shape (S,)
    """
    first, second = channels.sources(mean.along_hat, mean.across_hat)
    b = (at.alpha / equations.beta)[:, None] * (unfitted @ equations.coefficients.T)
    direction = b + first
    unit = equations.units(at.V)
    matrix = np.eye(unit.shape[-1]) - (at.T @ at.H) * unit[:, None, :] / unit[:, :, None]
    right = (np.einsum("sij,sj->si", at.T, direction) + second) / unit
    relative, residual = solve_certified(matrix, right)
    q = relative * unit
    return q, direction + np.einsum("sij,sj->si", at.H, q), residual


def _solve_points(problem: Solver, alpha: Array, ridge: Array) -> dict[str, Array]:
    """Solve S points; every entry has shape (S, ...)."""
    equations = problem.coarse.equations
    at = solve_resolvent(equations, alpha, ridge)
    found = problem.coarse.follow(at)
    shift, change = _quadrature_errors(problem, at, found.test_error)
    mean, split = found.mean, equations.triangle.size
    groups = found.channels.of_groups(found.direction, mean.along_hat, mean.across_hat)
    return {
        "test_error": found.test_error,
        "training_error": found.training_error,
        "m": mean.m,
        "zeta": groups.zeta,
        "psi": groups.psi,
        "xi": groups.xi,
        "q1": groups.q1,
        "q2": found.q[:, split:],
        "V1": groups.V1 / at.scale[:, None, None],
        "V2": at.V[:, split:] / at.scale[:, None],
        "residual": np.maximum(at.residual, found.residual),
        "quadrature_error": np.maximum(shift, change),
        "iterations": at.iterations.astype(float),
        "converged": at.converged.astype(float),
        "resolved": ((shift <= RESOLVED) & (change <= TRUSTED)).astype(float),
    }


def _quadrature_errors(problem: Solver, at: Resolvent, test_error: Array) -> tuple[Array, Array]:
    """Solve all but the hats again on twice as many nodes; give changes of hats and test error.

    Both relative. The second has means and variances of its own, so that it shows what a small
    change of the expectations does to the result. What rounding makes of the label's power does
    not count.
    """
    fine, equations = problem.fine.features, problem.fine.equations
    points = Points.of(at.alpha, at.ridge, equations.beta)
    V, T = equations.respond(at.V_hat, points)
    V_hat, contraction = equations.hats(V, points)
    shift: Array = np.max(np.abs(V_hat - at.V_hat), axis=-1) / np.max(np.abs(V_hat), axis=-1)
    slopes = equations.slopes(contraction, points)
    again = replace(at, V=V, T=T, V_hat=V_hat, contraction=contraction, H=slopes)
    gap = np.abs(problem.fine.follow(again).test_error - test_error)
    power = _ROUNDING * float(fine.weight @ (fine.h**2 + fine.h_z**2 + fine.target_residual))
    return shift, np.where(gap < power, 0.0, gap / np.maximum(np.abs(test_error), power))


def solve(problem: Problem, grid: Grid, bulk: str = ISOTROPIC) -> Solution:
    """Solve Result 3.3 on the whole grid at once.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
        A protocol is solved through its equivalent sRF (Result 3.1).
    grid : Grid
        Sample complexities and ridges.
    bulk : str
        One of `bulk.BULKS`: "isotropic", as in the paper; "trained", with the covariance that the
        first batch leaves; "trained_norms", with the norms that it leaves, too.

    Returns
    -------
    Solution
        Arrays of shape (alphas, ridges, ...). Points that failed hold NaN, and say so in `status`.

    Raises
    ------
    InvalidParametersError
        For another bulk, or a trained one of features that no step has trained.
    """
    alpha, ridge = np.meshgrid(np.asarray(grid.alpha), np.asarray(grid.ridge), indexing="ij")
    return solver_of(problem, bulk).points(alpha, ridge)


class Solver:
    """The theory of one problem, ready to be asked for many points.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    bulk : str
        As in `solve`.
    """

    def __init__(self, problem: Problem, bulk: str = ISOTROPIC) -> None:
        self.srf = equivalent_features(problem)
        bulk = settled_bulk(problem, bulk)
        self.coarse = _chain(problem, self.srf, bulk)
        self.fine = _chain(problem, self.srf, bulk, fineness=2, B=self.coarse.features.B)
        chains = (self.coarse, self.fine)
        self.weight = max(
            max(chain.features.kappa.size, chain.equations.bulk.weight) for chain in chains
        )

    def points(self, alpha: Array, ridge: Array) -> Solution:
        """Solve at the points (alpha, ridge), arrays of one shape: alpha > 0, ridge >= 0."""
        flat_alpha, flat_ridge = alpha.ravel(), ridge.ravel()
        batch = max(1, _BATCH_ENTRIES // self.weight)
        with np.errstate(all="ignore"):  # what is not finite is marked as failed below
            parts = [
                _solve_points(self, flat_alpha[i : i + batch], flat_ridge[i : i + batch])
                for i in range(0, alpha.size, batch)
            ]
        flat = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return _collect(flat, alpha.shape)


def _chain(
    problem: Problem, srf: SpikedFeatures, bulk: str, fineness: int = 1, B: Array | None = None
) -> _Chain:
    """Set a problem up on quadrature rules of some fineness."""
    if bulk == ISOTROPIC or isinstance(problem, SpikedFeatures):
        features = conditional_features(srf, fineness, B)
        return _Chain(features, srf, IsotropicBulk(features.B, srf.groups, srf.beta))
    batch = FirstBatch.of(problem, fineness)
    norms = bulk == TRAINED_NORMS and batch.coupling != 0
    features = conditional_features(srf, fineness, B, norms)
    return _Chain(features, srf, TrainedBulk(problem, features.B, batch, norms))


# A problem is often asked about again, point by point.
solver_of = lru_cache(maxsize=16)(Solver)


def _collect(flat: dict[str, Array], shape: tuple[int, ...]) -> Solution:
    """Shape the points into the grid, and blank out those that failed."""
    stable = np.isfinite(flat["test_error"]) & (flat["residual"] <= ACCEPTED)
    for name in ("test_error", "training_error"):  # squares: below zero all digits are lost
        stable &= flat[name] >= -1e-9
        flat[name] = np.maximum(flat[name], 0.0)
    status = np.where(stable, Status.CONVERGED, Status.UNSTABLE)
    blurred = stable & ~(flat.pop("resolved") > 0)
    status = np.where(blurred, Status.UNRESOLVED, status)
    status = np.where(flat.pop("converged") > 0, status, Status.NOT_CONVERGED)
    failed = status != Status.CONVERGED
    kept = {name: flat.pop(name) for name in ("residual", "quadrature_error", "iterations")}
    for value in flat.values():
        value[failed] = np.nan
    values = {name: value.reshape(shape + value.shape[1:]) for name, value in flat.items()}
    return Solution(
        **values,
        residual=kept["residual"].reshape(shape),
        quadrature_error=kept["quadrature_error"].reshape(shape),
        iterations=kept["iterations"].astype(np.int64).reshape(shape),
        status=status.astype(np.int64).reshape(shape),
    )
