"""Errors after several steps: the theory at the best learning rates, and markers with numbers."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.axes import Axes

from giantstep.figures import style
from giantstep.figures.selection import select

# One step, beside several.
ONE_STEP: dict[str, Any] = {"linewidth": 0.7}
TARGETS = ("sin", "sign")


def by_rate(curves: xr.Dataset, alpha0: float) -> xr.DataArray:
    """Select the theory's test errors by learning rate and step, without steps that have none."""
    errors = select(curves, alpha0=alpha0)["test_error_by_learning_rate"].isel(curve=0)
    return errors.dropna("step", how="all")


def at_best(curves: xr.Dataset, alpha0: float) -> xr.DataArray:
    """Compute the theory's test error after each step, at the best rate of all steps to it.

    It is missing where no larger rate has an error, so that the best may be larger still.
    """
    errors = by_rate(curves, alpha0)
    best = errors.argmin("theory_learning_rate")
    next_larger = errors.shift(theory_learning_rate=-1).isel(theory_learning_rate=best)
    return errors.isel(theory_learning_rate=best).where(next_larger.notnull())


def star(axes: Axes, x: float, y: float, text: str, look: style.Look, above: bool = False) -> None:
    """Mark a point with a star, and with a number below or above it."""
    axes.plot(x, y, color=look["color"], **style.STAR)
    at, colour = (0, 5 if above else -11), look["color"]
    axes.annotate(
        text, (x, y), at, "data", "offset points", ha="center", fontsize=7.5, color=colour
    )
