# Stage 4: everything of one figure, theory beside simulation, in one self-contained file.
rule merge:
    input:
        mark=mark_of_job("merge"),
        results=lambda wildcards: [ancient(path) for path in figure_of(wildcards).files],
    output:
        files("merge", "{figure}"),
    log:
        "logs/merge/{figure}.log",
    priority: 1
    resources:
        mem_mb=memory(figure_cost("merge")),
        runtime=minutes(figure_cost("merge")),
    params:
        code=CODE,
        figure=figure_of,
        name=merged_name,
    message:
        "Merging {wildcards.figure}"
    script:
        "../scripts/merge.py"
