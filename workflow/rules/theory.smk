THEORY = "results/theory/{figure}-{key}.nc"


# Equivalent spiked features (Result 3.1), errors, overlaps and spectra (Result 3.3) of a figure's curves,
# all on their grids.
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
