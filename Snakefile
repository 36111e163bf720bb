# giantstep: the eight figures of "Asymptotics of feature learning in two-layer networks after one
# gradient-step" (arXiv 2402.04980), theory and simulation side by side.
#
#   snakemake --cores all                         the figures that the configuration lists
#   snakemake --cores all figures/fig2.pdf        one of them
#   snakemake --cores all --configfile config/paper.yaml
#   snakemake --report report.html                afterwards: a page with figures, captions, scores


configfile: "config/config.yaml"


include: "workflow/Snakefile"


rule all:
    default_target: True
    input:
        rules.figures.input,
    message:
        "The figures that the configuration lists"
