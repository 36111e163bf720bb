"""What the theory needs to know of the bulk of the first layer.

A bulk maps the hats to the variances V1, V2 (theory.md section 4, "Resolvent"). It also says how
the readout responds along the spike v, and along D unit vectors across it, in which the target
varies: one for a target of one direction, see `conditional_target`. The rest of the theory is the
same for all bulks.

Along the spike, quantities are coefficients of the functions of kappa in
`ConditionalFeatures.along`; across it, of the functions phi for each vector in turn. If z are the
hats of both, the overlaps are K z, and they add minus the derivative of z K z by the hats to the
variances. The means m of the readout are overlaps, too: `theory.mean_penalty` has their response.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from giantstep.arrays import Array, Complex


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


class SpikeResponse(Protocol):
    """How the readout responds along the spike (Z functions) and across it (D R functions).

    Attributes
    ----------
    along : Array, shape (S, Z, Z)
    mixed : Array, shape (S, Z, D R), or None where it vanishes
    across : Array, shape (S, D R, D R)
        The blocks of K.
    V2 : Array, shape (S, G)

    The matrix M is that of theory.md section 4. For a trained bulk it depends on the eigenvalue b
    of B, docs/trained-bulk.md; an isotropic bulk is one where B is a multiple of the identity.
    """

    along: Array
    mixed: Array | None
    across: Array
    V2: Array

    def of_groups(self, direction: Array, zeta_hat: Array, psi_hat: Array) -> GroupOverlaps:
        """Compute the overlaps of each group of neurons, and of each pair of groups.

        Parameters
        ----------
        direction : Array, shape (S, K)
            The direction of the hats along which V changes by minus (q1, q2).
        zeta_hat, psi_hat : Array
            As in `sources`.
        """

    def screened(self, rows: Array) -> Array:
        """Average `(rows[0] + rows[1] b/tr B) M(b)` over the eigenvalues b of B, shape (S, G, G).

        Parameters
        ----------
        rows : Array, shape (2,)
        """

    def screened_sources_of_groups(self, rows: Array, w: Array) -> Array:
        """Compute the derivative of the same by V1_hat between groups, at fixed q: (S, G, G)."""


class ContinuedVariances(Protocol):
    """The variances of a bulk at complex hats, continued from one solution to the next."""

    def far_response(self, V1_hat: Complex, L: Complex) -> Complex:
        """Compute the response far above the real axis, from which to continue, shape (S, D)."""

    def variances_near(
        self, V1_hat: Complex, L: Complex, near: Complex
    ) -> tuple[Complex, Complex, Complex]:
        """Map complex hats to V and T, near a response that is known.

        Parameters
        ----------
        V1_hat, L : Complex
            As for `variances`.
        near : Complex, shape (S, D)
            A response as `far_response` and this method return it.

        Returns
        -------
        V, T : Complex
        response : Complex, shape (S, D)
        """

    def moved(self, response: Complex, dV: Complex) -> Complex:
        """Predict the response where V has changed by dV, shape (S, K)."""


class Bulk(Protocol):
    """The bulk of the first layer."""

    @property
    def floats_per_point(self) -> int:
        """Size of the largest array at one point, for the choice of batch sizes."""

    def variances(self, V1_hat: Array, L: Array) -> tuple[Array, Array]:
        """Map the hats to V and T as `IsotropicBulk.variances` does."""

    @property
    def continued(self) -> ContinuedVariances:
        """The variances at complex ridges, which spectra need."""

    def spike_response(self, V1_hat: Array, V: Array) -> SpikeResponse:
        """Compute how the readout responds at a solution.

        Parameters
        ----------
        V1_hat : Array, shape (S, R, R)
        V : Array, shape (S, K)
        """
