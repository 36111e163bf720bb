# Stage 3: simulated networks; a shard is one curve and one block of network replicates. A folder
# holds all shards of a curve, and the finished replicates of those that were stopped. Numbers do
# not depend on threads. A shard has several where a network would take more than four hours;
# `--set-threads montecarlo=4` sets them where memory allows fewer jobs than cores.
SHARD = "{key}/{block}"


rule montecarlo:
    output:
        files("montecarlo", SHARD),
    log:
        "logs/montecarlo/{key}/{block}.log",
    threads: lambda wildcards: costs.shard_threads(task("montecarlo", SHARD)(wildcards))
    resources:
        mem_mb=memory(task_cost("montecarlo", SHARD)),
        runtime=minutes(task_cost("montecarlo", SHARD)),
    params:
        task=task("montecarlo", SHARD),
    message:
        "Networks of {wildcards.key}: {wildcards.block}"
    script:
        "../scripts/montecarlo.py"
