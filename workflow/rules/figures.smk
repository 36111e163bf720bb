# Stage 5: a figure is drawn from its merged file alone, and its scores are written as a table.
rule figures:
    input:
        lambda wildcards: drawing(figure_of(wildcards)),
        data=ancient("results/figures/{figure}.nc"),
    output:
        pdf="figures/{figure}.pdf",
        svg="figures/{figure}.svg",
        png=report(
            "figures/{figure}.png",
            caption="../report/figure.rst",
            category="Figures",
            labels=lambda wildcards: {
                "figure": wildcards.figure,
                "title": figure_of(wildcards).config["title"],
            },
        ),
        checksums="results/checksums/figures/{figure}.sha256",
    log:
        "logs/figures/{figure}.log",
    resources:
        mem_mb=memory(cost_of_figure(costs.drawing)),
        runtime=minutes(cost_of_figure(costs.drawing)),
    params:
        config=lambda wildcards: figure_of(wildcards).config,
    message:
        "Drawing {wildcards.figure}"
    script:
        "../scripts/figures.py"


rule scores:
    input:
        lambda wildcards: merging(figure_of(wildcards)),
        data=ancient("results/figures/{figure}.nc"),
    output:
        report(
            "results/scores/{figure}.csv",
            caption="../report/scores.rst",
            category="Scores",
            labels=lambda wildcards: {"figure": wildcards.figure},
        ),
        checksums="results/checksums/scores/{figure}.sha256",
    log:
        "logs/scores/{figure}.log",
    resources:
        mem_mb=memory(cost_of_figure(costs.scores)),
        runtime=minutes(cost_of_figure(costs.scores)),
    message:
        "Scores of {wildcards.figure}"
    script:
        "../scripts/scores.py"
