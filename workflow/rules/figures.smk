# Stage 5: a figure is drawn from its merged file alone.
rule figures:
    input:
        "results/figures/{figure}.nc",
    output:
        pdf="figures/{figure}.pdf",
        svg="figures/{figure}.svg",
        png="figures/{figure}.png",
    log:
        "logs/figures/{figure}.log",
    params:
        config=lambda wildcards: figure_of(wildcards).config,
        code=lambda wildcards: drawing_identity(
            wildcards.figure, stage_script("figures")
        ),
    message:
        "Drawing {wildcards.figure}"
    script:
        "../scripts/figures.py"
