"""Feature learning in two-layer networks after one gradient step: theory and simulation.

State a problem, ask a question of it, and get a labelled `xarray.Dataset`.

**Problems.** `Protocol(activation, target, learning_rate, alpha0, beta, ...)` trains the first
layer by a large gradient step, and then the readout. `SpikedFeatures(...)` gives the features after
the step directly; `one_spike(...)` makes them from values of readouts and biases, and
`several_spikes(...)` from the overlaps of spikes that groups of neurons have. All sizes are
ratios to the dimension d of the inputs: `alpha0`, samples of the step; `beta`, neurons; `alpha`,
samples of the readout's training set. `ridge` is the penalty of the readout. Activation and target
are names or callables; `own_function(...)` states more about a callable, such as its derivative.

**Names.**

functions (activation, target)
    tanh, erf, sin, sign, relu, hardtanh, softsign, elu, softplus, gelu, silu, sigmoid, probit,
    leaky_relu, abs, linear, he1 to he5, polynomial:c0,c1,..., expressions such as "z+sin(2*z)";
    gradient steps need a continuous one.
    A target may also be of several directions, such as "z1+z1*z2" or "he2(z1)"
loss
    square, huber, huber:0.5 (any turn), absolute, log_cosh, quantile:0.5 (any share); for labels +1
    and -1 (the target sign without noise) hinge and logistic; gradient_flow, the square loss
    stopped at the time 1/ridge; or your own: `own_loss(name, SmoothLoss(...))`
bulk of the theory
    isotropic, as in the paper; trained, with the covariance that the steps give to the
    rows
inputs
    gaussian, rademacher, uniform, student_t:5 (any degrees > 2), mixture:1.5 (two classes, any
    mean), and any covariance

**Questions.**

solve
    errors and overlaps by the theory, as d -> infinity or at a given dimension
sweep
    the same for all combinations of any parameters of the problem and of the theory
simulate
    means and standard errors of trained networks
compare
    theory and networks at the same points, with z-scores
from_data
    networks trained on your own inputs and labels, their errors predicted from the features, and
    those of ridge regression on the inputs
from_features
    the learning curve of a readout, from the features of any trained network
optimise
    the ridge, learning rate, readout and bias with the least test error, and the whole profile
plan
    how to split a budget of samples or operations between steps and readout
bounds
    how well any readout can do, and any method with the same samples
thresholds
    how many samples kernels, gradient steps and the best methods need
spectrum
    the eigenvalues of the features' covariance
learned_function
    the network's output along the target
equivalent_features
    the `SpikedFeatures` that a protocol is equivalent to
open_figure
    the data of a figure that the workflow has made

Every parameter that may vary, such as `alpha` and `ridge`, is a number or a sequence: sequences
become dimensions. Variables carry their meaning, symbol and equation (`found.test_error.attrs`),
and `status` marks the points to use (`found.attrs["remarks"]`: why others failed). `.sel`, `.plot`,
`.to_dataframe` and `.to_netcdf` are xarray's. All invalid arguments are reported together, by an
`InvalidParametersError`.

Examples
--------
>>> import giantstep
>>> problem = giantstep.Protocol("tanh", "sin", learning_rate=3, alpha0=2, beta=1)
>>> theory = giantstep.solve(problem, alpha=[0.5, 1, 2], ridge=0.1)
>>> theory.test_error.sel(alpha=2).round(4).item()
0.1239
>>> sweep = giantstep.sweep(problem, learning_rate=[1, 3], alpha0=[0.5, 2], ridge="optimal")
>>> dict(sweep.test_error.sizes)
{'learning_rate': 2, 'alpha0': 2}
>>> networks = giantstep.simulate(problem, alpha=[0.5, 1, 2], ridge=0.1, dimension=100, networks=4)
>>> bool((abs(networks.test_error / theory.test_error - 1) < 0.2).all())
True
>>> giantstep.solve(problem, alpha=-1, loss="cubic", dimension=1)
Traceback (most recent call last):
giantstep.validation.InvalidParametersError: alpha = -1: must be a number from 1e-12 to 1e+12
loss = 'cubic': must be one of ...
dimension = 1: must be a number from 2 to 1e+12, or inf
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from giantstep.numerics.own_functions import own_function as own_function
    from giantstep.problems.convex_losses import ClippedLoss as ClippedLoss
    from giantstep.problems.convex_losses import SmoothLoss as SmoothLoss
    from giantstep.problems.losses import own_loss as own_loss
    from giantstep.problems.protocol import Protocol as Protocol
    from giantstep.problems.several_spikes import several_spikes as several_spikes
    from giantstep.problems.spiked_features import SpikedFeatures as SpikedFeatures
    from giantstep.problems.spiked_features import one_spike as one_spike
    from giantstep.questions.bounds import bounds as bounds
    from giantstep.questions.compare import compare as compare
    from giantstep.questions.from_data import from_data as from_data
    from giantstep.questions.from_features import from_features as from_features
    from giantstep.questions.learned_function import learned_function as learned_function
    from giantstep.questions.optimise import optimise as optimise
    from giantstep.questions.plan import plan as plan
    from giantstep.questions.simulate import simulate as simulate
    from giantstep.questions.solve import solve as solve
    from giantstep.questions.spectrum import spectrum as spectrum
    from giantstep.questions.sweep import sweep as sweep
    from giantstep.questions.thresholds import thresholds as thresholds
    from giantstep.theory.first_layer.equivalent_features import (
        equivalent_features as equivalent_features,
    )
    from giantstep.theory.readout.status import Status as Status
    from giantstep.validation import InvalidParametersError as InvalidParametersError
    from giantstep.workflow.open_figure import open_figure as open_figure

_QUESTIONS = (
    "bounds", "compare", "from_data", "from_features", "learned_function", "optimise", "plan",
    "simulate", "solve", "spectrum", "sweep", "thresholds",
)  # fmt: skip
_NAMES = {f"questions.{name}": (name,) for name in _QUESTIONS} | {
    "numerics.own_functions": ("own_function",),
    "problems.convex_losses": ("ClippedLoss", "SmoothLoss"),
    "problems.losses": ("own_loss",),
    "problems.protocol": ("Protocol",),
    "problems.several_spikes": ("several_spikes",),
    "problems.spiked_features": ("SpikedFeatures", "one_spike"),
    "theory.first_layer.equivalent_features": ("equivalent_features",),
    "theory.readout.status": ("Status",),
    "validation": ("InvalidParametersError",),
    "workflow.open_figure": ("open_figure",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Import what is asked for: importing any module of the package runs this one first."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
