"""The figures: one module each, from a merged Dataset to a drawing."""
