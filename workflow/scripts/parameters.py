"""Stage 1 as a job: a curve's problem to the file of its equivalent sRF."""

from giantstep import dataset, stages
from giantstep.joblog import logged

if "snakemake" in globals():
    job = globals()["snakemake"]
    with logged(job.log[0]):
        dataset.write(stages.parameters(job.params.problem), job.output[0])
