"""Problems: the protocol, spiked random features, grids, losses, inputs, sizes.

Problems check themselves when they are made; nothing is computed here. Theory and simulation use
the same objects. Start with `problem`.
"""
