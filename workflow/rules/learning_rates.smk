# The test error of a curve after each step, at several learning rates, by the theory.
rule learning_rates:
    output:
        files("learning_rates", "{key}"),
    log:
        "logs/learning_rates/{key}.log",
    resources:
        mem_mb=memory(task_cost("learning_rates")),
        runtime=minutes(task_cost("learning_rates")),
    params:
        task=task("learning_rates"),
    message:
        "Theory at several learning rates of {wildcards.key}"
    script:
        "../scripts/compute.py"
