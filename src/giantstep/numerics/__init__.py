"""Numerical methods that know nothing of networks.

Scalar functions with their Gaussian moments, quadrature, small linear systems and one Newton loop.
Start with `scalar_functions`: it is where an activation or a target is added.
"""
