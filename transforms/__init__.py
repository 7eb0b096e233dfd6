"""The steps of the pipelines, one file for each stage; :mod:`model` has the logic."""
