"""Several gradient steps on one batch: docs/theory/reused-batch.md.

With a uniform readout the network stays a spike and a bulk, as on fresh batches. But a step meets
samples on which earlier steps have acted, so that a state after each step is not enough. By
dynamical mean-field theory the mean row and a neuron's own part are Gaussian. Averages over the
fields on one sample determine their correlations and responses between steps.
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.numerics.linear_systems import triangular_root
from giantstep.problems.protocol import Protocol
from giantstep.theory.first_layer.network_state import (
    NetworkState,
    check_weights,
    spike_basis,
)
from giantstep.theory.first_layer.reused_fields import GaussianPart, SampleFields
from giantstep.theory.first_layer.reused_resolvent import ReusedResolvent


class ReusedBatch:
    """The network after each of its steps on one batch.

    Parameters
    ----------
    protocol : Protocol
        With a uniform readout.
    fineness : int
        Multiplies the number of nodes.

    Attributes
    ----------
    states : list of NetworkState
        Before the first step and after each.
    rows : ReusedResolvent
        After the last.
    basis : Array, shape (D + 1, D + k)
        The spike and the target's directions across it, in those of the rows' forms.
    """

    def __init__(self, protocol: Protocol, fineness: int) -> None:
        ((omega, _),), steps = protocol.readout, protocol.steps
        self.states = [NetworkState.at_initialisation(protocol.target)]
        D = self.directions = self.states[0].alignment.size
        self.rate, alpha0 = protocol.learning_rate / protocol.beta * omega, protocol.alpha0
        self.common = GaussianPart(np.zeros(D + steps), D)
        self.own = GaussianPart(np.eye(1 + steps)[0], 1)
        for t in range(steps):
            if t <= 2:
                fields = SampleFields(protocol, t if t < 2 else steps - 1, fineness)
            while fields.taken <= t:
                fields.take(self.common, self.own)
            weighted, known = fields.weight * fields.pulls[:, t], slice(t + 1)
            noise = weighted @ fields.pulls[:, known] / alpha0
            self.common.take(self.rate, weighted @ fields.white[:, : D + t], noise)
            noise = fields.weight @ fields.products[:, t, known] / alpha0
            self.own.take(self.rate, fields.weight @ fields.projections[:, t, known], noise)
            self.rows = self._resolvent(fields, t + 1)
            state = self._network_state(t + 1)
            check_weights(protocol, state.bulk_variance, state.spike_strength)
            self.states.append(state)

    def _resolvent(self, fields: SampleFields, k: int) -> ReusedResolvent:
        weight, pulls, D = fields.weight, fields.pulls[:, :k], self.directions
        root = triangular_root((pulls.T * weight) @ pulls)
        pulls = pulls @ np.linalg.pinv(root).T
        along = np.hstack([np.zeros((weight.size, D)), pulls / math.sqrt(fields.alpha0)])
        along[:, :-1] += fields.white[:, : D + k - 1]
        projections, products = fields.projections[:, :k, :k], fields.products[:, :k, :k]
        response = projections @ np.linalg.pinv(np.array(self.own.after)[:k, :k])
        noise = products - projections @ projections.transpose(0, 2, 1)
        of_samples = weight, along, pulls, response, noise
        return ReusedResolvent(of_samples, self.own.memory[:k, :k], self.rate, fields.alpha0)

    def _network_state(self, k: int) -> NetworkState:
        """Describe the network after k steps."""
        D, spike, own = self.directions, self.common.after[k][: self.directions + k], self.own
        alignment, self.basis = spike_basis(spike, np.eye(D, D + k), -1)
        zero, covariance = np.zeros(1), np.zeros((D + 2, D + 2))
        (covariance[:-1, :-1],) = self.rows.forms(zero, self.rows.solve(zero), self.basis)
        c = float(own.after[k] @ own.after[k])
        # X is not derived: as if rows were independent.
        return NetworkState(c, float(np.linalg.norm(spike)), alignment, c, covariance)
