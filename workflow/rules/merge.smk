# Stage 4: everything of one figure, theory beside simulation, in one self-contained file.
rule merge:
    input:
        lambda wildcards: merging(figure_of(wildcards)),
        srf=lambda wildcards: results(
            "srf", [curve.parameters for curve in figure_of(wildcards).curves]
        ),
        theory=lambda wildcards: results(
            "theory", [curve.theory for curve in figure_of(wildcards).curves]
        ),
        montecarlo=lambda wildcards: results("montecarlo", figure_of(wildcards).shards),
    output:
        "results/figures/{figure}.nc",
    log:
        "logs/merge/{figure}.log",
    params:
        science=lambda wildcards: figure_of(wildcards).science,
        curves=lambda wildcards: figure_of(wildcards).curves,
        simulation=PLAN.sizes,
        root_seed=PLAN.root_seed,
    message:
        "Merging {wildcards.figure}"
    script:
        "../scripts/merge.py"
