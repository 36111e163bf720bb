# Stage 5: a figure is drawn from its merged file alone.
rule figures:
    input:
        lambda wildcards: drawing(figure_of(wildcards)),
        data="results/figures/{figure}.nc",
    output:
        pdf="figures/{figure}.pdf",
        svg="figures/{figure}.svg",
        png="figures/{figure}.png",
    log:
        "logs/figures/{figure}.log",
    params:
        config=lambda wildcards: figure_of(wildcards).config,
    message:
        "Drawing {wildcards.figure}"
    script:
        "../scripts/figures.py"
