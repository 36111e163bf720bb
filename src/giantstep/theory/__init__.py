"""The asymptotic answer to a problem: n, p and d go to infinity at fixed ratios, or d is given.

Start with `result_3_3`: the paper's result, equation by equation. The rest computes the same, and
more, for whole grids. `first_layer` is what the gradient steps leave: a protocol becomes spiked
random features (Result 3.1), whose rows enter the equations as in `rows`. Given the spike's
direction they are Gaussian (`features`). `readout` is what a fit on these gives: `square_readout`
solves the self-consistent equations (`fixed_point`), `convex_readout` those of other losses,
`stopped_readout` those of gradient flow; `solve` chooses. At a given d the means of the readout
cost something (`mean_penalty`).
"""
