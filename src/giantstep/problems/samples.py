"""Given inputs and labels: checked, and the inputs brought to the scale of the theory's."""

from __future__ import annotations

from typing import Any

import numpy as np

from giantstep.arrays import Array
from giantstep.validation import Fault, raise_all, refusal


def read_samples(inputs: Any, labels: Any) -> tuple[Array, Array]:
    """Read inputs, shape (M, d), and labels, shape (M,) or (M, C).

    Columns of inputs are centred, constant ones left out, and all scaled by one factor, such that
    the trace of their covariance is d.

    Raises
    ------
    InvalidParametersError
    """
    x, y = _read_both("X", inputs, labels)
    x = x[:, np.any(x != x[:1], axis=0)]
    if x.shape[1] < 2:
        raise refusal("X", f"{x.shape[1]} columns", "2 or more that are not constant")
    x = x / np.abs(x).max()  # whose squares neither overflow nor vanish
    return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0).mean()), y


def read_features(features: Any, labels: Any) -> tuple[Array, Array]:
    """Read features, shape (N, p), and labels, shape (N,) or (N, C), as they are.

    Raises
    ------
    InvalidParametersError
    """
    x, y = _read_both("Phi", features, labels)
    if not x.any():
        raise refusal("Phi", f"zeros of shape {x.shape}", "features, of which some are not zero")
    return x, y


def _read_both(name: str, rows: Any, labels: Any) -> tuple[Array, Array]:
    """Read rows and their labels, of one output or several; one column is a vector.

    Raises
    ------
    InvalidParametersError
    """
    faults: list[Fault] = []
    shape = "a vector (of two classes: +1 and -1), or a matrix of one-hot rows"
    x = _read(name, rows, "a matrix with a row for each sample", 2, faults)
    y = _read("y", labels, shape, 2 if np.ndim(labels) == 2 else 1, faults)
    raise_all(faults)
    if len(x) != len(y):
        raise refusal("y", f"{len(y)} labels", f"as many as {name} has rows, {len(x)}")
    if np.all(y == y[:1]):
        raise refusal("y", y[:1].tolist(), "of two values or more")
    return x, y[:, 0] if y.shape[1:] == (1,) else y


def _read(name: str, values: Any, shape: str, ndim: int, faults: list[Fault]) -> Array:
    """Read finite numbers of so many dimensions."""
    given = np.asarray(values)
    known = given.dtype.kind in "buif" and given.ndim == ndim
    numbers = given.astype(float) if known else np.empty(0)
    text = "" if known else f"an array of {given.dtype} of shape {given.shape}"
    if bad := np.argwhere(~np.isfinite(numbers)).tolist():
        places = zip(("sample", "column"), bad[0], strict=False)
        where = ", ".join(f"{axis} {index + 1}" for axis, index in places)
        text = f"{numbers[tuple(bad[0])]} in {where} ({len(bad)} entries are not finite)"
    if text:
        faults.append(Fault(name, text, f"{shape}, all finite numbers"))
    return numbers
