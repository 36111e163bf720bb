"""The question `thresholds`: how many samples kernels, steps and the best methods need."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from giantstep.numerics.gaussian import hermite_coefficients
from giantstep.numerics.scalar_functions import lookup
from giantstep.problems.problem import Problem
from giantstep.problems.targets import teacher_of
from giantstep.questions.product import Result
from giantstep.questions.question import question
from giantstep.questions.remarks import TEXTS
from giantstep.theory.bayes_optimal import state_evolution

# Number of Hermite coefficients that are computed; smaller ones are rounding, relative to the
# largest, and to the mean of the target.
_DEGREES, _ROUNDING, _OF_MEAN = 12, 1e-8, 1e-13


@question()
def thresholds(problem: Problem) -> Result:
    """Compute what decides how many samples a target needs; only target and labels matter.

    Parameters
    ----------
    problem : Protocol or SpikedFeatures
    max_hours, max_memory
        As in `solve`.

    Returns
    -------
    xarray.Dataset
        Numbers: `kernel_degree`, that of the target as a polynomial (infinity if it is none);
        `information_exponent` and `leap`, for steps on fresh batches; `generative_exponent`, for
        the best algorithms, and steps that reuse a batch; `weak_recovery`, the samples over d from
        which the best known algorithm finds the direction. A constant has none: all but its degree
        are infinite. Targets of several directions do not have the last two. The attribute
        `remarks` gives the numbers of samples that follow.

    Examples
    --------
    >>> import giantstep
    >>> problem = giantstep.Protocol("tanh", "he4", learning_rate=1, alpha0=1, beta=1)
    >>> found = giantstep.thresholds(problem)
    >>> int(found.kernel_degree), int(found.information_exponent), int(found.generative_exponent)
    (4, 4, 2)
    >>> constant = giantstep.Protocol("tanh", "polynomial:1", learning_rate=1, alpha0=1, beta=1)
    >>> giantstep.thresholds(constant).leap.item()
    inf
    """
    if teacher := teacher_of(problem.target):
        least = min(sum(powers) for powers in teacher.terms if any(powers))
        degree = teacher.degree if teacher.is_polynomial else math.inf
        values = {"kernel_degree": degree, "information_exponent": least, "leap": teacher.leap}
        return xr.Dataset(values), [TEXTS["samples"]]
    function, labels = lookup(problem.target), state_evolution(problem)
    coefficients = np.abs(hermite_coefficients(function, _DEGREES))
    least = max(_ROUNDING * coefficients[1:].max(), _OF_MEAN * coefficients[0])
    found = np.flatnonzero(coefficients[1:] > least)
    exponent = int(found[0]) + 1 if found.size else math.inf  # nothing tells of a direction
    degree = math.inf if function.degree is None else function.degree
    values = {"kernel_degree": degree, "information_exponent": exponent, "leap": exponent}
    for name in "generative_exponent", "weak_recovery":
        values[name] = getattr(labels, name) if found.size else math.inf
    return xr.Dataset(values), [TEXTS["samples"]]
