# Stage 5: a figure is drawn from its merged file alone, and its scores are written as tables.
rule figures:
    input:
        mark=mark_of_job("figures"),
        data=merged_file,
    output:
        files("figures", "{figure}")[:-1],
        report(
            files("figures", "{figure}")[-1],
            caption="../report/figure.rst",
            category="Figures",
            labels=lambda wildcards: {
                "figure": wildcards.figure,
                "title": figure_of(wildcards).config["title"],
            },
        ),
    log:
        "logs/figures/{figure}.log",
    # Drawing takes a second, as merging does. Scores take less, and come last.
    priority: 1
    resources:
        mem_mb=memory(figure_cost("figures")),
        runtime=minutes(figure_cost("figures")),
    params:
        code=CODE,
        figure=figure_of,
        name=merged_name,
    message:
        "Drawing {wildcards.figure}"
    script:
        "../scripts/figures.py"


rule scores:
    input:
        mark=mark_of_job("scores"),
        data=merged_file,
    output:
        files("scores", "{figure}")[:-1],
        report(
            files("scores", "{figure}")[-1],
            caption="../report/scores.rst",
            category="Scores",
            labels=lambda wildcards: {
                "figure": wildcards.figure,
                "title": figure_of(wildcards).config["title"],
            },
        ),
    log:
        "logs/scores/{figure}.log",
    resources:
        mem_mb=memory(figure_cost("scores")),
        runtime=minutes(figure_cost("scores")),
    params:
        code=CODE,
        figure=figure_of,
        name=merged_name,
    message:
        "Scores of {wildcards.figure}"
    script:
        "../scripts/scores.py"
