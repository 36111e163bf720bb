"""The page of precomputed curves, which any web server can serve, or none: `make site`.

    python docs/curves/build.py FOLDER

`GRID` and `CHOICES` say what is computed. A file for each activation and target holds the errors at
all points of the grid, as the logarithms of the values in 16 bits; the page loads it when it is
first wanted. To carry on: add values, functions or examples here, and everything else follows.
"""

from __future__ import annotations

import argparse
import base64
import json
import shutil
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

from giantstep import Protocol, sweep
from giantstep.arrays import Array
from giantstep.explore.controls import help_text
from giantstep.explore.palette import PALETTES
from giantstep.explore.parameters import SYMBOLS, WORDS, axis_label
from giantstep.theory.bounds import best_linear_error

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "src/giantstep/explore/page"
BULK = "trained"
CHOICES = {"activation": ["tanh", "relu"], "target": ["sign", "sin", "relu"]}
GRID: dict[str, list[float]] = {
    "learning_rate": [0.5, 1, 2, 3, 5, 8],
    "alpha0": [0, 0.5, 1, 2, 5, 20, np.inf],
    "beta": [0.5, 1, 2],
    "ridge": [1e-4, 1e-3, 0.01, 0.1, 0.3, 1, 10],
    # Denser around the peaks at alpha = beta.
    "alpha": [
        *(0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1),
        *(1.2, 1.35, 1.5, 1.7, 1.85, 2, 2.15, 2.3, 2.6, 3, 3.5, 4),
    ],
}
START = {"activation": "tanh", "target": "sin", "learning_rate": 3, "alpha0": 2, "beta": 1}
START |= {"ridge": 0.1, "alpha": 2}
# The 0-1 error is that of labels that are signs.
VARIABLES: dict[str, list[str]] = {
    "test_error": CHOICES["target"],
    "training_error": CHOICES["target"],
    "classification_error": ["sign"],
}
NAMES = {"test_error": "test error", "training_error": "training error"}
NAMES |= {"classification_error": "0-1 error"}
PRESETS: dict[str, dict[str, Any]] = {
    "Double descent": {"alpha0": 0, "ridge": 1e-4, "log": "yes"},
    "Where a step pays": {"x": "alpha0", "alpha": 4},
    "How large a step": {"x": "learning_rate", "alpha0": 20},
    "A classifier": {"target": "sign", "error": "classification_error", "alpha0": 5},
}
ABOUT = (
    "Test and training errors of a two-layer network after one large gradient step, by the theory"
    f" of giantstep in the limit of large dimension, d → ∞, with the bulk “{BULK}”: the first layer"
    " as its step leaves it. Square loss, no label noise, Gaussian inputs. All numbers were"
    " computed before, on the grid of the sliders; they are right to three parts in ten thousand."
)
# The level of a point without a solution.
MISSING = 2**16 - 1


def encode(values: Array) -> dict[str, Any]:
    """Write positive values in 16 bits each: logarithms, between the least and the largest."""
    logarithms = np.log(np.maximum(values, 1e-9))
    low, high = float(np.nanmin(logarithms)), float(np.nanmax(logarithms))
    levels = np.rint((logarithms - low) / (high - low) * (MISSING - 1))
    stored = np.where(np.isnan(levels), MISSING, levels).astype("<u2")
    return {"low": low, "high": high, "data": base64.b64encode(stored.tobytes()).decode()}


def compute(activation: str, target: str, grid: Mapping[str, list[float]]) -> dict[str, Any]:
    """Return the variables of a network and a target at all points of the grid, encoded."""
    problem = Protocol(activation, target, learning_rate=1, alpha0=1, beta=1)
    errors = sweep(problem, bulk=BULK, progress=lambda _: None, **grid)
    wanted = [name for name, targets in VARIABLES.items() if target in targets]
    return {name: encode(errors[name].transpose(*grid).values) for name in wanted}


def facts(grid: Mapping[str, list[float]]) -> dict[str, Any]:
    """Return what the page needs to know besides numbers."""
    parameters = [*CHOICES, *grid]
    return {
        "axes": {name: [_number(value) for value in values] for name, values in grid.items()},
        "choices": CHOICES,
        "start": START,
        "words": {name: WORDS[name] for name in parameters} | NAMES,
        "symbols": {name: SYMBOLS[name] for name in parameters},
        "helps": {name: help_text(name) for name in parameters},
        "labels": {name: axis_label(name) for name in grid},
        "targets_of": VARIABLES,
        "best_linear": {name: best_linear_error(name) for name in CHOICES["target"]},
        "colours": {theme: PALETTES[theme].curves for theme in ("light", "dark")},
        "presets": {name: urlencode(START | values) for name, values in PRESETS.items()},
        "bulk": BULK,
        "about": ABOUT,
        "missing": MISSING,
    }


def _number(value: float) -> Any:
    if np.isinf(value):
        return "inf"
    return int(value) if float(value).is_integer() else value


def build(folder: Path, grid: Mapping[str, list[float]] = GRID) -> None:
    """Write the page and its data."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for path in (PAGE / "page.css", HERE / "page.js"):
        shutil.copy(path, folder)
    html = (HERE / "page.html").read_text(encoding="utf-8")
    html = html.replace("MODEL", (PAGE / "model.svg").read_text(encoding="utf-8"))
    html = html.replace("FACTS", json.dumps(facts(grid), ensure_ascii=False))
    (folder / "index.html").write_text(html, encoding="utf-8")
    for pair in product(*CHOICES.values()):
        name = "-".join(pair)
        call = f"giantstepCurves({json.dumps(name)}, {json.dumps(compute(*pair, grid))});\n"
        (folder / f"data/{name}.js").write_text(call, encoding="utf-8")
        print(f"{folder}/data/{name}.js: {len(call) / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the page is written")
    build(parser.parse_args().folder)
