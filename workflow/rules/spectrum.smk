# Stages 2 and 3 of a spectrum: the density of eigenvalues of the features' covariance in theory
# (Appendix F), and the eigenvalues of simulated features.
rule spectrum:
    output:
        files("spectrum", "{key}"),
    log:
        "logs/spectrum/{key}.log",
    resources:
        mem_mb=memory(task_cost("spectrum")),
        runtime=minutes(task_cost("spectrum")),
    params:
        task=task("spectrum"),
    message:
        "Spectrum of {wildcards.key}"
    script:
        "../scripts/compute.py"


rule eigenvalues:
    output:
        files("eigenvalues", "{key}"),
    log:
        "logs/eigenvalues/{key}.log",
    resources:
        mem_mb=memory(task_cost("eigenvalues")),
        runtime=minutes(task_cost("eigenvalues")),
    params:
        task=task("eigenvalues"),
    message:
        "Eigenvalues of {wildcards.key}"
    script:
        "../scripts/compute.py"
