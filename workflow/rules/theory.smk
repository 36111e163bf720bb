# The equivalent spiked random features of a figure's curves (Result 3.1).
rule parameters:
    output:
        "results/parameters/{figure}-{key}.nc",
    log:
        "logs/parameters/{figure}-{key}.log",
    benchmark:
        "logs/parameters/{figure}-{key}.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: 500 * attempt,
        runtime=lambda wildcards, attempt: 5 * attempt,
    params:
        stage="parameters",
        tasks=lambda wildcards: PLAN.tasks("parameters", **wildcards),
    message:
        "Equivalent spiked features of {wildcards.figure}"
    script:
        "../scripts/compute.py"


# Errors, overlaps and spectra of a figure's curves, all on their grids (Result 3.3).
rule theory:
    output:
        "results/theory/{figure}-{key}.nc",
    log:
        "logs/theory/{figure}-{key}.log",
    benchmark:
        "logs/theory/{figure}-{key}.tsv"
    resources:
        mem_mb=lambda wildcards, threads, attempt: PLAN.request(
            "theory", threads, attempt, **wildcards
        ).memory,
        runtime=lambda wildcards, threads, attempt: PLAN.request(
            "theory", threads, attempt, **wildcards
        ).minutes,
    params:
        stage="theory",
        tasks=lambda wildcards: PLAN.tasks("theory", **wildcards),
    message:
        "Theory of {wildcards.figure}"
    script:
        "../scripts/compute.py"
