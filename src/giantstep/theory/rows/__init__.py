"""How the bulk of the first layer enters the theory: isotropic, or as the first batch leaves it.

Start with `interface`, what the theory needs to know of a bulk. A new bulk is a new module beside
`isotropic` and `trained`, a name in `problems.bulk_kind` and an entry in `prepare`.
"""
