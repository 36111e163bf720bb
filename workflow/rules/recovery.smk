# Stage 3, of a panel with a teacher: overlaps of first layers with its directions after each step.
rule recovery:
    output:
        files("recovery", "{key}"),
    log:
        "logs/recovery/{key}.log",
    resources:
        mem_mb=memory(task_cost("recovery")),
        runtime=minutes(task_cost("recovery")),
    params:
        task=task("recovery"),
    message:
        "Overlaps of {wildcards.key}"
    script:
        "../scripts/compute.py"
