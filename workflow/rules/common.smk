# The plan: the configuration, checked whole before the first job, as tasks by their keys.
# Keys name the files of results/; they hold everything that a result depends on.

from pathlib import Path

from snakemake.exceptions import WorkflowError

from giantstep.config import InvalidConfigError
from giantstep.identity import fingerprint
from giantstep.plan import drawing_identity, make_plan

ROOT = Path(workflow.basedir)

try:
    PLAN = make_plan(ROOT, config)
except InvalidConfigError as error:
    raise WorkflowError(str(error)) from None


wildcard_constraints:
    figure="|".join(PLAN.figures),
    key="[^/]+",


def figure_of(wildcards):
    """The plan of the figure that a job is for."""
    return PLAN.figures[wildcards.figure]


def results(stage, keys):
    """Paths of a stage's results."""
    return [f"results/{stage}/{key}.nc" for key in keys]


def stage_script(stage):
    """Path of a stage's script, for its fingerprint."""
    return str(ROOT / "workflow" / "scripts" / f"{stage}.py")
