# Stage 3: simulated networks; a shard is one curve and one block of network replicates. A folder
# holds all shards of a curve, and the finished replicates of those that were stopped. Numbers do
# not depend on threads; there are several where a network would take more than four hours, and
# `--set-threads montecarlo=4` says how many where memory allows fewer jobs than cores.
rule montecarlo:
    output:
        "results/montecarlo/{key}/{block}.nc",
    log:
        "logs/montecarlo/{key}/{block}.log",
    threads: threads_of_shard
    resources:
        mem_mb=memory(cost_of_shard),
        runtime=minutes(cost_of_shard),
    params:
        task=lambda wildcards: PLAN.montecarlo[f"{wildcards.key}/{wildcards.block}"],
    message:
        "Networks of {wildcards.key}: {wildcards.block}"
    script:
        "../scripts/montecarlo.py"
