"""From a bulk's name to the bulk, and to the conditional features that go with it.

To add a bulk: write its module beside this one, name it in `problems.bulk_kind`, and enter here the
function that prepares it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED, TRAINED_COVARIANCE, TRAINED_NORMS
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.bulk.batch_covariance import FirstBatch
from giantstep.theory.features.bulk.interface import Bulk
from giantstep.theory.features.bulk.isotropic import IsotropicBulk
from giantstep.theory.features.bulk.several_steps import SteppedBulk
from giantstep.theory.features.bulk.trained import TrainedBulk
from giantstep.theory.features.bulk.trained_covariance import TrainedCovarianceBulk
from giantstep.theory.features.conditional_features import ConditionalFeatures, conditional_features
from giantstep.theory.features.equivalent_features import equivalent_features
from giantstep.theory.features.several_steps import network_states

Prepared = tuple[ConditionalFeatures, Bulk]


def prepare_bulk(
    problem: Problem, srf: SpikedFeatures, bulk: str, fineness: int = 1, B: Array | None = None
) -> Prepared:
    """Prepare a bulk and the conditional features, on rules of a given fineness.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
        The trained bulks need the protocol that trained them.
    srf : SpikedFeatures
        Those equivalent to the problem.
    bulk : str
        As `bulk_kind.validate_bulk` returns it.
    fineness : int
        Multiplies the number of nodes.
    B : Array, optional
        As in `conditional_features`.
    """
    return _PREPARE[bulk](problem, srf, fineness, B)


def _isotropic(problem: Problem, srf: SpikedFeatures, fineness: int, B: Array | None) -> Prepared:
    features = conditional_features(srf, fineness, B)
    return features, _isotropic_bulk(features, srf)


def _trained(
    problem: Problem, srf: SpikedFeatures, fineness: int, B: Array | None, norms: bool = False
) -> Prepared:
    if not isinstance(problem, Protocol):
        raise TypeError("a trained bulk needs the protocol that trained it")
    if not problem.as_in_paper:
        return _after_several_steps(problem, srf, fineness, B)
    batch = FirstBatch.of(problem, fineness)
    coupled = norms and batch.norm_coupling != 0
    features = conditional_features(srf, fineness, B, coupled)
    base = 1 + (srf.groups.c - equivalent_features(problem).groups.c)
    return features, TrainedBulk(problem, base, features.B, batch, coupled)


def _after_several_steps(
    protocol: Protocol, srf: SpikedFeatures, fineness: int, B: Array | None
) -> Prepared:
    features = conditional_features(srf, fineness, B, norms=True)
    state = network_states(protocol, fineness)[-1]
    return features, SteppedBulk.of(_isotropic_bulk(features, srf), state)


def _isotropic_bulk(features: ConditionalFeatures, srf: SpikedFeatures) -> IsotropicBulk:
    return IsotropicBulk(features.B, srf.groups, srf.beta, features.first_across)


def _with_whole_covariance(
    problem: Problem, srf: SpikedFeatures, fineness: int, B: Array | None
) -> Prepared:
    if not isinstance(problem, Protocol):
        raise TypeError("a trained bulk needs the protocol that trained it")
    features = conditional_features(srf, fineness, B, norms=True)
    return features, TrainedCovarianceBulk.of(_isotropic_bulk(features, srf), problem, fineness)


_PREPARE: dict[str, Callable[..., Prepared]] = {
    ISOTROPIC: _isotropic,
    TRAINED: _trained,
    TRAINED_NORMS: partial(_trained, norms=True),
    TRAINED_COVARIANCE: _with_whole_covariance,
}
