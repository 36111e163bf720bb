"""Ridge regression on a random subset of given samples, predicted from the features of all.

A sample of leverage V in a fit on others has the residual r/(1 + V) once it is fitted itself, r the
error before. Fits on n of N samples are on average one fit with weights on all N. Nothing is
assumed of the features, but that V and the errors concentrate; docs/data.md has the equations.
"""

from __future__ import annotations

from warnings import catch_warnings

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, cholesky, solve_triangular
from scipy.optimize import NoConvergence, anderson
from scipy.sparse.linalg import LinearOperator, gmres
from scipy.special import ndtr

from giantstep.arrays import Array

# Of the logarithm of leverages; how often they are computed at most; what is nothing beside 1, for
# samples that have no features at all.
_PRECISION, _ITERATIONS, _NEGLIGIBLE = 1e-4, 100, 1e-6


def subset_errors(features: Array, labels: Array, count: int, ridge: float) -> Array:
    """Predict the errors of `argmin |y - Phi a|^2 + ridge |a|^2` over `count` samples of all.

    Parameters
    ----------
    features : Array, shape (N, p)
    labels : Array, shape (N,)
    count : int
        n < N.
    ridge : float
        Above 0.

    Returns
    -------
    Array, shape (3,)
        Mean squared errors on the other samples and on those of the fit, and the share of the
        others whose output has another sign than the label, or half if it is 0; NaN without
        convergence.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> features = default_rng(0).normal(size=(2000, 50))
    >>> labels = features @ np.full(50, 0.1) + default_rng(1).normal(size=2000)
    >>> subset_errors(features, labels, count=100, ridge=10)[0].round(1)  # of noise alone: 1
    np.float64(1.6)
    """
    share = count / labels.size

    def change(logarithm: Array) -> Array:
        weights = _weights(np.exp(logarithm), share)
        diagonal = np.sum(_root(features, weights, ridge) ** 2, axis=0)
        return np.log(diagonal / (1 - weights * diagonal) + _NEGLIGIBLE) - logarithm

    try:
        # Of leverages out of bounds, which ends the search; and of steps that repeat each other.
        with np.errstate(invalid="ignore"), catch_warnings(category=LinAlgWarning, action="ignore"):
            leverage = np.exp(anderson(change, 0 * labels, f_tol=_PRECISION, maxiter=_ITERATIONS))
    except (NoConvergence, LinAlgError, ValueError):
        return np.full(3, np.nan)
    return _errors(_root(features, _weights(leverage, share), ridge), labels, leverage, share)


def _weights(leverage: Array, share: float) -> Array:
    """Weigh samples so that one fit on all equals fits on a share of them on average."""
    return share / (1 + (1 - share) * leverage)


def _root(features: Array, weights: Array, ridge: float) -> Array:
    """Return R with `R^T R = Phi (Phi^T W Phi + ridge)^-1 Phi^T`, shape (p, N)."""
    gram = (features.T * weights) @ features + ridge * np.eye(features.shape[1])
    return solve_triangular(cholesky(gram, lower=True), features.T, lower=True)


def _errors(root: Array, labels: Array, leverage: Array, share: float) -> Array:
    """Compute errors from those of the mean fit, and the spread of fits on different subsets."""
    weights, diagonal = _weights(leverage, share), np.sum(root**2, axis=0)
    without = 1 - weights * diagonal  # takes a sample out of the fit
    bias = (labels - root.T @ (root @ (weights * labels))) / without

    def spread(squares: Array) -> Array:
        """Compute the variance of outputs if samples have these squared errors."""
        kicks = (1 - share) / share * weights**2 * squares
        every = np.sum(root * ((root * kicks) @ root.T @ root), axis=0)
        return (every - kicks * diagonal**2) / without**2

    equations = LinearOperator((labels.size,) * 2, lambda r: r - spread(r), dtype=float)
    squares, failed = gmres(equations, bias**2, rtol=_PRECISION)
    wrong = ndtr(-np.sign(labels) * (labels - bias) / np.sqrt(spread(squares) + _NEGLIGIBLE**2))
    errors = np.mean([squares, squares / (1 + leverage) ** 2, wrong], axis=1)
    return np.full(3, np.nan) if failed else errors
