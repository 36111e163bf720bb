"""Draw the figure of docs/ensembles.md: averages of networks through the peak of double descent."""

import math

import matplotlib.pyplot as plt
import numpy as np

import giantstep

problem = giantstep.Protocol("tanh", "sin", 2, alpha0=20, beta=1, noise=0.1)
alpha = np.linspace(0.2, 5, 97)
many = giantstep.solve(problem, alpha, 1e-4, ensemble=math.inf)
best = giantstep.solve(problem, alpha, "optimal")
plt.style.use("giantstep.figures.giantstep")
figure, axes = plt.subplots()
colours = plt.get_cmap("viridis")(np.linspace(0, 0.8, 4))
for colour, networks in zip(colours, (1, 2, 8, math.inf), strict=True):
    error = many.test_error - (1 - 1 / networks) * many.variance_of_weights
    label = "∞" if networks == math.inf else str(networks)
    axes.semilogy(alpha, error, color=colour, label=label)
axes.semilogy(
    alpha, best.test_error, color="black", linewidth=2.2, alpha=0.4, label="1, best ridge"
)
axes.set(xlabel=r"sample complexity $\alpha = n/d$", ylabel="test error")
axes.legend(title="networks")
figure.savefig("ensembles.png")
