# The equivalent spiked random features of a figure's curves (Result 3.1).
rule parameters:
    input:
        known("parameters"),
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
        figure="{figure}",
    message:
        "Equivalent spiked features of {wildcards.figure}"
    script:
        "../scripts/compute.py"


# Errors, overlaps and spectra of a figure's curves, all on their grids (Result 3.3).
rule theory:
    input:
        known("theory"),
    output:
        "results/theory/{figure}-{key}.nc",
    log:
        "logs/theory/{figure}-{key}.log",
    benchmark:
        "logs/theory/{figure}-{key}.tsv"
    resources:
        mem_mb=estimated("theory", "mem_mb"),
        runtime=estimated("theory", "runtime"),
    params:
        stage="theory",
        figure="{figure}",
    message:
        "Theory of {wildcards.figure}"
    script:
        "../scripts/compute.py"
