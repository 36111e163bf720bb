"""The asymptotic answer to a problem: n, p and d go to infinity at fixed ratios, or d is given.

Start with `result_3_3`: the paper's result, equation by equation. The rest computes the same, and
more, for whole grids. `first_layer` turns a protocol into spiked random features (Result 3.1), and
`rows` computes how their rows enter the equations. Given the projection on the spike, features are
Gaussian (`features`). `readout` fits a readout on them: `square_readout` solves the self-consistent
equations (`fixed_point`), `convex_readout` those of other losses, `stopped_readout` those of
gradient flow; `solve` chooses. At a finite d the means of the readout have a cost (`mean_penalty`).
"""
