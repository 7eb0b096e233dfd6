"""The read-only HTTP service of ``beam-topics serve``."""
