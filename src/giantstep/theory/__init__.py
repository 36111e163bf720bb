"""The asymptotic answer to a problem: n, p and d go to infinity at fixed ratios, or d is given.

Start with `solve`. A protocol becomes spiked random features (`equivalent_features`), whose
conditional features (`conditional_features`) enter the self-consistent equations (`fixed_point`);
errors follow for the square loss (`square_loss`) and for other losses (`convex_loss`). At a given d
the means of the readout cost something (`mean_penalty`).
"""
