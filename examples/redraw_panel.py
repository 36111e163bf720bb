"""Draw one panel of a figure in another way, from its merged file.

    python examples/redraw_panel.py fig2 right panel.png

It shows the ratio of simulation to theory.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import giantstep


def main(name: str, panel: str, output: str) -> None:
    """Draw the ratio of simulated to predicted test errors of each curve of a panel."""
    data = giantstep.open_figure(name)
    if "simulated_test_error_mean" not in data:
        sys.exit(f"{name} holds no simulated test errors")
    if panel not in data["panel"].values:
        sys.exit(f"{name} has no panel {panel}, but {', '.join(np.unique(data['panel'].values))}")
    data = data.isel(curve=np.flatnonzero(data["panel"].values == panel))
    figure = Figure(figsize=(5, 3.2), layout="constrained")
    axes = figure.add_subplot()
    for curve in data["curve"].values:
        line = data.sel(curve=curve)
        limit = line["test_error"].sel(theory="limit")
        theory = limit.sel(alpha=data["alpha_simulated"].values).values
        ratio = line["simulated_test_error_mean"] / theory
        error = line["simulated_test_error_stderr"] / theory
        axes.errorbar(data["alpha_simulated"], ratio, error, fmt="o-", label=curve)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set(xlabel=r"$\alpha$", ylabel="simulated / predicted test error")
    axes.legend()
    figure.savefig(output, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
