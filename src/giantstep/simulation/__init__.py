"""The same problems, asked of actual networks.

Start with `simulate`: it draws a network, trains its first layer (`first_layer`), fits readouts
(`ridge`, `convex_readout`) and measures them (`measurements`).
"""
