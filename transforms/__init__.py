"""The steps of the pipelines, one file for each stage; :mod:`beam_topics.model` has the logic."""
