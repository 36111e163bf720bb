# The plan: the configuration, checked whole before the first job, as tasks by their keys.
# Keys name the files of results/; they hold everything that a result depends on.

from pathlib import Path

from snakemake.exceptions import WorkflowError

from giantstep.config import InvalidConfigError
from giantstep.plan import drawing_identity, make_plan, merging_identity

ROOT = Path(workflow.basedir)

try:
    PLAN = make_plan(ROOT, config)
except InvalidConfigError as error:
    raise WorkflowError(str(error)) from None


wildcard_constraints:
    figure="|".join(PLAN.figures),
    key="[^/]+",
    block=r"networks\d+-\d+",
    stage="merge|draw",
    identity="[0-9a-f]+",


def figure_of(wildcards):
    """The plan of the figure that a job is for."""
    return PLAN.figures[wildcards.figure]


def results(stage, keys):
    """Paths of a stage's results."""
    return [f"results/{stage}/{key}.nc" for key in keys]


def stage_script(stage):
    """Path of a stage's script, for its fingerprint."""
    return str(ROOT / "workflow" / "scripts" / f"{stage}.py")


def merging(figure):
    """The identity of a figure's merging (workflow/rules/identity.smk)."""
    identity = merging_identity(PLAN, figure, stage_script("merge"))
    return f"results/identity/{figure.name}/merge-{identity}"


def drawing(figure):
    """The identity of a figure's drawing (workflow/rules/identity.smk)."""
    identity = drawing_identity(figure, stage_script("figures"))
    return f"results/identity/{figure.name}/draw-{identity}"
