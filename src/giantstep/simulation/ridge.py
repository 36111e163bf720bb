"""Ridge regression along a learning curve: growing data, one factorisation per sample size.

Single precision, where it is used, changes no digit that a simulation could resolve:

- Features are rounded at 1e-7, which acts as a little noise on them.
- Their Gram matrix is summed in single precision within a block of rows, and in double precision
  over blocks. Before that the mean over each group of neurons is subtracted from every row, to be
  added back in double precision: this common part would make the sums, and their rounding, large.
- The rounding of the factorisation is removed by iterative refinement in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from giantstep.arrays import Array, Reals, Single

# Features whose products are summed in the working precision, before they are added in double.
_COLUMNS = 1024
# Refinement stops at this relative residual; each step gains about three digits.
_REFINED, _REFINEMENTS = 1e-12, 8


class Fit(NamedTuple):
    """Fitted readouts, with their mean squared errors and losses on the training set.

    Attributes
    ----------
    readouts : Array, shape (ridges, p)
    errors, losses : Array, shape (ridges,)
    """

    readouts: Array
    errors: Array
    losses: Array


class _Block(NamedTuple):
    """Rows `rest + shared E^T`, with `rest` in the working precision and `shared` in double."""

    rest: Reals
    shared: Array
    labels: Array


class RidgePath:
    """The readout `argmin |y - Phi a|^2 + ridge |a|^2` as rows are added to Phi.

    While there are fewer rows than features, the rows are kept and the dual problem is solved.
    From then on only their Gram matrix is kept, so that memory stays O(p^2) whatever the number of
    rows. A fit does not depend on which other sample sizes are fitted, to the last bit.

    Parameters
    ----------
    membership : array, shape (p, G)
        E: which feature is in which group, as ones and zeros.
    stopped : bool
        Whether the readout is that of gradient flow from zero for the time 1/ridge instead.
    """

    def __init__(self, membership: Single, stopped: bool = False) -> None:
        self.membership = membership.astype(float)
        self._stopped = stopped
        self._kept: list[_Block] = []
        self._moments = [np.zeros(())] * 3
        self._count = 0

    def extend(self, features: Reals, labels: Array) -> None:
        """Add a block of samples: features of shape (n, p), which are overwritten."""
        if self._count >= self.membership.shape[0]:
            self._sum_kept(len(self._kept))
        means = features @ (self.membership / self.membership.sum(axis=0)).astype(features.dtype)
        features -= means @ self.membership.T.astype(features.dtype)
        self._kept.append(_Block(features, means.astype(float), labels))
        self._count += labels.size

    def _sum_kept(self, count: int) -> None:
        """Add the first of the kept blocks to the moments, and drop them."""
        for block in self._kept[:count]:
            self._moments = _extended(self._moments, block)
        del self._kept[:count]

    def fit(self, count: int) -> Callable[[tuple[float, ...]], Fit]:
        """Return a function that fits the first `count` samples, which end in the last block.

        Its argument is the ridges. It may be called later, and from another thread.
        """
        last = self._kept[-1]
        rows = count - (self._count - last.labels.size)
        part = _Block(last.rest[:rows], last.shared[:rows], last.labels[:rows])
        if count < self.membership.shape[0]:
            make = partial(_dual, self.membership, [*self._kept[:-1], part])
        else:
            self._sum_kept(len(self._kept) - 1)
            make = partial(_primal, self.membership, self._moments, part, count)
        return lambda ridges: _fit(make(), ridges, self._stopped)


class _System(NamedTuple):
    """A linear system `(S + ridge) x = right`, and what its solutions mean.

    Attributes
    ----------
    matrix, right : Array
        S and the right side.
    precision : dtype
        In which S + ridge is factorised.
    meaning : callable
        From x, and what it leaves of the right side, to the readout and its squared error.
    """

    matrix: Array
    right: Array
    precision: np.dtype[np.floating]
    meaning: Callable[[Array, Array], tuple[Array, float]]


def _fit(system: _System, ridges: tuple[float, ...], stopped: bool) -> Fit:
    solutions = _stopped_solutions if stopped else _ridge_solutions
    found = [system.meaning(*solution) for solution in solutions(system, ridges)]
    readouts, errors = (np.array(part) for part in zip(*found, strict=True))
    return Fit(readouts, errors, errors / 2)


def _dual(membership: Array, blocks: list[_Block]) -> _System:
    """Make `(Phi Phi^T + ridge) w = y`; the readout is Phi^T w."""
    rest, shared, labels = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    kernel = np.zeros((labels.size, labels.size))
    for start in range(0, rest.shape[1], _COLUMNS):
        columns = rest[:, start : start + _COLUMNS]
        kernel += columns @ columns.T
    _add_symmetrised(rest @ membership + shared @ (membership.T @ membership) / 2, shared, kernel)

    def meaning(weights: Array, left: Array) -> tuple[Array, float]:
        readout = weights @ rest + membership @ (shared.T @ weights)
        return readout, float(np.linalg.norm(left)) ** 2 / labels.size

    return _System(kernel, labels, rest.dtype, meaning)


def _extended(moments: list[Array], block: _Block) -> list[Array]:
    """Add a block of samples to the sums that the primal problem needs.

    They are products of the rest with itself, shape (p, p), of the rest with the shared parts and
    the label, (p, G + 1), and of these with each other.
    """
    beside = np.column_stack([block.shared, block.labels])
    products = block.rest.T @ block.rest, block.rest.T @ beside, beside.T @ beside
    return [total + product for total, product in zip(moments, products, strict=True)]


def _primal(membership: Array, moments: list[Array], part: _Block, count: int) -> _System:
    """Make `(Phi^T Phi + ridge) a = Phi^T y`, where `part` holds the last rows."""
    gram, cross, outer = _extended(moments, part)
    _add_symmetrised(cross[:, :-1] + membership @ outer[:-1, :-1] / 2, membership, gram)
    moment, power = cross[:, -1] + membership @ outer[:-1, -1], outer[-1, -1]

    def meaning(readout: Array, left: Array) -> tuple[Array, float]:
        fitted = float(readout @ moment) + float(readout @ left)
        return readout, max(power - fitted, 0.0) / count

    return _System(gram, moment, part.rest.dtype, meaning)


def _add_symmetrised(left: Array, right: Array, total: Array) -> None:
    """Add `left right^T` and its transpose, in place."""
    product = left @ right.T
    total += product
    total += product.T


def _ridge_solutions(system: _System, ridges: tuple[float, ...]) -> Iterator[tuple[Array, Array]]:
    """Solve (S + ridge) x = right; what is left of it is ridge x, without cancellation."""
    for ridge in ridges:
        solution = _solve(system, ridge)
        yield solution, ridge * solution


def _stopped_solutions(system: _System, ridges: tuple[float, ...]) -> Iterator[tuple[Array, Array]]:
    """Integrate dx/dt = right - S x from x = 0 to the times 1/ridge."""
    values, vectors = eigh(system.matrix, check_finite=False)
    values = np.maximum(values, np.finfo(float).tiny)
    along = vectors.T @ system.right
    for ridge in ridges:
        fitted = -np.expm1(-values / ridge)
        yield vectors @ (fitted / values * along), vectors @ ((1 - fitted) * along)


def _solve(system: _System, ridge: float) -> Array:
    """Solve (S + ridge) x = right for a symmetric S; with the least norm if it is singular."""
    matrix, right, precision, _ = system
    if precision == np.float32 and (solution := _refined(matrix, ridge, right)) is not None:
        return solution
    with suppress(LinAlgError):
        factor = _factor(matrix.copy(), ridge)
        pivots = np.diagonal(factor[0]) ** 2
        if pivots.min() >= right.size * np.finfo(float).eps * pivots.max():
            return cho_solve(factor, right)
    # Features are dependent to rounding: a ridge below it yields the ridgeless limit.
    values, vectors = eigh(matrix, check_finite=False)
    kept = values > right.size * np.finfo(float).eps * values[-1]
    coefficients = (vectors[:, kept].T @ right) / (values[kept] + ridge)
    return vectors[:, kept] @ coefficients


def _factor(matrix: Reals, ridge: float) -> tuple[Reals, bool]:
    """Factorise S + ridge, overwriting S."""
    matrix[np.diag_indices_from(matrix)] += ridge
    # S is symmetric: its transpose is the same matrix, in the order that LAPACK can overwrite.
    return cho_factor(matrix.T, overwrite_a=True, check_finite=False)


def _refined(matrix: Array, ridge: float, right: Array) -> Array | None:
    """Solve by factorising in single and refining in double precision; None if that fails."""
    with suppress(LinAlgError):
        factor = _factor(matrix.astype(np.float32), ridge)
        solution, residual = np.zeros_like(right), right
        for _ in range(_REFINEMENTS):
            solution += cho_solve(factor, residual.astype(np.float32), check_finite=False)
            residual = right - matrix @ solution - ridge * solution
            if np.linalg.norm(residual) <= _REFINED * np.linalg.norm(right):
                return solution
    return None
