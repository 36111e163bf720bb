# Stage 2: overlaps and errors of an sRF over a curve's whole grid (Result 3.3).
rule saddle:
    input:
        lambda wildcards: results("srf", [PLAN.theory[wildcards.key].parameters]),
    output:
        "results/theory/{key}.nc",
    log:
        "logs/saddle/{key}.log",
    resources:
        mem_mb=memory(cost_of_theory),
        runtime=minutes(cost_of_theory),
    params:
        task=lambda wildcards: PLAN.theory[wildcards.key],
    message:
        "Saddle points of {wildcards.key}"
    script:
        "../scripts/saddle.py"
