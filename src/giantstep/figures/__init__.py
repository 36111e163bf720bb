"""What drawings are made of: curves, maps, answers, and the style that they have in common.

Start with `default`, which draws a figure that has no `draw(data, config)` of its own beside its
YAML, and with `learning_curves`. What figures share is in `selection` (parts of the data),
`labels` (text), `elements` (markers, legends, titles) and `style`.
"""
