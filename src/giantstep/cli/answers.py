"""The answers to the questions of the command line: each reads its flags, and asks the question."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import xarray as xr

from giantstep.cli.arguments import OPTIMAL
from giantstep.cli.limits import (
    LIMIT,
    check_hours,
    check_memory,
    simulation_seconds,
    solving_seconds,
)
from giantstep.cli.problem_flags import statement_of
from giantstep.cli.products import answer_each, combinations, varied
from giantstep.cli.suggestions import did_you_mean
from giantstep.cli.values import read_values
from giantstep.pipeline.planning.theory_work import (
    optimum_points,
    spectrum_seconds,
    steps_seconds,
    theory_seconds,
)
from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED_COVARIANCE, TRAINED_NORMS
from giantstep.problems.domains import COUNTED
from giantstep.problems.grid import Grid
from giantstep.problems.overlaps import OVERLAP_DIMENSIONS
from giantstep.problems.problem import Problem
from giantstep.problems.sizes import SEED, Sizes, check_sizes
from giantstep.questions.answers import answer, count_groups
from giantstep.questions.bounds import bounds
from giantstep.questions.checks import collected, raise_all
from giantstep.questions.choices import GAINS
from giantstep.questions.compare import compare
from giantstep.questions.gains import add_gain, check_gains
from giantstep.questions.learned_function import learned_function
from giantstep.questions.optimise import optimise
from giantstep.questions.progress import Progress
from giantstep.questions.simulate import THREADS, simulate
from giantstep.questions.solve import solve
from giantstep.questions.spectrum import POINTS, spectrum
from giantstep.questions.sweep import sweep
from giantstep.theory.features.equivalent_features import equivalent_features
from giantstep.validation import (
    Fault,
    Interval,
    InvalidParametersError,
    interval_faults,
    read_number,
)
from giantstep.vocabulary import MEANINGS

# Kinds of values that make a question on the theory, besides those of the problem and the grid.
_APPROXIMATION = ("bulk", "dimension")
# How many combinations are estimated; the others are taken to cost as much.
_ESTIMATED = 100
# More points of one problem show how far they are.
_SILENT = 10_000
_ZERO_ONE = "classification_error"
_ACCURACY = ("residual", "quadrature_error", "iterations")
Answer = xr.Dataset


class Asked:
    """What a command line asks about: problems, and values of further flags.

    Parameters
    ----------
    arguments : argparse.Namespace
    *options : str
        Flags with several values that are answered one by one, as problems are.
    **intervals
        Of flags with one number.

    Raises
    ------
    InvalidParametersError
        With all that is wrong with problems, grid and numbers.
    argparse.ArgumentError
    """

    def __init__(self, arguments: argparse.Namespace, *options: str, **intervals: Interval) -> None:
        self.arguments = arguments
        statement = statement_of(arguments)
        self.make = statement.make
        self.values = statement.values | {name: tuple(getattr(arguments, name)) for name in options}
        self._names = tuple(statement.values)
        faults: list[Fault] = []
        several = varied(statement.values)
        with collected(faults):
            self.first = self.problem({k: v[0] for k, v in statement.values.items()})
        for name, values in several.items():
            for value in values[1:]:
                with collected(faults):
                    self.problem({k: v[0] for k, v in statement.values.items()} | {name: value})
        if "alpha" in vars(arguments):
            self._check_grid(faults)
        faults += interval_faults(vars(arguments), {"max_hours": LIMIT} | intervals)
        raise_all(faults)

    def _check_grid(self, faults: list[Fault]) -> None:
        ridges = getattr(self.arguments, "ridge", [1.0])
        for loss in getattr(self.arguments, "loss", ["square"]):
            with collected(faults):
                numbers = (1.0,) if OPTIMAL in ridges else tuple(ridges)
                Grid(tuple(self.arguments.alpha), numbers, loss)

    def problem(self, chosen: dict[str, Any]) -> Problem:
        """Make the problem of one combination of values."""
        return self.make(**{name: chosen[name] for name in self._names})

    @property
    def count(self) -> int:
        """How many combinations there are."""
        return int(np.prod([len(some) for some in self.values.values()], dtype=float))

    def check_hours(self, seconds: Callable[[dict[str, Any]], float]) -> None:
        """Refuse what takes too long, by an estimate for one combination of values."""
        one = [seconds(chosen) for chosen in islice(combinations(self.values), _ESTIMATED)]
        check_hours(self.arguments, sum(one) * self.count / len(one))

    def answer(self, ask: Callable[[dict[str, Any], Progress], xr.Dataset]) -> xr.Dataset:
        """Answer for all combinations of values."""
        return answer_each(self.values, ask)


def _axis(values: list[Any]) -> Any:
    """Return a single value as a number, which becomes no dimension."""
    return values[0] if len(values) == 1 else values


def _ridge(arguments: argparse.Namespace) -> Any:
    ridge = arguments.ridge
    if OPTIMAL in ridge and ridge != [OPTIMAL]:
        raise argparse.ArgumentError(None, f"--ridge {OPTIMAL} stands alone, without numbers")
    return _axis(ridge)


def _theory(arguments: argparse.Namespace) -> Answer:
    return _shown(arguments, _solved(arguments)[0])


def _shown(arguments: argparse.Namespace, found: xr.Dataset) -> xr.Dataset:
    """Leave out what is asked for apart, and what is zero."""
    hidden = ["optimal_ridge_on_edge"]
    hidden += [] if arguments.certificate else _ACCURACY
    with_norms = {TRAINED_NORMS, TRAINED_COVARIANCE} & set(arguments.bulk)
    hidden += [] if with_norms else ["xi"]
    return found.drop_vars(hidden, errors="ignore")


def _sweep(arguments: argparse.Namespace) -> Answer:
    found, problem, values = _solved(arguments, *arguments.gains)
    for name in arguments.gains:
        found = add_gain(found, name, problem, values)
    found = _shown(arguments, found)
    return found.drop_vars([name for name in OVERLAP_DIMENSIONS if name in found])


def _map(arguments: argparse.Namespace) -> Answer:
    for axis in ("y", "x"):
        name, numbers = _read_axis(arguments, axis)
        setattr(arguments, name, numbers)
    found, problem, values = _solved(arguments, arguments.show)
    if arguments.show in GAINS:
        check_gains(problem, [arguments.show])
        found = add_gain(found, arguments.show, problem, values)
    elif arguments.show not in found:
        allowed = f"one of {', '.join([*GAINS, *map(str, found.data_vars)])}"
        raise InvalidParametersError([Fault("show", arguments.show, allowed)])
    names = [arguments.show, "test_error", "status"]
    axes = (arguments.y.partition("=")[0], arguments.x.partition("=")[0])
    return found[list(dict.fromkeys(names))].transpose(*axes, ...)


def _read_axis(arguments: argparse.Namespace, axis: str) -> tuple[str, list[float]]:
    """Read `alpha0=0.1:10:80log`, whose name is that of a flag with numbers."""
    text = getattr(arguments, axis)
    name, _, values = text.partition("=")
    name = name.replace("-", "_")
    known = [key for key in vars(arguments) if key in MEANINGS]
    if name not in known or not values:
        hint = did_you_mean(name, known) if name not in known else ""
        problem = f"--{axis} {text!r} must be NAME=RANGE, such as alpha0=0.1:10:80log{hint}"
        raise argparse.ArgumentError(None, problem)
    try:
        read = [number for word in values.split(",") for number in read_values(read_number)(word)]
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentError(None, f"--{axis} {text}: {error}") from None
    setattr(arguments, axis, f"{name}={values}")
    return name, read


def _solved(
    arguments: argparse.Namespace, *shown: str
) -> tuple[xr.Dataset, Problem, dict[str, Any]]:
    """Answer by the theory; also return the first problem, and what was asked of it.

    Parameters
    ----------
    arguments : argparse.Namespace
    *shown : str
        The gains that are to be added; or a variable that alone is shown.
    """
    alpha, ridge = _axis(arguments.alpha), _ridge(arguments)
    asked = Asked(arguments, "loss", *_APPROXIMATION)

    further = (ISOTROPIC, TRAINED_NORMS) if "isotropic_deviation" in shown else ()
    ridges = (1.0,) if ridge == OPTIMAL else tuple(arguments.ridge)

    def seconds(chosen: dict[str, Any]) -> float:
        grid = Grid(tuple(arguments.alpha), ridges, chosen["loss"])
        bulks = (chosen["bulk"], *further)
        problem = asked.problem(chosen)
        return sum(solving_seconds(problem, grid, bulk, ridge == OPTIMAL) for bulk in bulks)

    asked.check_hours(seconds)
    several = {name: list(values) for name, values in varied(asked.values).items()}
    options = {name: _axis(getattr(arguments, name)) for name in ("loss", *_APPROXIMATION)}
    values = several | options | {"alpha": alpha, "ridge": ridge}
    if several or len(arguments.alpha) * len(ridges) > _SILENT:
        zero_one = arguments.command != "map" or _ZERO_ONE in shown  # maps of others are faster
        found = sweep(asked.first, classification_error=zero_one, **values)
        return found, asked.first, values
    return solve(asked.first, alpha, ridge, **options), asked.first, values


def _simulate(arguments: argparse.Namespace) -> Answer:
    return _networks(arguments, simulate, "loss", "dimension")


def _compare(arguments: argparse.Namespace) -> Answer:
    return _networks(arguments, compare, "loss", "dimension", "bulk")


def _networks(
    arguments: argparse.Namespace, question: Callable[..., xr.Dataset], *options: str
) -> Answer:
    """Ask a question that trains networks."""
    intervals = {"networks": COUNTED, "seed": SEED, "threads": THREADS}
    if arguments.max_memory is not None:
        intervals["max_memory"] = LIMIT
    asked = Asked(arguments, *options, **intervals)

    def seconds(chosen: dict[str, Any]) -> float:
        grid = Grid(tuple(arguments.alpha), tuple(arguments.ridge), chosen["loss"])
        sizes = Sizes(chosen["dimension"], arguments.trainings, arguments.test_samples)
        one = asked.problem(chosen), grid, sizes
        check_sizes(*one)
        check_memory(arguments, *one)
        return simulation_seconds(arguments, *one)

    asked.check_hours(seconds)
    same = {name: getattr(arguments, name) for name in ("trainings", "test_samples", "seed")}
    same |= {"threads": arguments.threads, "networks": arguments.networks}

    def ask(chosen: dict[str, Any], progress: Progress) -> xr.Dataset:
        alpha, ridge = _axis(arguments.alpha), _axis(arguments.ridge)
        given = same | {name: chosen[name] for name in options}
        return question(asked.problem(chosen), alpha, ridge, progress=progress, **given)

    return asked.answer(ask)


def _optimise(arguments: argparse.Namespace) -> Answer:
    over = list(dict.fromkeys(arguments.over))
    if _ridge(arguments) == OPTIMAL:
        over, arguments.ridge = list(dict.fromkeys([*over, "ridge"])), [1.0]
    if "learning_rate" in over and arguments.alpha0 is not None:
        arguments.learning_rate = [1.0]  # ignored
    asked = Asked(arguments, "ridge", "loss", *_APPROXIMATION)

    def seconds(chosen: dict[str, Any]) -> float:
        points = len(arguments.alpha) * optimum_points(chosen["loss"], best_ridge="ridge" in over)
        return theory_seconds(asked.problem(chosen), points, chosen["loss"], chosen["bulk"])

    asked.check_hours(seconds)

    def ask(chosen: dict[str, Any], progress: Progress) -> xr.Dataset:
        options = {name: chosen[name] for name in ("ridge", "loss", *_APPROXIMATION)}
        alpha = _axis(arguments.alpha)
        return optimise(asked.problem(chosen), over, alpha, progress=progress, **options)

    return asked.answer(ask)


def _spectrum(arguments: argparse.Namespace) -> Answer:
    asked = Asked(arguments, "alpha", *_APPROXIMATION, points=POINTS)
    points = arguments.points if arguments.x is None else len(arguments.x)

    def seconds(chosen: dict[str, Any]) -> float:
        problem = asked.problem(chosen)
        check_hours(arguments, steps_seconds(problem))  # which the estimate takes, too
        return spectrum_seconds(problem, points, chosen["bulk"], chosen["dimension"])

    asked.check_hours(seconds)

    def ask(chosen: dict[str, Any], progress: Progress) -> xr.Dataset:
        options = {name: chosen[name] for name in _APPROXIMATION}
        given = {"points": arguments.points, "x": arguments.x}
        found = spectrum(asked.problem(chosen), chosen["alpha"], **options, **given)
        return _by_point(_remarked(found, chosen["dimension"]), asked.count)

    return asked.answer(ask)


def _remarked(found: xr.Dataset, dimension: float) -> xr.Dataset:
    """Say beside a density what it does not show: eigenvalues at zero, edges and outliers."""
    which = "of order d" if np.isinf(dimension) else f"above the bulk at d = {dimension:g}"
    pairs = zip(found["bulk_lower_edge"].values, found["bulk_upper_edge"].values, strict=True)
    edges = ", ".join(f"[{low:.6g}, {high:.6g}]" for low, high in pairs)
    large = ", ".join(f"{value:.6g} d" for value in found["outlier"].values) or "none"
    remarks = (
        *found.attrs.get("remarks", "").splitlines(),
        f"share of eigenvalues at zero: {found['mass_at_zero'].item():.6g}",
        f"bulk: {edges}",
        f"eigenvalues {which}: {large}",
    )
    return found.assign_attrs(remarks="\n".join(remarks))


def _by_point(found: xr.Dataset, count: int) -> xr.Dataset:
    """Count the points of one of several densities: each has eigenvalues of its own."""
    if count == 1:
        return found
    points = np.arange(1, found.sizes["eigenvalue"] + 1)
    return found.assign_coords(point=("eigenvalue", points)).swap_dims(eigenvalue="point")


def _bounds(arguments: argparse.Namespace) -> Answer:
    asked = Asked(arguments)
    asked.check_hours(lambda chosen: steps_seconds(asked.problem(chosen)))
    return asked.answer(lambda chosen, progress: bounds(asked.problem(chosen)))


def _features(arguments: argparse.Namespace) -> Answer:
    asked = Asked(arguments, "dimension")
    asked.check_hours(lambda chosen: steps_seconds(asked.problem(chosen)))

    def ask(chosen: dict[str, Any], progress: Progress) -> xr.Dataset:
        problem = asked.problem(chosen)
        srf = equivalent_features(problem, chosen["dimension"])
        groups = {name: (("group",), list(getattr(srf, name))) for name in _OF_GROUPS}
        data = xr.Dataset(groups | {"alignment": srf.alignment})
        title = "Equivalent spiked random features (Result 3.1)"
        return answer(count_groups(data), title, problem, {"dimension": chosen["dimension"]})

    return asked.answer(ask)


_OF_GROUPS = ("bulk_variance", "spike_strength", "fraction", "bias")


def _learned_function(arguments: argparse.Namespace) -> Answer:
    asked = Asked(arguments, "loss", *_APPROXIMATION)
    alpha, ridge = _axis(arguments.alpha), _axis(arguments.ridge)
    points = len(arguments.alpha) * len(arguments.ridge)
    asked.check_hours(
        lambda chosen: theory_seconds(asked.problem(chosen), points, chosen["loss"], chosen["bulk"])
    )

    def ask(chosen: dict[str, Any], progress: Progress) -> xr.Dataset:
        options = {name: chosen[name] for name in ("loss", *_APPROXIMATION)}
        return learned_function(asked.problem(chosen), alpha, ridge, s=arguments.s, **options)

    return asked.answer(ask)


ANSWERS = {
    "theory": _theory,
    "sweep": _sweep,
    "map": _map,
    "simulate": _simulate,
    "compare": _compare,
    "optimise": _optimise,
    "spectrum": _spectrum,
    "bounds": _bounds,
    "srf": _features,
    "learned-function": _learned_function,
}
