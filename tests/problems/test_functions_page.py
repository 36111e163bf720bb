"""The page on functions has the table of what the registry's functions can be."""

from pathlib import Path

from giantstep.numerics.function_table import FUNCTIONS
from giantstep.numerics.gaussian import standard_moments
from giantstep.problems.protocol import Protocol
from giantstep.validation import InvalidParametersError

PAGE = Path(__file__).parents[2] / "docs/functions.md"


def trained(name):
    """Ask the problem itself whether it takes an activation."""
    try:
        Protocol(name, "tanh", learning_rate=1, alpha0=1, beta=1)
    except InvalidParametersError as refused:
        return f"no: must be {refused.faults[0].allowed}"
    return "yes"


def row(name, function):
    slope = float(standard_moments(function).slope)
    shown = f"{slope if abs(slope) > 1e-12 else 0:.4g}"
    return f"| `{name}` | {function.parity} | {shown} | {trained(name)} |"


def test_the_page_has_the_table_of_functions():
    table = "\n".join(row(name, function) for name, function in FUNCTIONS.items())
    assert table in PAGE.read_text(encoding="utf-8"), table
