"""Random problems of every kind, to compare two states of the code.

`save` asks a question of each problem and appends the answer to a file, `compare` lists the
problems whose numbers differ, are lost or found, or take twice as long: after a refactoring, there
should be none. Problems depend on the seed alone. Each is listed as the call that asks for it. A
hundred problems take two to four minutes of one core, in each state.

    git worktree add ../before COMMIT
    PYTHONPATH=../before/src python benchmarks/random_problems.py save old.jsonl --seed 1
    python benchmarks/random_problems.py save new.jsonl --seed 1 [--count 100]
    python benchmarks/random_problems.py compare old.jsonl new.jsonl
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import re
import signal
import warnings
from pathlib import Path
from time import process_time
from typing import Any, NoReturn

import numpy as np
from draws import between
from numpy.random import Generator, default_rng
from threadpoolctl import threadpool_limits

import giantstep
from giantstep import Protocol, SpikedFeatures

# Seconds of the processor for an answer, and numbers of a variable that are kept.
LIMIT, KEPT = 60, 60
# What an answer may do in another way; an optimum may be flat.
FREE = re.compile("quadrature_error|residual|iterations|optimal_.*")

ACTIVATIONS = ("tanh", "erf", "sin", "relu", "softplus", "gelu", "elu", "sigmoid", "abs", "he2")
TARGETS = ("sin", "sign", "tanh", "relu", "he2", "he3", "abs", "polynomial:-0.5,1,0.5")
TEACHERS = ("z1+z1*z2", "z1+z2+0.5*z1*z2")
LOSSES = ("huber", "absolute", "log_cosh", "quantile:0.3", "gradient_flow")
MARGINS = ("logistic", "hinge")
# What a protocol may have beside activation, target, rate, batch, width and noise.
OPTIONS: list[dict[str, Any]] = [
    {"steps": 2}, {"steps": 3}, {"steps": 2, "reuse_batch": True},
    {"steps": 3, "reuse_batch": True}, {"optimizer": "sign"}, {"decay": 0.2},
    {"steps": 2, "decay": (0.1, 0.3)}, {"steps": 2, "learning_rate": (3.0, 1.0)},
    {"steps": 3, "alpha0": (1.0, 2.0, 4.0)}, {"alpha0": math.inf}, {"alpha0": 0.0},
    {"step_loss": "huber:0.5"}, {"step_loss": "logistic", "target": "sign", "noise": 0.0},
    {"pretrain_target": "tanh", "task_overlap": 0.6}, {"step_exponent": 0.4},
    {"readout": ((0.5, 0.5), (2.0, 0.5))}, {"readout": ((-1.0, 0.5), (1.0, 0.5))},
    {"readout": ((-1.0, 0.2), (0.5, 0.3), (2.0, 0.5))}, {"readout": "normal"},
    {"activation": "tanh", "covariance": "power:0.5"},
    {"activation": "erf", "covariance": "two_level:8,0.2", "target_decay": 1.0},
    {"activation": "sin", "covariance": "power:0.3", "precondition": 0.5},
    {"activation": "tanh", "inputs": "mixture:1.5", "target": "class"},
    {"outlier_fraction": 0.1, "outlier_variance": 4.0},
    {"target": "sign", "label_flips": 0.1},
]  # fmt: skip
SPIKES: list[dict[str, Any]] = [
    {}, {"fraction": (0.4, 0.6), "spike_strength": (0.7, -1.5)}, {"bias": 0.3},
    {"fraction": (0.5, 0.5), "bias": (-0.5, 0.5)}, {"alignment": 1.0},
    {"fraction": (0.5, 0.5), "further_spikes": ((0.6,), (-0.3,))},
]  # fmt: skip
# A question, how often it is drawn, and what it takes beside the problem.
POINT = "alpha ridge loss dimension bulk"
QUESTIONS: list[tuple[str, int, str, dict[str, Any]]] = [
    ("solve", 12, POINT, {}),
    ("solve", 4, "alpha loss dimension bulk", {"ridge": "optimal"}),
    ("solve", 1, POINT, {"derivatives": True}),
    ("solve", 1, "alpha dimension", {"cross_validation": True, "ridge": "gcv"}),
    ("solve", 1, "alpha ridge dimension", {"ensemble": 3}),
    ("solve", 1, "alpha dimension bulk", {"stop_at": [1.0, 10.0]}),
    ("spectrum", 4, "alpha dimension bulk", {"points": 40}),
    ("optimise", 1, "alpha dimension", {"over": ["learning_rate", "ridge"]}),
    ("learned_function", 2, POINT, {}),
    ("equivalent_features", 1, "dimension", {}),
    ("bounds", 1, "", {}),
    ("thresholds", 1, "", {}),
    ("sweep", 1, "alpha ridge", {"gains": ["gain_over_linear", "gain_over_no_step"]}),
    ("sweep", 1, "alpha ridge dimension", {"beta": [0.7, 1.5], "learning_rate": [1.0, 2.0]}),
    ("plan", 1, "", {"samples": 4.0, "max_steps": 1}),
    ("compare", 2, "alpha ridge loss", {"dimension": 60, "networks": 2, "test_samples": 500}),
]


def one_of(rng: Generator, *things: Any) -> Any:
    """Draw one of some things, of any types."""
    return things[int(rng.integers(len(things)))]


def draw(rng: Generator) -> str:
    """Draw a question about a problem, as a call; it may be one that the library refuses."""
    teacher = rng.random() < 0.08
    made: dict[str, Any] = {"activation": one_of(rng, *ACTIVATIONS)}
    made |= {"target": one_of(rng, *TEACHERS) if teacher else one_of(rng, *TARGETS)}
    made |= {"beta": between(rng, 0.3, 4), "noise": one_of(rng, 0.0, 0.0, 0.3)}
    kind = "Protocol" if rng.random() < 0.85 else "SpikedFeatures"
    if kind == "Protocol":
        made |= {"learning_rate": between(rng, 0.2, 8), "alpha0": between(rng, 0.2, 10)}
        for share in (0.8, 0.15):
            made |= one_of(rng, *OPTIONS) if rng.random() < share and not teacher else {}
    else:
        made |= {"bulk_variance": between(rng, 1, 2), "spike_strength": between(rng, 0.5, 3)}
        made |= {"alignment": (0.7, 0.4)} if teacher else {"alignment": 0.8} | one_of(rng, *SPIKES)
    loss = one_of(rng, *one_of(rng, *[["square"]] * 3, LOSSES, MARGINS))
    shares = np.array([weight for _, weight, *_ in QUESTIONS])
    name, _, takes, how = QUESTIONS[int(rng.choice(shares.size, p=shares / shares.sum()))]
    values = {"alpha": between(rng, 0.4, 4), "ridge": between(rng, 0.003, 2), "loss": loss}
    values |= {"dimension": one_of(rng, math.inf, 150.0), "bulk": one_of(rng, None, "isotropic")}
    if loss in MARGINS and "loss" in takes:
        made |= {"target": "sign", "noise": 0.0}
    asked = {key: value for key, value in values.items() if key in takes.split()} | how
    return f"giantstep.{name}({kind}({_arguments(made)}), {_arguments(asked)})"


def _arguments(given: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in given.items())


def numbers(answer: Any) -> dict[str, list[float]]:
    """Read the numbers of an answer, and whether it has remarks."""
    remarks = bool(getattr(answer, "attrs", {}).get("remarks"))
    parts = dataclasses.asdict(answer) if isinstance(answer, SpikedFeatures) else answer.variables
    arrays = {str(name): np.ravel(np.asarray(part)) for name, part in parts.items()}
    plain = {name: x.astype(float) for name, x in arrays.items() if x.dtype.kind in "biuf"}
    return {name: x[:KEPT].tolist() for name, x in plain.items()} | {"has_remarks": [remarks]}


def too_long(*_: Any) -> NoReturn:
    """End an answer that takes too long."""
    raise TimeoutError(f"more than {LIMIT} s")


def save(path: Path, seed: int, count: int) -> None:
    """Ask a question of each problem, and write each answer at once."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, too_long)
    giantstep.solve(Protocol("tanh", "sin", 3, alpha0=2, beta=1))  # what the first call imports
    for index in range(count):
        call, start = draw(default_rng([seed, index])), process_time()
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        try:
            found: dict[str, Any] = {"numbers": numbers(eval(call, globals() | {"inf": math.inf}))}
        except Exception as error:
            found = {"error": type(error).__name__, "message": str(error)}
        signal.setitimer(signal.ITIMER_PROF, 0)
        found |= {"call": call, "seconds": process_time() - start}
        with path.open("a") as file:
            print(json.dumps(found), file=file)


