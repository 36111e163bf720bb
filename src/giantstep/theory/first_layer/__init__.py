"""What the gradient steps leave of the first layer: spike, alignment and bulk.

Start with `layer`, which chooses the first layer of a problem, and `interface`, which lists what
the rest of the theory needs of it. A new step is a new class beside `one_spike`, and a line in
`layer`. The chapters below are in docs/theory/; docs/theory.md lists their sections.

    initial                 no step
    one_spike               fresh batches, one letter: several-steps.md, section 13
        step, fresh_step        the network after a step
        covariance_step         the effect of a step on the rows' covariance, sample by sample
        row_resolvent           traces of its resolvent, by the self-energy of the samples
        row_forms               its forms along spike and target
        continued_rows          the same at complex ridges
    odd_step, odd_letters   several letters, one step of an odd activation: core.md, section 2
    letters, letters_step   fresh batches, several letters: larger-rank-spikes.md
    one_batch, reused_*     one batch for all steps: reused-batch.md
    signs, sign_rows        steps by signs: docs/sign-descent.md
    anisotropic*            inputs with a covariance: structured-inputs.md
    row_norms               finite dimension: finite-dimension.md, section 12
"""
