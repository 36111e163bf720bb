# Of a panel with a teacher: overlaps of first layers with its directions after each step, in shards
# as those of montecarlo.
rule recovery:
    output:
        files("recovery", SHARD),
    log:
        "logs/recovery/{key}/{block}.log",
    priority: task_seconds("recovery")
    resources:
        mem_mb=memory(task_cost("recovery")),
        runtime=minutes(task_cost("recovery")),
    params:
        code=CODE,
        task=task("recovery"),
    message:
        "Overlaps of {wildcards.key}: {wildcards.block}"
    script:
        "../scripts/simulate.py"
