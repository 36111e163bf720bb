"""How much several gradient steps recover of a multi-index teacher: docs/what-one-step-sees.md.

For batches of order d. Rows with readout +1 and -1 have a spike each, which steps on fresh batches
turn and lengthen: those of `letters_steps`, on a target of several directions. The width is taken
as large: the network's output is half the difference of the two mean activations.
"""

from __future__ import annotations

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.quadrature import product_rule
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.recovery import Recovery
from giantstep.problems.teachers import Teacher, lookup_teacher
from giantstep.theory.first_layer.letters_step import LettersState, LettersStep, averages_of_letters
from giantstep.validation import Fault, raise_all

_READOUT = ((1.0, 0.5), (-1.0, 0.5))
# Gauss-Hermite nodes in each of the two dimensions that the spikes span.
_NODES = 40
# Of averages of the activation, which are interpolated.
_FINENESS = 0.2
# Largest share of a row that its bulk may have along a direction: each row then takes a way of its
# own, which the mean over rows does not describe.
_LARGEST_OF_BULK = 0.05


def recovery_faults(problem: Recovery) -> list[Fault]:
    """List why a problem has no theory of several steps."""
    faults = []
    if problem.exponent != 1:
        faults.append(Fault("exponent", problem.exponent, "1 in the theory of several steps"))
    if problem.reuse_batch and problem.steps > 1:
        faults.append(Fault("reuse_batch", True, "false in the theory, which needs fresh batches"))
    return faults


def overlaps_after_steps(problem: Recovery, dimension: int) -> Array:
    """Compute the mean squared overlaps of rows with each direction, after each step.

    Parameters
    ----------
    problem : Recovery
        With batches of order d, fresh ones for each step.
    dimension : int
        d.

    Returns
    -------
    Array, shape (steps, D)
        Fractions of a row's squared norm; NaN where the bulk has more than a twentieth.

    Raises
    ------
    InvalidParametersError

    Examples
    --------
    >>> from giantstep.problems.recovery import Recovery
    >>> problem = Recovery("elu", "z1+z1*z2", learning_rate=3, alpha0=64, steps=2)
    >>> overlaps_after_steps(problem, dimension=400).round(2)
    array([[0.82, 0.  ],
           [0.51, 0.2 ]])
    """
    raise_all(recovery_faults(problem))
    teacher = lookup_teacher(problem.teacher)
    state = LettersState.at_initialisation(len(_READOUT), teacher.directions)
    shares = []
    for _ in range(problem.steps):
        state = _next_state(problem, teacher, state)
        shares.append(_shares(state, teacher.directions, dimension))
    return np.array(shares)


def _next_state(problem: Recovery, teacher: Teacher, state: LettersState) -> LettersState:
    """Compute the state after a step.

    Across the plane of the spikes all is polynomial, and few nodes are exact.
    """
    plane, of_plane = product_rule(2, _NODES)
    rest, of_rest = product_rule(teacher.directions, teacher.degree + 2)
    nodes = np.hstack([np.repeat(plane, len(rest), axis=0), np.tile(rest, (len(plane), 1))])
    # The first of these directions span the spikes.
    x = (nodes[:, : state.spikes.shape[1]] @ np.linalg.svd(state.spikes)[2]).T
    averages = averages_of_letters(lookup(problem.activation), state, x, _FINENESS)
    residual = teacher.value(x[: teacher.directions].T) - np.prod(_READOUT, axis=1) @ averages[0]
    powers = np.outer(of_plane, of_rest).ravel() * residual ** np.arange(5)[:, None]
    rate, noise, targets = problem.learning_rate, 1 / problem.alpha0, teacher.directions
    step = LettersStep(state, _READOUT, rate, noise, 0.0, x, averages, powers, targets)
    return step.take()


def _shares(state: LettersState, directions: int, dimension: int) -> Array:
    """Compute the mean shares of the rows' squared norms along the directions, (D,)."""
    along, rows = state.spikes[:, :directions], np.diagonal(state.covariance, axis1=1, axis2=2)
    norm = (state.bulk_variance + np.diagonal(state.gram))[:, None]
    of_bulk = rows[:, :directions] / dimension / norm
    shares = np.mean(along**2 / norm + of_bulk, axis=0)
    return np.where(of_bulk.max() <= _LARGEST_OF_BULK, shares, np.nan)
