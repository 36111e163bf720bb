"""How the test error changes with each parameter: implicit differentiation at a solution.

The solution x of F(x, theta) = x changes by (1 - F_x)^-1 F_theta, which is a Newton step from it
for the equations of a problem that differs a little. From the hats of the solution, these equations
are therefore solved in a step or two.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.domains import interval_of
from giantstep.problems.parameter import REQUIRED, parameters_of
from giantstep.problems.problem import Problem
from giantstep.theory.readout.fixed_point import Points, solve_resolvent
from giantstep.theory.readout.prepared_layer import prepare_layer
from giantstep.theory.readout.solve import readout_of
from giantstep.theory.readout.square_readout import SquareReadout
from giantstep.validation import InvalidParametersError

# Of forward differences, which cost one preparation each: relative to what errors may vary with on
# any scale, and else to values beyond one. Errors of points that are solved from hats so near are
# precise to rounding, and so differences to about its root.
_STEP = 2e-7
_RELATIVE = ("alpha0", "beta", "bulk_variance")
# Errors hardly vary with a small ridge: its steps are longer, the first relative to it, the second
# from no ridge, and cancel to fourth order. The last weight is that of the value itself.
_RIDGE_STEP, _FIRST_RIDGE = 5e-3, 1e-3
_RIDGE_PLACES = np.array([[-2, -1, 1, 2, 0], [1, 2, 3, 4, 0]])
_RIDGE_WEIGHTS = np.array([[1 / 12, -2 / 3, 2 / 3, -1 / 12, 0], [4, -3, 4 / 3, -1 / 4, -25 / 12]])


def continuous_parameters(problem: Problem) -> tuple[str, ...]:
    """List the parameters of such problems that are numbers, and those of the points.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> continuous_parameters(Protocol("tanh", "sin", 3, alpha0=2, beta=1))[:3]
    ('learning_rate', 'alpha0', 'beta')
    """
    known = {name: interval_of(one.domain) for name, one in parameters_of(type(problem)).items()}
    own = (name for name, interval in known.items() if interval and not interval.whole)
    return (*own, "alpha", "ridge")


class _Points(NamedTuple):
    """Points with hats near those of their solutions: shapes (S,), (S,) and (S, K)."""

    alpha: Array
    ridge: Array
    start: Array

    def errors(self, readout: SquareReadout) -> Array:
        """Solve for the test errors, with what a finite dimension adds to them."""
        return readout.corrected(readout.estimate(*self))


def error_derivatives(
    problem: Problem, alpha: Array, ridge: Array, bulk: str, dimension: float = math.inf
) -> Array:
    """Compute the derivatives of the test error of the square loss by all parameters.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    alpha, ridge : Array, of one shape
        The points.
    bulk, dimension
        As in `solve.solve`.

    Returns
    -------
    Array, shape (..., P)
        By the `continuous_parameters`. NaN by those at their default, but for label noise; by those
        that are infinite, or of several groups of neurons; and by alpha0 = 0 and an alignment of 1,
        where errors have no derivative.

    Examples
    --------
    >>> import numpy as np
    >>> from giantstep import Protocol
    >>> problem = Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1)
    >>> slopes = error_derivatives(problem, np.array([1.0]), np.array([0.1]), "isotropic")
    >>> slopes.round(3)[0, :3]
    array([ 0.004, -0.043, -0.057])
    """
    readout = readout_of(problem, bulk, dimension=dimension)
    assert isinstance(readout, SquareReadout)
    parts = []
    with np.errstate(all="ignore"):  # points without a solution are NaN
        for part in readout.batches(alpha.size):
            at = solve_resolvent(readout.coarse.equations, alpha.ravel()[part], ridge.ravel()[part])
            points = _Points(at.alpha, at.ridge, at.V_hat)
            error, *by_point = _by_point(points, readout)
            names = continuous_parameters(problem)[:-2]
            slopes = [_by_field(points, error, readout, problem, name) for name in names]
            parts.append([*slopes, *by_point])
    return np.concatenate(parts, axis=1).T.reshape(*alpha.shape, -1)


def _by_field(
    points: _Points, error: Array, readout: SquareReadout, problem: Problem, name: str
) -> Array:
    """Differentiate by a field of the problem; `error` is that of the points."""
    value, one = getattr(problem, name), parameters_of(type(problem))[name]
    if isinstance(value, tuple) and len(value) == 1:
        (value,) = value
    nothing, interval = np.full(points.alpha.shape, np.nan), interval_of(one.domain)
    is_default = one.default is not REQUIRED and value == one.default and name != "noise"
    if is_default or isinstance(value, tuple) or math.isinf(value):
        return nothing
    step = _STEP * (abs(value) if name in _RELATIVE else max(abs(value), 1.0))
    inside = interval is not None and value - step in interval and value + step in interval
    if not inside and (value != 0 or step == 0):
        return nothing

    def moved(steps: int) -> Array:
        return points.errors(_moved(readout, replace(problem, **{name: value + steps * step})))

    try:  # rules may differ at zero itself
        slope: Array = ((moved(1) - error) if value else (moved(2) - moved(1))) / step
    except InvalidParametersError:
        return nothing
    return slope


@lru_cache(maxsize=32)
def _moved(readout: SquareReadout, problem: Problem) -> SquareReadout:
    """Prepare a problem that differs a little, for the same unknowns."""
    of, B = readout.layer, readout.coarse.features.B
    return SquareReadout(prepare_layer(problem, of.bulk, of.dimension, B))


def _by_point(points: _Points, readout: SquareReadout) -> tuple[Array, Array, Array]:
    """Solve for the test errors, and differentiate by alpha and by the ridge."""
    alpha, ridge, start = points
    no_ridge = ridge == 0
    step = np.where(no_ridge, _FIRST_RIDGE, _RIDGE_STEP * ridge)
    kind = no_ridge.astype(int)
    alphas = np.stack([(1 + _STEP) * alpha, *[alpha] * 5])
    ridges = np.stack([ridge, *(ridge + step * _RIDGE_PLACES[kind].T)])
    # Without a ridge, hats may be on another scale.
    first = readout.coarse.equations.initial_hats(Points.of(alpha, ridge, readout.layer.srf.beta))
    starts = np.tile(np.where(no_ridge[:, None], first, start), (len(alphas), 1))
    everything = _Points(alphas.ravel(), ridges.ravel(), starts)
    errors = everything.errors(readout).reshape(alphas.shape)
    by_alpha = (errors[0] - errors[-1]) / (alphas[0] - alpha)
    return errors[-1], by_alpha, np.sum(_RIDGE_WEIGHTS[kind].T * errors[1:], axis=0) / step
