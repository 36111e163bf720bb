# Stage 4: everything of one figure, theory beside simulation, in one self-contained file.
rule merge:
    input:
        srf=lambda wildcards: results(
            "srf",
            [curve.parameters for curve in PLAN.figures[wildcards.figure].curves],
        ),
        theory=lambda wildcards: results(
            "theory", [curve.theory for curve in PLAN.figures[wildcards.figure].curves]
        ),
        montecarlo=lambda wildcards: results(
            "montecarlo",
            [
                key
                for curve in PLAN.figures[wildcards.figure].curves
                for key in curve.shards
            ],
        ),
    output:
        "results/figures/{figure}.nc",
    log:
        "logs/merge/{figure}.log",
    params:
        figure=lambda wildcards: PLAN.figures[wildcards.figure],
        simulation=PLAN.sizes,
        root_seed=PLAN.root_seed,
        identity=lambda wildcards: merge_identity(
            PLAN.figures[wildcards.figure], stage_script("merge")
        ),
    message:
        "Merging {wildcards.figure}"
    script:
        "../scripts/merge.py"
