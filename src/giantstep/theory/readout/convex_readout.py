"""The readout of any convex loss: theory.md section 6."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.scalar_functions import BINARY
from giantstep.problems.convex_losses import Loss
from giantstep.theory.features.conditional_features import ConditionalFeatures
from giantstep.theory.features.kappa_rules import (
    KappaRule,
    fewest_nodes,
    merged_panels,
    wide_panels,
)
from giantstep.theory.readout.convex_equations import ConvexEquations
from giantstep.theory.readout.convex_newton import FixedPoint, Points, solve_near
from giantstep.theory.readout.prepared_layer import PreparedLayer
from giantstep.theory.readout.readout import Estimate, Readout, Solved


class _Rule(NamedTuple):
    """Factors on the number of nodes over kappa and beside it, and the rule over kappa."""

    over_kappa: float
    beside: float
    rule: KappaRule


def _rules(binary: bool) -> tuple[_Rule, _Rule, _Rule]:
    """Choose rules for labels of two values or others.

    Solutions are found on the first, which has hardly any nodes, and refined on the second and the
    third, on which errors are computed.
    """
    return (
        _Rule(1 / 4, 1 / 3, fewest_nodes),
        _Rule(1 / 2, 1 / 2, wide_panels),
        _Rule(1, 3 / 4 if binary else 1, fewest_nodes),
    )


# The rule at another dimension, for the dimension from which on answers are reliable.
_ELSEWHERE = _Rule(1 / 3, 1 / 2, fewest_nodes)
# Where predictions vary little given kappa, corners of the loss need finer rules over kappa.
_FINER = tuple(_Rule(k, math.sqrt(k / 2), merged_panels) for k in (2, 4, 8))
# Residuals at which a search ends: at first, of solutions at another dimension, of estimates, and
# of answers.
_ROUGH, _THERE, _ESTIMATED, _EXACT = 1e-3, 1e-4, 1e-7, 1e-11
# And where a Newton step with the derivative there follows, which leaves the square of that.
_BEFORE_A_STEP = 1e-5


class ConvexReadout(Readout):
    """The readout that minimises a convex loss with a ridge.

    Parameters
    ----------
    layer : PreparedLayer
    loss : Loss
    near : ConvexReadout, optional
    """

    # Corners of losses slow down the convergence of quadrature.
    arrays, hats_resolved, elsewhere = 16, 1e-4, _ELSEWHERE.over_kappa
    _last: FixedPoint | None  # what was solved last on the coarse rule

    def __init__(self, layer: PreparedLayer, loss: Loss, near: ConvexReadout | None = None) -> None:
        super().__init__(layer, near)
        self.loss = loss
        self._equations, self._last = dict[_Rule, ConvexEquations](), None
        self._rough, self._coarse, self._usual = _rules(self.square_loss.srf.target in BINARY)

    def on(self, layer: PreparedLayer, near: ConvexReadout | None = None) -> ConvexReadout:
        """Prepare the readout on another layer."""
        return ConvexReadout(layer, self.loss, near)

    @property
    def features(self) -> ConditionalFeatures:
        """Features on a rule over kappa."""
        return self._on(self._usual).features

    def _on(self, rule: _Rule) -> ConvexEquations:
        """Prepare the equations for the loss; those on the coarse rule are of the finer layer.

        Its change to the usual rule therefore contains every quadrature error.
        """
        if rule not in self._equations:
            on_rule, to_m = self.square_loss, self.square_loss.label_residual.to_m
            if rule != _ELSEWHERE:
                on_rule = self.layer.with_nodes(rule.over_kappa, rule.rule, rule == self._coarse)
            self._equations[rule] = ConvexEquations(on_rule, self.loss, to_m, rule.beside)
        return self._equations[rule]

    def _roughly(self, alpha: Array, ridge: Array, tolerance: float) -> FixedPoint:
        """Solve S points on the coarse rule, or at another dimension from those nearby."""
        if self.near is None:
            found = solve_near(Points(self._on(self._rough), _ROUGH, alpha, ridge))
            return found.on(self._on(self._coarse), tolerance)
        equations, start = self._on(_ELSEWHERE), self.near._known(alpha, ridge)
        # The mean of the readout is free in the limit only: Jacobians differ.
        x = equations.unknowns(start.points.equations, start.at.x)
        return solve_near(Points(equations, _THERE, alpha, ridge), x)

    def _known(self, alpha: Array, ridge: Array) -> FixedPoint:
        """Choose points among those that were solved last, or solve them."""
        if self._last:
            last = self._last.points
            same = (last.alpha == alpha[:, None]) & (last.ridge == ridge[:, None])
            if same.any(axis=1).all():
                return self._last.chosen(same.argmax(axis=1))
        self._last = self._roughly(alpha, ridge, _ESTIMATED)
        return self._last

    def estimate(self, alpha: Array, ridge: Array) -> Estimate:
        """Compute test errors at S points on the coarse rule."""
        found = self._roughly(alpha, ridge, _ESTIMATED)
        equations, x = found.points.equations, found.refined(alpha)
        error = np.where(found.converged, equations.errors(x)[0], np.nan)
        return error, equations.fluctuation(found.at, alpha), equations.features

    def find(self, alpha: Array, ridge: Array) -> Solved:
        """Solve S points, those that are unresolved on finer and finer rules."""
        before = self._last = self._roughly(alpha, ridge, _BEFORE_A_STEP).polished()
        return self._refined(before, (self._usual, *_FINER))

    def _refined(self, before: FixedPoint, rules: tuple[_Rule, ...]) -> Solved:
        """Solve on the first rule, and on the others what it does not resolve."""
        solution = before.on(self._on(rules[0]), _EXACT)
        found = self._solved(before, solution)
        left = found.converged & ~self.is_resolved(found.shift, found.change)
        if (places := np.flatnonzero(left)).size and rules[1:]:
            found.overwrite(places, self._refined(solution.chosen(places), rules[1:]))
        return found

    def _solved(self, before: FixedPoint, solution: FixedPoint) -> Solved:
        """Compute overlaps and errors from a fixed point, and their change from a coarser rule."""
        (equations, _, alpha, ridge), at = solution.points, solution.at
        moments, (test_error, fresh) = equations.prediction_moments(at.x), equations.errors(at.x)
        losses = equations.channel.losses(moments)
        _, overlaps = equations.evaluate(at.x, at.details, alpha, ridge)
        values: dict[str, Any] = {
            "test_error": test_error,
            **{name: x @ equations.weight for name, x in losses.items()},
            **overlaps(),
            "residual": at.residual,
            "iterations": solution.iterations,
            "leave_one_out": fresh,
        }
        return Solved(
            values,
            solution.converged,
            solution.shift,
            np.abs(before.points.equations.errors(before.at.x)[0] / test_error - 1),
            equations.fluctuation(at, alpha),
            moments.Q @ equations.weight,
            solution.error_slope(),
        )
