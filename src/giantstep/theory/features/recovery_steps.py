"""How much several gradient steps recover of a multi-index teacher: docs/what-one-step-sees.md.

For batches of order d. Rows with readout +1 and -1 have a spike each, which steps on fresh batches
turn and lengthen, as in theory.md section 13; what is left of a row is its bulk. The width is taken
as large: the network's output is half the difference of the two mean activations.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from giantstep.arrays import Array
from giantstep.numerics.quadrature import product_rule
from giantstep.numerics.scalar_functions import ScalarFunction, lookup
from giantstep.problems.recovery import Recovery
from giantstep.problems.teachers import Teacher, lookup_teacher
from giantstep.theory.features.activation_averages import activation_averages
from giantstep.validation import Fault, InvalidParametersError

_READOUTS = np.array([1.0, -1.0])
# Gauss-Hermite nodes in each of the two dimensions that the spikes span.
_NODES = 40
# Averages of the activation are interpolated between so many projections on the spike.
_PROJECTIONS = 801
# Largest share of a row that its bulk may have along a direction: each row then takes a way of its
# own, which the mean over rows does not describe.
_LARGEST_OF_BULK = 0.05


class _Rows(NamedTuple):
    """The rows of both readouts.

    Attributes
    ----------
    along : Array, shape (2, D)
        The spikes on the teacher's directions.
    noise : Array, shape (2, 2)
        Scalar products of their parts across these, which are noise of the batches.
    bulk_variance : Array, shape (2,)
    covariance : Array, shape (2, D, D)
        d times the covariance of the bulk's projections on the directions.
    """

    along: Array
    noise: Array
    bulk_variance: Array
    covariance: Array

    def shares(self, dimension: int) -> Array:
        """Compute the mean shares of the rows' squared norms along the directions, (D,)."""
        spike = np.sum(self.along**2, axis=1) + np.diagonal(self.noise)
        norm = (self.bulk_variance + spike)[:, None]
        of_bulk = np.diagonal(self.covariance, axis1=1, axis2=2) / dimension / norm
        shares = np.mean(self.along**2 / norm + of_bulk, axis=0)
        return np.where(of_bulk.max() <= _LARGEST_OF_BULK, shares, np.nan)


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
    if faults := recovery_faults(problem):
        raise InvalidParametersError(faults)
    step = _Step(problem, lookup(problem.activation), lookup_teacher(problem.teacher))
    directions = step.teacher.directions
    rows = _Rows(
        np.zeros((2, directions)), np.zeros((2, 2)), np.ones(2), np.stack([np.eye(directions)] * 2)
    )
    shares = []
    for _ in range(problem.steps):
        rows = step.take(rows)
        shares.append(rows.shares(dimension))
    return np.array(shares)


class _Step:
    """A step on a fresh batch: averages over the input's projections x on what matters to labels.

    These are the teacher's directions, and two that span the spikes' parts across them. Across the
    plane of the spikes all is polynomial, and few nodes are exact.
    """

    def __init__(self, problem: Recovery, activation: ScalarFunction, teacher: Teacher) -> None:
        self.activation, self.teacher = activation, teacher
        self.rate, self.inverse_batch = problem.learning_rate, 1 / problem.alpha0
        plane, of_plane = product_rule(2, _NODES)
        rest, of_rest = product_rule(teacher.directions, teacher.degree + 2)
        pairs = np.repeat(plane, len(rest), axis=0), np.tile(rest, (len(plane), 1))
        self.nodes, self.weight = np.hstack(pairs), np.outer(of_plane, of_rest).ravel()

    def take(self, rows: _Rows) -> _Rows:
        """Compute the rows after a step."""
        sizes, vectors = np.linalg.eigh(rows.noise)
        root = (vectors * np.sqrt(np.maximum(sizes, 0))) @ vectors.T
        spikes = np.hstack([rows.along, root])
        x = self.nodes @ np.linalg.svd(spikes)[2]  # whose first rows span the spikes
        averages = [
            self._averages(x @ spike, bulk_variance)
            for spike, bulk_variance in zip(spikes, rows.bulk_variance, strict=True)
        ]
        mean, slope, curvature, variance = np.array(averages).transpose(1, 0, 2)
        residual = self.teacher.value(x[:, :-2]) - _READOUTS @ mean / 2
        pull = self.rate * _READOUTS[:, None]
        spikes = spikes + pull * ((self.weight * residual * slope) @ x)
        power = self.rate**2 * self.inverse_batch * self.weight * residual**2
        signed = _READOUTS[:, None] * slope
        growth = pull * self.weight * residual * curvature
        directions = self.teacher.directions
        covariance = []
        for c, known, grown, noisy in zip(
            rows.bulk_variance, rows.covariance, growth, power * variance, strict=True
        ):
            before = c * np.eye(len(x.T))
            before[:-2, :-2] = known
            change = np.eye(len(x.T)) + (x.T * grown) @ x
            after = change @ before @ change.T + (x.T * noisy) @ x
            covariance.append(after[:-2, :-2])
        across = spikes[:, directions:]
        return _Rows(
            spikes[:, :directions],
            across @ across.T + (power * signed) @ signed.T,
            (1 + growth.sum(axis=1)) ** 2 * rows.bulk_variance + variance @ power,
            np.stack(covariance),
        )

    def _averages(self, kappa: Array, bulk_variance: float) -> Array:
        """Compute E sigma, E sigma', E sigma'' and Var sigma' at each node, shape (4, N)."""
        reach = float(np.max(np.abs(kappa))) + 1
        grid = np.linspace(-reach, reach, _PROJECTIONS)
        found = activation_averages(
            self.activation, grid, math.sqrt(bulk_variance), fineness=1, panel=1
        )
        needed = np.array([found.mean, found.slope, found.curvature, found.variance])
        averages: Array = CubicSpline(grid, needed, axis=1)(kappa)
        return averages
