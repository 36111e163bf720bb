"""What each function of the registry can be: the table in docs/functions.md."""

from __future__ import annotations

from typing import NamedTuple

from giantstep.numerics.gaussian import standard_moments
from giantstep.numerics.scalar_functions import FUNCTIONS
from giantstep.problems.protocol import Protocol, theory_faults
from giantstep.validation import InvalidParametersError

_ROUNDING = 1e-12
_HEADER = (
    "| name | parity | E z f(z) | trained by a protocol | test error in closed form |",
    "|---|---|---|---|---|",
)


class FunctionRoles(NamedTuple):
    """What a function can be.

    Attributes
    ----------
    name, parity : str
    slope : float
        E z f(z). An activation without it gets no spike from the first step, and the direction of a
        target without it is not found.
    trained : str
        Whether it can be the activation of a protocol, and with which initial readouts the theory
        covers it, or why it cannot. All functions can be targets, and activations of spiked
        features.
    exact : bool
        Whether simulations can compute test errors of such an activation in closed form.
    """

    name: str
    parity: str
    slope: float
    trained: str
    exact: bool


def function_roles() -> list[FunctionRoles]:
    """List the functions of the registry, in its order.

    Examples
    --------
    >>> from giantstep.problems.function_roles import function_roles
    >>> [role.trained for role in function_roles() if role.name in ("tanh", "sign", "relu")]
    ['any readout', 'no: must be continuous, for gradient steps', 'uniform readout']
    """
    found = []
    for name, function in FUNCTIONS.items():
        slope = float(standard_moments(function).slope)
        slope = slope if abs(slope) > _ROUNDING else 0.0
        exact = function.covariance is not None
        found.append(FunctionRoles(name, function.parity, slope, _trained(name), exact))
    return found


def _trained(name: str) -> str:
    """Ask the problem itself whether it takes an activation."""
    letters = ((0.5, 0.5), (1.5, 0.5))
    try:
        protocol = Protocol(name, "tanh", learning_rate=1, alpha0=1, beta=1, readout=letters)
    except InvalidParametersError as refused:
        return f"no: must be {refused.faults[0].allowed}"
    return "uniform readout" if theory_faults(protocol) else "any readout"


def functions_table() -> str:
    """Write the table in Markdown."""
    rows = [
        f"| `{role.name}` | {role.parity} | {role.slope:.4g} | {role.trained} |"
        f" {'yes' if role.exact else 'no'} |"
        for role in function_roles()
    ]
    return "\n".join([*_HEADER, *rows])
