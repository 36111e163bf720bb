"""Result 3.3 for the square loss: overlaps and errors, by the linear algebra of section 4."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from giantstep.activations import Array
from giantstep.features import ConditionalFeatures, conditional_features
from giantstep.protocol import Grid, Problem, SpikedFeatures
from giantstep.resolvent import (
    ACCEPTED,
    Equations,
    Points,
    Resolvent,
    solve_resolvent,
    solve_small,
    triangle_of,
)
from giantstep.srf import equivalent_features

# Directions of span{mu0} below this share of the features' size are rounding, not functions.
_INDEPENDENT = 1e-12
# Relative quadrature error up to which a point is given out.
_RESOLVED = 1e-6
# A squared error this far below zero is no rounding.
_LOST = 1e-9
# Stands for zero where a relative residual is taken.
_TINY = 1e-300
# Points x nodes solved together: arrays of this size stay in the processor's cache.
_BATCH_ENTRIES = 1_000_000


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
    q1: Array
    q2: Array
    V1: Array
    V2: Array
    residual: Array
    quadrature_error: Array
    iterations: NDArray[np.int64]
    status: NDArray[np.int64]


@dataclass(frozen=True)
class _Means:
    """m, zeta, psi with the hats of the last two, each of shape (S, G)."""

    m: Array
    zeta: Array
    psi: Array
    zeta_hat: Array
    psi_hat: Array
    residual: Array


def _means(f: ConditionalFeatures, srf: SpikedFeatures, at: Resolvent) -> _Means:
    """Solve the equations of theory.md section 4, "Means"."""
    groups, triangle = srf.groups, triangle_of(srf.groups.c.size)
    ratio = (at.alpha / srf.beta)[:, None]
    V1, V2 = triangle.unpack(at.V[:, : triangle.size]), at.V[:, triangle.size :]

    def expect(product: Array) -> Array:  # E[product / (1 + V)] at every point
        flat = f.fold(product.reshape(-1, f.weight.size))
        means: Array = (at.contraction @ flat.T).reshape(at.alpha.size, *product.shape[:-1])
        return means

    psi_hat = ratio * expect(f.mu1 * f.h_z)
    psi = srf.beta * np.einsum("sgh,sh->sg", V1, psi_hat)

    # mu0 in an orthonormal basis of its span: where the mu0 depend on one another (no spike, or
    # neurons of opposite sign) m is the solution of least norm.
    basis, to_m = _span(f)
    linear = f.kappa * f.mu1
    A = expect(basis[:, None] * basis)
    B = expect(basis[:, None] * linear)
    C = expect(linear[:, None] * linear)
    # With zeta = root * zeta' the system is symmetric, and positive.
    root = np.sqrt(ratio * srf.beta * groups.c * V2)
    B_root, C_root = B * root[:, None, :], C * root[:, :, None] * root[:, None, :]
    identity = np.eye(groups.c.size)
    upper = np.concatenate([A, B_root], axis=2)
    lower = np.concatenate([B_root.transpose(0, 2, 1), identity + C_root], axis=2)
    matrix = np.concatenate([upper, lower], axis=1)
    H0, H1 = expect(basis * f.h), expect(linear * f.h)
    right = np.concatenate([H0, root * H1], axis=-1)
    norm = 1 / np.sqrt(np.einsum("sii->si", matrix))
    scaled = matrix * norm[:, :, None] * norm[:, None, :]
    solution = norm * solve_small(scaled, norm * right)
    rank = basis.shape[0]
    coefficients, zeta = solution[:, :rank], root * solution[:, rank:]
    prediction = np.einsum("srg,sr->sg", B, coefficients) + np.einsum("sgh,sh->sg", C, zeta)
    gap = np.einsum("sij,sj->si", matrix, solution) - right
    size = np.einsum("sij,sj->si", np.abs(matrix), np.abs(solution)) + np.abs(right)
    return _Means(
        m=coefficients @ to_m.T,
        zeta=zeta,
        psi=psi,
        zeta_hat=ratio * (H1 - prediction),
        psi_hat=psi_hat,
        residual=np.max(np.abs(gap) / np.maximum(size, _TINY), axis=-1),
    )


def _span(f: ConditionalFeatures) -> tuple[Array, Array]:
    """Give an orthonormal basis of span{mu0}, shape (rank, N), and its map back to m, (G, rank)."""
    left, size, right = np.linalg.svd(f.mu0 * np.sqrt(f.weight), full_matrices=False)
    power = np.sum(f.weight * (f.mu0**2 + f.mu1**2 + f.mu2_squared))
    kept = size > _INDEPENDENT * np.sqrt(power)
    with np.errstate(invalid="ignore", divide="ignore"):
        basis = right[kept] / np.sqrt(f.weight)
    # Where the weight underflows a basis function is what combines mu0 there.
    basis = np.where(np.isfinite(basis), basis, (left[:, kept] / size[kept]).T @ f.mu0)
    return basis, left[:, kept] / size[kept]


class Misfit:
    """What of the label a readout of given means leaves, as fixed functions of kappa.

    `h2 + M^2 - 2 M h - 2 P h_z` of theory.md section 4 is `target_residual + h_z^2 + (h - M)^2 -
    2 P h_z`. In an orthonormal basis e of span{mu0, kappa mu1} the target h has a part beyond the
    span and M none, so that h - M is that part plus `sum delta e`: nothing large cancels, and at
    each point only the few coefficients of products of functions need be computed.

    Parameters
    ----------
    f : ConditionalFeatures
    """

    def __init__(self, f: ConditionalFeatures) -> None:
        span = _expressible(f)
        root = np.sqrt(f.weight)
        left, size, _ = np.linalg.svd(span * root, full_matrices=False)
        kept = size > _INDEPENDENT * max(float(size[0]), _TINY)
        self.to_basis = left[:, kept] / np.maximum(size[kept], _TINY)
        basis = self.to_basis.T @ span
        self.of_means = (span * f.weight) @ basis.T
        self.of_target = (basis * f.weight) @ f.h
        self.rows, self.columns = np.triu_indices(basis.shape[0])

    def functions(self, f: ConditionalFeatures) -> Array:
        """Give the functions on the nodes of some rule, shape (J, N)."""
        basis = self.to_basis.T @ _expressible(f)
        beyond = f.h - self.of_target @ basis
        return np.concatenate([
            (f.target_residual + f.h_z**2 + beyond**2)[None],
            2 * beyond * basis,
            np.where(self.rows == self.columns, 1, 2)[:, None]
            * basis[self.rows] * basis[self.columns],
            -2 * f.h_z * f.mu1,
        ])  # fmt: skip

    def coefficients(self, mean: _Means) -> Array:
        """Give the coefficients of the functions at every point, shape (S, J)."""
        means = np.concatenate([mean.m, mean.zeta], axis=-1)
        delta = self.of_target - means @ self.of_means
        ones = np.ones((delta.shape[0], 1))
        return np.concatenate(
            [ones, delta, delta[:, self.rows] * delta[:, self.columns], mean.psi], axis=-1
        )


def _expressible(f: ConditionalFeatures) -> Array:
    """Give the functions of kappa that the mean prediction combines, shape (2 G, N)."""
    return np.concatenate([f.mu0, f.kappa * f.mu1])


def _solve_points(problem: Solver, alpha: Array, ridge: Array) -> dict[str, Array]:
    """Solve S points; every entry has shape (S, ...)."""
    f, srf, equations = problem.features, problem.srf, problem.equations
    at = solve_resolvent(equations, alpha, ridge)
    mean = _means(f, srf, at)
    triangle, beta = equations.triangle, srf.beta
    # Variances: (q1, q2) = T (q_hat + sources), where q_hat = b + H (q1, q2).
    misfit = problem.misfit.coefficients(mean)
    squared = at.contraction**2
    unfitted = misfit @ problem.functions
    unfitted *= squared
    ratio = (alpha / beta)[:, None]
    b = ratio * (unfitted @ equations.coefficients.T)
    spread = triangle.pack(mean.psi_hat[:, :, None] * mean.psi_hat[:, None, :])
    sources = beta * np.concatenate([spread, srf.groups.c * mean.zeta_hat**2], axis=-1)
    right = np.einsum("sij,sj->si", at.T, b + sources)
    matrix = np.eye(right.shape[-1]) - at.T @ at.H
    q = solve_small(matrix, right)
    gap = np.abs(np.einsum("sij,sj->si", matrix, q) - right)
    size = np.einsum("sij,sj->si", np.abs(matrix), np.abs(q)) + np.abs(right)
    # E v, on the nodes and on twice as many; and E v/(1 + V)^2.
    both = np.concatenate([misfit, q * equations.multiplicity], axis=-1)
    test_error, fine_error = (both @ problem.expectations - srf.noise).T
    fitted = np.einsum("sk,sk->s", q * equations.multiplicity, squared @ equations.weighted)
    V, split = at.V / at.scale[:, None], triangle.size
    return {
        "test_error": test_error,
        "training_error": at.scale**2 * (unfitted.sum(axis=-1) + fitted),
        "m": mean.m,
        "zeta": mean.zeta,
        "psi": mean.psi,
        "q1": triangle.unpack(q[:, :split]),
        "q2": q[:, split:],
        "V1": triangle.unpack(V[:, :split]),
        "V2": V[:, split:],
        "residual": np.maximum.reduce(
            [at.residual, mean.residual, np.max(gap / np.maximum(size, _TINY), axis=-1)]
        ),
        "quadrature_error": np.maximum(
            np.abs(fine_error / test_error - 1), _hats_error(problem.fine_equations, at)
        ),
        "iterations": at.iterations.astype(float),
        "converged": at.converged.astype(float),
    }


def _hats_error(fine: Equations, at: Resolvent) -> Array:
    """Compute the hats again on twice as many nodes; give the relative change."""
    V_hat, _ = fine.hats(at.V, Points(at.alpha / fine.beta, at.scale, at.scale))
    error: Array = np.max(np.abs(V_hat - at.V_hat), axis=-1) / np.max(np.abs(V_hat), axis=-1)
    return error


def solve(problem: Problem, grid: Grid) -> Solution:
    """Solve Result 3.3 on the whole grid at once.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
        A protocol is solved through its equivalent sRF (Result 3.1).
    grid : Grid
        Sample complexities and ridges.

    Returns
    -------
    Solution
        Arrays of shape (alphas, ridges, ...). Points that failed hold NaN, and say so in `status`.
    """
    alpha, ridge = np.meshgrid(np.asarray(grid.alpha), np.asarray(grid.ridge), indexing="ij")
    return solver_of(problem).points(alpha, ridge)


class Solver:
    """The theory of one problem, ready to be asked for many points.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    """

    def __init__(self, problem: Problem) -> None:
        self.srf = equivalent_features(problem)
        self.features = conditional_features(self.srf)
        self.fine = conditional_features(self.srf, fineness=2)
        self.equations = Equations(self.features, self.srf)
        self.fine_equations = Equations(self.fine, self.srf)
        self.misfit = Misfit(self.features)
        self.functions = self.features.fold(self.misfit.functions(self.features))
        # Of the misfit's functions and of the variances' coefficients, on both rules.
        pairs = ((self.features, self.equations), (self.fine, self.fine_equations))
        self.expectations = np.stack([
            np.concatenate([self.misfit.functions(f) @ f.weight, equations.weighted.sum(axis=0)])
            for f, equations in pairs
        ], axis=-1)  # fmt: skip

    def points(self, alpha: Array, ridge: Array) -> Solution:
        """Solve at the points (alpha, ridge), arrays of one shape: alpha > 0, ridge >= 0."""
        flat_alpha, flat_ridge = alpha.ravel(), ridge.ravel()
        batch = max(1, _BATCH_ENTRIES // self.fine.kappa.size)
        with np.errstate(all="ignore"):  # what is not finite is marked as failed below
            parts = [
                _solve_points(self, flat_alpha[i : i + batch], flat_ridge[i : i + batch])
                for i in range(0, alpha.size, batch)
            ]
        flat = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return _collect(flat, alpha.shape)


# A problem is often asked about again, point by point.
solver_of = lru_cache(maxsize=16)(Solver)


def _collect(flat: dict[str, Array], shape: tuple[int, ...]) -> Solution:
    """Shape the points into the grid, and blank out those that failed."""
    stable = np.isfinite(flat["test_error"]) & (flat["residual"] <= ACCEPTED)
    for name in ("test_error", "training_error"):  # squares: below zero all digits are lost
        stable &= flat[name] >= -_LOST
    status = np.where(stable, Status.CONVERGED, Status.UNSTABLE)
    blurred = stable & ~(flat["quadrature_error"] <= _RESOLVED)
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
