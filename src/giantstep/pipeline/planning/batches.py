"""Jobs of theory: each computes many results, each of which takes less than starting a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from giantstep.pipeline.planning import costs
from giantstep.pipeline.planning.layout import STAGES, THEORY_STAGES
from giantstep.pipeline.planning.plan import Plan
from giantstep.pipeline.planning.tasks import Task

# Seconds up to which results are computed by one job.
LONGEST = 60.0


@dataclass(frozen=True)
class Batch:
    """Results that one job computes; each that exists is left as it is.

    Attributes
    ----------
    name : str
        Of the first figure that needs them, and a number.
    tasks : tuple of (str, Task)
        With their stages.
    paths : tuple of str
        Their files, from the project's folder, in the order of the tasks.
    """

    name: str
    tasks: tuple[tuple[str, Task], ...]
    paths: tuple[str, ...]

    @property
    def cost(self) -> costs.Cost:
        """What the job takes, if none of its results exists."""
        return costs.of_theory([task for _, task in self.tasks])


def theory_batches(plan: Plan) -> list[Batch]:
    """Put the theory of a plan into jobs, by the figures that need it.

    So no job makes more than a figure needs. Results that take long are split over several jobs.
    """
    batches: list[Batch] = []
    numbers: dict[str, int] = {}
    for figures, results in _by_figures(plan).items():
        for part in _parts(plan, results):
            numbers[figures[0]] = number = numbers.get(figures[0], 0) + 1
            tasks = tuple((stage, plan.tasks[stage][key]) for stage, key in part)
            paths = tuple(path for stage, key in part for path in STAGES[stage].paths(key))
            batches.append(Batch(f"{figures[0]}_{number}", tasks, paths))
    return batches


_Result = tuple[str, str]  # stage and key


def _by_figures(plan: Plan) -> Mapping[tuple[str, ...], list[_Result]]:
    """List results of the theory by the figures that need them."""
    users: dict[_Result, dict[str, None]] = {}
    for figure in plan.figures.values():
        for curve in figure.curves:
            for stage in THEORY_STAGES:
                for key in curve.keys.get(stage.name, ()):
                    users.setdefault((stage.name, key), {})[figure.name] = None
    found: dict[tuple[str, ...], list[_Result]] = {}
    for result, figures in users.items():
        found.setdefault(tuple(figures), []).append(result)
    return found


def _parts(plan: Plan, results: list[_Result]) -> Iterator[list[_Result]]:
    """Split results where they take too long for one job."""
    part: list[_Result] = []
    seconds = 0.0
    for stage, key in results:
        one = costs.of_task(plan.tasks[stage][key]).seconds
        if part and seconds + one > LONGEST:
            yield part
            part, seconds = [], 0.0
        part.append((stage, key))
        seconds += one
    yield part
