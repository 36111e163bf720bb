"""Ridge regression along a learning curve: growing data, one factorisation a sample size."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq
from scipy.linalg.blas import dsyrk

from giantstep.activations import Array


class RidgePath:
    """The readout `argmin |y - Phi a|^2 + ridge |a|^2` as rows are added to Phi.

    As long as there are fewer rows than features the rows are kept and the dual problem is
    solved; from then on only their Gram matrix is, and memory stays O(p^2) whatever the number of
    rows.

    Parameters
    ----------
    width : int
        Number of features p.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self._rows = np.empty((0, width))
        self._labels = np.empty(0)
        self._gram: Array | None = None
        self._moment = np.zeros(width)
        self._power = 0.0
        self._count = 0

    def extend(self, rows: Array, labels: Array) -> None:
        """Add samples: features of shape (n, width), labels of shape (n,)."""
        self._count += labels.size
        if self._count < self.width:
            self._rows = np.concatenate([self._rows, rows])
            self._labels = np.concatenate([self._labels, labels])
            return
        if self._gram is None:
            self._gram = np.zeros((self.width, self.width), order="F")
            self._accumulate(self._rows, self._labels)
            self._rows = np.empty((0, self.width))
        self._accumulate(rows, labels)

    def _accumulate(self, rows: Array, labels: Array) -> None:
        if not labels.size:
            return
        # rows.T is Fortran-ordered already: syrk reads it in place, and fills one triangle.
        self._gram = dsyrk(1.0, rows.T, beta=1.0, c=self._gram, overwrite_c=True)
        self._moment += rows.T @ labels
        self._power += float(labels @ labels)

    def readouts(self, ridges: tuple[float, ...]) -> tuple[Array, Array]:
        """Fit the readout at every ridge.

        Returns
        -------
        readouts : Array, shape (ridges, width)
        training_errors : Array, shape (ridges,)
            Mean squared residuals on the samples so far.
        """
        fit = self._fit_dual if self._gram is None else self._fit_primal
        fits = fit(ridges)
        return np.stack([readout for readout, _ in fits]), np.array([error for _, error in fits])

    def _fit_dual(self, ridges: tuple[float, ...]) -> list[tuple[Array, float]]:
        kernel = dsyrk(1.0, self._rows.T, trans=1)
        fits = []
        for ridge in ridges:
            weights = _solve(kernel, ridge, self._labels)
            # The residual y - Phi a is ridge times the dual weights: no cancellation.
            error = ridge**2 * float(weights @ weights) / self._count
            fits.append((self._rows.T @ weights, error))
        return fits

    def _fit_primal(self, ridges: tuple[float, ...]) -> list[tuple[Array, float]]:
        assert self._gram is not None
        fits = []
        for ridge in ridges:
            readout = _solve(self._gram, ridge, self._moment)
            fitted = float(readout @ self._moment) + ridge * float(readout @ readout)
            fits.append((readout, max(self._power - fitted, 0.0) / self._count))
        return fits


def _solve(upper: Array, ridge: float, right: Array) -> Array:
    """Solve (S + ridge) x = right from the upper triangle of S; by least norm if singular."""
    shifted = upper.copy(order="F")
    shifted[np.diag_indices_from(shifted)] += ridge
    try:
        solution: Array = cho_solve(cho_factor(shifted, overwrite_a=True), right)
    except LinAlgError:  # no ridge to speak of, and features that are linearly dependent
        symmetric = np.triu(upper) + np.triu(upper, 1).T
        solution = lstsq(symmetric + ridge * np.eye(right.size), right)[0]
    return solution
