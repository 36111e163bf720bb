"""The asymptotic answer to a problem: n, p and d go to infinity at fixed ratios, or d is given.

Start with `result_3_3`: the paper's result, equation by equation. The rest computes the same, and
more, for whole grids. `features` is what the gradient steps leave: a protocol becomes spiked random
features (`equivalent_features`), which given the spike's direction are Gaussian
(`conditional_features`). `readout` is what a fit on these gives: `solve` solves the self-consistent
equations (`fixed_point`), and errors follow for the square loss (`square_loss`) and for other
losses (`convex_loss`). At a given d the means of the readout cost something (`mean_penalty`).
"""
