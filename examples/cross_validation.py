"""Draw the figure of docs/cross-validation.md: theory through networks."""

import matplotlib.pyplot as plt
import numpy as np

import giantstep

figure, places = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
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
    for (name, label), colour, marker in zip(names.items(), ("k", "C0", "C1"), "o^s", strict=True):
        style = ":" if name == "leave_one_out" else "-"
        axes.plot(lines.ridge, lines[name], style, color=colour, label=label, linewidth=2)
        at = found[f"simulated_{name}_mean"], found[f"simulated_{name}_stderr"]
        axes.errorbar(found.ridge, *at, fmt=marker, color=colour, markersize=4)
    axes.set(xscale="log", yscale="log", xlabel="ridge λ", title=title)
places[0].set_ylabel("error")
places[0].legend()
figure.savefig("cross-validation.png", dpi=150)
