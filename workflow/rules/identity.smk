# A merged file and a drawing have names without a key. What they are made from is therefore an
# input of theirs, as the name of an empty file of which only the latest is kept; and `all` asks for
# it. So a change is seen even where Snakemake's own records are lost.
localrules:
    identity,


rule identity:
    output:
        touch("results/identity/{figure}/{stage}-{identity}"),
    log:
        "logs/identity/{figure}-{stage}-{identity}.log",
    message:
        "What {wildcards.figure} is made from ({wildcards.stage}) has changed"
    shell:
        "rm -f results/identity/{wildcards.figure}/{wildcards.stage}-* 2> {log}"
