"""From a panel of learning curves or spectra to its curves, and the tasks of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from giantstep.problems.bulk_kind import bulk_of_networks, validate_bulk
from giantstep.problems.grid import Grid, merged_axis, spaced_axis
from giantstep.problems.losses import SQUARE
from giantstep.problems.parameter import parameters_of
from giantstep.problems.problem import Problem, check_loss, check_theory_of_loss
from giantstep.problems.protocol import SCHEDULED, Protocol
from giantstep.problems.schedules import OnePerStep
from giantstep.problems.sizes import Sizes, check_sizes
from giantstep.problems.spiked_features import one_spike, one_spike_parameters
from giantstep.questions.checks import input_faults
from giantstep.questions.choices import POINTS
from giantstep.questions.instead_of_ridge import times_to_ridges
from giantstep.questions.task import Task
from giantstep.theory.bayes_optimal import state_evolution
from giantstep.theory.first_layer.layer import layer_of
from giantstep.validation import Fault, raise_all, refusal
from giantstep.workflow.config_models import STEPS, kind_of
from giantstep.workflow.curves import Curve
from giantstep.workflow.panels import Panel

# How a curve's problem is solved and simulated; the other fields of a panel say what it is.
_RUN_OPTIONS = ("bulk", "loss", "dimension", "test_samples")
_OF_CURVES = {*parameters_of(Protocol), *one_spike_parameters(), *_RUN_OPTIONS}
# Fields that ask for theory.
_THEORY = ("bulk", "optimal", "finite_size_theory", "learning_rates", "spectrum")
# Those of large steps alone.
_OF_GIANT_STEPS = ("optimal", "lower_bound", "learning_rates", "spectrum")
# Points of a theoretical density.
_POINTS = 600


def learning_curves(panel: Panel) -> list[Curve]:
    """List the curves of a panel; what is wrong is added to its faults."""
    given = dict(panel.given)
    with panel.collect():
        times_to_ridges(given)
    panel = replace(panel, given=given)
    _check_points(panel)
    make: Callable[..., Problem] = Protocol if kind_of(given) is STEPS else one_spike
    names = [name for name in given if name in _OF_CURVES]
    curves = []
    for name, fields in panel.combinations(names):
        options = {key: fields.pop(key) for key in _RUN_OPTIONS if key in fields}
        with panel.collect():
            problem = make(**fields)
            bulk = options.get("bulk") or bulk_of_networks(problem)
            loss = options.get("loss", SQUARE)
            validate_bulk(problem, bulk)
            check_loss(problem, loss)
            curves.append(_Tasks(panel, problem, bulk, loss, panel.sizes(options)).curve(name))
    return curves


def _check_points(panel: Panel) -> None:
    """Refuse what is to be computed at no sample complexity, or at no ridge."""
    simulated = panel.simulated_alphas
    if not simulated and (panel.theory_axis("dimension") or "learning_rates" in panel.given):
        text = "this key is missing: theory.dimension and learning_rates are solved there"
        panel.faults.add("simulation.alpha", text)
    if not (simulated or panel.theory_axis("alpha")):
        for field in filter(panel.given.get, ("optimal", "bayes_optimal")):
            panel.add_fault(field, "needs theory.alpha or simulation.alpha")
    elif "ridge" not in panel.given:
        panel.add_fault("ridge", "this key is missing, which theory and simulation need")


@dataclass(frozen=True)
class _Tasks:
    """What is computed of one curve."""

    panel: Panel
    problem: Problem
    bulk: str
    loss: str
    sizes: Sizes

    def curve(self, name: str) -> Curve:
        """Return the curve, and refuse what needs a theory that its problem does not have."""
        faults = layer_of(self.problem).faults()
        self._check(faults)
        dimension = next(iter(self._versions().values()))["dimension"]
        theory = {} if faults else self._theory(dimension)
        theory["references"] = Task("references", self.problem, {"dimension": dimension})
        of_curve = self.problem, self.bulk, self.loss, self.sizes.dimension
        return Curve(name, self.panel.name, *of_curve, theory, self._networks())

    def _check(self, faults: list[Fault]) -> None:
        problem, panel, needs = self.problem, self.panel, dict[str, str]()
        along = problem.alpha0 == math.inf if isinstance(problem, Protocol) else problem.is_aligned
        if not along:
            needs["lower_bound"] = "needs a spike along the target: alpha0 = .inf, or alignment 1"
        if not problem.is_giant_step:
            needs |= dict.fromkeys(_OF_GIANT_STEPS, "needs the giant step (step_exponent 0.5)")
        asked = {**panel.given, "spectrum": panel.figure.get("spectrum")}
        for field in filter(asked.get, needs):
            panel.add_fault(field, needs[field])
        if faults and not (self._is_simulated and not any(map(asked.get, _THEORY))):
            why = "; ".join(f"{x.name} must be {x.allowed}" for x in faults)
            panel.add_fault("", f"needs a theory: {why}")

    @property
    def _is_simulated(self) -> bool:
        return bool(self.panel.simulated_alphas) and self.panel.given.get("simulated", True)

    def _versions(self) -> dict[str, dict[str, Any]]:
        """Return how the theory is solved, by role: in the limit, and as that of the networks.

        The latter comes beside the former if it is asked for; it alone, for smaller steps, which
        have no such limit.
        """
        limit = {"loss": self.loss, "bulk": self.bulk, "dimension": math.inf}
        of_networks = {"bulk": bulk_of_networks(self.problem), "dimension": self.sizes.dimension}
        finite = {"finite": limit | of_networks}
        if not self.problem.is_giant_step:
            return finite
        return {"limit": limit} | (finite if self.panel.given.get("finite_size_theory") else {})

    def _theory(self, dimension: float) -> dict[str, Task]:
        """Return the tasks of a curve's theory, by role."""
        theory = {"parameters": self._task("equivalent_features", dimension=dimension)}
        theory |= self._spectra()
        grid = self._grid(self.panel.theory_axis("alpha"))
        if grid is None:
            return theory
        check_theory_of_loss(self.problem, self.loss)
        for role, version in self._versions().items():
            points = {"alpha": grid.alpha, "ridge": grid.ridge, **version}
            theory[role] = self._task("solve", **points)
            if self._is_simulated:
                at = points | {"alpha": self.panel.simulated_alphas}
                theory[f"{role}_learned"] = self._task("learned_function", **at)
            if by := self.panel.given.get("optimal"):
                best = points | {"ridge": "optimal" if by is True else by}
                theory[f"{role}_optimal"] = self._task("solve", **best)
        if self.panel.given.get("bayes_optimal"):
            state_evolution(self.problem)  # or refuse it
            theory["bayes_optimal"] = self._task("bayes_optimal", alpha=grid.alpha)
        return theory | self._sweeps()

    def _task(self, question: str, **arguments: Any) -> Task:
        raise_all(input_faults(question, self.problem, arguments))
        return Task(question, self.problem, arguments)

    def _grid(self, alpha: tuple[float, ...] = ()) -> Grid | None:
        """Return the simulated points, with further sample complexities; None if there are none."""
        alpha = merged_axis(alpha, self.panel.simulated_alphas)
        ridge = self.panel.given.get("ridge", [])
        ridge = tuple(ridge) if isinstance(ridge, list) else (ridge,)
        return Grid(alpha, ridge, self.loss) if alpha and ridge else None

    def _sweeps(self) -> dict[str, Task]:
        """Return the theory's test error against dimension or learning rate, where simulated."""
        if (grid := self._grid()) is None:
            return {}
        lists: dict[str, dict[str, Any]] = {}
        if dimensions := self.panel.theory_axis("dimension"):
            lists["dimensions"] = {"dimension": dimensions}
        rates = self.panel.given.get("learning_rates")
        if rates and isinstance(self.problem, Protocol):
            several = (x for x in SCHEDULED if isinstance(getattr(self.problem, x), OnePerStep))
            if differing := ", ".join(several):
                raise refusal("learning_rates", rates, f"left out where steps differ: {differing}")
            steps = tuple(range(1, self.problem.steps + 1))
            lists["learning_rates"] = {"learning_rate": spaced_axis(**rates), "steps": steps}
        rest = {**vars(grid), "bulk": self.bulk, "classification_error": False}
        return {role: self._task("sweep", **some, **rest) for role, some in lists.items()}

    def _spectra(self) -> dict[str, Task]:
        """Return the tasks of spectra, if they are asked for."""
        roles: dict[str, Any] = {"spectrum": {"points": _POINTS, "dimension": math.inf}}
        if self.panel.given.get("finite_size_theory"):  # of which only the outliers differ
            roles["finite_spectrum"] = {"points": POINTS.lower, "dimension": self.sizes.dimension}
        return {
            role: self._task("spectrum", alpha=alpha, bulk=self.bulk, **one)
            for alpha in self.panel.spectrum_alphas
            for role, one in roles.items()
        }

    def _networks(self) -> dict[str, Task]:
        """Return the tasks of a curve's simulations, by role."""
        panel, problem, tasks = self.panel, self.problem, {}
        networks = range(panel.given.get("networks", panel.config.simulation.networks))
        replicates = {"networks": networks, "seed": panel.config.seed}
        sampled = panel.spectrum_alphas
        for alpha in sampled:
            point = {"alpha": alpha, "dimension": self.sizes.dimension}
            tasks["eigenvalues"] = self._task("eigenvalues", **point, **replicates)
        if self._is_simulated and (grid := self._grid()):
            arguments = {**vars(grid), **vars(self.sizes), **replicates}
            tasks["replicates"] = self._task("replicates", **arguments)
            sampled = [*sampled, *grid.alpha]
        if sampled:
            check_sizes(problem, Grid(tuple(sampled), (1.0,), self.loss), self.sizes)
        return tasks
