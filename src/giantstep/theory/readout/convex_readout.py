"""The readout of any convex loss: theory.md section 6."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from giantstep.arrays import Array, Mask
from giantstep.problems.losses import Loss
from giantstep.theory.readout.convex_equations import ConvexEquations
from giantstep.theory.readout.convex_newton import (
    FixedPoint,
    newton_step_on_finer_rule,
    solve_convex,
    solve_from,
)
from giantstep.theory.readout.output_channel import LossAverages
from giantstep.theory.readout.prepared_layer import PreparedLayer
from giantstep.theory.readout.readout import Readout, Solved
from giantstep.theory.readout.square_loss import SquareLoss

# Change of the hats that is small, if not for the layer: corners of losses slow down the
# convergence of quadrature.
_HATS_RESOLVED = 1e-4
# Factor on the nodes over kappa at points that the finer rule leaves unresolved.
_FINEST = 4


class ConvexReadout(Readout):
    """The readout that minimises a convex loss with a ridge.

    Parameters
    ----------
    layer : PreparedLayer
    loss : Loss
    """

    arrays = 16

    def __init__(self, layer: PreparedLayer, loss: Loss) -> None:
        super().__init__(layer)
        self.loss = loss

    def on(self, layer: PreparedLayer) -> ConvexReadout:
        """Prepare the readout on another layer."""
        return ConvexReadout(layer, self.loss)

    @cached_property
    def nodes(self) -> ConvexEquations:
        """The equations for the loss."""
        return self._equations(self.coarse, 1)

    @cached_property
    def _finer(self) -> ConvexEquations:
        """The equations on twice as many nodes."""
        return self._equations(self.fine, 2)

    @cached_property
    def _finest(self) -> tuple[ConvexEquations, ConvexEquations]:
        """The equations with more nodes over kappa, and with twice as many of all."""
        rules = (self.layer.finer(k * _FINEST).equations for k in (1, 2))
        return self._equations(next(rules), 1), self._equations(next(rules), 2)

    def _equations(self, rule: SquareLoss, fineness: int) -> ConvexEquations:
        return ConvexEquations(rule, self.loss, self.coarse.label_residual.to_m, fineness)

    def is_resolved(self, shift: Array, change: Array) -> Mask:
        """Tell where errors of quadrature are small enough."""
        accuracy = self.layer.accuracy
        return (shift <= max(accuracy.hats, _HATS_RESOLVED)) & (change <= accuracy.error)

    def find(self, alpha: Array, ridge: Array) -> Solved:
        """Solve S points.

        Where predictions vary little given kappa, corners of the loss need a finer rule over kappa:
        points that are unresolved are solved again on one.
        """
        solution = solve_convex(self.nodes, alpha, ridge)
        found = self._solved(self.nodes, self._finer, solution, alpha, ridge)
        unresolved = found.converged & ~self.is_resolved(found.shift, found.change)
        for one in np.flatnonzero(unresolved)[:, None]:
            again = solve_from(self._finest[0], solution.at.x[one], alpha[one], ridge[one])
            if again.converged():
                on_finest = self._solved(*self._finest, again, alpha[one], ridge[one])
                found.replace(one, on_finest)
        return found

    def _solved(
        self,
        rule: ConvexEquations,
        finer: ConvexEquations,
        solution: FixedPoint,
        alpha: Array,
        ridge: Array,
    ) -> Solved:
        """Compute overlaps and errors from a fixed point, and their change on a finer rule."""
        x, averages = solution.at.x, solution.at.details
        at, moments = rule.order_parameters(x), rule.prediction_moments(x)
        losses = LossAverages(*(values @ rule.weight for values in rule.channel.losses(moments)))
        test_error, split = rule.test_error(x), rule.equations.triangle.size
        groups = rule.overlaps(x, averages, alpha, ridge)
        values = {
            "test_error": test_error,
            **losses._asdict(),
            "m": at.prediction[:, : rule.rank] @ rule.to_m.T,
            "zeta": groups.zeta,
            "psi": groups.psi,
            "xi": groups.xi,
            "q1": groups.q1,
            "q2": at.q[:, split:],
            "V1": groups.V1,
            "V2": at.V[:, split:],
            "residual": solution.at.residual,
            "iterations": solution.iterations,
        }
        shift, moved = newton_step_on_finer_rule(finer, solution, alpha, ridge)
        return Solved(
            values,
            {"leave_one_out": test_error + rule.excess_on_labels(x)},
            solution.converged(),
            shift,
            np.abs(finer.test_error(moved) / test_error - 1),
            (alpha, at.V[:, split:], averages.minus_dg, averages.g_squared * rule.weight),
            moments.Q @ rule.weight,
        )
