"""Expressions are functions by name, and nothing of them is run as code."""

import numpy as np
import pytest

from giantstep import InvalidParametersError, Protocol, SpikedFeatures, solve
from giantstep.numerics.scalar_functions import lookup


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("z + sin(2*z)", lambda z: z + np.sin(2 * z)),
        ("-z^2/3 + 1e-1", lambda z: -(z**2) / 3 + 0.1),
        ("maximum(z, 0.1*z) - exp(-abs(z))", lambda z: np.maximum(z, 0.1 * z) - np.exp(-abs(z))),
        ("he2(z)*leaky_relu(z)**2", lambda z: (z**2 - 1) * np.maximum(z, 0.01 * z) ** 2),
    ],
)
def test_an_expression_has_the_values_of_what_it_says(text, function):
    z = np.linspace(-3, 3, 50)
    for precision in (np.float32, np.float64):
        given = z.astype(precision)
        values = lookup(Protocol("tanh", text, 1, 1, 1).target).value(given)
        assert values.dtype == precision
        np.testing.assert_allclose(values, function(z), rtol=1e-5, atol=1e-5)


def test_an_expression_gives_the_numbers_of_the_same_function_by_name():
    named, written = (
        SpikedFeatures(*functions, 1.2, 1.5, alignment=0.9, beta=1)
        for functions in (("relu", "he2"), ("maximum(z, 0)", "z^2 - 1"))
    )
    expected = solve(named).test_error.item()
    assert solve(written).test_error.item() == pytest.approx(expected, rel=1e-9)
    assert written == SpikedFeatures("maximum(z,0)", "z**2-1", 1.2, 1.5, alignment=0.9, beta=1)


@pytest.mark.parametrize(
    "text",
    ["z.real", "z if z else 1", "(lambda: z)()", "maximum(z)", "z@z", "1j*z", "sin(z", "foo(z)"]
    + ["__import__('os').system('echo z')", "sin(z, out=z)", "True*z", "z*" * 200, "y + z"]
    + ["z := 1", "f'{z}'", "9**9**9**9*z"],
)
def test_anything_but_arithmetic_is_refused(text):
    with pytest.raises(InvalidParametersError, match="^target = "):
        Protocol("tanh", text, 1, 1, 1)


def test_a_refusal_says_what_is_wrong():
    with pytest.raises(InvalidParametersError) as refused:
        Protocol("sign(z)", "foo(z)", 1, 1, 1)
    activation, target = refused.value.faults
    assert activation.allowed == "continuous, for gradient steps"
    assert target.allowed.startswith("an expression of z, numbers, + - * / **")
    with pytest.raises(InvalidParametersError, match="target = '1/z': must be finite"):
        Protocol("tanh", "1/z", 1, 1, 1)
