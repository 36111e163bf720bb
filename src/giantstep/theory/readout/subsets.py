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
from giantstep.numerics.quadrature import product_rule

# Precision of the logarithms of leverages; how often leverages are computed at most; and a leverage
# that is negligible beside 1, for samples without any features.
_PRECISION, _ITERATIONS, _NEGLIGIBLE = 1e-4, 100, 1e-6
# Nodes over Gaussian outputs, for the share of wrong classes.
_NODES = 16


def subset_errors(features: Array, labels: Array, count: int, ridge: float) -> Array:
    """Predict the errors of `argmin |y - Phi a|^2 + ridge |a|^2` over `count` samples.

    Leverages do not depend on labels: many outputs take hardly longer than one.

    Parameters
    ----------
    features : Array, shape (N, p)
    labels : Array, shape (N,) or (N, C)
        C outputs, each with a readout of its own.
    count : int
        n, of samples like these. Above N the equations are continued, and the third error is NaN:
        the spread of outputs over training sets is known only where they are parts of the samples.
    ridge : float
        Above 0.

    Returns
    -------
    Array, shape (3,)
        Squared errors, summed over outputs, on samples outside the fit and on those of the fit; the
        share of the former whose output has another sign than the label, or half if it is 0, and
        for several outputs is largest elsewhere than the label. NaN without convergence.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> features = default_rng(0).normal(size=(2000, 50))
    >>> labels = features @ np.full(50, 0.1) + default_rng(1).normal(size=2000)
    >>> subset_errors(features, labels, count=100, ridge=10)[0].round(1)  # of noise alone: 1
    np.float64(1.6)
    """
    share = count / len(labels)

    def change(logarithm: Array) -> Array:
        weights = _weights(np.exp(logarithm), share)
        diagonal = np.sum(_root(features, weights, ridge) ** 2, axis=0)
        return np.log(diagonal / (1 - weights * diagonal) + _NEGLIGIBLE) - logarithm

    # At a leverage of one, many more samples than there are would weigh infinitely.
    start = np.full(len(labels), min(0.0, np.log(features.shape[1] / count)))
    try:
        # Ignores leverages out of bounds, which end the search, and steps that repeat each other.
        with np.errstate(invalid="ignore"), catch_warnings(category=LinAlgWarning, action="ignore"):
            leverage = np.exp(anderson(change, start, f_tol=_PRECISION, maxiter=_ITERATIONS))
    except (NoConvergence, LinAlgError, ValueError):
        return np.full(3, np.nan)
    root = _root(features, _weights(leverage, share), ridge)
    outputs = [_squares(root, one, leverage, share) for one in np.atleast_2d(labels.T)]
    bias, squares, spread = (np.stack(part) for part in zip(*outputs, strict=True))
    means = np.sum([squares, squares / (1 + leverage) ** 2], axis=1).mean(axis=1)
    if share > 1:
        return np.array([*means, np.nan])
    deviations = np.sqrt(spread + _NEGLIGIBLE**2)
    return np.array([*means, _wrong(np.atleast_2d(labels.T) - bias, deviations, labels.T).mean()])


def _weights(leverage: Array, share: float) -> Array:
    """Weigh samples so that one fit on all equals fits on a share of them on average."""
    return share / (1 + (1 - share) * leverage)


def _root(features: Array, weights: Array, ridge: float) -> Array:
    """Return R with `R^T R = Phi (Phi^T W Phi + ridge)^-1 Phi^T`, shape (p, N)."""
    gram = (features.T * weights) @ features + ridge * np.eye(features.shape[1])
    return solve_triangular(cholesky(gram, lower=True), features.T, lower=True)


def _squares(root: Array, labels: Array, leverage: Array, share: float) -> tuple[Array, ...]:
    """Compute the error of the mean fit, mean squares of errors, and the outputs' variance."""
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
    return bias, np.full_like(bias, np.nan) if failed else squares, spread(squares)


def _wrong(means: Array, deviations: Array, labels: Array) -> Array:
    """Compute how often each sample is misclassified, by Gaussian outputs of shape (C, N).

    Outputs of several classes are taken as independent of each other.
    """
    if len(means) == 1:
        return ndtr(-np.sign(labels) * means / deviations)
    # One-hot labels, and so outputs, have a constant sum: independent parts have a larger variance.
    deviations = deviations * np.sqrt(len(means) / (len(means) - 1))
    nodes, weights = product_rule(1, _NODES)
    here = labels.argmax(axis=0), np.arange(means.shape[1])
    outputs = means[here] + deviations[here] * nodes
    below = ndtr((outputs[:, None] - means) / deviations)
    below[:, *here] = 1
    return 1 - weights @ below.prod(axis=1)
