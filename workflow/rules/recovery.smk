# Stage 3, of a panel with a teacher: what first layers see of its directions, after each step.
rule recovery:
    output:
        "results/recovery/{key}.nc",
    log:
        "logs/recovery/{key}.log",
    resources:
        mem_mb=memory(cost_of_recovery),
        runtime=minutes(cost_of_recovery),
    params:
        task=lambda wildcards: PLAN.recovery[wildcards.key],
    message:
        "Overlaps of {wildcards.key}"
    script:
        "../scripts/recovery.py"
