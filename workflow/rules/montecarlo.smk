# Stage 3: simulated networks; a shard is one curve and one block of network replicates.
rule montecarlo:
    output:
        "results/montecarlo/{key}.nc",
    log:
        "logs/montecarlo/{key}.log",
    params:
        task=lambda wildcards: PLAN.montecarlo[wildcards.key],
    message:
        "Networks of {wildcards.key}"
    script:
        "../scripts/montecarlo.py"
