# The test error of a curve at several dimensions, by the theory of finite dimension.
rule dimensions:
    output:
        files("dimensions", "{key}"),
    log:
        "logs/dimensions/{key}.log",
    resources:
        mem_mb=memory(task_cost("dimensions")),
        runtime=minutes(task_cost("dimensions")),
    params:
        task=task("dimensions"),
    message:
        "Theory at several dimensions of {wildcards.key}"
    script:
        "../scripts/compute.py"
