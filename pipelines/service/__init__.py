"""The read-only HTTP service of ``pipelines.serve``."""
