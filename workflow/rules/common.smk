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


# A merged file and a drawing have names without a key. What they are made from is therefore an
# input of theirs, as the name of an empty file of which only the latest is kept: so a change is
# seen even where Snakemake's own records are lost.
localrules:
    identity,


rule identity:
    output:
        touch("results/identity/{figure}/{stage}-{identity}"),
    message:
        "What {wildcards.figure} is made from ({wildcards.stage}) has changed"
    shell:
        "rm -f results/identity/{wildcards.figure}/{wildcards.stage}-*"
