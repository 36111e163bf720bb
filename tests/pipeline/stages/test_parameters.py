"""The parameters of a problem, and of its network after each step."""

import math
from dataclasses import replace

import numpy as np
import pytest

from giantstep import Protocol
from giantstep.pipeline.planning.tasks import Curve
from giantstep.pipeline.stages.join_lines import join_lines
from giantstep.pipeline.stages.merge_curve import merge_curve
from giantstep.pipeline.stages.parameters import compute
from giantstep.pipeline.stages.problem_parameters import read_features
from giantstep.theory.features.equivalent_features import equivalent_features

THREE = Protocol("tanh", "sin", 2, alpha0=20, beta=1, steps=3)


def merged_of(problems):
    """Merge curves that have nothing but parameters."""
    lines = []
    for name, problem in problems.items():
        curve = Curve(name, "a", problem, "isotropic", "square", 100, {})
        lines += merge_curve(curve, {"parameters": [compute(problem)]})
    return join_lines(lines)


def test_a_figures_file_has_the_state_after_each_step():
    merged = merged_of({f"a:steps={k}": replace(THREE, steps=k) for k in (1, 2, 3)})
    for name in ("bulk_variance", "spike_strength", "alignment"):
        of_steps = merged[f"{name}_by_step"]
        assert of_steps.sizes["step"] == 3
        for k in (2, 3):  # the state after the last step is that of the curve
            curve = of_steps.sel(curve=f"a:steps={k}")
            assert curve.sel(step=k) == merged[name].sel(curve=f"a:steps={k}")
            assert math.isnan(curve.sel(step=3)) == (k < 3)
    covariance = merged["row_covariance_by_step"].sel(curve="a:steps=3").values
    assert np.all(np.linalg.eigvalsh(covariance) > 0)


def test_targets_of_several_directions_have_the_overlaps_with_each():
    stairs = Protocol("relu", "z1+z1*z2", 1, alpha0=8, beta=1, steps=3)
    problems = {"a:target=stairs": stairs, "a:target=sin": THREE}
    assert read_features(compute(stairs)) == equivalent_features(stairs)
    merged = merged_of(problems)
    curve = merged.sel(curve="a:target=stairs")
    overlaps = curve["alignments_by_step"].values
    assert np.linalg.norm(overlaps, axis=1) == pytest.approx(curve["alignment_by_step"].values)
    assert np.all(np.diff(curve["row_overlap_by_step"].values, axis=0) > 0)
    assert np.isnan(merged["alignments"].sel(curve="a:target=sin")).all()
