PARAMETERS = "results/parameters/{figure}-{key}.nc"
THEORY = "results/theory/{figure}-{key}.nc"


# The equivalent spiked random features of a figure's curves (Result 3.1).
rule parameters:
    input:
        known(PARAMETERS),
    output:
        PARAMETERS,
    log:
        "logs/parameters/{figure}-{key}.log",
    benchmark:
        "logs/parameters/{figure}-{key}.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: 500 * attempt,
        runtime=lambda wildcards, attempt: 5 * attempt,
    params:
        figure="{figure}",
    message:
        "Equivalent spiked features of {wildcards.figure}"
    script:
        "../scripts/compute.py"


# Errors, overlaps and spectra of a figure's curves, all on their grids (Result 3.3).
rule theory:
    input:
        known(THEORY),
    output:
        THEORY,
    log:
        "logs/theory/{figure}-{key}.log",
    benchmark:
        "logs/theory/{figure}-{key}.tsv"
    resources:
        mem_mb=estimated(THEORY, "mem_mb"),
        runtime=estimated(THEORY, "runtime"),
    params:
        figure="{figure}",
    message:
        "Theory of {wildcards.figure}"
    script:
        "../scripts/compute.py"
