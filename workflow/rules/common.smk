# The plan: the configuration, checked as a whole before the first job, as tasks by their keys. Keys
# are the names of files in results/; they cover all that a result depends on.

import json
import os
import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

# What Snakemake has done so far counts, too.
STARTED = time.monotonic() - time.process_time()
# The project's folder: that of the main Snakefile, which may be workflow/Snakefile itself.
ROOT = Path(workflow.basedir)
if ROOT.name == "workflow" and not (ROOT / "config").is_dir():
    ROOT = ROOT.parent
# The package that computes, here and in all jobs, is the one beside the Snakefile, if there is one.
SOURCE = str(ROOT / "src")
if Path(SOURCE, "giantstep").is_dir():
    sys.path.insert(0, SOURCE)
    # The profile has loaded the reader of overlays already, perhaps from an installed package.
    for name in [name for name in sys.modules if name.partition(".")[0] == "giantstep"]:
        del sys.modules[name]
    others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [SOURCE, *(path for path in others if path not in ("", SOURCE))]
    )

from giantstep.pipeline.planning import costs, identities, requests
from giantstep.pipeline.planning.batches import theory_batches
from giantstep.pipeline.planning.config import InvalidConfigError, load_config, overlaid
from giantstep.pipeline.planning.layout import FIGURE_STAGES, IDENTITY, STAGES
from giantstep.pipeline.planning.own_package import ForeignPackageError
from giantstep.pipeline.planning.recorded_plan import make_recorded_plan
from giantstep.pipeline.planning.traceable import UntraceableCodeError
from giantstep.pipeline.runtime import run_lock, run_times
from giantstep.pipeline.runtime.checksums import remedied
from giantstep.pipeline.runtime.job_check import ChangedJobError, check_rules
from giantstep.pipeline.runtime.run_start import (
    before_report,
    before_run,
    fork_jobs,
    keep_results,
)
from giantstep.pipeline.upkeep import integrity

try:
    # All files are read again, and strictly; of what Snakemake read, only --config lies on top.
    with remedied():
        # A module may be given its configuration by the workflow that uses it.
        if workflow.modifier.is_main_snakefile() or not config:
            config = overlaid(
                load_config(ROOT, workflow.configfiles),
                dict(workflow.config_settings.config),
            )
        # A figure need not be listed to be made: its jobs are told so by --config.
        asked = requests.figures_asked_for(sys.argv[1:])
        if unlisted := requests.unlisted_figures(ROOT, config, asked):
            config["figures"] = [*config["figures"], *unlisted]
            workflow.config_settings.config_args = [
                *(workflow.config_settings.config_args or ()),
                f"figures={json.dumps(config['figures'])}",
            ]
        PLAN, CODE = make_recorded_plan(ROOT, config)
except (
    ForeignPackageError,
    InvalidConfigError,
    UntraceableCodeError,
    OSError,
) as error:
    raise WorkflowError(str(error)) from None


def start_run():
    """Check the rules, lock the folder, set damaged results aside, and mend their times."""
    try:
        with remedied():
            check_rules(workflow)
            run_lock.acquire_run_lock(run_lock.RECORDS, logger.warning)
            run_times.forget_times(run_lock.RECORDS)
            fork_jobs(workflow, PLAN)
            integrity.set_damaged_aside(Path(), PLAN, logger.warning)
            integrity.date_back(Path(), PLAN)
    except (ChangedJobError, OSError, run_lock.AnotherRunError) as error:
        raise WorkflowError(str(error)) from None


def lost_files(wildcards):
    """The files that were set aside and not made again, when the run has set damaged files aside."""
    try:
        with remedied():
            return integrity.lost_files(Path(), PLAN)
    except OSError as error:
        raise WorkflowError(str(error)) from None


def print_times():
    """Print what the run took."""
    cores = workflow.cores if workflow.local_exec else None
    took = time.monotonic() - STARTED
    print(*run_times.summary(run_lock.RECORDS, took, cores), sep="\n")


run_lock.announce_run()
before_run(workflow, start_run)
keep_results()

# A report shows what was made, be it a single figure.
REPORTED = before_report(workflow)


def stages_of_figures():
    """The stages of all figures, each with its figure; for a report, those that were made."""
    pairs = [(stage.name, figure) for figure in PLAN.figures for stage in FIGURE_STAGES]
    return [
        (stage, figure)
        for stage, figure in pairs
        if not REPORTED or all(Path(path).exists() for path in files(stage, figure))
    ]


def figure_marks(wildcards):
    """The marks of what the figures' files are made from."""
    return [mark(stage, figure) for stage, figure in stages_of_figures()]


def figure_files(wildcards):
    """All files of all figures."""
    return [path for pair in stages_of_figures() for path in files(*pair)]


wildcard_constraints:
    figure="|".join(PLAN.figures),
    key="[^/]+",
    block=r"networks\d+-\d+",
    stage="|".join(stage.name for stage in FIGURE_STAGES),
    identity="[0-9a-f]+",


def figure_of(wildcards):
    """The plan of the figure that a job is for; the job checks that its files are marked so."""
    return PLAN.figures[wildcards.figure]


def files(stage, name):
    """The files that a stage makes, for a key or a figure."""
    return STAGES[stage].paths(name)


# A shard of a simulation: the key is of all its replicates, whose files are in one folder.
SHARD = "{key}/{block}"


def task(stage):
    """The task of a shard's job, which checks that its result has the task's name."""

    def found(wildcards):
        key = SHARD.format(**wildcards)
        if key not in PLAN.tasks[stage]:
            raise WorkflowError(OTHER_PLAN.format(files(stage, key)[0]))
        return PLAN.tasks[stage][key]

    return found


def merged_name(wildcards):
    """The name that is inside the merged file of a job's figure."""
    return identities.merged_name(PLAN.root, figure_of(wildcards))


OTHER_PLAN = (
    "{} is not among what the configuration and the code make now; if either was edited since the"
    " run was planned, run the same command again, which plans anew"
)


# Names say what is in a file: times of files, which copies and checkouts change, do not count.
def mark(stage, figure):
    """The mark of what a figure's files are made from at a stage (workflow/rules/identity.smk)."""
    return ancient(str(identities.mark(PLAN.root, PLAN.figures[figure], stage)))


def mark_of_job(stage):
    """The mark for a job, which must be the one that the run has made."""

    def found(wildcards):
        path = mark(stage, wildcards.figure)
        # A job on a cluster reads the Snakefile again, and may find other code than was planned.
        if not (workflow.is_main_process or Path(path).exists()):
            raise WorkflowError(OTHER_PLAN.format(path))
        return path

    return found


def merged_file(wildcards):
    """The merged file of a job's figure. Its time does not count, unless it is to be made anew."""
    path = files("merge", wildcards.figure)[0]
    return ancient(path) if Path(mark("merge", wildcards.figure)).exists() else path


# What jobs request from a scheduler, by the cost model; more with each attempt. On one machine it
# has no effect.


def task_cost(stage):
    """The cost of a task."""
    return lambda wildcards, threads: costs.of_task(
        task(stage)(wildcards), threads=threads
    )


def task_seconds(stage):
    """The seconds of a task."""
    return lambda wildcards: task_cost(stage)(wildcards, threads=1).seconds


def batch_cost(batch):
    """The cost of a job of theory."""
    return lambda wildcards, threads: batch.cost


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
