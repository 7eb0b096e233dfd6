"""The figures of ``beam-topics monitor``."""
