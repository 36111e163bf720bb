# What the rules say of a result. Input functions end the run with a sentence if somebody names a
# result that the configuration does not make.
import sys
from pathlib import Path

from giantstep.validation import RefusalError
from giantstep.workflow.config import load_mapping, with_numbers
from giantstep.workflow.plan import make_plan

# Every fault of every file is told before the first job.
try:
    for path in workflow.configfiles:  # Snakemake lets keys be repeated
        load_mapping(Path(path), str(path))
    config.update(with_numbers(config))
    PLAN = make_plan(Path.cwd(), config)
except (RefusalError, OSError) as error:
    raise WorkflowError(str(error)) from None


def figure(wildcards):
    """Return the plan of a figure."""
    try:
        return PLAN.figure(wildcards.figure)
    except RefusalError as error:
        sys.exit(str(error))


def known(path):
    """Check that the configuration and the code make a result; it is made from no file."""

    def no_file(wildcards):
        try:
            PLAN.figure_of(path.format(**wildcards))
        except RefusalError as error:
            sys.exit(str(error))
        return []

    return no_file


def estimated(path, resource):
    """Estimate MiB or minutes, more for each attempt."""
    return lambda wildcards, threads, attempt: PLAN.request(
        path.format(**wildcards), threads, attempt
    )[resource]
