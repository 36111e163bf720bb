# The eigenvalues of simulated features, in shards as those of montecarlo.
rule eigenvalues:
    output:
        files("eigenvalues", SHARD),
    log:
        "logs/eigenvalues/{key}/{block}.log",
    priority: task_seconds("eigenvalues")
    resources:
        mem_mb=memory(task_cost("eigenvalues")),
        runtime=minutes(task_cost("eigenvalues")),
    params:
        code=CODE,
        task=task("eigenvalues"),
    message:
        "Eigenvalues of {wildcards.key}: {wildcards.block}"
    script:
        "../scripts/simulate.py"
