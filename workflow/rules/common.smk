# The plan: the configuration, checked whole before the first job, as tasks by their keys.
# Keys name the files of results/; they hold everything that a result depends on.

from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from giantstep.pipeline.planning import costs
from giantstep.pipeline.upkeep import integrity
from giantstep.pipeline.runtime import run_lock
from giantstep.pipeline.runtime import checksums
from giantstep.pipeline.planning.config import InvalidConfigError, load_config, overlaid
from giantstep.pipeline.planning.plan import (
    drawing_identity,
    make_plan,
    merging_identity,
)

ROOT = Path(workflow.basedir)

try:
    # Files are read anew, and strictly; what Snakemake read of overlays, and --config, lies on top.
    config = overlaid(load_config(ROOT, workflow.configfiles), config)
    PLAN = make_plan(ROOT, config)
except InvalidConfigError as error:
    raise WorkflowError(str(error)) from None


def starts_jobs():
    """Whether this is a run: not a job of one, nor a question to it."""
    asked = workflow.resource_settings.cores or workflow.resource_settings.nodes
    return workflow.is_main_process and asked and not workflow.output_settings.dryrun


run_lock.lead()
if starts_jobs():
    try:
        run_lock.begin(run_lock.RECORDS, logger.warning)
    except run_lock.AnotherRunError as error:
        raise WorkflowError(str(error)) from None
    for path in integrity.damaged(Path(), PLAN):
        logger.warning(
            f"{path} is damaged: set aside as {checksums.set_aside(path)}, to be made anew"
        )


wildcard_constraints:
    figure="|".join(PLAN.figures),
    key="[^/]+",
    block=r"networks\d+-\d+",
    stage="merge|draw",
    identity="[0-9a-f]+",


def figure_of(wildcards):
    """The plan of the figure that a job is for."""
    return PLAN.figures[wildcards.figure]


# Names say what is in a file: times of files, which copies and checkouts change, do not count.
def results(stage, keys):
    """Paths of a stage's results."""
    return [ancient(f"results/{stage}/{key}.nc") for key in keys]


def stage_script(stage):
    """Path of a stage's script, for its fingerprint."""
    return str(ROOT / "workflow" / "scripts" / f"{stage}.py")


def merging(figure):
    """The identity of a figure's merging (workflow/rules/identity.smk)."""
    identity = merging_identity(PLAN, figure, stage_script("merge"))
    return ancient(f"results/identity/{figure.name}/merge-{identity}")


def drawing(figure):
    """The identity of a figure's drawing (workflow/rules/identity.smk)."""
    identity = drawing_identity(figure, stage_script("figures"), merging(figure))
    return ancient(f"results/identity/{figure.name}/draw-{identity}")


# What jobs ask of a scheduler, from the cost model; more with each attempt. On one machine it
# changes nothing. Numbers do not depend on threads.


def cost_of_shard(wildcards, threads):
    """The cost of a shard."""
    task = PLAN.montecarlo[f"{wildcards.key}/{wildcards.block}"]
    return costs.shard(task, threads=threads)


def threads_of_shard(wildcards):
    """The threads of a shard."""
    return costs.shard_threads(PLAN.montecarlo[f"{wildcards.key}/{wildcards.block}"])


def cost_of_theory(wildcards, threads):
    """The cost of a curve's theory."""
    task = PLAN.theory[wildcards.key]
    return costs.theory(task, PLAN.parameters[task.parameters])


def cost_of_eigenvalues(wildcards, threads):
    """The cost of a curve's simulated eigenvalues."""
    return costs.eigenvalues(PLAN.eigenvalues[wildcards.key])


def cost_of_recovery(wildcards, threads):
    """The cost of what first layers see of a teacher."""
    return costs.recovery(PLAN.recovery[wildcards.key])


def cost_of_figure(stage):
    """The cost of a stage of a whole figure, such as `costs.merging`."""
    return lambda wildcards, threads: stage(PLAN, figure_of(wildcards))


def memory(cost):
    """The memory to ask for, in MiB."""
    return lambda wildcards, threads, attempt: costs.request(
        cost(wildcards, threads), threads, attempt
    ).memory


def minutes(cost):
    """The time to ask for."""
    return lambda wildcards, threads, attempt: costs.request(
        cost(wildcards, threads), threads, attempt
    ).minutes
