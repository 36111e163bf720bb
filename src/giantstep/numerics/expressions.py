"""Functions written out, such as `z+sin(2*z)`: parsed, and never run as code.

An expression is a name like any other: problems, files and other processes make the function of it
again.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from giantstep.numerics.function_table import FUNCTIONS, ScalarFunction
from giantstep.numerics.own_functions import own_function
from giantstep.validation import refusal

# What is evaluated, given the variables by name.
Evaluate = Callable[[Mapping[str, Any]], Any]

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FURTHER = (np.cos, np.sinh, np.cosh, np.arctan, np.exp, np.log, np.sqrt, np.maximum, np.minimum)
# By name and number of arguments.
_CALLS: dict[tuple[str, int], Callable[..., Any]] = {
    **{(name, 1): function.value for name, function in FUNCTIONS.items()},
    **{(function.__name__, function.nin): function for function in _FURTHER},
}
_LONGEST = 200
_VARIABLE = re.compile(r"\bz\b")
_WORDS = ", ".join(function.__name__ for function in _FURTHER)
_ALLOWED = f"an expression of z, numbers, + - * / **, functions with names, {_WORDS}"


def parse_expression(text: str, variables: tuple[str, ...] = ("z",)) -> Evaluate:
    """Parse an expression.

    Parameters
    ----------
    text : str
    variables : tuple of str
        The names that it may have, besides those of functions.

    Raises
    ------
    ValueError
        If it has anything but these, numbers, arithmetic and known functions.

    Examples
    --------
    >>> parse_expression("z**2 + relu(-z)")({"z": np.array([-1.0, 2.0])})
    array([2., 4.])
    >>> parse_expression("z.__class__")
    Traceback (most recent call last):
    ValueError: z.__class__
    """
    try:
        tree = ast.parse(text if len(text) <= _LONGEST else "", mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError(text) from None
    return _evaluator(tree, variables)


def _evaluator(node: ast.AST, variables: tuple[str, ...]) -> Evaluate:
    """Make what evaluates a node, of the few kinds that are allowed."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return lambda given: float(value)
        case ast.Name(id=name) if name in variables:
            return operator.itemgetter(name)
        case ast.BinOp(left=left, op=kind, right=right) if type(kind) in _OPERATORS:
            function, args = _OPERATORS[type(kind)], [left, right]
        case ast.UnaryOp(op=kind, operand=operand) if type(kind) in _OPERATORS:
            function, args = _OPERATORS[type(kind)], [operand]
        case ast.Call(ast.Name(name), args, []) if (name, len(args)) in _CALLS:
            function = _CALLS[name, len(args)]
        case _:
            raise ValueError(ast.unparse(node))
    evaluated = [_evaluator(part, variables) for part in args]
    return lambda given: function(*(part(given) for part in evaluated))


def expression_name(text: str) -> str:
    """Return an expression of z as problems hold it, and any other text as it is.

    Examples
    --------
    >>> expression_name("z + z^3"), expression_name("tanh")
    ('z+z**3', 'tanh')
    """
    return text.replace(" ", "").replace("^", "**") if _VARIABLE.search(text) else text


def expression_function(text: str) -> ScalarFunction:
    """Make the function of an expression of z.

    Raises
    ------
    ValueError
        If it is none; an InvalidParametersError, which says why, if it means to be one.
    """
    if not _VARIABLE.search(text):
        raise ValueError(text)
    try:
        evaluate = parse_expression(text)
    except ValueError:
        raise refusal("function", text, _ALLOWED) from None
    made = own_function(lambda z: evaluate({"z": z}) + 0 * z, name="expression")
    return replace(made.thing, name=text, symbol=_latex(text))


def _latex(text: str) -> str:
    """Write an expression in LaTeX, without dollars."""
    text = re.sub(r"\*\*(\d+(?:\.\d+)?)(?!\*\*|[\w.])", r"^{\1}", text)
    words = re.sub(r"[a-z]\w+", lambda word: rf"\mathrm{{{word[0]}}}", text)
    return words.replace("**", r"\wedge ").replace("*", r"\,").replace("_", r"\_")
