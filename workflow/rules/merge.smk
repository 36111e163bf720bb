# Stage 4: everything of one figure, theory beside simulation, in one self-contained file.
rule merge:
    input:
        mark_of_job("merge"),
        lambda wildcards: [ancient(path) for path in figure_of(wildcards).files],
    output:
        files("merge", "{figure}"),
    log:
        "logs/merge/{figure}.log",
    resources:
        mem_mb=memory(figure_cost("merge")),
        runtime=minutes(figure_cost("merge")),
    params:
        curves=lambda wildcards: figure_of(wildcards).curves,
        config=lambda wildcards: figure_of(wildcards).science,
        simulation=PLAN.sizes,
        root_seed=PLAN.root_seed,
        code=code("merge", "{figure}"),
        name=merged_name,
    message:
        "Merging {wildcards.figure}"
    script:
        "../scripts/merge.py"
