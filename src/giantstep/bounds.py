"""What a readout can reach at best: reference errors of theory.md section 7."""

from __future__ import annotations

from giantstep.activations import FUNCTIONS
from giantstep.gaussian import moments


def best_linear_error(target: str) -> float:
    """Compute the error of the best linear predictor, `E f*^2 - (E z f*)^2`.

    Neither kernels nor random features do better when n is proportional to d (Section 4.1 of the
    paper); dimensionless.
    """
    teacher = moments(FUNCTIONS[target], 0.0, 1.0)
    return float(teacher.residual + teacher.mean**2)
