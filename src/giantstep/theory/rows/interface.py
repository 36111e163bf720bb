"""The interface of the rows of the first layer, the bulk, to the rest of the theory.

A bulk maps the hats to the variances V1, V2 (theory.md section 4, "Resolvent"), at real ridges and,
for spectra, at complex ones. It also describes how the readout responds along the spike v, and
along D unit vectors across it, in which the target varies: one for a target of one direction, see
`conditional_target`. The rest of the theory is the same for all bulks.

Along the spike, quantities are coefficients of the functions of kappa in
`ConditionalFeatures.along`; across it, of the functions phi for each vector in turn. If z are the
hats of both, the overlaps are K z, and they add minus the derivative of z K z by the hats to the
variances. The means m of the readout are overlaps, too: `readout.mean_penalty` has their response.

A new bulk is a class of each kind below, in one module; a first layer (`theory.first_layer`) makes
it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

import numpy as np

from giantstep.arrays import Array, Complex
from giantstep.numerics.packed_symmetric import Triangle
from giantstep.theory.rows.response import ResponseTerms, variances_from_terms


class GroupOverlaps(NamedTuple):
    """Overlaps between groups of neurons.

    Attributes
    ----------
    V1, q1 : Array, shape (S, G, G)
    zeta, psi, xi : Array, shape (S, G)
        With the spike, with the target's first direction across it, and with the change of the
        neurons' norms; xi vanishes for an isotropic bulk.
    """

    V1: Array
    q1: Array
    zeta: Array
    psi: Array
    xi: Array


@dataclass(frozen=True)
class Hats:
    """The hats of a readout's overlaps, and its means.

    Attributes
    ----------
    z : Array, shape (S, Z + D R)
        Along the spike, and then across it.
    m : Array, shape (S, G)
    """

    z: Array
    m: Array


# What overlaps add to the variances, (q1, q2) = T (... + first) + second; arrays of shape (S, K).
Sources = tuple[Array, Array]
# V and T at complex hats, and the response: what else is known there, shape (S, D).
Continued = tuple[Complex, Complex, Complex]


class Bulk(ABC):
    """The bulk of the first layer."""

    @property
    def floats_per_point(self) -> int:
        """Size of the largest array at one point, where that is large."""
        return 1

    @abstractmethod
    def variances(self, V1_hat: Array, L: Array) -> tuple[Array, Array]:
        """Map the hats to V = (V1, V2) and to T = -dV/d(V1_hat, L), `L = ridge + V2_hat`.

        Parameters
        ----------
        V1_hat : Array, shape (S, R, R)
        L : Array, shape (S, G)

        Returns
        -------
        V : Array, shape (S, K)
        T : Array, shape (S, K, K)
            One column for each entry of (V1_hat, L); an off-diagonal entry of V1_hat moves both
            its places.
        """

    @abstractmethod
    def continued(self) -> ContinuedVariances:
        """Return the variances at complex ridges, which spectra need.

        Raises
        ------
        InvalidParametersError
            If they are not known.
        """

    @abstractmethod
    def spike_response(self, V1_hat: Array, V: Array) -> SpikeResponse:
        """Compute how the readout responds at a solution.

        Parameters
        ----------
        V1_hat : Array, shape (S, R, R)
        V : Array, shape (S, K)
        """


class SpikeResponse(ABC):
    """How the readout responds along the spike (Z functions) and across it (D R functions).

    Attributes
    ----------
    K : Array, shape (S, Z + D R, Z + D R)
        From the hats to the overlaps: those along the spike come first.
    along : int
        Z.
    V2 : Array, shape (S, G)
    pi, beta, triangle
        Those of the bulk.

    The matrix M is that of theory.md section 4. For a trained bulk it depends on the eigenvalue b
    of B, docs/theory/trained-bulk.md; for an isotropic bulk B is a multiple of the identity.

    The variances of one readout contain squares of quantities that depend on the ridge, and
    derivatives. The covariances of two readouts at different ridges, on the same features and
    samples, contain products and divided differences in their place: docs/theory/early-stopping.md.
    So some methods take the response of another readout, which may be the same.
    """

    K: Array
    along: int
    V2: Array
    pi: Array
    beta: float
    triangle: Triangle

    @abstractmethod
    def of_groups(self, direction: Array, q: Array, hats: Hats) -> GroupOverlaps:
        """Compute the overlaps of each group of neurons, and of each pair of groups.

        Parameters
        ----------
        direction : Array, shape (S, K)
            The direction of the hats along which V2 changes by minus q2.
        q : Array, shape (S, K)
            (q1, q2) over the functions phi and the groups.
        hats : Hats
        """

    @abstractmethod
    def screened(self, common: Array) -> Array:
        """Average `(common[0] + common[1] b/tr B) M(b)` over the eigenvalues b of B: (S, G, G).

        Parameters
        ----------
        common : Array, shape (2,)
        """

    @abstractmethod
    def screened_sources_of_groups(self, common: Array, w: Array) -> Array:
        """Compute the derivative of `screened` by V1_hat between groups, at fixed q: (S, G, G)."""

    @abstractmethod
    def terms(self, other: Self) -> ResponseTerms:
        """Compute the terms of V of this readout, and of the derivative of the pair."""

    def derivative(self, other: Self) -> Array:
        """Compute T of `Resolvent` for the pair, shape (S, K, K)."""
        q = np.sqrt(self.V2 * other.V2) / self.pi
        return variances_from_terms(q, self.terms(other), self.pi, self.beta)[1]

    @abstractmethod
    def sources(self, other: Self, hats: Hats, others: Hats) -> Sources:
        """Compute what the overlaps add to the variances, minus the derivative of the hats' form K.

        Returns
        -------
        first, second : Array, shape (S, K)
            The terms of `T @ first + second`.
        """

    @abstractmethod
    def screened_sources(self, other: Self, common: Array, w: Array, v: Array) -> Sources:
        """Compute, in the same form, the derivative of `w screened(common) v` by the hats.

        Parameters
        ----------
        common : Array, shape (2,)
        w, v : Array, shape (S, G)
        """


class ContinuedVariances(Protocol):
    """The variances of a bulk at complex hats, continued from one solution to the next."""

    def far_response(self, V1_hat: Complex, L: Complex) -> Complex:
        """Compute the response far above the real axis, from which to continue, shape (S, D)."""

    def variances_near(self, V1_hat: Complex, L: Complex, V: Complex, near: Complex) -> Continued:
        """Map complex hats to V and T, near a solution that is known.

        Parameters
        ----------
        V1_hat, L : Complex
            As for `Bulk.variances`.
        V : Complex, shape (S, K)
            That of the solution, moved to these hats to first order.
        near : Complex, shape (S, D)
            Its response, as `far_response` and this method return it.

        Returns
        -------
        V, T : Complex
        response : Complex, shape (S, D)
        """


def in_parts(triangle: Triangle, through_q: Array, direct: Array) -> Sources:
    """Arrange what acts through q, shape (S, G), and what acts at fixed q, (S, R, R)."""
    first = np.concatenate([np.zeros((len(through_q), triangle.size)), through_q], axis=-1)
    second = np.zeros_like(first)
    second[:, : triangle.size] = triangle.pack(direct + direct.swapaxes(1, 2)) / 2
    return first, second
