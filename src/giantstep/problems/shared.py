"""Parameters that several kinds of problems have in common."""

from __future__ import annotations

from giantstep.problems.covariance import TARGET_DECAY, CovarianceDomain
from giantstep.problems.domains import BETA as BETAS
from giantstep.problems.domains import FLAG, REVERSED, SHARE, VARIANCE
from giantstep.problems.domains import LEARNING_RATE as LEARNING_RATES
from giantstep.problems.domains import STEPS as STEP_COUNTS
from giantstep.problems.function_field import FunctionDomain
from giantstep.problems.inputs import KNOWN_INPUTS
from giantstep.problems.parameter import Parameter
from giantstep.problems.targets import TargetDomain

_STRUCTURED = "docs/structured-inputs.md"
ACTIVATION = Parameter("activation of the network", r"\sigma", FunctionDomain(), "(1)")
TRAINED_ACTIVATION = Parameter(
    "activation of the network", r"\sigma", FunctionDomain(continuous=True), "(1)"
)
TARGET = Parameter("target function", r"\sigma_\star", TargetDomain(), "(2)")
LEARNING_RATE = Parameter(
    "learning rate over dimension",
    r"\tilde\eta",
    LEARNING_RATES,
    "(3)",
    note="the step size is this times d, or less with a step exponent",
)
BETA = Parameter("width p/d", r"\beta", BETAS, "(18)", "width")
NOISE = Parameter(
    "variance of the label noise", r"\Delta", VARIANCE, "theory.md section 1", "label noise"
)
OUTLIER_FRACTION = Parameter(
    "share of the labels that are outliers", r"\varrho", SHARE, "docs/loss.md", later=True
)
OUTLIER_VARIANCE = Parameter(
    "variance of the label noise of outliers", r"\Delta_o", VARIANCE, "docs/loss.md", later=True
)
LABEL_FLIPS = Parameter("share of the labels that are reversed", r"\varphi", REVERSED, later=True)
INPUTS = Parameter("distribution of the inputs' entries", "x", KNOWN_INPUTS)
COVARIANCE = Parameter(
    "covariance of the inputs", r"\Sigma", CovarianceDomain(), _STRUCTURED, later=True
)
DECAY = Parameter(
    "decay of the target along the covariance", "b", TARGET_DECAY, _STRUCTURED, later=True
)
STEPS = Parameter("number of gradient steps", "k", STEP_COUNTS, label="gradient steps")
REUSE_BATCH = Parameter("whether later steps take the first batch again", "reuse", FLAG)
