# The plan: the configuration, checked as a whole before the first job, as tasks by their keys. Keys
# are the names of files in results/; they cover all that a result depends on.

from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from giantstep.pipeline.planning import costs
from giantstep.pipeline.planning.config import InvalidConfigError, load_config, overlaid
from giantstep.pipeline.planning.layout import IDENTITY, STAGES
from giantstep.pipeline.planning.plan import (
    drawing_identity,
    make_plan,
    merging_identity,
)
from giantstep.pipeline.runtime import run_lock
from giantstep.pipeline.runtime.run_start import before_run
from giantstep.pipeline.upkeep import integrity

ROOT = Path(workflow.basedir)

try:
    # Files are read again, and strictly; overlays as Snakemake read them, and --config, lie on top.
    config = overlaid(load_config(ROOT, workflow.configfiles), config)
    PLAN = make_plan(ROOT, config)
except InvalidConfigError as error:
    raise WorkflowError(str(error)) from None


def start_run():
    """Lock the folder, and set damaged results aside."""
    try:
        run_lock.acquire_run_lock(run_lock.RECORDS, logger.warning)
    except run_lock.AnotherRunError as error:
        raise WorkflowError(str(error)) from None
    integrity.set_damaged_aside(Path(), PLAN, logger.warning)


run_lock.announce_run()
before_run(workflow, start_run)


wildcard_constraints:
    figure="|".join(PLAN.figures),
    key="[^/]+",
    block=r"networks\d+-\d+",
    stage="merge|draw",
    identity="[0-9a-f]+",


def figure_of(wildcards):
    """The plan of the figure that a job is for."""
    return PLAN.figures[wildcards.figure]


def files(stage, name):
    """The files that a stage makes, for a key or a figure."""
    return STAGES[stage].paths(name)


def task(stage, name="{key}"):
    """The task of a job."""
    return lambda wildcards: PLAN.tasks[stage][name.format(**wildcards)]


# Names say what is in a file: times of files, which copies and checkouts change, do not count.
def merging(figure):
    """The identity of a figure's merging (workflow/rules/identity.smk)."""
    return ancient(f"{IDENTITY}/{figure.name}/merge-{merging_identity(PLAN, figure)}")


def drawing(figure):
    """The identity of a figure's drawing (workflow/rules/identity.smk)."""
    script = str(ROOT / "workflow" / "scripts" / "figures.py")
    identity = drawing_identity(figure, script, merging(figure))
    return ancient(f"{IDENTITY}/{figure.name}/draw-{identity}")


# What jobs request from a scheduler, by the cost model; more with each attempt. On one machine it
# has no effect.


def task_cost(stage, name="{key}"):
    """The cost of a task."""
    return lambda wildcards, threads: costs.of_task(
        task(stage, name)(wildcards), threads=threads
    )


def figure_cost(stage):
    """The cost of a stage of a whole figure."""
    return lambda wildcards, threads: costs.of_figure(stage, PLAN, figure_of(wildcards))


def memory(cost):
    """The memory to request, in MiB."""
    return lambda wildcards, threads, attempt: costs.request(
        cost(wildcards, threads), threads, attempt
    ).memory


def minutes(cost):
    """The time to request."""
    return lambda wildcards, threads, attempt: costs.request(
        cost(wildcards, threads), threads, attempt
    ).minutes
