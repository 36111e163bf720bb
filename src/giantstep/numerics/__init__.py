"""Numerical methods that know nothing of networks.

Scalar functions with their Gaussian moments, quadrature on the line and in the complex plane,
polynomials on the half line, small linear systems, Newton's method.
Start with `function_table`, where an activation or a target is added.
"""
