"""How much of a multi-index teacher gradient steps on the first layer recover: the problem.

A network `f(x) = sum_i omega_i sigma(w_i.x)/p` starts with rows on the unit sphere. They come in
pairs of equal rows with omega = 1 and -1, so that the network is zero at first. It takes steps on
batches of `n0 = alpha0 d^exponent` samples of a noiseless teacher. The answer is the overlap of its
rows, and of their change, with each direction of the teacher (docs/what-one-step-sees.md).
"""

from __future__ import annotations

import math

from giantstep.problems.domains import ALPHA
from giantstep.problems.function_field import FunctionName
from giantstep.problems.parameter import (
    Parameter,
    WithFields,
    parameter,
    parameter_class,
    read_parameters,
    refuse,
)
from giantstep.problems.shared import LEARNING_RATE, REUSE_BATCH, STEPS, TRAINED_ACTIVATION
from giantstep.problems.sizes import DIMENSION, LARGEST
from giantstep.problems.teachers import KNOWN_TEACHERS, lookup_teacher
from giantstep.validation import COUNT, Fault, Interval, refusal


@parameter_class
class Recovery(WithFields):
    """Gradient steps of a network on batches of a multi-index teacher.

    Attributes
    ----------
    activation : str
        A continuous one, of any parity; a name or a callable, as in `Protocol`.
    teacher : str
        An expression such as `z1+z1*z2`; see `teachers`.
    learning_rate : float
        eta >= 0: a row changes by `eta d^((exponent - 1)/2)` times the mean of
        `omega (y - f(x)) sigma'(w.x) x` over the batch, which keeps the change of order one.
    alpha0, exponent : float
        The batch has `n0 = alpha0 d^exponent` samples.
    width : int
        p, even.
    steps : int
    reuse_batch : bool
        Whether later steps use the batch of the first one, instead of a fresh batch each.

    Raises
    ------
    InvalidParametersError
        With every value that is out of its domain.
    """

    activation: FunctionName = parameter(TRAINED_ACTIVATION)
    teacher: str = parameter(
        Parameter("multi-index target", "F", KNOWN_TEACHERS, "docs/what-one-step-sees.md")
    )
    learning_rate: float = parameter(LEARNING_RATE)
    alpha0: float = parameter(Parameter("samples of a batch over d^exponent", r"\alpha_0", ALPHA))
    exponent: float = parameter(
        Parameter("order of the batch in the dimension", r"\log n_0/\log d", Interval(0, 4)),
        default=1.0,
    )
    width: int = parameter(Parameter("neurons", "p", COUNT, "(1)"), default=128)
    steps: int = parameter(STEPS, default=1)
    reuse_batch: bool = parameter(REUSE_BATCH, default=False)

    def __post_init__(self) -> None:
        faults = read_parameters(self)
        if self.width in COUNT and (self.width % 2 or self.width > LARGEST):
            allowed = f"even, since rows come in pairs, and at most {LARGEST}"
            faults.append(Fault("width", self.width, allowed))
        wrong = {fault.name for fault in faults}
        if "teacher" not in wrong and not lookup_teacher(self.teacher).is_polynomial:
            faults.append(Fault("teacher", self.teacher, "a sum of products of He1 to He5"))
        refuse(self, faults)

    def batch(self, dimension: int) -> int:
        """Return n0, capped at LARGEST + 1."""
        return round(min(self.alpha0 * math.pow(dimension, self.exponent), LARGEST + 1))

    def rate(self, dimension: int) -> float:
        """Return the factor that multiplies a row's gradient."""
        return self.learning_rate * math.pow(dimension, (self.exponent - 1) / 2)


def check_dimension(problem: Recovery, dimension: int) -> None:
    """Refuse a dimension that is no number of inputs, or at which a batch is empty or too large.

    Raises
    ------
    InvalidParametersError
    """
    least = 2 * lookup_teacher(problem.teacher).directions
    if dimension not in DIMENSION or dimension < least:
        allowed = f"a whole number >= {least}, twice the teacher's directions"
        raise refusal("dimension", dimension, allowed)
    if not 1 <= problem.batch(dimension) <= LARGEST:
        allowed = f"such that alpha0 * dimension^exponent (at {dimension}) is from 1 to {LARGEST}"
        raise refusal("alpha0", problem.alpha0, allowed)
