"""One step on inputs with a covariance, or of two classes: docs/theory/structured-inputs.md."""

from __future__ import annotations

import math

import numpy as np

from giantstep.arrays import Array, Complex
from giantstep.numerics.activation_averages import activation_averages
from giantstep.numerics.scalar_functions import CLASS, lookup
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.covariance import THEORY
from giantstep.problems.inputs import GAUSSIAN
from giantstep.problems.readout import UNIFORM
from giantstep.theory.features.conditional_features import (
    ConditionalFeatures,
    mean_inputs,
)
from giantstep.theory.first_layer.anisotropic_rows import AnisotropicRows
from giantstep.theory.first_layer.interface import Estimates, Scope
from giantstep.theory.first_layer.odd_letters import OddLetters
from giantstep.theory.rows.interface import Bulk, ContinuedVariances
from giantstep.theory.rows.one_group import OneGroupBulk
from giantstep.theory.rows.row_functions import RowFunctions
from giantstep.validation import refusal

# Tolerance and largest degree of the polynomials in t: steep spectra need larger degrees than a
# trained bulk. On finer rules the degree is at most `_FEWER`, so that the change of an answer
# between the two shows where the degree does not suffice.
_TOLERANCE, _MOST, _FEWER = 1e-11, 768, 576


class Anisotropic(OddLetters):
    """Rows in whitened coordinates: the covariance of the inputs, changed by one step."""

    takes = frozenset({"precondition"})
    where, left_out = THEORY, ""
    history: tuple[()] = ()  # nothing beyond the features

    def scope(self) -> list[Scope]:
        """List what this layer covers."""
        of = self.problem
        odd = lookup(of.activation).parity == "odd"
        class_or_odd = of.inputs == GAUSSIAN or lookup(of.target).parity == "odd"
        return [
            ("target", class_or_odd, f"odd or {CLASS} {THEORY}"),
            ("activation", odd, f"odd {THEORY}"),
            ("readout", of.readout == UNIFORM, f"1 for all neurons {THEORY}"),
            ("steps", of.steps == 1, f"1 {THEORY}"),
        ]

    def has_norms(self, kind: str) -> bool:
        """Whether the norms of neurons depend on their overlap with the spike."""
        return True

    def row_power(self) -> tuple[float, float, float, float]:
        """Compute the variance of rows along an input: `OddStep.row_power`."""
        return self.step.row_power()

    def bulk(self, kind: str, f: ConditionalFeatures) -> Bulk:
        """Make the bulk: with the batch's own covariance, or with its mean alone."""
        of_rows, srf = AnisotropicRows(self.step, kind != ISOTROPIC), self.features
        c, at_dimension = self.step.bulk_variance, float(srf.groups.c[0])
        most = _MOST if self.fineness == 1 else _FEWER
        # Halfway, on a logarithmic scale, between the least and the largest eigenvalue of D.
        scale = math.sqrt(self.step.bulk.min() * self.step.bulk.max())
        rows = RowFunctions.fitted(scale, of_rows.columns, _TOLERANCE, most)
        alignment = np.array([self.step.alignment])
        rows = self.turned(rows.with_norm(at_dimension, c), self.step.spike_strength, alignment)
        added, stretch = max(at_dimension - c, 0.0), min(at_dimension / c, 1.0)

        def screened(t: Complex) -> Complex:
            # The rows become longer or shorter, as in `RowFunctions.with_norm`.
            own = 1 / (1 + added * t)
            return own * of_rows.mean_row(stretch * t * own)

        isotropic, norms = self.isotropic(f), of_rows.norm_variance / c**2
        return OneGroupBulk(isotropic, rows, norms, self.at_complex_ridges, screened)

    def at_complex_ridges(self) -> ContinuedVariances:
        """Refuse complex ridges."""
        raise refusal("covariance", self.problem.covariance, "identity for spectra")

    def row_overlap(self) -> float:
        """Compute d times the variance of a row's projection on the target."""
        return float(self.step.weights @ self.step.bulk)

    def leading_components(self, f: ConditionalFeatures) -> Estimates:
        """Prepare estimates of how far products of leading directions are learned: (S19).

        The theory treats features that are not linear in the bulk as noise. If the inputs'
        covariance has a few large eigenvalues, products of these directions are features of their
        own, which networks learn; and a step multiplies the rows' components along them.
        """
        srf = self.features
        inputs, std = mean_inputs(srf, f.kappa)[0], math.sqrt(float(srf.groups.c[0]))
        third = activation_averages(lookup(srf.activation), inputs, std).third
        squares = f.fold(np.stack([f.curvature[0] ** 2, third**2, f.mu2_squared[0] * f.row_norm]))
        step, count = self.step, self.step.eigenvalues.size
        largest = float(step.eigenvalues.max())
        rows = (2 * step.rate * step.third) ** 2 * step.mean_form(1, 2) / count

        def estimates(alpha: Array, ridge: Array, slopes: Array) -> dict[str, Array]:
            two, three, noise = alpha * (squares @ slopes.T)
            L = ridge + noise / srf.beta
            return {
                "chi_2": largest**2 / count * two / L,
                "chi_3": largest**3 / count**2 * three / L,
                "chi_rows": np.full(alpha.shape, rows),
                "effective_dimension": np.full(alpha.shape, count / step.trace(2)),
            }

        return estimates
