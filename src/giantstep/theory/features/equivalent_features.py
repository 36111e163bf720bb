"""The spiked random features equivalent to a network after large steps: Result 3.1."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from giantstep.numerics.gaussian import derivative_variance, standard_moments
from giantstep.numerics.own_functions import check_unchanged
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import Problem, label_agreement, noise_power
from giantstep.problems.protocol import SIGN_DESCENT, Protocol, theory_faults
from giantstep.problems.spiked_features import SpikedFeatures, one_spike
from giantstep.theory.features.coloured_step import coloured_step
from giantstep.theory.features.letters_steps import letters_states
from giantstep.theory.features.network_state import (
    NetworkState,
    check_weights,
    features_in_state,
    shared_parameters,
)
from giantstep.theory.features.optimizers import plain_descent, with_rows, with_signs
from giantstep.theory.features.row_norms import common_rows, coupled_norms, own_output_norms
from giantstep.theory.features.steps import network_states
from giantstep.validation import raise_all

_ROUNDING = 1e-13


def equivalent_features(
    problem: Problem, dimension: float = math.inf, fineness: int = 1
) -> SpikedFeatures:
    """Compute the sRF equivalent to a protocol: equations (9)-(12), theory.md sections 2 and 13.

    An sRF given directly is returned as it is. `alpha0 = 0` is the network at initialisation, plain
    random features; `alpha0 = inf` is the limit of infinite batches.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    dimension : float
        d, which smaller steps than the giant one depend on, and the part of the network's own
        output in the norms of its rows.
    fineness : int
        Multiplies the number of nodes of quadrature rules.

    Returns
    -------
    SpikedFeatures

    Raises
    ------
    InvalidParametersError
        If the theory does not cover the protocol, if a step is too large, or for a smaller step
        than the giant one at infinite dimension.

    Examples
    --------
    >>> from giantstep import Protocol
    >>> srf = equivalent_features(Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1))
    >>> print(f"{srf.spike_strength[0]:.4f} {srf.alignment:.4f} {srf.bulk_variance[0]:.4f}")
    1.1341 0.9719 1.0190
    """
    check_unchanged(vars(problem).values())
    if isinstance(problem, SpikedFeatures):
        return problem
    problem = problem.with_giant_step(dimension)
    raise_all(theory_faults(problem))
    if problem.has_covariance:
        c, r, gamma = coloured_step(problem).at_dimension(dimension)
        check_weights(problem, c, r)
        return features_in_state(problem, NetworkState(c, r, gamma))
    if problem.has_several_spikes:
        return letters_states(problem, fineness)[-1].features(problem)
    plain = plain_descent(problem)
    srf = _after_descent(plain, fineness)
    if problem.optimizer == SIGN_DESCENT:
        srf = with_signs(srf, problem)
    srf = _at_dimension(srf, plain, dimension)
    if problem.is_transfer:
        alignment = problem.task_overlap * srf.first_alignment
        srf = replace(srf, target=problem.target, alignment=alignment)
    return srf


def _after_descent(problem: Protocol, fineness: int) -> SpikedFeatures:
    """Compute the features after steps of plain descent, as d -> infinity."""
    if not problem.as_in_paper:
        return features_in_state(problem, network_states(problem, fineness)[-1])
    activation, target = lookup(problem.activation), lookup(problem.target)
    e = problem.learning_rate / problem.beta
    h1 = float(standard_moments(activation).slope)
    teacher = standard_moments(target)
    h1_star = label_agreement(problem) * float(teacher.slope)
    h2_star = float(teacher.second) + noise_power(problem)
    # A coefficient that vanishes by symmetry is computed as rounding, whose sign means nothing.
    h1, h1_star = (0.0 if abs(h) < _ROUNDING else h for h in (h1, h1_star))
    # The noise of a finite first batch, h2*/alpha0; at alpha0 = 0 no step is taken.
    batch_noise = h2_star / problem.alpha0 if problem.alpha0 > 0 else 0.0
    if problem.alpha0 == 0:
        e = h1_star = 0.0
    norm = math.hypot(h1_star, math.sqrt(batch_noise))  # |v| before normalisation
    c = 1 + e * e * derivative_variance(activation) * batch_noise
    strength = abs(e * h1) * norm
    largest = max(abs(omega) for omega, _ in problem.readout)
    check_weights(problem, c * max(largest, 1) ** 2, strength * largest)
    gamma = min(1.0, max(-1.0, h1_star / norm)) if norm > 0 else 0.0
    return one_spike(
        bulk_variance=c,
        spike_strength=strength,
        alignment=math.copysign(gamma, h1 * gamma),  # v takes the sign of h1, so that r >= 0
        readout=problem.readout,
        **shared_parameters(problem),
    )


def _at_dimension(srf: SpikedFeatures, problem: Protocol, dimension: float) -> SpikedFeatures:
    """Add what a finite dimension does to rows: docs/finite-size.md.

    A shift that all rows share, beyond the mean of independent ones, belongs to the spike. It is
    orthogonal to the target.
    """
    if math.isinf(dimension) or problem.alpha0 == 0:
        return srf
    shift = max(float(common_rows(problem).sum()), 0.0) / (problem.beta * dimension)
    c, r, letters = srf.groups.c, srf.groups.u, np.array(problem.readout)[:, 0]
    letters = letters if letters.size > 1 else np.ones(1)
    if problem.steps == 1:
        c = c + own_output_norms(problem, dimension) + coupled_norms(problem, r, dimension)
        c = c - letters**2 * shift
    largest = np.argmax(np.abs(letters))
    strength = float(r[largest] / letters[largest])
    longer = math.hypot(strength, math.sqrt(shift))
    share = strength / longer if longer > 0 else 1.0
    return with_rows(srf, c, r + letters * (longer - strength), share)
