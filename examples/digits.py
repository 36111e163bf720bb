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


plt.style.use("giantstep.figures.giantstep")
figure, (left, right) = plt.subplots(1, 2, figsize=(6.75, 2.8), sharey=True)
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
    axes.errorbar(x, mean, error, fmt="o", color=colour, label=label or "networks")


rates = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2]
draw(left, rates, [best(learning_rate=x, alpha0=1, alpha=2) for x in rates], "C0", "")
alphas = [0.5, 1, 2, 4, 8]
for colour, alpha0 in (("0.43", 0), ("C0", 0.5), ("C2", 4)):
    found = best(learning_rate=0.8, alpha0=alpha0, alpha=alphas)
    label = rf"$\alpha_0 = {alpha0}$" if alpha0 else "no step"
    draw(right, alphas, [found.sel(alpha=x) for x in alphas], colour, label, lines=2)
left.set(
    xscale="log", xlabel="learning rate", ylabel="test error", title=r"$\alpha_0 = 1$, $\alpha = 2$"
)
right.set(xscale="log", xlabel=r"sample complexity $\alpha$", title="learning rate 0.8")
for axes, ticks in (left, rates), (right, alphas):
    axes.set_xticks(ticks, ticks)
    axes.set_xticks([], minor=True)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=2)
figure.savefig("digits.png")
