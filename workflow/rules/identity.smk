# Merged files, drawings and scores have names without a key. What they are made from is therefore an
# input of theirs: the name of a file, of which only the latest is kept, and which `all` requests.
# It is empty, or lists checksums: the jobs that draw and score note there what they have made. So a
# change is noticed even without Snakemake's own records, and times of files do not count. What was
# made before is removed first, so that an interrupted run leaves nothing that looks current.
localrules:
    identity,


rule identity:
    output:
        touch(f"{IDENTITY}/{{figure}}/{{stage}}-{{identity}}"),
    log:
        "logs/identity/{figure}-{stage}-{identity}.log",
    # Before merging, which waits for it.
    priority: 2
    params:
        outdated=lambda wildcards: files(wildcards.stage, wildcards.figure),
        markers=lambda wildcards: f"{IDENTITY}/{wildcards.figure}/{wildcards.stage}-*",
    message:
        "What {wildcards.figure} is made from ({wildcards.stage}) has changed"
    shell:
        "rm -rf {params.outdated} {params.markers} 2> {log}"
