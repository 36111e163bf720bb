"""The protocol: gradient steps on the first layer, one in the paper, then the readout."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from giantstep.numerics.scalar_functions import BINARY, CLASS, lookup
from giantstep.problems import domains
from giantstep.problems.covariance import (
    ALWAYS,
    IDENTITY,
    eigenvalues,
)
from giantstep.problems.function_field import FunctionName
from giantstep.problems.inputs import GAUSSIAN, mixture_mean
from giantstep.problems.losses import SQUARE, STEP_LOSSES, lookup_loss
from giantstep.problems.parameter import Parameter, means, read_parameters, unmet
from giantstep.problems.readout import READOUT, UNIFORM, Vocabulary
from giantstep.problems.schedules import OnePerStep, PerStep, Schedule, numbers
from giantstep.problems.shared import (
    ALPHA0,
    BETA,
    COVARIANCE,
    DECAY,
    EXPONENT,
    INPUTS,
    LABEL_FLIPS,
    LEARNING_RATE,
    NOISE,
    OUTLIER_FRACTION,
    OUTLIER_VARIANCE,
    PRETRAIN_TARGET,
    REUSE_BATCH,
    STEPS,
    TARGET,
    TASK_OVERLAP,
    TRAINED_ACTIVATION,
)
from giantstep.problems.targets import CLASS_INPUTS, SAME_TARGET, teacher_of
from giantstep.registry import one_of
from giantstep.validation import Fault, Interval, raise_all, refusal, whole_number

# How a step follows the gradient: in proportion to it, or by the signs of its entries.
SGD, SIGN_DESCENT = OPTIMIZERS = ("sgd", "sign")
# What a protocol has and spiked features have not.
STEP_FIELDS = ("learning_rate", "alpha0")
# What may be one number for each step.
SCHEDULED = (*STEP_FIELDS, "decay")
# The step exponent at which the spike keeps its strength as the dimension grows.
GIANT_STEP = domains.STEP_EXPONENT.upper
# What a target must be in transfer.
_ONE_DIRECTION = "of one direction where steps and readout learn different targets"
# What a loss must be where labels are others than +1 and -1.
ANY_LABELS = (
    "a loss for any labels, such as square or huber: only"
    f" {' and '.join(BINARY)} without noise have labels +1 and -1"
)
# What `precondition` must be.
_PLAIN = "0 but for inputs with a covariance or of two classes"
# What `target_decay` must be.
_WEIGHTS = "0 where eigenvalues are given with weights beside them"
# What `alpha0` must be.
_BATCHES = "one number, or > 0 and finite in each step on batches that are not used again"
STEP_LOSS = Parameter(
    "loss along which the steps descend", r"\ell_1", STEP_LOSSES, "docs/step-loss.md"
)
OPTIMIZER = Parameter(
    "how a step follows the gradient", "optimizer", one_of(*OPTIMIZERS), "docs/sign-descent.md"
)
PRECONDITION = Parameter(
    "exponent p of steps times Sigma^-p", "p", Interval(0, 1), "docs/scaling-laws.md"
)
WEIGHT_DECAY = Parameter(
    "share of the weights that each step takes off",
    r"\delta",
    Schedule(0, 0.999),
    "docs/more-than-one-step.md",
)


@dataclass(frozen=True)
class Protocol:
    """Large gradient steps on the first layer, then ridge on the readout; theory.md section 1.

    Attributes
    ----------
    activation : str
        Activation function; a gradient step needs a continuous one. A name, such as "tanh"
        (`help(giantstep)` lists all), or a callable, like the target: the field then holds the name
        of an `own_function`.
    target : str
        Target function of one direction theta; or a teacher of up to three directions, such as
        "z1+z1*z2".
    learning_rate : float or sequence of float
        eta tilde >= 0; the step size is eta = learning_rate * d, or less with a `step_exponent`.
        As `alpha0` and `decay`, it may be one number for each step: (3, 2, 1), or "3/2/1".
    alpha0 : float or sequence of float
        Samples of each step over d, in [0, inf]; 0 leaves the network at initialisation, inf
        follows the population gradient.
    beta : float
        Width over d, > 0.
    noise : float
        Variance of the label noise, >= 0.
    readout : tuple of (float, float), or "normal"
        Initial readout: values of sqrt(p) a0, each with the fraction of neurons that have it.
        The paper's main text has one value for all. Or "normal": each neuron draws one from
        N(0, 1), for which the theory takes some values; it covers one step.
    inputs : str
        Distribution of the inputs' entries, such as "gaussian" or "rademacher". The theory is the
        same for all: that it holds beyond Gaussian inputs is a conjecture to be tested. Or
        "mixture:M": two classes of Gaussian inputs at the means mu and -mu, with |S^-1 mu| = M for
        the covariance S^2 within a class. The target's direction is that of S^-1 mu; the target
        "class" is 1 and -1 on the two.
    steps : int
        Gradient steps, >= 1.
    reuse_batch : bool
        Use the batch of the first step in later steps, instead of a fresh batch each.
    outlier_fraction : float
        Fraction of the labels, in [0, 1], whose noise has the variance `outlier_variance` instead.
    outlier_variance : float
        Variance of the noise of these labels, >= 0.
    step_exponent : float
        Exponent s of the step size, from 0 to 0.5, the giant step: eta = learning_rate * d^(s+1/2).
        That is d^s in the convention of a network a.sigma(W x) without our factor 1/sqrt(p), as in
        most of the literature. The theory of a smaller step needs the dimension.
    label_flips : float
        Fraction of the labels, below one half, that are reversed, y -> -y, in batches and training
        sets. Test errors are of labels that are not.
    optimizer : {"sgd", "sign"}
        How far a step goes along the gradient: "sgd" in proportion to it; "sign" by
        eta/(p sqrt(d)) in each entry, in the direction of its sign, as the first step of Adam.
    pretrain_target : str
        Target that the steps learn, if it is another than `target`, which the readout learns.
    task_overlap : float
        Overlap of the directions of the two, from -1 to 1.
    covariance : str or sequence of float
        Covariance of the inputs, of trace d: "identity"; "power:A", with eigenvalues in proportion
        to k^-A; "two_level:RATIO,SHARE", with eigenvalues RATIO times as large for this share of
        the directions; d eigenvalues; or a file of them, .npy or .csv. A second column has the
        squared components of the target's direction.
    target_decay : float
        Exponent b >= 0: the squared components of the target's direction along the covariance's
        eigenvectors, in whitened inputs, are in proportion to k^-b.
    precondition : float
        Exponent p, from 0 to 1: steps are multiplied by the power -p of the covariance.
    step_loss : str
        Loss along which the steps descend, such as "huber:0.5", "absolute" or, for labels of +1 and
        -1, "logistic".
    decay : float or sequence of float
        Weight decay, from 0 to 0.999: a step takes the weights w to (1 - decay) w + step.

    Raises
    ------
    InvalidParametersError
        With every value that is out of its domain.

    Examples
    --------
    >>> from giantstep import Protocol, solve
    >>> problem = Protocol("tanh", "sin", learning_rate=3, alpha0=20, beta=1)
    >>> solve(problem, alpha=[0.9, 3], ridge=0.1).test_error.values.round(4)
    array([0.0416, 0.0315])
    >>> import numpy as np
    >>> Protocol(np.tanh, lambda z: z + np.cos(z), 3, alpha0=20, beta=1).target
    'lambda-...'
    >>> Protocol("sign", "sin", learning_rate=-3, alpha0=20, beta=1)
    Traceback (most recent call last):
    giantstep.validation.InvalidParametersError: activation = 'sign': must be continuous, ...
    learning_rate = -3: must be a number from 0 to 1e+12
    """

    activation: FunctionName = field(metadata=means(TRAINED_ACTIVATION))
    target: FunctionName = field(metadata=means(TARGET))
    learning_rate: PerStep = field(metadata=means(LEARNING_RATE))
    alpha0: PerStep = field(metadata=means(ALPHA0))
    beta: float = field(metadata=means(BETA))
    noise: float = field(default=0.0, metadata=means(NOISE))
    readout: Vocabulary = field(default=UNIFORM, metadata=means(READOUT))
    inputs: str = field(default=GAUSSIAN, metadata=means(INPUTS))
    steps: int = field(default=1, metadata=means(STEPS))
    reuse_batch: bool = field(default=False, metadata=means(REUSE_BATCH))
    outlier_fraction: float = field(default=0.0, metadata=means(OUTLIER_FRACTION))
    outlier_variance: float = field(default=0.0, metadata=means(OUTLIER_VARIANCE))
    step_exponent: float = field(default=GIANT_STEP, metadata=means(EXPONENT))
    label_flips: float = field(default=0.0, metadata=means(LABEL_FLIPS))
    optimizer: str = field(default=SGD, metadata=means(OPTIMIZER))
    pretrain_target: FunctionName = field(default=SAME_TARGET, metadata=means(PRETRAIN_TARGET))
    task_overlap: float = field(default=1.0, metadata=means(TASK_OVERLAP))
    covariance: str | tuple[Any, ...] = field(default=IDENTITY, metadata=means(COVARIANCE))
    target_decay: float = field(default=0.0, metadata=means(DECAY))
    precondition: float = field(default=0.0, metadata=means(PRECONDITION))
    step_loss: str = field(default=SQUARE, metadata=means(STEP_LOSS))
    decay: PerStep = field(default=0.0, metadata=means(WEIGHT_DECAY))

    def __post_init__(self) -> None:
        faults = read_parameters(self)
        if self.pretrain_target == self.target:
            object.__setattr__(self, "pretrain_target", SAME_TARGET)
        raise_all(faults or self._faults())

    def _faults(self) -> list[Fault]:
        """List which of its parameters do not go together."""
        mixture, transfer = mixture_mean(self.inputs) is not None, self.is_transfer
        gaussian, population = mixture or self.inputs == GAUSSIAN, self.follows_population
        targets = {name: getattr(self, name) for name in ("target", "pretrain_target")}
        of_one = {name: one == SAME_TARGET or not teacher_of(one) for name, one in targets.items()}
        noisy = self.noise > 0 or self.outlier_fraction * self.outlier_variance > 0
        learned = [name for name in targets.values() if name != SAME_TARGET][-1]
        signs = learned in BINARY and not noisy
        checks: list[tuple[str, object, str]] = [
            # Of others there is no population gradient in closed form.
            ("inputs", gaussian or not population, f"{GAUSSIAN} where alpha0 = inf"),
            ("inputs", mixture or CLASS not in targets.values(), CLASS_INPUTS),
            *((name, one or not transfer, _ONE_DIRECTION) for name, one in of_one.items()),
            ("precondition", self.has_covariance or not self.precondition, _PLAIN),
            ("step_loss", signs or not lookup_loss(self.step_loss).margin, ANY_LABELS),
        ]
        each = "as many as steps, or one for all" if self.steps > 1 else "one number for one step"
        checks += [(name, len(numbers(self, name)) == self.steps, each) for name in SCHEDULED]
        if isinstance(self.alpha0, tuple):
            finite = all(0 < x < math.inf for x in self.alpha0) and not self.reuse_batch
            checks.append(("alpha0", finite, _BATCHES))
        if self.has_covariance:
            checks += [
                ("inputs", gaussian, f"{GAUSSIAN} or mixture:M {ALWAYS}"),
                ("target", of_one["target"], f"of one direction {ALWAYS}"),
                ("pretrain_target", not transfer, f"that of the readout {ALWAYS}"),
                ("target_decay", not self.target_decay or np.ndim(self.covariance) < 2, _WEIGHTS),
            ]
        return unmet(self, checks)

    @cached_property
    def each_step(self) -> tuple[Protocol, ...]:
        """The steps as protocols of one step each, on a batch of its own."""
        if self.steps == 1 and not self.reuse_batch:
            return (self,)
        rows = zip(*(numbers(self, name) for name in SCHEDULED), strict=True)
        named = (dict(zip(SCHEDULED, row, strict=True)) for row in rows)
        return tuple(replace(self, steps=1, reuse_batch=False, **row) for row in named)

    has_steps: ClassVar[bool] = True

    @property
    def is_giant_step(self) -> bool:
        """Whether the spike keeps its strength as the dimension grows."""
        return self.step_exponent == GIANT_STEP

    def with_giant_step(self, dimension: float) -> Protocol:
        """State the protocol of a dimension with the giant step, at the learning rate that matches.

        The covariance of the inputs is stated by its eigenvalues.

        Parameters
        ----------
        dimension : float
            d, or infinity.

        Raises
        ------
        InvalidParametersError
            For a smaller step at infinite dimension, where its spike vanishes, or a covariance of
            inputs of another dimension.

        Examples
        --------
        >>> from giantstep import Protocol
        >>> smaller = Protocol("tanh", "sin", 3, alpha0=20, beta=1, step_exponent=0.25)
        >>> round(smaller.with_giant_step(dimension=10_000).learning_rate, 6)
        0.3
        """
        if self.has_covariance and isinstance(self.covariance, str):
            known = tuple(eigenvalues(self.covariance, dimension).tolist())
            return replace(self, covariance=known).with_giant_step(dimension)
        if self.has_covariance and dimension not in (len(self.covariance), math.inf):
            allowed = f"{len(self.covariance)}, as many as eigenvalues, {ALWAYS}"
            raise refusal("dimension", whole_number(dimension), allowed)
        if self.is_giant_step:
            return self
        if math.isinf(dimension):
            allowed = f"{GIANT_STEP:g}, the giant step, in a theory of infinite dimension"
            raise refusal("step_exponent", self.step_exponent, allowed)
        factor = dimension ** (self.step_exponent - GIANT_STEP)
        rates = OnePerStep(rate * factor for rate in numbers(self, "learning_rate"))
        return replace(self, learning_rate=rates, step_exponent=GIANT_STEP)

    @property
    def has_covariance(self) -> bool:
        """Whether the directions of the inputs differ: by their variances, or by a mean."""
        return self.covariance != IDENTITY or mixture_mean(self.inputs) is not None

    @property
    def follows_population(self) -> bool:
        """Whether steps follow the population gradient."""
        return self.alpha0 == math.inf

    @property
    def moves(self) -> bool:
        """Whether its steps move the weights."""
        return self.alpha0 != 0 and (self.learning_rate != 0 or self.decay != 0)

    @property
    def reuses_samples(self) -> bool:
        """Whether a step moves weights that its own samples have moved before."""
        return self.reuse_batch and self.steps > 1 and self.moves and not self.follows_population

    @property
    def is_transfer(self) -> bool:
        """Whether the steps learn another target than the readout."""
        return self.pretrain_target != SAME_TARGET or self.task_overlap != 1

    @property
    def pretraining(self) -> Protocol:
        """The protocol whose readout learns what the steps do."""
        if not self.is_transfer:
            return self
        target = self.target if self.pretrain_target == SAME_TARGET else self.pretrain_target
        return replace(self, target=target, pretrain_target=SAME_TARGET, task_overlap=1.0)

    @property
    def kept(self) -> float:
        """The share of the weights that a step leaves, before it adds the gradient."""
        return 1 - self.decay

    @property
    def as_in_paper(self) -> bool:
        """Whether this is one step of an odd activation, on a target of one direction."""
        one_odd_step = self.steps == 1 and lookup(self.activation).parity == "odd"
        plain = self.decay == self.precondition == 0 and self.step_loss == SQUARE
        return one_odd_step and plain and teacher_of(self.target) is None

    @property
    def has_several_spikes(self) -> bool:
        """Whether the neurons of each letter have a spike of their own: Appendix C.8."""
        return len(self.readout) > 1 and not self.as_in_paper

    @property
    def further_directions(self) -> int:
        """How many directions spikes have beyond the first, at most."""
        return self.has_several_spikes * (min(len(self.readout), self.steps, 3) - 1)
