SHARD = "results/montecarlo/{problem}-{key}/{first}-{last}.nc"


# A shard of simulated networks: one curve, and a block of network replicates that takes about a
# minute. Numbers depend neither on the block nor on threads; where memory is short or a network takes
# hours, `--set-threads montecarlo=4` runs fewer at once.
rule montecarlo:
    input:
        known(SHARD),
    output:
        SHARD,
    log:
        "logs/montecarlo/{problem}-{key}/{first}-{last}.log",
    benchmark:
        "logs/montecarlo/{problem}-{key}/{first}-{last}.tsv"
    priority: 1  # before what takes a second
    resources:
        mem_mb=estimated(SHARD, "mem_mb"),
        runtime=estimated(SHARD, "runtime"),
    params:
        figure=lambda wildcards: PLAN.figure_of(SHARD.format(**wildcards)).name,
    message:
        "Networks {wildcards.first} to {wildcards.last} of {wildcards.problem}"
    script:
        "../scripts/compute.py"
