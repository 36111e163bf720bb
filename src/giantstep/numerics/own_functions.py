"""Functions of one's own: Python callables as activations and targets.

Whatever takes the name of a function takes a callable, too. It is checked, and gets a name with a
hash of its values, which carries the function: everything below sees only that name.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from giantstep.numerics.differences import slope_between
from giantstep.numerics.function_checks import (
    GRID,
    check_derivative,
    check_growth,
    entrywise,
    find_degree,
    find_parity,
)
from giantstep.numerics.function_table import FUNCTIONS, ScalarFunction
from giantstep.numerics.kinks import (
    BASE_EDGES,
    SEARCHED,
    Values,
    find_kinks,
    find_panels,
    jumps_at,
    passes,
)
from giantstep.registry import Named
from giantstep.validation import Interval, refusal

_WORD = re.compile(r"[A-Za-z]\w*", re.ASCII)
# Digits of values that count for a name: machines differ in the last ones.
_BITS = 33
# Kinks that are closer to each other have to be stated.
_CLOSE = 0.01
# Panels far from the origin.
_OUTSIDE = np.array([[-SEARCHED, -SEARCHED / 2], [SEARCHED / 2, SEARCHED]])


@dataclass(frozen=True, eq=False)
class OwnFunction(ScalarFunction):
    """A scalar function that is known by its values.

    Attributes
    ----------
    stated : str
        What its name has a hash of besides the values.
    """

    stated: str = ""

    @property
    def hash(self) -> str:
        """Hash the values on a grid and what else its name is of, in eight digits."""
        values = self.value(GRID).astype(float)
        least = np.floor(np.log2(np.sqrt(np.mean(values**2))) + 0.3)
        unit = 2.0 ** (np.maximum(np.frexp(values)[1], least) - _BITS)
        rounded = np.rint(values / unit) * unit + 0.0
        return hashlib.sha256(rounded.tobytes() + self.stated.encode()).hexdigest()[:8]


def own_function(
    call: Callable[[Any], Any],
    *,
    derivative: Callable[[Any], Any] | None = None,
    kinks: Sequence[float] = (),
    name: str | None = None,
) -> Named:
    """Name a function of your own: the name carries it to problems, as activation or target.

    What is not stated is found from the values: for most functions the callable alone will do, and
    problems take it as it is. A stated derivative is checked against the values.

    Parameters
    ----------
    call : callable
        Takes an array and returns the values, entry by entry.
    derivative : callable, optional
        Likewise; away from kinks. Otherwise that of polynomials through the values, to ten digits.
    kinks : sequence of float, optional
        Where the function or one of its derivatives jumps, besides the places that are found: for
        kinks that are close to each other.
    name : str, optional
        How its name begins in tables and files; otherwise as the callable's.

    Returns
    -------
    str
        The name, which ends in a hash of the values and of what was stated; `thing` is the
        `ScalarFunction`.

    Raises
    ------
    InvalidParametersError
        If it does not work entry by entry, is not finite or not smooth between kinks, grows too
        fast for Gaussian moments, or has another slope than stated.

    Examples
    --------
    >>> import numpy as np
    >>> from giantstep import Protocol, own_function
    >>> own_function(lambda z: np.maximum(z, 0) ** 2, name="squared_relu").thing.kinks
    (0.0,)
    >>> Protocol(np.arctan, lambda z: z * np.exp(-(z**2)), 2, alpha0=3, beta=1).activation
    'arctan-...'
    >>> own_function(lambda z: 1 / z)
    Traceback (most recent call last):
    giantstep.validation.InvalidParametersError: function = 'lambda': must be finite for |z| ...
    """
    word = _word(call) if name is None else name
    if not _WORD.fullmatch(word):
        raise refusal("name", name, "letters, digits and underscores, a letter first")
    given = np.ravel(kinks).tolist()
    if any(kink not in Interval(-math.inf) for kink in given):
        raise refusal("kinks", kinks, "finite numbers")
    values = entrywise("function", word, call)
    check_growth(word, values)
    made = _examined(word, values, given, derivative is not None)
    if derivative is not None:
        slope = entrywise("derivative", _word(derivative), derivative)
        check_derivative(_word(derivative), slope, made.derivative)
        made = replace(made, derivative=slope)
    made = replace(made, name=f"{word}-{made.hash}")
    return Named(made.name, made)


def function_name(function: str | Callable[[Any], Any]) -> str:
    """Return the name of a function, which carries it if it is a callable.

    Raises
    ------
    InvalidParametersError
        If the callable cannot serve as an activation or a target; see `own_function`.

    Examples
    --------
    >>> import numpy as np
    >>> from giantstep.numerics.own_functions import function_name
    >>> function_name("relu"), function_name(np.tanh)
    ('relu', 'tanh')
    """
    if isinstance(function, str):
        return function
    known = (one.name for one in FUNCTIONS.values() if one.value is function)
    return next(known, None) or own_function(function)


def check_unchanged(names: Iterable[Any]) -> None:
    """Refuse functions of one's own whose values are no longer those that their name is made of.

    A callable may use variables that have changed since: theory that was prepared before would
    stand beside networks of another function.

    Raises
    ------
    InvalidParametersError
    """
    for name in names:
        own = name.thing if isinstance(name, Named) else None
        if isinstance(own, OwnFunction) and not own.name.endswith(own.hash):
            allowed = (
                "what it was when the problem was made: its values have changed, by a variable"
                " that it uses; make the problem again, from the callable"
            )
            raise refusal("function", own.name, allowed)


def _examined(word: str, values: Values, given: list[float], has_derivative: bool) -> OwnFunction:
    """Find the kinks of a function besides those that are given, and all else from its values."""
    found = [z for z in find_kinks(values) if not np.any(np.isclose(z, given, 0, _CLOSE))]
    places, parity = sorted({*given, *found}), find_parity(values)
    edges = find_panels(word, values, places)
    # Panels that are narrower than those of any function end where it varies fast.
    wide = np.pad(np.isin(edges, [*BASE_EDGES, *places]), 1, constant_values=True)
    narrow = edges[~(wide[1:-1] & wide[:-2] & wide[2:])]
    escaped = word.replace("_", r"\_")
    return OwnFunction(
        word,
        values,
        partial(slope_between, values, places, float(np.diff(edges).min()) / 16),
        parity,
        tuple(sorted({*places, *narrow})),
        not any(jumps_at(values, kink) for kink in places),
        oscillates=not np.all(passes(values, _OUTSIDE)),
        degree=find_degree(values),
        symbol=rf"\mathrm{{{escaped}}}",
        stated=repr([parity, [round(z, 5) for z in places], has_derivative]),
    )


def _word(call: object) -> str:
    """Make a word of the name of a callable."""
    word = re.sub(r"\W", "", getattr(call, "__name__", type(call).__name__), flags=re.ASCII)
    return word if _WORD.fullmatch(word) else "function"
