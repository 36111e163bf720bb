# A shard of simulated networks: one curve, and a block of network replicates that takes about a
# minute. Numbers depend neither on the block nor on threads, of which a shard has several where one
# network takes hours; where memory is short, `--set-threads montecarlo=4` runs fewer at once.
rule montecarlo:
    output:
        "results/montecarlo/{curve}-{key}/{first}-{last}.nc",
    log:
        "logs/montecarlo/{curve}-{key}/{first}-{last}.log",
    benchmark:
        "logs/montecarlo/{curve}-{key}/{first}-{last}.tsv"
    priority: 1  # before what takes a second
    threads: lambda wildcards: PLAN.threads("montecarlo", **wildcards)
    resources:
        mem_mb=lambda wildcards, threads, attempt: PLAN.request(
            "montecarlo", threads, attempt, **wildcards
        ).memory,
        runtime=lambda wildcards, threads, attempt: PLAN.request(
            "montecarlo", threads, attempt, **wildcards
        ).minutes,
    params:
        stage="montecarlo",
        tasks=lambda wildcards: PLAN.tasks("montecarlo", **wildcards),
    message:
        "Networks {wildcards.first} to {wildcards.last} of {wildcards.curve}"
    script:
        "../scripts/compute.py"
