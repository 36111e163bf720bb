"""What each stage of the workflow computes and stores: a module a stage, as planning.layout lists.

`parameters` is a short one to start with; `merge` puts a figure together.
"""
