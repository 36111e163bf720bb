"""What each stage of the workflow computes and stores.

Every stage in the table of `planning.layout` has a module; the other modules are what they share.
`parameters` is a short one to start with; `merge` puts a figure together.
"""
