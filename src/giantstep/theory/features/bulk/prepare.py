"""From a bulk's name to the bulk, and to the conditional features that go with it.

To add a bulk: write its module beside this one, name it in `problems.bulk_kind`, and enter here the
function that prepares it.
"""

from __future__ import annotations

import numpy as np

from giantstep.arrays import Array
from giantstep.problems.bulk_kind import ISOTROPIC
from giantstep.problems.problem import Problem
from giantstep.problems.protocol import Protocol
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.features.bulk.batch_covariance import FirstBatch
from giantstep.theory.features.bulk.coloured import ColouredBulk
from giantstep.theory.features.bulk.interface import Bulk
from giantstep.theory.features.bulk.isotropic import IsotropicBulk
from giantstep.theory.features.bulk.letter_rows import LetterRowsBulk
from giantstep.theory.features.bulk.letters import LettersBulk
from giantstep.theory.features.bulk.trained import TrainedBulk
from giantstep.theory.features.conditional_features import ConditionalFeatures, conditional_features
from giantstep.theory.features.equivalent_features import equivalent_features
from giantstep.theory.features.letters_steps import letters_states
from giantstep.theory.features.optimizers import plain_descent


def prepare_bulk(
    problem: Problem, srf: SpikedFeatures, bulk: str, fineness: int = 1, B: Array | None = None
) -> tuple[ConditionalFeatures, Bulk]:
    """Prepare a bulk and the conditional features, on rules of a given fineness.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
        Only a protocol has trained bulks.
    srf : SpikedFeatures
        Those equivalent to the problem.
    bulk : str
        As `bulk_kind.validate_bulk` returns it.
    fineness : int
        Multiplies the number of nodes.
    B : Array, optional
        As in `conditional_features`.
    """
    if isinstance(problem, Protocol) and problem.has_covariance:
        features = conditional_features(srf, fineness, B, norms=True)
        isotropic, trained = _isotropic_bulk(features, srf), bulk != ISOTROPIC
        return features, ColouredBulk(isotropic, problem, fineness, trained)
    if bulk == ISOTROPIC or not isinstance(problem, Protocol):
        features = conditional_features(srf, fineness, B)
        return features, _isotropic_bulk(features, srf)
    if problem.has_several_spikes:
        features = conditional_features(srf, fineness, B)
        rows = letters_states(problem, fineness)[-1].in_readout_basis()[2]
        return features, LetterRowsBulk(**vars(_isotropic_bulk(features, srf)), covariance=rows)
    if len(problem.readout) == 1:
        features = conditional_features(srf, fineness, B, norms=True)
        return features, TrainedBulk(_isotropic_bulk(features, srf), problem, fineness)
    overlap, problem = problem.task_overlap, plain_descent(problem)
    batch = FirstBatch(problem, fineness)
    coupled = batch.norm_coupling != 0
    features = conditional_features(srf, fineness, B, coupled)
    limit = equivalent_features(problem)
    base = 1 + (srf.groups.c - limit.groups.c)
    if (strength := np.abs(srf.groups.u).max()) > 0:
        batch = batch.with_wider_spike(float(np.abs(limit.groups.u).max() / strength))
    if overlap != 1:
        batch = batch.for_task(overlap)
    return features, LettersBulk(problem, base, features.B, batch, coupled)


def _isotropic_bulk(features: ConditionalFeatures, srf: SpikedFeatures) -> IsotropicBulk:
    return IsotropicBulk(features.B, srf.groups, srf.beta, features.first_across, srf.beside)
