"""A job of theory: the results of its tasks, each to its own file."""

from importlib import import_module
from pathlib import Path

from threadpoolctl import threadpool_limits

from giantstep.pipeline.runtime.job import logged, make_missing
from giantstep.pipeline.runtime.job_check import check_job
from giantstep.pipeline.runtime.run_times import computing
from giantstep.pipeline.stages.result import compute_result
from giantstep.pipeline.storage import netcdf


def make(path: Path, stage_and_task: tuple[str, object]) -> None:
    """Compute a result, and write it."""
    stage, task = stage_and_task
    module = import_module(f"giantstep.pipeline.stages.{stage}")
    with computing():
        result = compute_result(module, task)
    check_job(job, __file__)
    netcdf.write(result, path, f"{stage}/{path.stem}")


if "snakemake" in globals():
    job = globals()["snakemake"]
    # Another number of threads may round differently.
    with logged(job.log[0]), threadpool_limits(1):
        check_job(job, __file__)
        make_missing(job.output, make, job.params.tasks)
