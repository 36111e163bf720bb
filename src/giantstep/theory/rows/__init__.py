"""How the rows of the first layer enter the equations; start with `interface`.

isotropic       rows uniform on spheres, the paper's: docs/theory/core.md, sections 4 and 5
one_group       rows of any covariance, one letter: several-steps.md, section 13
    row_functions   traces and forms of their resolvent, as polynomials
groups          one odd step from several letters: trained-bulk.md, section 9
    eigenmodes, first_batch   averages over the eigenvalues of the first batch
response        how the readout responds: the same for all
batch_moments, batch_rule, label_rule   averages over the samples of a batch
"""
