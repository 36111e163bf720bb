"""From a bulk's name to the bulk, and to the conditional features that go with it.

To add a bulk: write its module beside this one, name it in `problems.bulk_kind`, and enter here the
function that prepares it.
"""

from __future__ import annotations

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.problems.targets import teacher_of
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
    if bulk == ISOTROPIC:
        features = conditional_features(srf, fineness, B)
        return features, _isotropic_bulk(features, srf)
    if not isinstance(problem, Protocol):
        raise TypeError("a trained bulk needs the protocol that trained it")
    if len(problem.readout) > 1:
        return _of_several_letters(problem, srf, fineness, B)
    features = conditional_features(srf, fineness, B, norms=True)
    isotropic = _isotropic_bulk(features, srf)
    if teacher_of(problem.target):
        return features, SteppedBulk.of(isotropic, network_states(problem, fineness)[-1])
    return features, TrainedCovarianceBulk.of(isotropic, problem, fineness)


def _of_several_letters(
    protocol: Protocol, srf: SpikedFeatures, fineness: int, B: Array | None
) -> Prepared:
    batch = FirstBatch.of(protocol, fineness)
    coupled = batch.norm_coupling != 0
    features = conditional_features(srf, fineness, B, coupled)
    base = 1 + (srf.groups.c - equivalent_features(protocol).groups.c)
    return features, TrainedBulk(protocol, base, features.B, batch, coupled)


def _isotropic_bulk(features: ConditionalFeatures, srf: SpikedFeatures) -> IsotropicBulk:
    return IsotropicBulk(features.B, srf.groups, srf.beta, features.first_across)
