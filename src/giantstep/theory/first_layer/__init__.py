"""What the gradient steps leave of the first layer: spike, alignment and bulk.

Start with `layer`: `layer_of` chooses the first layer of a problem, and nothing else does.
`interface` is what the rest of the theory needs to know of it. A new step is a new class beside
`odd_step`, the paper's, and a line in `layer`.
"""
