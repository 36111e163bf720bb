# The theory over two parameters of a protocol.
rule maps:
    output:
        files("maps", "{key}"),
    log:
        "logs/maps/{key}.log",
    resources:
        mem_mb=memory(task_cost("maps")),
        runtime=minutes(task_cost("maps")),
    params:
        task=task("maps"),
    message:
        "Map of {wildcards.key}"
    script:
        "../scripts/compute.py"
