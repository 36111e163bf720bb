"""An example of each command, for its help."""

from __future__ import annotations

_NETWORK = "--activation tanh --target sin --beta 1"
_STEP = f"{_NETWORK} --learning-rate 3 --alpha0 2 \\\n     "
# What follows the name of the command.
EXAMPLES = {
    "theory": f"{_STEP} --alpha 0.5:3:20 --ridge optimal --plot",
    "simulate": f"{_STEP} --alpha 1 2 --dimension 100 --networks 4 --format table",
    "compare": f"{_STEP} --alpha 1 2 --dimension 100 --networks 4 --format table",
    "sweep": f"{_NETWORK} --learning-rate 3 \\\n      --alpha0 0.5:20:5log inf"
    " --bulk isotropic trained --gains gain_over_linear -o sweep.nc",
    "map": f"{_NETWORK} \\\n      --x alpha0=0.1:30:10log --y learning_rate=0.1:10:10log --plot",
    "optimise": f"{_NETWORK} --alpha0 2 \\\n      --alpha 1 --over learning_rate ridge"
    " --format table",
    "spectrum": f"{_NETWORK} --alpha0 2 \\\n      --learning-rate 0 3 --alpha 2 --plot",
    "bounds": f"{_NETWORK} --learning-rate 3 \\\n      --alpha0 2 inf --format table",
    "srf": f"{_STEP} --readout 1:0.5 -1:0.5 --format table",
    "learned-function": f"{_STEP} --bulk isotropic trained --plot",
    "plot": "sweep.nc --show gain_over_linear --plot gain.pdf",
    "explore": "--no-browser",
    "init": "my-project",
    "open": "fig2",
    "scores": "fig2 fig3",
    "explain": "fig2",
    "verify": "fig2 --sample 3",
    "archive": "fig2 -o fig2.zip",
    "prune": "--project my-project",
}
