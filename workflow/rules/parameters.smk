# Stage 1: the spiked random features equivalent to a curve's protocol (Result 3.1).
rule parameters:
    output:
        "results/srf/{key}.nc",
    log:
        "logs/parameters/{key}.log",
    resources:
        mem_mb=memory(lambda wildcards, threads: costs.parameters()),
        runtime=minutes(lambda wildcards, threads: costs.parameters()),
    params:
        problem=lambda wildcards: PLAN.parameters[wildcards.key],
    message:
        "sRF parameters of {wildcards.key}"
    script:
        "../scripts/parameters.py"
