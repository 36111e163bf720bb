"""One step of an odd activation, the paper's: equations (9)-(12), theory.md section 2.

On inputs with a covariance it is (S1) to (S6) of docs/theory/structured-inputs.md. Inputs are
x = S z with z ~ N(0, I) and S^2 = Sigma, of eigenvalues s_k. Everything is in whitened coordinates:
a neuron is the row S w, and the target acts on t.z. The gradient sees Sigma once more, so that the
spike is G = Sigma times the mean of y z over the batch. If the step is multiplied by Sigma^-p, G is
Sigma^(1-p). Without a covariance all are one, and one direction stands for all.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from giantstep.arrays import Array
from giantstep.numerics.activation_averages import activation_averages
from giantstep.numerics.gaussian import self_gradient, standard_moments
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.covariance import directions_of
from giantstep.problems.inputs import mixture_mean
from giantstep.problems.problem import label_agreement, noise_levels, noise_power
from giantstep.problems.protocol import Protocol
from giantstep.problems.targets import target_function
from giantstep.theory.rows.batch_moments import BatchMoments
from giantstep.theory.rows.first_batch import FirstBatch
from giantstep.theory.rows.label_rule import label_rule

# A Hermite coefficient below the first is zero by symmetry. The second replaces 1/alpha0 = 0, where
# there is no step or no noise, so that the spike always has a direction.
_ROUNDING, _TINY = 1e-13, 1e-20


class OddStep:
    """What a step leaves, in whitened coordinates.

    Labels and activation have the sign that makes E sigma' positive: only their product matters.

    Parameters
    ----------
    protocol : Protocol
        As `with_giant_step` returns it: one step and an odd activation. What belongs to neurons is
        that of those whose readout is one.

    Attributes
    ----------
    eigenvalues, weights : Array, shape (d,)
        s_k of Sigma, and t_k^2 of the target's direction.
    gains : Array, shape (d,)
        Eigenvalues of G.
    bulk : Array, shape (d,)
        Eigenvalues of the mean of D, Sigma + nu G^2 with nu = tau E y^2.
    bulk_variance, length, spike_strength, alignment : float
        c, |G u|, r and gamma as d -> infinity.
    norm_coupling : float
        A neuron's step along its own weights is this times its overlap with the spike.
    beta, rate : float
        beta, and e = learning_rate/beta, which is zero without a step.
    inverse_alpha0 : float
        1/alpha0.
    mean : float
        E y t.z for the class y of a mixture; zero without classes.
    agreement, slope, label_power : float
        Mean sign of the target in a label, E y t.z and E y^2.
    first, third, second, own : float
        E sigma', E sigma''', E sigma^2 and E z sigma sigma'.
    psi : tuple of float
        E psi^2, psi^3, psi^4 and psi^2 (z^2 - 1), of psi = sigma' - E sigma'.
    tau : float
        Weight of the batch's covariance in that of a row.

    Examples
    --------
    >>> problem = Protocol("tanh", "sign", 1, alpha0=1, beta=1, covariance=[8, 1, 1, 1, 1])
    >>> after = OddStep(problem)
    >>> print(f"{after.bulk_variance:.4f} {after.spike_strength:.4f} {after.alignment:.4f}")
    1.2303 1.1907 0.4059
    """

    def __init__(self, protocol: Protocol) -> None:
        self._protocol, f, moves = protocol, lookup(protocol.activation), protocol.alpha0 > 0
        A = activation_averages(f, np.zeros(1), 1.0).at(np.array(0))
        # A coefficient that vanishes by symmetry is computed as rounding, whose sign means nothing.
        slope, third = (float(h) if abs(h) > _ROUNDING else 0.0 for h in (A.slope, A.third))
        teacher = standard_moments(target_function(protocol.target, protocol.inputs))
        self.mean = mixture_mean(protocol.inputs) or 0.0
        h1_star = float(teacher.slope + self.mean * teacher.mean)
        sign = math.copysign(1.0, slope)
        covariance = protocol.covariance if protocol.has_covariance else 1.0
        self.eigenvalues, self.weights = directions_of(covariance, protocol.target_decay)
        self.gains = self.eigenvalues ** (1 - protocol.precondition)
        self.beta = protocol.beta
        self.rate = protocol.learning_rate / protocol.beta * moves
        self.inverse_alpha0 = max(1 / protocol.alpha0 if moves else 0.0, _TINY)
        self.agreement = sign * label_agreement(protocol) * moves
        self.slope = self.agreement * h1_star * (abs(h1_star) > _ROUNDING)
        self.label_power = float(teacher.second) + noise_power(protocol)
        self.first, self.third = abs(slope), sign * third
        self.second, self.own = A.slope**2 + A.residual, self_gradient(f)
        self.psi = A.variance, sign * A.cube, A.fourth_power, 2 * A.variance_with_norm
        self.tau = self.rate**2 * self.psi[0] * self.inverse_alpha0
        self.bulk = self.eigenvalues + self.tau * self.label_power * self.gains**2
        self.bulk_variance, self.length = float(self.bulk.mean()), math.sqrt(self.mean_form(0, 2))
        self.spike_strength = self.rate * self.first * self.length
        self.norm_coupling = self.rate * self.third * self.length
        gamma = self.slope * float(self.weights @ self.gains) / self.length
        self.alignment = min(1.0, max(-1.0, gamma))

    def moments(self, fineness: int = 1, on_path: bool = False) -> BatchMoments:
        """Compute averages over the samples of the batch; for spectra, on `complex_path`."""
        of, largest = self._protocol, max(omega**2 for omega, _ in self._protocol.readout)
        sharpness = largest * self.tau * self.inverse_alpha0 * self.trace(0, 2)
        target = target_function(of.target, of.inputs)
        y, weights = label_rule(target, noise_levels(of), sharpness, fineness, on_path)
        # From powers of t.z less its mean to powers of t.z.
        mean = self.mean
        weights = np.array([[1, 0, 0], [mean, 1, 0], [mean**2, 2 * mean, 1]]) @ weights
        return BatchMoments(y, weights, self.agreement, self.inverse_alpha0)

    def first_batch(self, fineness: int = 1) -> FirstBatch:
        """Describe the batch, as far as rows remember it, in the basis of spike and target."""
        gamma, rho = self.alignment, math.sqrt(1 - self.alignment**2)
        on_path = partial(self.moments, on_path=True)
        turn = np.array([[gamma, rho], [rho, -gamma]])
        return FirstBatch(self.moments(fineness), on_path, self.label_power, turn)

    def trace(self, power: int, gained: int = 0) -> float:
        """Compute tr Sigma^j G^k/d."""
        return float(np.mean(self.eigenvalues**power * self.gains**gained))

    def mean_form(self, power: int, gained: int) -> float:
        """Compute u Sigma^j G^k u, u the mean of y z over the batch, in the mean over batches."""
        along = float(self.weights @ (self.eigenvalues**power * self.gains**gained))
        noise = self.label_power * self.inverse_alpha0 * self.trace(power, gained)
        return self.slope**2 * along + noise

    def row_power(self) -> tuple[float, float, float, float]:
        """Compute the coefficients of w.Dw/c, a polynomial in kappa, and tr D^2/d over c^2.

        D/d is the covariance of rows, and w = kappa v + M t an input, as far as it matters.
        """
        nu, c = self.tau * self.label_power, self.bulk_variance
        along = (self.mean_form(1, 2) + nu * self.mean_form(0, 4)) / self.length**2
        mixed = 2 * self.mean * self.slope / self.length * (self.weights * self.gains @ self.bulk)
        own = self.mean**2 * float(self.weights @ self.bulk)
        return own / c, mixed / c, along / c, float(np.mean(self.bulk**2)) / c**2

    def mean_row(self, letters: float = 1.0) -> Array:
        """Compute the eigenvalues of D_m - D, (S13): the mean row less that of independent rows.

        The network's own output pulls rows back, and acts as noise on the labels; inputs longer
        than others move all rows alike. These two parts are returned, shape (2, d), for a mean
        square of the `letters`.
        """
        s, g, e, along = self.eigenvalues, self.gains, self.rate, self.rate * self.first**2
        noise = e * along * self.second * self.inverse_alpha0
        own_output = letters * g**2 * (along**2 * s + noise) - 2 * along * s * g
        norms = self.beta / 2 * (e * self.third) ** 2 * self.trace(2) * self.label_power
        return np.stack([own_output, norms * self.inverse_alpha0 * g**2])

    def added_norms(self, dimension: float) -> Array:
        """Compute what a finite dimension adds to the squared norm of rows, (S15), by letters.

        A row changes its length by its own part of the network's output, by the other parts, and by
        its overlap with the spike. `row_norms` is the same for any activation.
        """
        letters, fractions = np.array(self._protocol.readout).T
        squares, width = letters**2, self.beta * dimension
        own, s2, s3 = self.rate / width * self.own * squares, self.trace(0, 2), self.trace(1, 2)
        noise = self.second * (self.psi[0] + self.first**2) * self.inverse_alpha0
        others = float(fractions @ squares) * (self.first**4 * s3 + noise * s2)
        added = own**2 * s3 - 2 * own * self.trace(1, 1) + self.rate**2 / width * squares * others
        overlaps = (self.rate * self.third) ** 2 * squares * self.mean_form(1, 0)
        return added + overlaps * s3 / dimension

    def norm_variance(self, fourth_power: float) -> float:
        """Compute d times the variance of a row's squared norm, (S5), given E y^4."""
        e, b, (square, _, fourth, spread) = self.rate, self.inverse_alpha0, self.psi
        mixed, s2, noise = self.trace(1, 1), self.trace(0, 2), self.label_power * b
        rows = 2 * (1 + e**2 * noise * s2 * spread / 2) ** 2 * (self.trace(2) - 1)
        rows += (2 * e * self.third * mixed) ** 2 * self.mean_form(1, 0)
        of_noise = mixed**2 * (spread - self.third**2) + self.trace(1, 2) * square
        rows += 4 * e**2 * noise * of_noise
        samples = 2 * (square * noise) ** 2 * self.trace(0, 4)
        return rows + e**4 * (samples + fourth_power * b**3 * s2**2 * (fourth - square**2))

    def norm_couplings(self) -> tuple[float, float, float]:
        """Compute k, k' and g of (S6), which couple rows and their norms.

        A vector along Sigma u is replaced by its part along the spike, G u.
        """
        along, s2, b = self.rate * self.third, self.trace(0, 2), self.inverse_alpha0
        shared = self.trace(1, 1) * self.mean_form(1, 1) / self.length**2
        norms = self.trace(2) - 1
        rows = 1 + self.rate**2 * self.label_power * b * s2 * self.psi[3] / 2
        of_cubes = self.rate**3 * b**2 * s2 * self.psi[1]
        return along * (2 * shared + rows * norms), of_cubes, along**2 * norms / 2
