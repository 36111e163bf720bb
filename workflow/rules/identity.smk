# A merged file and a drawing have names without a key. What they are made from is therefore an
# input of theirs, as the name of an empty file of which only the latest is kept; and `all` asks for
# it. So a change is seen even where Snakemake's own records are lost, and no time of a file counts;
# and as what was made before goes first, no stopped run leaves anything that looks new.
localrules:
    identity,


rule identity:
    output:
        touch("results/identity/{figure}/{stage}-{identity}"),
    log:
        "logs/identity/{figure}-{stage}-{identity}.log",
    params:
        outdated=lambda wildcards: {
            "merge": f"results/figures/{wildcards.figure}.nc results/scores/{wildcards.figure}.csv",
            "draw": f"results/checksums/figures/{wildcards.figure}.sha256",
        }[wildcards.stage],
    message:
        "What {wildcards.figure} is made from ({wildcards.stage}) has changed"
    shell:
        "rm -f {params.outdated} results/identity/{wildcards.figure}/{wildcards.stage}-* 2> {log}"
