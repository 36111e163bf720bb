"""Parameters of problems: those that several kinds have in common, and those of steps."""

from __future__ import annotations

from dataclasses import replace

from giantstep.problems import domains
from giantstep.problems.covariance import CovarianceDomain
from giantstep.problems.domains import BETA as BETAS
from giantstep.problems.domains import FLAG, STEP_EXPONENT, VARIANCE
from giantstep.problems.domains import STEPS as STEP_COUNTS
from giantstep.problems.function_field import FunctionDomain
from giantstep.problems.inputs import KNOWN_INPUTS
from giantstep.problems.parameter import Parameter
from giantstep.problems.schedules import Schedule
from giantstep.problems.targets import SAME_TARGET, TargetDomain
from giantstep.validation import Interval

_STRUCTURED, _TRANSFER = "docs/structured-inputs.md", "docs/transfer.md"
ACTIVATION = Parameter("activation of the network", r"\sigma", FunctionDomain(), "(1)")
TRAINED_ACTIVATION = replace(ACTIVATION, domain=FunctionDomain(continuous=True))
TARGET = Parameter("target function", r"\sigma_\star", TargetDomain(), "(2)")
LEARNING_RATE = Parameter(
    "learning rate over dimension",
    r"\tilde\eta",
    Schedule(**vars(domains.LEARNING_RATE)),
    "(3)",
    note="the step size is this times d, or less with a step exponent; 3/2/1 is one for each step",
)
BETA = Parameter("width p/d", r"\beta", BETAS, "(18)", "width")
NOISE = Parameter(
    "variance of the label noise", r"\Delta", VARIANCE, "theory.md section 1", "label noise"
)
OUTLIER_FRACTION = Parameter(
    "share of the labels that are outliers", r"\varrho", Interval(0, 1), "docs/loss.md"
)
OUTLIER_VARIANCE = Parameter(
    "variance of the label noise of outliers", r"\Delta_o", VARIANCE, "docs/loss.md"
)
# Of a half, nothing could be learned.
LABEL_FLIPS = Parameter("share of the labels that are reversed", r"\varphi", Interval(0, 0.49))
INPUTS = Parameter("distribution of the inputs' entries", "x", KNOWN_INPUTS)
COVARIANCE = Parameter("covariance of the inputs", r"\Sigma", CovarianceDomain(), _STRUCTURED)
DECAY = Parameter("decay of the target along the covariance", "b", Interval(0, 10), _STRUCTURED)
STEPS = Parameter("number of gradient steps", "k", STEP_COUNTS, label="gradient steps")
REUSE_BATCH = Parameter("whether later steps take the first batch again", "reuse", FLAG)
ALPHA0 = Parameter(
    "sample complexity n0/d of the first batch",
    r"\alpha_0",
    Schedule(**vars(domains.ALPHA0)),
    "(9)",
    "first batch",
    note="0 leaves out the step, inf follows the population gradient; 2/4/8 is one for each step",
)
EXPONENT = Parameter(
    "exponent s of the step, learning_rate d^(s+1/2)", "s", STEP_EXPONENT, "docs/smaller-steps.md"
)
PRETRAIN_TARGET = Parameter(
    "target that the steps learn", r"\sigma_A", TargetDomain(SAME_TARGET), _TRANSFER
)
TASK_OVERLAP = Parameter(
    "overlap of the directions of the two targets", r"\gamma_\star", domains.OVERLAP, _TRANSFER
)