def differences(old: dict[str, Any], new: dict[str, Any], tolerance: float) -> list[str]:
    """List what differs between two answers to a call."""
    found = []
    if old.get("error") != new.get("error"):
        errors = [one.get("message", "an answer").splitlines()[0][:150] for one in (old, new)]
        found = [f"{'lost' if 'error' in new else 'found'}: {' -> '.join(errors)}"]
    before, after = old.get("numbers", {}), new.get("numbers", {})
    if before and after:
        found += [f"{name}: no longer there" for name in before.keys() - after.keys()]
        found += [f"{name}: new" for name in after.keys() - before.keys()]
    for name in sorted(before.keys() & after.keys()):
        x, y = np.array(before[name]), np.array(after[name])
        scale = np.max(np.abs(x), initial=0.0, where=np.isfinite(x))
        # Estimates of how far the theory holds have few digits.
        allowed = max(0.005, 0.05 * scale) if "reliab" in name else max(1e-9, tolerance * scale)
        same = x.shape == y.shape and np.allclose(x, y, rtol=0, atol=allowed, equal_nan=True)
        if not same and not FREE.fullmatch(name):
            found += [f"{name}: {x[:4]} -> {y[:4]}"]
    if new["seconds"] > 2 * old["seconds"] + 0.2:
        found += [f"seconds: {old['seconds']:.2f} -> {new['seconds']:.2f}"]
    return found


