"""Ridge regression along a learning curve: growing data, one factorisation a sample size.

Single precision, where it is used, costs no digit that a simulation could show. Features are
rounded at 1e-7, which is noise on them. Their Gram matrix is summed over blocks of rows in single
precision, and over blocks in double; but first the mean over each group of neurons is taken off
every row, and put back in double. For it is that common part which would make partial sums large,
and their rounding with them. What the factorisation rounds, refinement in double puts right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from giantstep.arrays import Array, Reals, Single

# Features whose products are summed in one go before going into the double-precision sum.
_COLUMNS = 1024
# Rows of a p x p update that are held at once.
_STRIP = 128
# Refinement stops at this residual over the right-hand side; it wins some three digits a step.
_REFINED, _REFINEMENTS = 1e-12, 8


class Fit(NamedTuple):
    """Readouts, shape (ridges, p), with their errors and losses on the training set, (ridges,)."""

    readouts: Array
    errors: Array
    losses: Array


class ReadoutPath(Protocol):
    """What fits readouts at the sample sizes of a learning curve, as training data grows."""

    def extend(self, features: Reals, labels: Array) -> None:
        """Add a block of samples: features of shape (n, p), which it may overwrite."""

    def fit(self, count: int) -> Callable[[tuple[float, ...]], Fit]:
        """Give what fits the first `count` samples, of which the last are in the last block.

        It takes the ridges, and may be called later, from another thread.
        """


class _Block(NamedTuple):
    """Rows `rest + shared E^T`: the first in the working precision, the second in double."""

    rest: Reals
    shared: Array
    labels: Array


class RidgePath:
    """The readout `argmin |y - Phi a|^2 + ridge |a|^2` as rows are added to Phi.

    As long as there are fewer rows than features the rows are kept and the dual problem is
    solved; from then on only their Gram matrix is, and memory stays O(p^2) whatever the number of
    rows. What is fitted does not depend, by a bit, on the other sample sizes asked for.

    Parameters
    ----------
    shares : array, shape (p, G)
        E, which feature is in which group, as ones and zeros.
    """

    def __init__(self, shares: Single) -> None:
        self.shares = shares.astype(float)
        self._kept: list[_Block] = []
        self._seen = 0
        self._moments: _Moments | None = None

    def extend(self, features: Reals, labels: Array) -> None:
        """Add a block of samples: features of shape (n, p), which are overwritten."""
        if self._seen >= self.shares.shape[0]:
            self._settle(len(self._kept))
        means = features @ (self.shares / self.shares.sum(axis=0)).astype(features.dtype)
        features -= means @ self.shares.T.astype(features.dtype)
        self._kept.append(_Block(features, means.astype(float), labels))
        self._seen += labels.size

    def _settle(self, count: int) -> None:
        """Sum the moments of the first of the kept blocks, and let go of them."""
        if self._moments is None:
            self._moments = _Moments.of_nothing(self.shares)
        for block in self._kept[:count]:
            self._moments.add(block)
        del self._kept[:count]

    def fit(self, count: int) -> Callable[[tuple[float, ...]], Fit]:
        """Give what fits the first `count` samples; see `ReadoutPath`."""
        last = self._kept[-1]
        rows = count - (self._seen - last.labels.size)
        part = _Block(last.rest[:rows], last.shared[:rows], last.labels[:rows])
        if count < self.shares.shape[0]:
            blocks = [*self._kept[:-1], part]
            return lambda ridges: _fit_dual(self.shares, blocks, ridges)
        self._settle(len(self._kept) - 1)
        assert self._moments is not None
        moments = self._moments.copy()
        return lambda ridges: _fit_primal(moments, part, count, ridges)


def _fit_dual(shares: Array, blocks: list[_Block], ridges: tuple[float, ...]) -> Fit:
    """Solve `(Phi Phi^T + ridge) w = y`; the readout is Phi^T w."""
    rest, shared, labels = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    kernel = np.zeros((labels.size, labels.size))
    for start in range(0, rest.shape[1], _COLUMNS):
        columns = rest[:, start : start + _COLUMNS]
        kernel += columns @ columns.T
    _add_symmetrised(rest @ shares + shared @ (shares.T @ shares) / 2, shared, kernel)
    readouts, errors = [], []
    for ridge in ridges:
        weights = _solve(kernel, ridge, labels, rest.dtype)
        readouts.append(weights @ rest + shares @ (shared.T @ weights))
        # The residual y - Phi a is ridge times the dual weights: no cancellation.
        errors.append(float(np.linalg.norm(ridge * weights)) ** 2 / labels.size)
    return _square_fit(readouts, errors)


def _square_fit(readouts: list[Array], errors: list[float]) -> Fit:
    """Put what was fitted together; the loss is half the error."""
    return Fit(np.stack(readouts), np.array(errors), np.array(errors) / 2)


@dataclass
class _Moments:
    """Sums over samples: all that the primal problem takes from them.

    `inner` is those of the rest among itself, `cross` of the rest with the shared parts and the
    label, `outer` of these among themselves.
    """

    shares: Array
    inner: Array
    cross: Array
    outer: Array
    product: Reals | None = None

    @classmethod
    def of_nothing(cls, shares: Array) -> _Moments:
        p, groups = shares.shape
        sizes = (p, p), (p, groups + 1), (groups + 1, groups + 1)
        return cls(shares, *map(np.zeros, sizes))

    def add(self, block: _Block) -> None:
        """Add a block of samples."""
        beside = np.column_stack([block.shared, block.labels])
        if self.product is None:
            self.product = np.empty_like(self.inner, dtype=block.rest.dtype)
        np.matmul(block.rest.T, block.rest, out=self.product)
        self.inner += self.product
        self.cross += block.rest.T @ beside
        self.outer += beside.T @ beside

    def copy(self) -> _Moments:
        return _Moments(self.shares, self.inner.copy(), self.cross.copy(), self.outer.copy())


def _fit_primal(moments: _Moments, part: _Block, count: int, ridges: tuple[float, ...]) -> Fit:
    """Solve `(Phi^T Phi + ridge) a = Phi^T y`, with the last rows in `part`."""
    moments.add(part)
    shares, cross, outer = moments.shares, moments.cross, moments.outer
    gram = moments.inner
    _add_symmetrised(cross[:, :-1] + shares @ outer[:-1, :-1] / 2, shares, gram)
    moment, power = cross[:, -1] + shares @ outer[:-1, -1], outer[-1, -1]
    readouts, errors = [], []
    for ridge in ridges:
        readout = _solve(gram, ridge, moment, part.rest.dtype)
        fitted = float(readout @ moment) + ridge * float(readout @ readout)
        readouts.append(readout)
        errors.append(max(power - fitted, 0.0) / count)
    return _square_fit(readouts, errors)


def _add_symmetrised(left: Array, right: Array, total: Array) -> None:
    """Add `left right^T` and its transpose, in place."""
    both, other = np.hstack([left, right]), np.hstack([right, left]).T
    for start in range(0, total.shape[0], _STRIP):
        total[start : start + _STRIP] += both[start : start + _STRIP] @ other


def _solve(matrix: Array, ridge: float, right: Array, precision: np.dtype[np.floating]) -> Array:
    """Solve (S + ridge) x = right for a symmetric S; by least norm if it is singular."""
    if precision == np.float32 and (solution := _refined(matrix, ridge, right)) is not None:
        return solution
    try:
        factor = _factor(matrix.copy(), ridge)
    except LinAlgError:
        return _least_norm(matrix, ridge, right)
    pivots = np.diagonal(factor[0]) ** 2
    if pivots.min() < right.size * np.finfo(float).eps * pivots.max():
        return _least_norm(matrix, ridge, right)
    return cho_solve(factor, right)  # type: ignore[no-any-return]


def _least_norm(matrix: Array, ridge: float, right: Array) -> Array:
    """Solve where features are linearly dependent to rounding: not within what only rounding fills.

    A ridge smaller than rounding is so the limit of none.
    """
    values, vectors = eigh(matrix, check_finite=False)
    kept = values > right.size * np.finfo(float).eps * values[-1]
    coefficients = (vectors[:, kept].T @ right) / (values[kept] + ridge)
    solution: Array = vectors[:, kept] @ coefficients
    return solution


def _factor(matrix: Reals, ridge: float) -> tuple[Reals, bool]:
    """Factorise S + ridge in the place of S."""
    matrix[np.diag_indices_from(matrix)] += ridge
    # The transpose of a symmetric matrix is the same in the order that LAPACK can overwrite.
    return cho_factor(matrix.T, overwrite_a=True, check_finite=False)  # type: ignore[no-any-return]


def _refined(matrix: Array, ridge: float, right: Array) -> Array | None:
    """Solve by a single-precision factorisation, refined in double; None where that fails."""
    try:
        factor = _factor(matrix.astype(np.float32), ridge)
    except LinAlgError:
        return None
    solution, residual = np.zeros_like(right), right
    scale = np.linalg.norm(right)
    for _ in range(_REFINEMENTS):
        step = cho_solve(factor, residual.astype(np.float32), check_finite=False)
        solution += step
        residual = right - matrix @ solution - ridge * solution
        if np.linalg.norm(residual) <= _REFINED * scale:
            return solution
    return None
