# The theory of the curves of a figure, which needs no networks: the equivalent spiked random features
# (parameters, Result 3.1), overlaps and errors over their grids (theory, Result 3.3), at several
# dimensions and learning rates, over two parameters (maps), and densities of eigenvalues (spectrum,
# Appendix F). Results take less time than starting a job each. So a job computes many of them, but
# each has its own file, and one that exists is left as it is.
for batch in theory_batches(PLAN):

    rule:
        name:
            f"theory_{batch.name}"
        output:
            [update(path) for path in batch.paths],
        log:
            f"logs/theory/{batch.name}.log",
        priority: batch.cost.seconds
        group:
            "theory"
        resources:
            mem_mb=memory(batch_cost(batch)),
            runtime=minutes(batch_cost(batch)),
        params:
            code=CODE,
            tasks=batch.tasks,
        message:
            f"Theory of {batch.name}"
        script:
            "../scripts/compute.py"
