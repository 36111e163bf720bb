localrules:
    key,


# The key of a figure's data, or of its drawing. Only the latest exists: a return to an earlier
# configuration is a change, too.
rule key:
    output:
        touch("results/keys/{figure}/{of}-{key}"),
    log:
        "logs/keys/{figure}/{of}-{key}.log",
    message:
        "Key of the {wildcards.of} of {wildcards.figure}"
    shell:
        "rm -rf results/keys/{wildcards.figure}/{wildcards.of}-* 2> {log}"


# Everything of a figure in one self-contained file, theory beside simulation.
rule merge:
    input:
        key=lambda wildcards: figure(wildcards).marks["data"],
        parameters=lambda wildcards: figure(wildcards).files_of("parameters"),
        theory=lambda wildcards: figure(wildcards).files_of("theory"),
        networks=lambda wildcards: figure(wildcards).files_of("montecarlo"),
    output:
        "results/figures/{figure}.nc",
    log:
        "logs/merge/{figure}.log",
    benchmark:
        "logs/merge/{figure}.tsv"
    priority: 2
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    message:
        "Merging {wildcards.figure}"
    script:
        "../scripts/merge.py"


# The drawing and the table of scores, from the merged file and from what the drawing code reads, whose
# times do not count.
rule figure:
    input:
        key=lambda wildcards: figure(wildcards).marks["drawing"],
        data=rules.merge.output[0],
        reads=ancient(lambda wildcards: list(figure(wildcards).drawing)),
    output:
        svg="figures/{figure}.svg",
        pdf="figures/{figure}.pdf",
        table="results/scores/{figure}.csv",
        png=report(
            "figures/{figure}.png",
            caption="../report/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
        scores=report(
            "results/scores/{figure}.html",
            caption="../report/scores.rst",
            category="Scores",
            labels={"figure": "{figure}"},
        ),
    log:
        "logs/figure/{figure}.log",
    benchmark:
        "logs/figure/{figure}.tsv"
    priority: 2
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        title=lambda wildcards: figure(wildcards).config["title"],
        caption=lambda wildcards: figure(wildcards).config["caption"],
    message:
        "Drawing {wildcards.figure}"
    script:
        "../scripts/figure.py"
