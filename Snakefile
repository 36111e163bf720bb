# giantstep: every figure of "Asymptotics of feature learning in two-layer networks after one
# gradient-step" (arXiv 2402.04980), theory and simulation side by side.
#
#   snakemake --cores all                         all figures
#   snakemake --cores all figures/fig2.pdf        one of them
#   snakemake --cores all --configfile config/paper.yaml
#
# A figure's way: its YAML in config/figures/ lists curves. Each curve's protocol becomes an
# equivalent sRF (parameters), which is solved over the curve's grid (saddle), while networks are
# trained by the same protocol in shards of replicates (montecarlo). All curves of a figure go into
# one file (merge), and from it alone the figure is drawn (figures). A page with all figures, their
# captions and scores:
#
#   snakemake --report report.html

from snakemake.utils import min_version

min_version("9.3")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"


onerror:
    print(
        "Not everything was made. Each job that failed is named above, with its log, which says why."
        " What is finished is kept: run the same command again to go on."
    )


localrules:
    all,


rule all:
    default_target: True
    input:
        [
            identity(figure)
            for figure in PLAN.figures.values()
            for identity in (merging, drawing)
        ],
        collect(
            "figures/{figure}.{format}",
            figure=PLAN.figures,
            format=["pdf", "svg", "png"],
        ),
        collect("results/figures/{figure}.nc", figure=PLAN.figures),
        collect("results/scores/{figure}.csv", figure=PLAN.figures),
        collect(
            "results/checksums/{drawn}/{figure}.sha256",
            drawn=integrity.DRAWN,
            figure=PLAN.figures,
        ),
        integrity.lost(Path(), PLAN),


include: "workflow/rules/identity.smk"
include: "workflow/rules/parameters.smk"
include: "workflow/rules/saddle.smk"
include: "workflow/rules/montecarlo.smk"
include: "workflow/rules/spectrum.smk"
include: "workflow/rules/recovery.smk"
include: "workflow/rules/merge.smk"
include: "workflow/rules/figures.smk"
