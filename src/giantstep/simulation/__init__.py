"""The answer of actual networks to the same problems.

Start with `simulate`: it draws a network, trains its first layer (`first_layer`), fits readouts
(`ridge`, `convex_readout`) and measures them (`measurements`).
"""
