"""Draw the figure of docs/digits.md: networks and predictions on digits."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import giantstep

X, digit = load_digits(return_X_y=True)
y = np.where(digit % 2 == 0, 1.0, -1.0)


def best(**given):
    """Predict and train at the best of three ridges."""
    found = giantstep.from_data(X, y, "tanh", beta=2, ridge=[0.1, 0.3, 1], networks=4, **given)
    return found.isel(ridge=found.test_error.argmin("ridge"))


figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained", sharey=True)
kinds = {"test_error": "-", "gaussian_test_error": "--", "isotropic_test_error": ":"}
names = "from features", "same covariance", "no covariance"


def draw(axes, x, answers, colour, label, lines=3):
    """Draw predictions as lines, and networks as markers."""
    for (name, style), text in zip([*kinds.items()][:lines], names, strict=False):
        y = [one[name].values for one in answers]
        axes.plot(x, y, style, color=colour, label=None if label else text)
    mean, error = (
        [one[f"simulated_test_error_{of}"].values for one in answers] for of in ("mean", "stderr")
    )
    axes.errorbar(x, mean, error, fmt="o", color=colour, markersize=4, label=label or "networks")


rates = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2]
draw(left, rates, [best(learning_rate=x, alpha0=1, alpha=2) for x in rates], "C2", "")
alphas = [0.5, 1, 2, 4, 8]
for colour, alpha0 in (("k", 0), ("C0", 0.5), ("C1", 4)):
    found = best(learning_rate=0.8, alpha0=alpha0, alpha=alphas)
    label = f"α0 = {alpha0}" if alpha0 else "no step"
    draw(right, alphas, [found.sel(alpha=x) for x in alphas], colour, label, lines=2)
left.set(xscale="log", xlabel="learning rate", ylabel="test error", title="α0 = 1, α = 2")
right.set(xscale="log", xlabel="samples of the readout over d", title="learning rate 0.8")
for axes, ticks in (left, rates), (right, alphas):
    axes.set_xticks(ticks, ticks)
    axes.set_xticks([], minor=True)
    axes.legend()
figure.savefig("digits.png", dpi=150)
