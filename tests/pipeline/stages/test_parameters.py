"""The parameters of a problem, and of its network after each step."""

import math
from dataclasses import replace

import numpy as np

from giantstep import Protocol
from giantstep.pipeline.stages.merge import join_lines
from giantstep.pipeline.stages.merge_curve import merge_curve
from giantstep.pipeline.stages.parameters import compute

THREE = Protocol("tanh", "sin", 2, alpha0=20, beta=1, steps=3)
LABELS = {"bulk": "isotropic", "loss": "square", "dimension": 100}


def test_a_figures_file_has_the_state_after_each_step():
    curves = {f"a:steps={k}": compute(replace(THREE, steps=k)) for k in (1, 2, 3)}
    merged = join_lines([merge_curve(name, "a", p, LABELS)[0] for name, p in curves.items()])
    for name in ("bulk_variance", "spike_strength", "alignment"):
        of_steps = merged[f"{name}_by_step"]
        assert of_steps.sizes["step"] == 3
        for k in (2, 3):  # the state after the last step is that of the curve
            curve = of_steps.sel(curve=f"a:steps={k}")
            assert curve.sel(step=k) == merged[name].sel(curve=f"a:steps={k}")
            assert math.isnan(curve.sel(step=3)) == (k < 3)
    covariance = merged["row_covariance_by_step"].sel(curve="a:steps=3").values
    assert np.all(np.linalg.eigvalsh(covariance) > 0)
