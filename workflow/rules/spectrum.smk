# Stages 2 and 3 of a spectrum: the density of eigenvalues of the features' covariance in theory
# (Appendix F), and the eigenvalues of simulated features.
rule spectrum:
    input:
        lambda wildcards: results("srf", [PLAN.spectrum[wildcards.key].parameters]),
    output:
        "results/spectrum/{key}.nc",
    log:
        "logs/spectrum/{key}.log",
    resources:
        mem_mb=memory(lambda wildcards, threads: costs.spectrum()),
        runtime=minutes(lambda wildcards, threads: costs.spectrum()),
    params:
        task=lambda wildcards: PLAN.spectrum[wildcards.key],
    message:
        "Spectrum of {wildcards.key}"
    script:
        "../scripts/spectrum.py"


rule eigenvalues:
    output:
        "results/eigenvalues/{key}.nc",
    log:
        "logs/eigenvalues/{key}.log",
    resources:
        mem_mb=memory(cost_of_eigenvalues),
        runtime=minutes(cost_of_eigenvalues),
    params:
        task=lambda wildcards: PLAN.eigenvalues[wildcards.key],
    message:
        "Eigenvalues of {wildcards.key}"
    script:
        "../scripts/eigenvalues.py"
