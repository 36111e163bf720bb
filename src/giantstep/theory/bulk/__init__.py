"""How the bulk of the first layer enters the theory: isotropic, or as the first batch leaves it.

Start with `interface`, what the theory asks of a bulk. A new bulk is a new module beside it.
"""