def compare(old: Path, new: Path, tolerance: float) -> None:
    """Print the calls of which the answers differ."""
    before, after = (
        {one["call"]: one for one in map(json.loads, path.read_text().splitlines())}
        for path in (old, new)
    )
    both = before.keys() & after.keys()
    every = {one: differences(before[one], after[one], tolerance) for one in before if one in both}
    for call, found in every.items():
        if found:
            print(call, *found[:5], sep="\n    ")
    for name, answers in (("old", before), ("new", after)):
        refused = sum("error" in answers[call] for call in both)
        seconds = sum(answers[call]["seconds"] for call in both)
        print(f"{name}: {len(both) - refused} answers, {refused} errors, {seconds:.0f} s")
    print(f"{sum(map(bool, every.values()))} of {len(both)} problems differ")


def main() -> None:
    """Parse the command line, then save or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    saving, comparing = commands.add_parser("save"), commands.add_parser("compare")
    saving.add_argument("file", type=Path)
    saving.add_argument("--seed", type=int, default=1)
    saving.add_argument("--count", type=int, default=100)
    comparing.add_argument("files", type=Path, nargs=2, metavar=("OLD", "NEW"))
    comparing.add_argument("--tolerance", type=float, default=1e-5, help="relative, of each number")
    options = parser.parse_args()
    if options.command == "save":
        with threadpool_limits(1):
            save(options.file, options.seed, options.count)
    else:
        old, new = options.files
        compare(old, new, options.tolerance)


if __name__ == "__main__":
    main()
