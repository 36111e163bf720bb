# Stage 2: overlaps and errors over a curve's whole grid (Result 3.3).
rule theory:
    output:
        files("theory", "{key}"),
    log:
        "logs/theory/{key}.log",
    resources:
        mem_mb=memory(task_cost("theory")),
        runtime=minutes(task_cost("theory")),
    params:
        task=task("theory"),
    message:
        "Theory of {wildcards.key}"
    script:
        "../scripts/compute.py"
