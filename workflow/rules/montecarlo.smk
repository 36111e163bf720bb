# A shard of simulated networks: one curve, and a block of network replicates that takes about a
# minute. Numbers depend neither on the block nor on threads, of which a shard has several where one
# network takes hours; where memory is short, `--set-threads montecarlo=4` runs fewer at once.
rule montecarlo:
    input:
        known("montecarlo"),
    output:
        "results/montecarlo/{problem}-{key}/{first}-{last}.nc",
    log:
        "logs/montecarlo/{problem}-{key}/{first}-{last}.log",
    benchmark:
        "logs/montecarlo/{problem}-{key}/{first}-{last}.tsv"
    priority: 1  # before what takes a second
    threads: threads_of("montecarlo")
    resources:
        mem_mb=estimated("montecarlo", "mem_mb"),
        runtime=estimated("montecarlo", "runtime"),
    params:
        stage="montecarlo",
        figure=lambda wildcards: PLAN.networks(**wildcards).figure,
        curve=lambda wildcards: PLAN.networks(**wildcards).curve,
        role=lambda wildcards: PLAN.networks(**wildcards).role,
    message:
        "Networks {wildcards.first} to {wildcards.last} of {wildcards.problem}"
    script:
        "../scripts/compute.py"
