"""Panels of spectra: histograms of simulated eigenvalues, and densities of ln x."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from giantstep.arrays import Array
from giantstep.figures import style

BINS = 50
HISTOGRAM = style.COLOURS[5]


def histogram(axes: Axes, curve: xr.Dataset, x: Array, label: str = "simulated") -> None:
    """Draw simulated eigenvalues as a density of ln x, on an axis that holds the bulk at x."""
    ends = np.geomspace(0.8 * np.nanmin(x), 1.25 * np.nanmax(x), BINS + 1)
    values = curve["simulated_eigenvalue"].values
    values = values[np.isfinite(values)]
    weights = np.full(values.size, 1 / (values.size * np.log(ends[1] / ends[0])))
    axes.hist(values, bins=list(ends), weights=weights, color=HISTOGRAM, alpha=0.6, label=label)
    axes.set_xscale("log")
    axes.set_xlim(ends[0], ends[-1])
    axes.set_ylim(bottom=0)
    axes.set_xlabel(r"eigenvalue $x$ of $\Phi^\top\Phi$")
