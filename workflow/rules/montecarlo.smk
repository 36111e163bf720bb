# Simulated networks; a shard is one curve and one block of network replicates, which take about a
# minute. A folder holds all shards of a curve, and the finished replicates of those that were
# stopped. The longest start first, so that no core waits long for the last one. Numbers do not depend
# on threads. A shard has several of them where a network would take more than four hours;
# `--set-threads montecarlo=4` sets them where memory allows fewer jobs than cores.
rule montecarlo:
    output:
        files("montecarlo", SHARD),
    log:
        "logs/montecarlo/{key}/{block}.log",
    priority: task_seconds("montecarlo")
    threads: lambda wildcards: costs.shard_threads(task("montecarlo")(wildcards))
    resources:
        mem_mb=memory(task_cost("montecarlo")),
        runtime=minutes(task_cost("montecarlo")),
    params:
        code=CODE,
        task=task("montecarlo"),
    message:
        "Networks of {wildcards.key}: {wildcards.block}"
    script:
        "../scripts/simulate.py"
