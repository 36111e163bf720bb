"""Draw the figure of docs/cross-validation.md: theory through networks."""

import matplotlib.pyplot as plt
import numpy as np

import giantstep

plt.style.use("giantstep.figures.giantstep")
figure, places = plt.subplots(1, 2, figsize=(6.75, 2.4))
problems = {
    "sign, α0 = 2, η̃ = 3": giantstep.Protocol("tanh", "sign", 3, alpha0=2, beta=1),
    "sin, α0 = 20, η̃ = 2": giantstep.Protocol("tanh", "sin", 2, alpha0=20, beta=1),
}
names = {"test_error": "test error", "leave_one_out": "leave one out", "gcv": "GCV"}
for axes, (title, problem) in zip(places, problems.items(), strict=True):
    lines = giantstep.solve(problem, ridge=np.geomspace(0.003, 3, 40), dimension=300)
    found = giantstep.compare(
        problem, ridge=np.geomspace(0.01, 1, 5), dimension=300, cross_validation=True
    )
    for (name, label), colour, marker in zip(
        names.items(), ("0.7", "C0", "C2"), "o^s", strict=True
    ):
        width = 3 if name == "test_error" else 1
        axes.plot(lines.ridge, lines[name], "-", color=colour, label=label, linewidth=width)
        at = found[f"simulated_{name}_mean"], found[f"simulated_{name}_stderr"]
        axes.errorbar(found.ridge, *at, fmt=marker, color=colour)
    axes.set(xscale="log", yscale="log", xlabel=r"ridge $\lambda$", title=title)
places[0].set_ylabel("error")
places[0].legend()
figure.savefig("cross-validation.png")
