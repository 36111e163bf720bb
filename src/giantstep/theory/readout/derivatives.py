"""How the test error changes with each parameter: differences between solutions that are near.

The solution x of F(x, theta) = x changes by (1 - F_x)^-1 F_theta, which is a Newton step from it
for the equations of a problem that differs a little. From the solution, these equations are
therefore solved in a step or two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.domains import interval_of
from giantstep.problems.parameter import REQUIRED, parameters_of
from giantstep.problems.problem import Problem
from giantstep.theory.first_layer.layer import layer_of
from giantstep.theory.readout.prepared_layer import prepare_layer
from giantstep.theory.readout.solve import readout_of
from giantstep.theory.readout.square_readout import SquareReadout
from giantstep.validation import InvalidParametersError, raise_all

# Step of forward differences by fields, each of which costs one preparation: relative to the value,
# of at least one except for the fields below. Errors of such near solutions are precise to
# rounding, and so the differences to about its root.
_STEP = 2e-7
# Fields with which errors may vary on any scale.
_RELATIVE = ("alpha0", "beta", "bulk_variance")
# Longer steps of alpha and of the ridge, relative to their values, and a step from no ridge. With
# the weights below, of the errors after no to four steps, differences are exact to fourth order.
_ALPHA_STEP, _RIDGE_STEP, _FIRST_RIDGE = 1e-4, 5e-3, 1e-3
_WEIGHTS = -25 / 12, 4, -3, 4 / 3, -1 / 4


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
        By the `continuous_parameters`. NaN for a parameter at its default (except label noise), one
        that is infinite or differs between groups of neurons, and for alpha0 = 0 and an alignment
        of 1, where errors have no derivative.

    Raises
    ------
    InvalidParametersError
        For steps on one batch whose slopes jump, which few samples do not resolve.

    Examples
    --------
    >>> import numpy as np
    >>> from giantstep import Protocol
    >>> problem = Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1)
    >>> slopes = error_derivatives(problem, np.array([1.0]), np.array([0.1]), "isotropic")
    >>> slopes.round(3)[0, :3]
    array([ 0.004, -0.043, -0.057])
    """
    raise_all(layer_of(problem, dimension).derivative_faults())
    readout = readout_of(problem, bulk, dimension=dimension)
    assert isinstance(readout, SquareReadout)
    error = _moved(readout, problem).errors(alpha, ridge)

    def by_field(name: str) -> Array:
        def at(value: float) -> Array:
            fields: dict[str, Any] = {name: value}
            moved = _moved(readout, replace(problem, **fields))
            return moved.errors(alpha, ridge) - error

        return _by_field(at, problem, name) + 0 * alpha

    fields = map(by_field, continuous_parameters(problem)[:-2])
    by_alpha = _by_number(lambda x: readout.errors(x, ridge), alpha, _ALPHA_STEP)
    by_ridge = _by_number(lambda x: readout.errors(alpha, x), ridge, _RIDGE_STEP)
    return np.stack([*fields, by_alpha, by_ridge], axis=-1)


def _by_field(error: Callable[[float], Array], problem: Problem, name: str) -> Array | float:
    """Differentiate an error, less that of the problem, by a field."""
    value, one = getattr(problem, name), parameters_of(type(problem))[name]
    if isinstance(value, tuple) and len(value) == 1:
        (value,) = value
    is_default = one.default is not REQUIRED and value == one.default and name != "noise"
    if is_default or isinstance(value, tuple) or math.isinf(value):
        return math.nan
    step = _STEP * (abs(value) if name in _RELATIVE else max(abs(value), 1.0))
    interval = interval_of(one.domain)
    inside = interval is not None and value - step in interval and value + step in interval
    if not inside and (value != 0 or step == 0):
        return math.nan
    try:  # rules may differ at zero itself
        first = error(value + step)
        return (first if value else error(value + 2 * step) - first) / step
    except InvalidParametersError:
        return math.nan


@lru_cache(maxsize=32)
def _moved(readout: SquareReadout, problem: Problem) -> SquareReadout:
    """Prepare a problem that differs a little, or not at all, for the same unknowns."""
    of, B = readout.layer, readout.square_loss.features.B
    return readout.on(prepare_layer(problem, of.bulk, of.first.dimension, B), readout)


def _by_number(errors: Callable[[Array], Array], value: Array, step: float) -> Array:
    """Differentiate errors by numbers of the points, which are at least zero."""
    steps = np.where(value == 0, _FIRST_RIDGE, step * value)
    at_places = [weight * errors(value + k * steps) for k, weight in enumerate(_WEIGHTS)]
    return np.sum(at_places, axis=0) / steps
