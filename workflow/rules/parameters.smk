# Stage 1: the spiked random features equivalent to a curve's protocol (Result 3.1).
rule parameters:
    output:
        files("parameters", "{key}"),
    log:
        "logs/parameters/{key}.log",
    resources:
        mem_mb=memory(task_cost("parameters")),
        runtime=minutes(task_cost("parameters")),
    params:
        task=task("parameters"),
    message:
        "sRF parameters of {wildcards.key}"
    script:
        "../scripts/compute.py"
