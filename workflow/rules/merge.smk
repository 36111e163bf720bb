# Stage 4: everything of one figure, theory beside simulation, in one self-contained file.
rule merge:
    input:
        lambda wildcards: merging(figure_of(wildcards)),
        lambda wildcards: [
            ancient(f"results/{path}") for path in figure_of(wildcards).files
        ],
    output:
        "results/figures/{figure}.nc",
    log:
        "logs/merge/{figure}.log",
    resources:
        mem_mb=memory(cost_of_figure(costs.merging)),
        runtime=minutes(cost_of_figure(costs.merging)),
    params:
        science=lambda wildcards: figure_of(wildcards).science,
        curves=lambda wildcards: figure_of(wildcards).curves,
        simulation=PLAN.sizes,
        root_seed=PLAN.root_seed,
    message:
        "Merging {wildcards.figure}"
    script:
        "../scripts/merge.py"
