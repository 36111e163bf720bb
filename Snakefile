# giantstep: every figure of "Asymptotics of feature learning in two-layer networks after one
# gradient-step" (arXiv 2402.04980), theory and simulation side by side.
#
#   snakemake --cores all                         all figures
#   snakemake --cores all figures/fig2.pdf        one of them
#   snakemake --cores all --configfile config/paper.yaml
#
# The way to a figure: its YAML in config/figures/ lists curves. The theory of each curve is solved
# over its grid (theory), and networks are trained by the same protocol, in shards of replicates
# (montecarlo). All curves of a figure go into one file, with the parameters of their equivalent sRF
# (parameters, merge), and from this file alone the figure is drawn (figures). The stages and their
# files are listed in giantstep.pipeline.planning.layout. A page with all figures, their captions
# and scores:
#
#   snakemake --report report.html

from snakemake.utils import min_version

min_version("9.3")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"


onerror:
    print(
        "Some jobs have failed. Each is named above, with its log, which says why."
        " What is finished is kept: run the same command again to go on."
    )


localrules:
    all,


rule all:
    default_target: True
    input:
        figure_marks,
        figure_files,
        lost_files,


include: "workflow/rules/identity.smk"
include: "workflow/rules/parameters.smk"
include: "workflow/rules/theory.smk"
include: "workflow/rules/dimensions.smk"
include: "workflow/rules/learning_rates.smk"
include: "workflow/rules/montecarlo.smk"
include: "workflow/rules/spectrum.smk"
include: "workflow/rules/recovery.smk"
include: "workflow/rules/merge.smk"
include: "workflow/rules/figures.smk"
