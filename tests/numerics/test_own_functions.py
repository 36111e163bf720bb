"""Callables are examined right, refused with the reason, and named by their values."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from giantstep import Protocol, equivalent_features, own_function, simulate, solve
from giantstep.numerics.function_table import FUNCTIONS
from giantstep.numerics.gaussian import moments
from giantstep.numerics.own_functions import function_name
from giantstep.numerics.scalar_functions import lookup
from giantstep.validation import InvalidParametersError


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_values_alone_give_what_the_registry_states(name):
    known, value = FUNCTIONS[name], FUNCTIONS[name].value
    entry = lookup(own_function(lambda z: 1.0 * value(z)))
    for name in ("parity", "continuous", "kinks", "degree"):
        assert getattr(entry, name) == getattr(known, name)
    z = np.linspace(-6.3, 6.3, 100)
    assert entry.derivative(z) == pytest.approx(known.derivative(z), rel=1e-8, abs=1e-8)
    for mean, std in ((0.3, 1.3), (-2.0, 5.0)):
        ours, theirs = (moments(f, np.array(mean), std) for f in (entry, known))
        assert float(ours.second) == pytest.approx(float(theirs.second), rel=1e-8)


@pytest.mark.parametrize(
    ("call", "kinks"),
    [
        (lambda z: np.where(z > 1 / 3, 2.0, z**2), (1 / 3,)),
        (lambda z: np.abs(z - 15), (15.0,)),
        (lambda z: np.floor(z / 4 + 0.5), tuple(np.arange(-14.0, 15, 4))),
        (lambda z: z * np.clip(z + 3, 0, 6) / 6, (-3.0, 3.0)),
        (lambda z: np.maximum(z, 0) ** 2, (0.0,)),
    ],
)
def test_kinks_are_found_to_rounding(call, kinks):
    assert own_function(call).thing.kinks == pytest.approx(kinks, abs=1e-9)


def test_stated_kinks_join_those_that_are_found():
    def close(z):
        return np.abs(z) + np.abs(z - 0.0012) + np.abs(z - 2)

    with pytest.raises(InvalidParametersError, match="kinks \\(stated, where they are as close"):
        own_function(close)
    assert own_function(close, kinks=(0.0, 0.0012)).thing.kinks == (0.0, 0.0012, 2.0)
    assert own_function(np.abs, kinks=(0.5,)).thing.kinks == (0.0, 0.5)


def test_a_function_that_varies_fast_is_resolved():
    fast = lookup(own_function(lambda z: np.tanh(12 * z)))
    found = moments(fast, np.array(0.2), 0.9)
    expected = moments(FUNCTIONS["tanh"], np.array(2.4), 10.8)
    assert float(found.second) == pytest.approx(float(expected.second), rel=1e-8)


@pytest.mark.parametrize("target", [lambda z: z + np.sin(2 * z), lambda z: z + abs(np.sin(z))])
def test_a_target_that_oscillates_is_answered_without_noise_of_the_batch(target):
    errors = [
        solve(Protocol("tanh", target, learning_rate=3, alpha0=alpha0, beta=1)).test_error.item()
        for alpha0 in (1e7, np.inf)
    ]
    assert errors[0] == pytest.approx(errors[1], rel=1e-4)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"call": lambda z: 1 / z}, "function = 'lambda': must be finite .*: at z = -?0 it is not"),
        ({"call": lambda z: 0.0 if z > 0 else z}, "entry by entry: it raised ValueError"),
        ({"call": lambda z: z / z.max()}, "the same in every array"),
        ({"call": lambda z: z + 1j}, "it returned complex128 of shape .1249"),
        ({"call": lambda z: z[:3]}, r"it returned float64 of shape \(3,\)"),
        ({"call": lambda z: 0 * z}, "it is zero on all of a grid"),
        ({"call": lambda z: np.exp(z**2 / 4)}, "slower growth: .*"),
        ({"call": lambda z: np.sqrt(np.abs(z))}, "near z = -?0.00.* it is not"),
        ({"call": lambda z: np.sin(1000 * z)}, "varies more slowly .100 panels at most.*: near z"),
        ({"call": lambda z: z.astype("f4")}, "must be .* and of double precision: near z"),
        ({"call": np.tanh, "name": "../x"}, "name = '../x': must be letters, digits"),
        ({"call": np.arctan, "derivative": np.cos}, "derivative = 'cos': must be the slope .*"),
        *(
            ({"call": np.abs, "kinks": (0, kink)}, "kinks = .*: must be finite numbers")
            for kink in (np.nan, np.inf, "a", None, 1j)
        ),
    ],
)  # fmt: skip
def test_what_is_no_function_or_not_as_stated_is_refused(stated, message):
    with np.errstate(all="ignore"), pytest.raises(InvalidParametersError, match=message):
        own_function(**stated)


def test_names_tell_functions_apart_and_nothing_else():
    names = [
        function_name(call)
        for call in (np.arctan, lambda z: np.arctan(z), lambda z: np.arctan(z) + 1e-8 * np.cos(z))
    ]
    hashes = [name.rpartition("-")[2] for name in names]
    assert hashes[0] == hashes[1] != hashes[2]
    assert own_function(lambda z: np.arctan(z) * (1 + 1e-14)) == names[1]
    assert function_name(np.tanh) == "tanh"
    assert own_function(np.arctan, derivative=lambda z: 1 / (1 + z**2)) != names[0]


def test_a_fresh_process_knows_the_functions_of_a_pickled_problem():
    problem = Protocol(np.arctan, np.arcsinh, 2, alpha0=3, beta=1)
    assert pickle.loads(pickle.dumps(problem)) == problem
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(equivalent_features, problem).result() == equivalent_features(problem)


def test_a_function_whose_variable_has_changed_is_refused_until_the_problem_is_made_again():
    width = 1.0

    def own(z):
        return np.tanh(width * z)

    problem = Protocol(own, "sign", 3, alpha0=2, beta=1)
    before = solve(problem, bulk="isotropic").test_error.item()
    width = 3.0
    for ask, sizes in ((solve, {}), (simulate, {"dimension": 50}), (equivalent_features, {})):
        with pytest.raises(InvalidParametersError, match="function = 'own-.*have changed"):
            ask(problem, **sizes)
    made_again = Protocol(own, "sign", 3, alpha0=2, beta=1)
    assert solve(made_again, bulk="isotropic").test_error.item() != before
