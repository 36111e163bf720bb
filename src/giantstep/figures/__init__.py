"""The figures: one module each, whose `draw(data, config)` makes a drawing from a merged Dataset.

Start with `fig2` and `learning_curves`. What figures share is in `selection` (parts of the data),
`labels` (text), `elements` (markers, legends, titles) and `style`.
"""
